"""Claude Code's transcripts: one JSON line an event, in a folder for each project.

A line of type `user` with text begins a turn; one with `tool_result` blocks answers calls. Lines of type `assistant` that
share a message id are the blocks of one model call. Lines marked `isSidechain` are of a subagent, in this file or in one of its
own (`claude_agents`). `isCompactSummary` marks a summary, and `origin` names who wrote a line that no person typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from callboard.contracts.commands.imports import ImportedAgent, ImportedCall, ImportedChange, ImportedPart
from callboard.contracts.facts.model import StopReason
from callboard.contracts.facts.turn import InputSource

from . import claude_agents
from .claude_agents import Lineage, agent_key
from .diffs import replacement_change
from .past import (
    Line,
    PastSession,
    PastTurn,
    PastTurnBuilder,
    as_count,
    as_object,
    first_line,
    microseconds,
    read_lines,
    readable_sessions,
    session_id,
    text_of,
)

SOURCE: Literal["claude_code"] = "claude_code"
#: How many lines are looked at for what a session is about.
_HEAD = 200
_STOPS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}
#: Lines of the program itself that stand where a person's words do.
_NOT_SAID = (
    "<command-name>",
    "<local-command-",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "Caveat: The messages below",
)
#: Who wrote a line, by `origin.kind`. A kind that is missing here is another program's: no person typed it.
_ORIGINS: dict[str, InputSource] = {
    "human": "person",
    "task-notification": "notice",
    "coordinator": "agent",
    "peer": "agent",
}
_NOTICE = "<task-notification>"
#: How versions without `isCompactSummary` begin a summary.
_SUMMARY = "This session is being continued from a previous conversation that ran out of context."
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>(?:\s*<command-args>(.*?)</command-args>)?", re.DOTALL)
_INTERRUPTED = "[Request interrupted by user"


def find(home: Path) -> Iterator[PastSession]:
    """The sessions under Claude Code's folder (`~/.claude`), those without a turn left out."""
    return readable_sessions(transcripts(home), about)


def transcripts(home: Path) -> Iterator[Path]:
    """The files in which sessions may be, in no order."""
    return (home / "projects").glob("*/*.jsonl")


def parts(file: Path) -> list[Path]:
    """The other files of a session: those of its subagents."""
    return claude_agents.transcripts(file)


def about(file: Path, most: int | None = None) -> PastSession | None:
    """What a transcript is about, looked for in its first `most` bytes; None where no person said anything in a folder.
    Raises OSError."""
    folder = title = ""
    for place, line in enumerate(read_lines(file, most)):
        folder = folder or str(line.get("cwd") or "")
        typed = line.get("type") == "user" and not line.get("isMeta") and not line.get("isSidechain")
        text = _input(text_of(as_object(line.get("message")).get("content"))) if typed else ""
        if text and _source(line, text) == "person":
            title = first_line(text)
        if (folder and title) or place > _HEAD:
            break
    if not folder or not title:
        return None
    return PastSession(
        source=SOURCE,
        source_id=session_id(file),
        file=file,
        folder=folder,
        title=title,
        changed=max(one.stat().st_mtime for one in (file, *parts(file))),
        turns=lambda: turns(file),
    )


def turns(file: Path) -> Iterator[PastTurn]:
    """The turns of a session: those of its own transcript in their order, then those of each subagent's. A sidechain in the
    session's own transcript stands where it began."""
    lineage = Lineage()
    yield from _turns(read_lines(file), session_id(file), lineage)
    for transcript in claude_agents.sort_by_start(parts(file)):
        own = agent_key(transcript.stem.removeprefix("agent-"))
        subagent = lineage.describe(own, claude_agents.read_meta(transcript))
        yield from _turns(read_lines(transcript), session_id(file), lineage, own, subagent)


def _turns(
    found: Iterable[Line], session: str, lineage: Lineage, own: str = "", subagent: ImportedAgent | None = None
) -> Iterator[PastTurn]:
    making: dict[str, PastTurnBuilder] = {}
    boundary: Line = {}
    at = 0
    for line in found:
        kind = line.get("type")
        if kind == "system" and line.get("subtype") == "compact_boundary":
            boundary = as_object(line.get("compactMetadata"))
        if kind not in ("user", "assistant") or line.get("isMeta"):
            continue
        at = microseconds(line.get("timestamp"), at)
        agent = own or _agent(line)
        lineage.apply(line, agent)
        message = as_object(line.get("message"))
        if kind == "assistant":
            if agent in making:
                _said(making[agent], message)
                lineage.by_call.update((one.call_id, agent) for one in making[agent].calls[-1].parts if one.call_id)
            continue
        if _answered(making, agent, line, message):
            continue
        text = _input(text_of(message.get("content")))
        if line.get("isCompactSummary") or text.startswith(_SUMMARY):
            summary, boundary = _summary_of(text, boundary), {}
            if agent not in making or summary.cause == "person":
                if agent in making:
                    yield making[agent].turn(session)
                key = str(line.get("uuid") or at)
                making[agent] = PastTurnBuilder(key, at, "", agent, source="compaction", subagent=subagent)
            making[agent].compact(summary)
            continue
        if text.startswith(_INTERRUPTED):
            if agent in making:
                making[agent].ended = "interrupted"
            continue
        if not text:
            continue
        if agent in making:
            yield making[agent].turn(session)
        key = str(line.get("uuid") or at)
        making[agent] = PastTurnBuilder(key, at, text, agent, source=_source(line, text), subagent=subagent)
    yield from (one.turn(session) for one in sorted(making.values(), key=lambda one: one.at))


