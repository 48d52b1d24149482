"""Transcripts of Claude Code: one JSON line per event, in a folder for each project.

A line of type `user` with text starts a turn; one with `tool_result` blocks answers calls. Lines of type `assistant` with the
same message id are the blocks of one model call. Lines with `isSidechain` belong to a subagent, in this file or in its own
(`claude_agents`). `isCompactSummary` marks a summary, and `origin` names the author of a line that no person typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from callboard.contracts.commands.session_import import ImportedAgent, ImportedCall, ImportedChange, ImportedPart
from callboard.contracts.facts.model import StopReason
from callboard.contracts.facts.turn import InputSource

from . import claude_agents
from .claude_agents import Lineage, build_agent_key
from .diffs import build_replacement_change
from .past import (
    Line,
    PastSession,
    PastTurn,
    PastTurnBuilder,
    as_count,
    as_object,
    find_first_line,
    parse_time,
    read_lines,
    read_session_id,
    read_sessions,
    read_text,
)

SOURCE: Literal["claude_code"] = "claude_code"
#: The number of lines that are searched for the folder and title of a session.
_HEAD = 200
_STOPS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}
#: Beginnings of texts that the program writes instead of a person's input.
_NOT_INPUT = (
    "<command-name>",
    "<local-command-",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "Caveat: The messages below",
)
#: The author of a line by `origin.kind`. A kind that is missing here is another program.
_ORIGINS: dict[str, InputSource] = {
    "human": "person",
    "task-notification": "notice",
    "coordinator": "agent",
    "peer": "agent",
}
_NOTICE = "<task-notification>"
#: The beginning of a summary in versions without `isCompactSummary`.
_SUMMARY = "This session is being continued from a previous conversation that ran out of context."
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>(?:\s*<command-args>(.*?)</command-args>)?", re.DOTALL)
_INTERRUPTED = "[Request interrupted by user"


def find(product_folder: Path) -> Iterator[PastSession]:
    """Yield the sessions in Claude Code's folder (`~/.claude`), except those without a turn."""
    return read_sessions(list_transcripts(product_folder), read_session)


def list_transcripts(product_folder: Path) -> Iterator[Path]:
    """Yield the files that may be sessions, unordered."""
    return (product_folder / "projects").glob("*/*.jsonl")


def list_parts(file: Path) -> list[Path]:
    """Return the other files of a session: the transcripts of its subagents."""
    return claude_agents.list_transcripts(file)


def read_session(file: Path, max_bytes: int | None = None) -> PastSession | None:
    """Return the session of a transcript; None without a folder or a person's input.

    Args:
        max_bytes: Read only this number of bytes for the folder and title. Default: no limit.
    Raises:
        OSError: The transcript cannot be read.
    """
    folder = title = ""
    for number, line in enumerate(read_lines(file, max_bytes)):
        folder = folder or str(line.get("cwd") or "")
        is_typed = line.get("type") == "user" and not line.get("isMeta") and not line.get("isSidechain")
        text = _read_input(read_text(as_object(line.get("message")).get("content"))) if is_typed else ""
        if text and _find_source(line, text) == "person":
            title = find_first_line(text)
        if (folder and title) or number > _HEAD:
            break
    if not folder or not title:
        return None
    return PastSession(
        source=SOURCE,
        source_id=read_session_id(file),
        file=file,
        folder=folder,
        title=title,
        changed=max(part.stat().st_mtime for part in (file, *list_parts(file))),
        turns=lambda: read_turns(file),
    )


def read_turns(file: Path) -> Iterator[PastTurn]:
    """Yield the turns of a session's transcript in order, then those of each subagent's transcript.

    A sidechain in the session's transcript keeps its position.
    """
    lineage = Lineage()
    yield from _build_turns(read_lines(file), read_session_id(file), lineage)
    for transcript in claude_agents.sort_by_start(list_parts(file)):
        owner = build_agent_key(transcript.stem.removeprefix("agent-"))
        subagent = lineage.describe(owner, claude_agents.read_meta(transcript))
        yield from _build_turns(read_lines(transcript), read_session_id(file), lineage, owner, subagent)


def _build_turns(
    transcript: Iterable[Line], session: str, lineage: Lineage, owner: str = "", subagent: ImportedAgent | None = None
) -> Iterator[PastTurn]:
    open_turns: dict[str, PastTurnBuilder] = {}
    boundary: Line = {}
    at = 0
    for line in transcript:
        kind = line.get("type")
        if kind == "system" and line.get("subtype") == "compact_boundary":
            boundary = as_object(line.get("compactMetadata"))
        if kind not in ("user", "assistant") or line.get("isMeta"):
            continue
        at = parse_time(line.get("timestamp"), at)
        agent = owner or _read_agent(line)
        lineage.apply(line, agent)
        message = as_object(line.get("message"))
        if kind == "assistant":
            if agent in open_turns:
                _add_blocks(open_turns[agent], message)
                parts = open_turns[agent].calls[-1].parts
                lineage.by_call.update((part.call_id, agent) for part in parts if part.call_id)
            continue
        if _apply_results(open_turns, agent, line, message):
            continue
        text = _read_input(read_text(message.get("content")))
        if line.get("isCompactSummary") or text.startswith(_SUMMARY):
            summary, boundary = _build_compaction(text, boundary), {}
            if agent not in open_turns or summary.cause == "person":
                if agent in open_turns:
                    yield open_turns[agent].build(session)
                key = str(line.get("uuid") or at)
                open_turns[agent] = PastTurnBuilder(key, at, "", agent, source="compaction", subagent=subagent)
            open_turns[agent].compact(summary)
            continue
        if text.startswith(_INTERRUPTED):
            if agent in open_turns:
                open_turns[agent].ended = "interrupted"
            continue
        if not text:
            continue
        if agent in open_turns:
            yield open_turns[agent].build(session)
        key = str(line.get("uuid") or at)
        open_turns[agent] = PastTurnBuilder(key, at, text, agent, source=_find_source(line, text), subagent=subagent)
    yield from (builder.build(session) for builder in sorted(open_turns.values(), key=lambda builder: builder.at))


