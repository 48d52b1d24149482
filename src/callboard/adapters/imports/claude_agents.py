"""Subagents of Claude Code's sessions: since version 2 each has a transcript and a description of its own beside its session's.

`SESSION/subagents/agent-ID.jsonl` holds the lines, `agent-ID.meta.json` the type, the description and the call that began it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from callboard.contracts.commands.imports import ImportedAgent

from .past import Line, as_object, first_line, read_lines

#: Agents that the program starts for itself: what they answer is in the session where it matters.
_INTERNAL = re.compile(r"agent-a(compact|prompt_suggestion)-[0-9a-f]+\.jsonl")
_LARGEST_META = 64 * 1024


@dataclass
class Lineage:
    """Which agent started which, as far as the lines read so far prove it. Both map to the key of the agent that did."""

    by_agent: dict[str, str] = field(default_factory=dict[str, str])
    by_call: dict[str, str] = field(default_factory=dict[str, str])

    def apply(self, line: Line, agent: str) -> None:
        """Take what a line of that agent proves."""
        started = as_object(line.get("toolUseResult")).get("agentId")
        if isinstance(started, str) and started:
            self.by_agent[agent_key(started)] = agent

    def describe(self, agent: str, meta: Line) -> ImportedAgent:
        """What is proved of an agent, with the description that is kept beside its transcript."""
        parent = self.by_agent.get(agent)
        if parent is None:
            parent = self.by_call.get(str(meta.get("toolUseId") or ""))
        definition, description = meta.get("agentType"), meta.get("description")
        return ImportedAgent(
            definition=definition[:200] if isinstance(definition, str) else "",
            description=first_line(description)[:500] if isinstance(description, str) else "",
            parent=parent,
        )


def agent_key(identity: str) -> str:
    """The name of a subagent within its session."""
    return f"sidechain-{identity[:48]}"


def transcripts(session: Path) -> list[Path]:
    """The transcripts of a session's subagents, by the transcript of the session, in no order."""
    found = (session.with_suffix("") / "subagents").glob("agent-*.jsonl")
    return [file for file in found if not _INTERNAL.fullmatch(file.name) and file.is_file()]


def sort_by_start(transcripts: list[Path]) -> list[Path]:
    """The transcripts in the order in which they begin: an agent comes behind the one that started it."""
    return sorted(transcripts, key=lambda file: (_began(file), file.name))


def read_meta(transcript: Path) -> Line:
    """The description beside a subagent's transcript; empty where there is none."""
    try:
        data = transcript.with_suffix(".meta.json").read_bytes()
        return as_object(msgspec.json.decode(data)) if len(data) <= _LARGEST_META else {}
    except (OSError, msgspec.DecodeError, RecursionError):
        return {}


def _began(file: Path) -> str:
    """The time of its first line that has one, as it is written there."""
    try:
        head = read_lines(file, 1024 * 1024)
        return next((at for line in head if isinstance(at := line.get("timestamp"), str)), "")
    except OSError:
        return ""
