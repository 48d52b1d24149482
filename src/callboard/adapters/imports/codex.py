"""Rollouts of Codex: one JSON line per event, in folders by date.

A `response_item` is input or output of the model: messages, reasoning, calls and their outputs. A user message starts a turn.
`event_msg` of type `token_count` has the usage of the newest model call, `turn_context` its model, and `patch_apply_end` the
result of a patch. `compacted` has a summary. Rollouts of subagents are omitted: they repeat their parent's rollout without
marking where their own part starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from callboard.contracts.commands.session_import import ImportedCall, ImportedPart

from .diffs import parse_patch_changes
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

SOURCE: Literal["codex"] = "codex"
_HEAD = 200
#: Beginnings of texts that the program writes as the user.
_NOT_INPUT = (
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<permissions",
    "# AGENTS.md instructions",
)
#: More such texts, which earlier versions imported as turns. They keep their numbers, so that no turn is imported twice.
_NOT_TYPED = (
    "<user_shell_command>",
    "<subagent_notification>",
    "<skill>",
    "<hook_prompt",
    "<collaboration_mode>",
    "<model_switch>",
    "Another language model started to solve this problem",
)
#: Outputs of calls that a person or a person's rules rejected.
_DECLINED = ("patch rejected by user", "exec command rejected by user", "rejected by user")
#: Beginnings of outputs of failed calls.
_FAILED = (
    "apply_patch verification failed",
    "patch rejected",
    "execution error",
    "aborted by user",
    "exec_command failed",
    "failed to parse function arguments",
    "unsupported call",
)
_EXIT = re.compile(r"(?m)^(?:Exit code:|Process exited with code) (-?\d+)$")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def find(product_folder: Path) -> Iterator[PastSession]:
    """Yield the sessions in Codex's folder (`~/.codex`), except those without a turn."""
    return read_sessions(list_transcripts(product_folder), read_session)


def list_transcripts(product_folder: Path) -> Iterator[Path]:
    """Yield the files that may be sessions, unordered."""
    return (product_folder / "sessions").glob("**/rollout-*.jsonl")


def list_parts(file: Path) -> list[Path]:
    """Return the other files of a session: Codex has none."""
    return []


def read_session(file: Path, max_bytes: int | None = None) -> PastSession | None:
    """Return the session of a rollout; None without a folder or a person's input, and for subagents.

    Args:
        max_bytes: Read only this number of bytes for the folder and title. Default: no limit.
    Raises:
        OSError: The rollout cannot be read.
    """
    folder = title = identity = ""
    for number, line in enumerate(read_lines(file, max_bytes)):
        payload = as_object(line.get("payload"))
        if line.get("type") == "session_meta":
            if not identity and "subagent" in as_object(payload.get("source")):
                return None
            folder, identity = str(payload.get("cwd") or ""), str(payload.get("id") or "")
        is_input = payload.get("type") == "message" and payload.get("role") == "user"
        text = read_text(payload.get("content")) if is_input else ""
        if text.strip() and not text.lstrip().startswith(_NOT_INPUT + _NOT_TYPED):
            title = find_first_line(text)
        if (folder and title) or number > _HEAD:
            break
    if not folder or not title:
        return None
    return PastSession(
        source=SOURCE,
        source_id=identity or read_session_id(file),
        file=file,
        folder=folder,
        title=title,
        changed=file.stat().st_mtime,
        turns=lambda: read_turns(file),
    )


def read_turns(file: Path) -> Iterator[PastTurn]:
    """Yield the turns of a rollout in order."""
    reader = _RolloutReader(read_session_id(file))
    for line in read_lines(file):
        turn = reader.apply(line)
        if turn is not None:
            yield turn
    last = reader.end()
    if last is not None:
        yield last


