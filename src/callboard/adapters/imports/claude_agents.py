"""Subagents of Claude Code's sessions. Since version 2 each has its own transcript and description.

`SESSION/subagents/agent-ID.jsonl` has the lines; `agent-ID.meta.json` the type, the description and the call that started it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from callboard.contracts.commands.session_import import ImportedAgent

from .past import Line, as_object, find_first_line, read_lines

#: Internal agents of the program. Their relevant answers are in the session.
_INTERNAL = re.compile(r"agent-a(compact|prompt_suggestion)-[0-9a-f]+\.jsonl")
_MAX_META_BYTES = 64 * 1024


@dataclass
class Lineage:
    """Parents of agents, as far as the lines read so far prove them.

    Attributes:
        by_agent: Key of the parent by the key of the agent.
        by_call: Key of the parent by the id of the call that started the agent.
    """

    by_agent: dict[str, str] = field(default_factory=dict[str, str])
    by_call: dict[str, str] = field(default_factory=dict[str, str])

    def apply(self, line: Line, agent: str) -> None:
        """Add the agent that a line of `agent` started, if any."""
        started = as_object(line.get("toolUseResult")).get("agentId")
        if isinstance(started, str) and started:
            self.by_agent[build_agent_key(started)] = agent

    def describe(self, agent: str, meta: Line) -> ImportedAgent:
        """Return an agent with its parent, and with its description from the file beside its transcript."""
        parent = self.by_agent.get(agent)
        if parent is None:
            parent = self.by_call.get(str(meta.get("toolUseId") or ""))
        definition, description = meta.get("agentType"), meta.get("description")
        return ImportedAgent(
            definition=definition[:200] if isinstance(definition, str) else "",
            description=find_first_line(description)[:500] if isinstance(description, str) else "",
            parent=parent,
        )


def build_agent_key(identity: str) -> str:
    """Return the name of a subagent within its session."""
    return f"sidechain-{identity[:48]}"


def list_transcripts(session: Path) -> list[Path]:
    """Return the transcripts of a session's subagents, unordered.

    Args:
        session: The transcript of the session.
    """
    files = (session.with_suffix("") / "subagents").glob("agent-*.jsonl")
    return [file for file in files if not _INTERNAL.fullmatch(file.name) and file.is_file()]


def sort_by_start(transcripts: list[Path]) -> list[Path]:
    """Sort transcripts by their start, so that an agent follows its parent."""
    return sorted(transcripts, key=lambda file: (_start_time(file), file.name))


def read_meta(transcript: Path) -> Line:
    """Read the description beside a subagent's transcript; empty if it is missing or invalid."""
    try:
        data = transcript.with_suffix(".meta.json").read_bytes()
        return as_object(msgspec.json.decode(data)) if len(data) <= _MAX_META_BYTES else {}
    except (OSError, msgspec.DecodeError, RecursionError):
        return {}


def _start_time(file: Path) -> str:
    """Return the time of the first line with one, unparsed."""
    try:
        head = read_lines(file, 1024 * 1024)
        return next((at for line in head if isinstance(at := line.get("timestamp"), str)), "")
    except OSError:
        return ""
