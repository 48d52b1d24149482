"""Claude Code's transcripts: one JSON line an event, in a folder for each project.

A line of type `user` with text begins a turn; one with `tool_result` blocks answers calls. Lines of type `assistant` that
share a message id are the blocks of one model call. Lines marked `isSidechain` are of an agent of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from callboard.contracts.commands.imports import ImportedCall, ImportedChange, ImportedPart
from callboard.contracts.facts.model import StopReason

from .diffs import replaced
from .past import Line, Making, PastSession, PastTurn, first_line, lines, mapping, microseconds, number, text_of

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
_NOT_SAID = ("<command-name>", "<local-command-stdout>", "<system-reminder>", "Caveat: The messages below")
_INTERRUPTED = "[Request interrupted by user"


def find(home: Path) -> Iterator[PastSession]:
    """The sessions under Claude Code's folder (`~/.claude`), those without a turn left out."""
    for file in sorted(transcripts(home)):
        found = about(file)
        if found is not None:
            yield found


def transcripts(home: Path) -> Iterator[Path]:
    """The files in which sessions may be, in no order."""
    return (home / "projects").glob("*/*.jsonl")


def about(file: Path, most: int | None = None) -> PastSession | None:
    """What a transcript is about, looked for in its first `most` bytes; None where no person said anything in a folder.
    Raises OSError."""
    folder = title = ""
    for place, line in enumerate(lines(file, most)):
        folder = folder or str(line.get("cwd") or "")
        said = line.get("type") == "user" and not line.get("isMeta") and not line.get("isSidechain")
        text = text_of(mapping(line.get("message")).get("content")) if said else ""
        if text.strip() and not text.lstrip().startswith(_NOT_SAID):
            title = first_line(text)
        if (folder and title) or place > _HEAD:
            break
    if not folder or not title:
        return None
    return PastSession(
        source=SOURCE,
        source_id=file.stem,
        file=file,
        folder=folder,
        title=title,
        changed=file.stat().st_mtime,
        turns=lambda: turns(file),
    )


def turns(file: Path) -> Iterator[PastTurn]:
    """The turns of a transcript, in their order; a sidechain's stand where they began."""
    making: dict[str, Making] = {}
    session = file.stem
    at = 0
    for line in lines(file):
        kind = line.get("type")
        if kind not in ("user", "assistant") or line.get("isMeta"):
            continue
        at = microseconds(line.get("timestamp"), at)
        agent = _agent(line)
        message = mapping(line.get("message"))
        if kind == "assistant":
            if agent in making:
                _said(making[agent], message)
            continue
        if _answered(making, agent, line, message):
            continue
        text = text_of(message.get("content"))
        if text.startswith(_INTERRUPTED):
            if agent in making:
                making[agent].ended = "interrupted"
            continue
        if not text.strip() or text.lstrip().startswith(_NOT_SAID):
            continue
        if agent in making:
            yield making[agent].turn(session)
        making[agent] = Making(key=str(line.get("uuid") or at), at=at, input=text, agent=agent)
    yield from (one.turn(session) for one in sorted(making.values(), key=lambda one: one.at))


def _agent(line: Line) -> str:
    if not line.get("isSidechain"):
        return ""
    return f"sidechain-{str(line.get('agentId') or '1')[:12]}"


def _said(making: Making, message: Line) -> None:
    """The blocks of a line join those of the same message."""
    identity = str(message.get("id") or "")
    parts = tuple(part for block in _blocks(message) if (part := _part(block)) is not None)
    usage = mapping(message.get("usage"))
    stop = message.get("stop_reason")
    cached = number(usage.get("cache_read_input_tokens"))
    call = ImportedCall(
        model=str(message.get("model") or "unknown")[:200],
        parts=parts,
        stop_reason=_STOPS.get(stop, "unknown") if isinstance(stop, str) else "unknown",
        input_tokens=_sum(usage.get("input_tokens"), cached, usage.get("cache_creation_input_tokens")),
        output_tokens=number(usage.get("output_tokens")),
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
            arguments = mapping(block.get("input"))
            return ImportedPart(
                kind="tool",
                tool=str(block.get("name") or "unknown")[:200],
                call_id=str(block.get("id") or "")[:200],
                text=msgspec.json.encode(arguments).decode(),
                summary=_summary(str(block.get("name") or ""), arguments),
            )
        case _:
            return None


def _answered(making: dict[str, Making], agent: str, line: Line, message: Line) -> bool:
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
            changes = () if failed else _changes(part, str(line.get("cwd") or ""))
            ended: Literal["completed", "failed", "refused"] = (
                "refused" if refused else "failed" if failed else "completed"
            )
            return msgspec.structs.replace(part, output=output, ended=ended, changes=changes)

        turn.answer(str(block.get("tool_use_id") or ""), end)
    return bool(results)


def _changes(part: ImportedPart, folder: str) -> tuple[ImportedChange, ...]:
    arguments = mapping(msgspec.json.decode(part.text))
    path = arguments.get("file_path")
    match part.tool:
        case "Write":
            found = [replaced(folder, path, None, arguments.get("content"))]
        case "Edit":
            found = [replaced(folder, path, arguments.get("old_string"), arguments.get("new_string"))]
        case "MultiEdit":
            edits = arguments.get("edits")
            found = [
                replaced(folder, path, mapping(one).get("old_string"), mapping(one).get("new_string"))
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
    return [mapping(block) for block in cast("list[Any]", content)] if isinstance(content, list) else []


def _sum(*counts: Any) -> int | None:
    told = [one for one in map(number, counts) if one is not None]
    return sum(told) if told else None