class _RolloutReader:
    """State while a rollout is read: the open turn, its model call, folder and model."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._turn: PastTurnBuilder | None = None
        self._folder = ""
        self._model = "unknown"
        self._at = 0
        self._count = 0
        self._starts_call = True
        self._patches: dict[str, Line] = {}

    def apply(self, line: Line) -> PastTurn | None:
        """Apply a line. If it starts a turn, return the turn before it."""
        self._at = parse_time(line.get("timestamp"), self._at)
        payload = as_object(line.get("payload"))
        match line.get("type"):
            case "session_meta":
                self._folder = str(payload.get("cwd") or self._folder)
            case "turn_context":
                self._model = str(payload.get("model") or self._model)[:200]
            case "response_item":
                return self._apply_item(payload)
            case "event_msg":
                self._apply_event(payload)
            case "compacted":
                self._add_summary(payload)
            case _:
                pass
        return None

    def end(self) -> PastTurn | None:
        """Return the last turn, or None."""
        return self._turn.build(self._session) if self._turn is not None else None

    def _apply_item(self, payload: Line) -> PastTurn | None:
        kind = payload.get("type")
        if kind == "message" and payload.get("role") == "user":
            return self._start_turn(read_text(payload.get("content")))
        if self._turn is None:
            return None
        if kind == "message" and payload.get("role") == "assistant":
            text = read_text(payload.get("content"))
            if text.strip():
                self._add_part(ImportedPart(kind="text", text=text))
        elif kind == "reasoning":
            thought = read_text(payload.get("summary"), ("summary_text",))
            if thought.strip():
                self._add_part(ImportedPart(kind="reasoning", text=thought))
        elif kind in _CALLS:
            self._add_part(_convert_call(payload))
        elif kind in _OUTPUTS:
            self._apply_output(payload)
        return None

    def _start_turn(self, text: str) -> PastTurn | None:
        if not text.strip():
            return None
        if text.lstrip().startswith(_NOT_INPUT):
            if text.lstrip().startswith("<turn_aborted>") and self._turn is not None:
                self._turn.ended = "interrupted"
            return None
        if text.lstrip().startswith(_NOT_TYPED):
            self._count += 1
            return None
        done = self.end()
        self._count += 1
        self._turn = PastTurnBuilder(key=f"{self._count}", at=self._at, input=text)
        self._starts_call = True
        return done

    def _add_summary(self, payload: Line) -> None:
        """Add a summary to the open turn, or as a turn without input if none is open."""
        summary = ImportedPart(kind="compaction", text=read_text(payload.get("message")))
        if self._turn is None:
            self._turn = PastTurnBuilder(key=f"compacted {self._at}", at=self._at, input="", source="compaction")
        self._turn.compact(summary)
        self._starts_call = True

    def _add_part(self, part: ImportedPart) -> None:
        """Add a part to the current model call. The first part after the result of a call starts a new one."""
        if self._turn is None:
            return
        calls = self._turn.calls
        if self._starts_call or not calls:
            calls.append(ImportedCall(model=self._model))
            self._starts_call = False
        stop = "tool_calls" if part.kind == "tool" else "stop"
        calls[-1] = msgspec.structs.replace(calls[-1], parts=(*calls[-1].parts, part), stop_reason=stop)

    def _apply_output(self, payload: Line) -> None:
        output, code, success = _read_output(payload.get("output"))
        folder = self._folder
        call = str(payload.get("call_id") or "")
        applied = self._patches.pop(call, {})

        def end(part: ImportedPart) -> ImportedPart:
            ended = _classify_end(output, code, success, applied, is_patch=part.tool == "apply_patch")
            proved = ended == "completed" and (part.tool == "apply_patch" or code == 0)
            changes = tuple(parse_patch_changes(folder, _find_patch(part))) if proved else ()
            return msgspec.structs.replace(part, output=output, exit_code=code, ended=ended, changes=changes)

        if self._turn is not None and self._turn.answer(call, end):
            self._starts_call = True

    def _apply_event(self, payload: Line) -> None:
        if payload.get("type") == "patch_apply_end":
            self._patches[str(payload.get("call_id") or "")] = payload
        if payload.get("type") == "turn_aborted" and self._turn is not None:
            self._turn.ended = "interrupted"
        if payload.get("type") != "token_count" or self._turn is None or not self._turn.calls:
            return
        used = as_object(as_object(payload.get("info")).get("last_token_usage"))
        self._turn.calls[-1] = msgspec.structs.replace(
            self._turn.calls[-1],
            input_tokens=as_count(used.get("input_tokens")),
            output_tokens=as_count(used.get("output_tokens")),
            cached_tokens=as_count(used.get("cached_input_tokens")),
            reasoning_tokens=as_count(used.get("reasoning_output_tokens")),
        )


def _convert_call(payload: Line) -> ImportedPart:
    name = str(payload.get("name") or payload.get("type") or "unknown")[:200]
    arguments = payload.get("arguments") if "arguments" in payload else payload.get("input", payload.get("action"))
    text = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
    return ImportedPart(
        kind="tool",
        tool=name,
        call_id=str(payload.get("call_id") or "")[:200],
        text=text,
        summary=f"{name} {find_first_line(_read_command(text) or text)}"[:500],
    )


def _read_command(text: str) -> str:
    try:
        arguments = as_object(msgspec.json.decode(text))
    except msgspec.DecodeError:
        return ""
    command: Any = arguments.get("command") or arguments.get("cmd")
    return " ".join(map(str, cast("list[Any]", command))) if isinstance(command, list) else str(command or "")


def _find_patch(part: ImportedPart) -> str:
    """Return the patch that a call applies; empty for any other call."""
    text = part.text if part.tool == "apply_patch" else _read_command(part.text)
    begin = text.find("*** Begin Patch")
    return text[begin:] if begin >= 0 else ""


def _read_output(output: Any) -> tuple[str, int | None, bool | None]:
    """Return the output, exit code and success of a call; None if the rollout does not have them.

    Older versions write JSON text, newer ones an object or a text with a head.
    """
    if isinstance(output, str):
        try:
            fields = as_object(msgspec.json.decode(output))
        except (msgspec.DecodeError, RecursionError):
            return output, _find_exit_code(output), None
        inner = fields.get("output")
        code = as_object(fields.get("metadata")).get("exit_code")
        return (inner if isinstance(inner, str) else output), code if isinstance(code, int) else None, None
    fields = as_object(output)
    content, success = fields.get("content"), fields.get("success")
    text = content if isinstance(content, str) else read_text(output)
    return text, _find_exit_code(text), success if isinstance(success, bool) else None


def _find_exit_code(text: str) -> int | None:
    """Return the exit code in the head of an output, before the command's own output."""
    match = _EXIT.search(text.partition("Output:\n")[0][:500])
    return int(match[1]) if match else None


def _classify_end(
    output: str, code: int | None, success: bool | None, applied: Line, *, is_patch: bool
) -> Literal["completed", "failed", "refused"] | None:
    """Return the end of a call. A patch is completed only if the rollout proves it; otherwise its end is unknown (None)."""
    text = output.strip().lower()
    if text in _DECLINED or applied.get("status") == "declined":
        return "refused"
    if code not in (None, 0) or success is False or applied.get("success") is False or text.startswith(_FAILED):
        return "failed"
    is_proved = code == 0 or success is True or applied.get("success") is True or text.startswith("success")
    return "completed" if is_proved or not is_patch else None