def _agent(line: Line) -> str:
    if not line.get("isSidechain"):
        return ""
    return agent_key(str(line.get("agentId") or "1"))


def _input(text: str) -> str:
    """What a line asks for; empty where the program wrote it for itself. A command reads as it was typed."""
    if text.lstrip().startswith("<command-message>"):
        found = _COMMAND.search(text)
        return " ".join(one for one in found.groups("") if one).strip() if found else ""
    return "" if not text.strip() or text.lstrip().startswith(_NOT_SAID) else text


def _source(line: Line, text: str) -> InputSource:
    """Who wrote the input. Only what a person typed is a person's: a subagent's prompt is of the agent that started it."""
    kind = as_object(line.get("origin")).get("kind")
    if isinstance(kind, str) and kind:
        return _ORIGINS.get(kind, "notice")
    if text.lstrip().startswith(_NOTICE):
        return "notice"
    if line.get("isCompactSummary") or text.startswith(_SUMMARY):
        return "compaction"
    return "agent" if line.get("isSidechain") else "person"


def _summary_of(text: str, boundary: Line) -> ImportedPart:
    """A summary, with what the line before it says of its cause and its size."""
    return ImportedPart(
        kind="compaction",
        text=text,
        cause="person" if boundary.get("trigger") == "manual" else "window",
        tokens_before=as_count(boundary.get("preTokens")),
        tokens_after=as_count(boundary.get("postTokens")),
    )


def _said(making: PastTurnBuilder, message: Line) -> None:
    """The blocks of a line join those of the same message."""
    identity = str(message.get("id") or "")
    parts = tuple(part for block in _blocks(message) if (part := _part(block)) is not None)
    usage = as_object(message.get("usage"))
    stop = message.get("stop_reason")
    cached = as_count(usage.get("cache_read_input_tokens"))
    call = ImportedCall(
        model=str(message.get("model") or "unknown")[:200],
        parts=parts,
        stop_reason=_STOPS.get(stop, "unknown") if isinstance(stop, str) else "unknown",
        input_tokens=_sum(usage.get("input_tokens"), cached, usage.get("cache_creation_input_tokens")),
        output_tokens=as_count(usage.get("output_tokens")),
        cached_tokens=cached,
    )
    if identity and making.calls and making.message == identity:
        joined = (*making.calls[-1].parts, *parts)
        making.calls[-1] = msgspec.structs.replace(call, parts=joined)
    else:
        making.calls.append(call)
    making.message = identity


def _part(block: Line) -> ImportedPart | None:
    match block.get("type"):
        case "text":
            text = text_of([block])
            return ImportedPart(kind="text", text=text) if text.strip() else None
        case "thinking":
            thought = block.get("thinking")
            return ImportedPart(kind="reasoning", text=thought) if isinstance(thought, str) and thought else None
        case "tool_use":
            arguments = as_object(block.get("input"))
            return ImportedPart(
                kind="tool",
                tool=str(block.get("name") or "unknown")[:200],
                call_id=str(block.get("id") or "")[:200],
                text=msgspec.json.encode(arguments).decode(),
                summary=_summary(str(block.get("name") or ""), arguments),
            )
        case _:
            return None


def _answered(making: dict[str, PastTurnBuilder], agent: str, line: Line, message: Line) -> bool:
    """Gives calls their results; True where the line does nothing else."""
    results = [block for block in _blocks(message) if block.get("type") == "tool_result"]
    turn = making.get(agent)
    for block in results:
        if turn is None:
            continue
        content = block.get("content")
        output = text_of(content)
        failed = bool(block.get("is_error"))
        refused = failed and "doesn't want to proceed" in output

        def end(
            part: ImportedPart, output: str = output, failed: bool = failed, refused: bool = refused
        ) -> ImportedPart:
            before = as_object(line.get("toolUseResult")).get("originalFile")
            changes = () if failed else _changes(part, str(line.get("cwd") or ""), before)
            ended: Literal["completed", "failed", "refused"] = (
                "refused" if refused else "failed" if failed else "completed"
            )
            return msgspec.structs.replace(part, output=output, ended=ended, changes=changes)

        turn.answer(str(block.get("tool_use_id") or ""), end)
    return bool(results)


def _changes(part: ImportedPart, folder: str, before: Any) -> tuple[ImportedChange, ...]:
    arguments = as_object(msgspec.json.decode(part.text))
    path = arguments.get("file_path")
    match part.tool:
        case "Write":
            found = [replacement_change(folder, path, before, arguments.get("content"))]
        case "Edit":
            found = [replacement_change(folder, path, arguments.get("old_string"), arguments.get("new_string"))]
        case "MultiEdit":
            edits = arguments.get("edits")
            found = [
                replacement_change(folder, path, as_object(one).get("old_string"), as_object(one).get("new_string"))
                for one in (cast("list[Any]", edits) if isinstance(edits, list) else [])
            ]
        case _:
            return ()
    return tuple(one for one in found if one is not None)


def _summary(tool: str, arguments: Line) -> str:
    for name in ("command", "file_path", "pattern", "path", "url", "query", "description", "prompt"):
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return f"{tool} {first_line(value)}"[:500]
    return tool[:500]


def _blocks(message: Line) -> list[Line]:
    content = message.get("content")
    return [as_object(block) for block in cast("list[Any]", content)] if isinstance(content, list) else []


def _sum(*counts: Any) -> int | None:
    told = [one for one in map(as_count, counts) if one is not None]
    return sum(told) if told else None