def _read_agent(line: Line) -> str:
    if not line.get("isSidechain"):
        return ""
    return build_agent_key(str(line.get("agentId") or "1"))


def _read_input(text: str) -> str:
    """Return the input of a line; empty for texts of the program. A command is returned as it was typed."""
    if text.lstrip().startswith("<command-message>"):
        command = _COMMAND.search(text)
        return " ".join(filter(None, command.groups(""))).strip() if command else ""
    return "" if not text.strip() or text.lstrip().startswith(_NOT_INPUT) else text


def _find_source(line: Line, text: str) -> InputSource:
    """Return the author of an input. The prompt of a subagent comes from the agent that started it."""
    kind = as_object(line.get("origin")).get("kind")
    if isinstance(kind, str) and kind:
        return _ORIGINS.get(kind, "notice")
    if text.lstrip().startswith(_NOTICE):
        return "notice"
    if line.get("isCompactSummary") or text.startswith(_SUMMARY):
        return "compaction"
    return "agent" if line.get("isSidechain") else "person"


def _build_compaction(text: str, boundary: Line) -> ImportedPart:
    """Return a summary, with its cause and size from the boundary line before it."""
    return ImportedPart(
        kind="compaction",
        text=text,
        cause="person" if boundary.get("trigger") == "manual" else "window",
        tokens_before=as_count(boundary.get("preTokens")),
        tokens_after=as_count(boundary.get("postTokens")),
    )


def _add_blocks(turn: PastTurnBuilder, message: Line) -> None:
    """Add the blocks of a line to the model call of the same message, or as a new call."""
    message_id = str(message.get("id") or "")
    parts = tuple(part for block in _list_blocks(message) if (part := _convert_block(block)) is not None)
    usage = as_object(message.get("usage"))
    stop = message.get("stop_reason")
    cached = as_count(usage.get("cache_read_input_tokens"))
    call = ImportedCall(
        model=str(message.get("model") or "unknown")[:200],
        parts=parts,
        stop_reason=_STOPS.get(stop, "unknown") if isinstance(stop, str) else "unknown",
        input_tokens=_sum_counts(usage.get("input_tokens"), cached, usage.get("cache_creation_input_tokens")),
        output_tokens=as_count(usage.get("output_tokens")),
        cached_tokens=cached,
    )
    if message_id and turn.calls and turn.message == message_id:
        joined = (*turn.calls[-1].parts, *parts)
        turn.calls[-1] = msgspec.structs.replace(call, parts=joined)
    else:
        turn.calls.append(call)
    turn.message = message_id


def _convert_block(block: Line) -> ImportedPart | None:
    match block.get("type"):
        case "text":
            text = read_text([block])
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
                summary=_summarise_call(str(block.get("name") or ""), arguments),
            )
        case _:
            return None


def _apply_results(open_turns: dict[str, PastTurnBuilder], agent: str, line: Line, message: Line) -> bool:
    """Add results to their calls. Return whether the line has results."""
    results = [block for block in _list_blocks(message) if block.get("type") == "tool_result"]
    turn = open_turns.get(agent)
    for block in results:
        if turn is None:
            continue
        content = block.get("content")
        output = read_text(content)
        failed = bool(block.get("is_error"))
        refused = failed and "doesn't want to proceed" in output

        def end(
            part: ImportedPart, output: str = output, failed: bool = failed, refused: bool = refused
        ) -> ImportedPart:
            before = as_object(line.get("toolUseResult")).get("originalFile")
            changes = () if failed else _build_changes(part, str(line.get("cwd") or ""), before)
            ended: Literal["completed", "failed", "refused"] = (
                "refused" if refused else "failed" if failed else "completed"
            )
            return msgspec.structs.replace(part, output=output, ended=ended, changes=changes)

        turn.answer(str(block.get("tool_use_id") or ""), end)
    return bool(results)


def _build_changes(part: ImportedPart, folder: str, before: Any) -> tuple[ImportedChange, ...]:
    arguments = as_object(msgspec.json.decode(part.text))
    path = arguments.get("file_path")
    match part.tool:
        case "Write":
            changes = [build_replacement_change(folder, path, before, arguments.get("content"))]
        case "Edit":
            changes = [build_replacement_change(folder, path, arguments.get("old_string"), arguments.get("new_string"))]
        case "MultiEdit":
            edits = arguments.get("edits")
            changes = [
                build_replacement_change(
                    folder, path, as_object(edit).get("old_string"), as_object(edit).get("new_string")
                )
                for edit in (cast("list[Any]", edits) if isinstance(edits, list) else [])
            ]
        case _:
            return ()
    return tuple(change for change in changes if change is not None)


def _summarise_call(tool: str, arguments: Line) -> str:
    for name in ("command", "file_path", "pattern", "path", "url", "query", "description", "prompt"):
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return f"{tool} {find_first_line(value)}"[:500]
    return tool[:500]


def _list_blocks(message: Line) -> list[Line]:
    content = message.get("content")
    return [as_object(block) for block in cast("list[Any]", content)] if isinstance(content, list) else []


def _sum_counts(*counts: Any) -> int | None:
    numbers = [number for number in map(as_count, counts) if number is not None]
    return sum(numbers) if numbers else None
