"""Codex's rollouts: one JSON line an event, in folders by date.

A `response_item` is what went to or came from the model: messages, reasoning, calls and their outputs. A message of the
user begins a turn. `event_msg` of type `token_count` tells the use of the newest model call, `turn_context` its model, and
`patch_apply_end` what became of a patch. `compacted` holds a summary. A rollout of a subagent is left out: it repeats what its
parent's holds, without saying where its own part begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from callboard.contracts.commands.imports import ImportedCall, ImportedPart

from .diffs import patch_changes
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

SOURCE: Literal["codex"] = "codex"
_HEAD = 200
#: What the program itself says in the person's name.
_NOT_SAID = (
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<permissions",
    "# AGENTS.md instructions",
)
#: The same, which earlier versions of this module took for a turn: each keeps its number, so that no turn is imported twice.
_NOT_TYPED = (
    "<user_shell_command>",
    "<subagent_notification>",
    "<skill>",
    "<hook_prompt",
    "<collaboration_mode>",
    "<model_switch>",
    "Another language model started to solve this problem",
)
#: What a call answers with that a person, or the rules that a person set, did not allow.
_DECLINED = ("patch rejected by user", "exec command rejected by user", "rejected by user")
#: How the output of a call begins that came to nothing.
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


def find(home: Path) -> Iterator[PastSession]:
    """The sessions under Codex's folder (`~/.codex`), those without a turn left out."""
    return readable_sessions(transcripts(home), about)


def transcripts(home: Path) -> Iterator[Path]:
    """The files in which sessions may be, in no order."""
    return (home / "sessions").glob("**/rollout-*.jsonl")


def parts(file: Path) -> list[Path]:
    """The other files of a session, of which there are none."""
    return []


def about(file: Path, most: int | None = None) -> PastSession | None:
    """What a transcript is about, looked for in its first `most` bytes; None where no person said anything in a folder.
    Raises OSError."""
    folder = title = identity = ""
    for place, line in enumerate(read_lines(file, most)):
        payload = as_object(line.get("payload"))
        if line.get("type") == "session_meta":
            if not identity and "subagent" in as_object(payload.get("source")):
                return None
            folder, identity = str(payload.get("cwd") or ""), str(payload.get("id") or "")
        said = payload.get("type") == "message" and payload.get("role") == "user"
        text = text_of(payload.get("content")) if said else ""
        if text.strip() and not text.lstrip().startswith(_NOT_SAID + _NOT_TYPED):
            title = first_line(text)
        if (folder and title) or place > _HEAD:
            break
    if not folder or not title:
        return None
    return PastSession(
        source=SOURCE,
        source_id=identity or session_id(file),
        file=file,
        folder=folder,
        title=title,
        changed=file.stat().st_mtime,
        turns=lambda: turns(file),
    )


def turns(file: Path) -> Iterator[PastTurn]:
    """The turns of a rollout, in their order."""
    reading = _Reading(session_id(file))
    for line in read_lines(file):
        done = reading.take(line)
        if done is not None:
            yield done
    last = reading.end()
    if last is not None:
        yield last


class _Reading:
    """What is known while a rollout is read."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._making: PastTurnBuilder | None = None
        self._folder = ""
        self._model = "unknown"
        self._at = 0
        self._count = 0
        self._fresh = True
        self._patches: dict[str, Line] = {}

    def take(self, line: Line) -> PastTurn | None:
        """Takes a line; the turn before it where the line begins another one."""
        self._at = microseconds(line.get("timestamp"), self._at)
        payload = as_object(line.get("payload"))
        match line.get("type"):
            case "session_meta":
                self._folder = str(payload.get("cwd") or self._folder)
            case "turn_context":
                self._model = str(payload.get("model") or self._model)[:200]
            case "response_item":
                return self._item(payload)
            case "event_msg":
                self._event(payload)
            case "compacted":
                self._compacted(payload)
            case _:
                pass
        return None

    def end(self) -> PastTurn | None:
        """The newest turn."""
        return self._making.turn(self._session) if self._making is not None else None

    def _item(self, payload: Line) -> PastTurn | None:
        kind = payload.get("type")
        if kind == "message" and payload.get("role") == "user":
            return self._asked(text_of(payload.get("content")))
        if self._making is None:
            return None
        if kind == "message" and payload.get("role") == "assistant":
            text = text_of(payload.get("content"))
            if text.strip():
                self._part(ImportedPart(kind="text", text=text))
        elif kind == "reasoning":
            thought = text_of(payload.get("summary"), ("summary_text",))
            if thought.strip():
                self._part(ImportedPart(kind="reasoning", text=thought))
        elif kind in _CALLS:
            self._part(_call(payload))
        elif kind in _OUTPUTS:
            self._answered(payload)
        return None

    def _asked(self, text: str) -> PastTurn | None:
        if not text.strip():
            return None
        if text.lstrip().startswith(_NOT_SAID):
            if text.lstrip().startswith("<turn_aborted>") and self._making is not None:
                self._making.ended = "interrupted"
            return None
        if text.lstrip().startswith(_NOT_TYPED):
            self._count += 1
            return None
        done = self.end()
        self._count += 1
        self._making = PastTurnBuilder(key=f"{self._count}", at=self._at, input=text)
        self._fresh = True
        return done

    def _compacted(self, payload: Line) -> None:
        """A summary is a mark in the turn under way, or a turn without an input where none is."""
        summary = ImportedPart(kind="compaction", text=text_of(payload.get("message")))
        if self._making is None:
            self._making = PastTurnBuilder(key=f"compacted {self._at}", at=self._at, input="", source="compaction")
        self._making.compact(summary)
        self._fresh = True

    def _part(self, part: ImportedPart) -> None:
        """A part of the model call under way; the first after an answer to a call begins another one."""
        if self._making is None:
            return
        calls = self._making.calls
        if self._fresh or not calls:
            calls.append(ImportedCall(model=self._model))
            self._fresh = False
        stop = "tool_calls" if part.kind == "tool" else "stop"
        calls[-1] = msgspec.structs.replace(calls[-1], parts=(*calls[-1].parts, part), stop_reason=stop)

    def _answered(self, payload: Line) -> None:
        output, code, success = _output(payload.get("output"))
        folder = self._folder
        call = str(payload.get("call_id") or "")
        applied = self._patches.pop(call, {})

        def end(part: ImportedPart) -> ImportedPart:
            ended = _ended(output, code, success, applied, is_patch=part.tool == "apply_patch")
            proved = ended == "completed" and (part.tool == "apply_patch" or code == 0)
            changes = tuple(patch_changes(folder, _patch(part))) if proved else ()
            return msgspec.structs.replace(part, output=output, exit_code=code, ended=ended, changes=changes)

        if self._making is not None and self._making.answer(call, end):
            self._fresh = True

    def _event(self, payload: Line) -> None:
        if payload.get("type") == "patch_apply_end":
            self._patches[str(payload.get("call_id") or "")] = payload
        if payload.get("type") == "turn_aborted" and self._making is not None:
            self._making.ended = "interrupted"
        if payload.get("type") != "token_count" or self._making is None or not self._making.calls:
            return
        used = as_object(as_object(payload.get("info")).get("last_token_usage"))
        self._making.calls[-1] = msgspec.structs.replace(
            self._making.calls[-1],
            input_tokens=as_count(used.get("input_tokens")),
            output_tokens=as_count(used.get("output_tokens")),
            cached_tokens=as_count(used.get("cached_input_tokens")),
            reasoning_tokens=as_count(used.get("reasoning_output_tokens")),
        )


def _call(payload: Line) -> ImportedPart:
    name = str(payload.get("name") or payload.get("type") or "unknown")[:200]
    given = payload.get("arguments") if "arguments" in payload else payload.get("input", payload.get("action"))
    text = given if isinstance(given, str) else msgspec.json.encode(given).decode()
    return ImportedPart(
        kind="tool",
        tool=name,
        call_id=str(payload.get("call_id") or "")[:200],
        text=text,
        summary=f"{name} {first_line(_command(text) or text)}"[:500],
    )


def _command(text: str) -> str:
    try:
        given = as_object(msgspec.json.decode(text))
    except msgspec.DecodeError:
        return ""
    command: Any = given.get("command") or given.get("cmd")
    return " ".join(map(str, cast("list[Any]", command))) if isinstance(command, list) else str(command or "")


def _patch(part: ImportedPart) -> str:
    """The patch of a call that applies one; nothing where it does something else."""
    text = part.text if part.tool == "apply_patch" else _command(part.text)
    begin = text.find("*** Begin Patch")
    return text[begin:] if begin >= 0 else ""


def _output(output: Any) -> tuple[str, int | None, bool | None]:
    """The output of a call, its exit code and its success, the latter None where the rollout does not say. Older versions
    write JSON text, newer ones an object or a text with a head."""
    if isinstance(output, str):
        try:
            fields = as_object(msgspec.json.decode(output))
        except (msgspec.DecodeError, RecursionError):
            return output, _exit_code(output), None
        inner = fields.get("output")
        code = as_object(fields.get("metadata")).get("exit_code")
        return (inner if isinstance(inner, str) else output), code if isinstance(code, int) else None, None
    fields = as_object(output)
    content, success = fields.get("content"), fields.get("success")
    text = content if isinstance(content, str) else text_of(output)
    return text, _exit_code(text), success if isinstance(success, bool) else None


def _exit_code(text: str) -> int | None:
    """The exit code in the head of an output: what the command itself wrote follows behind it."""
    found = _EXIT.search(text.partition("Output:\n")[0][:500])
    return int(found[1]) if found else None


def _ended(
    output: str, code: int | None, success: bool | None, applied: Line, *, is_patch: bool
) -> Literal["completed", "failed", "refused"] | None:
    """How a call ended. A patch is completed only where the rollout proves it, and else unknown."""
    told = output.strip().lower()
    if told in _DECLINED or applied.get("status") == "declined":
        return "refused"
    if code not in (None, 0) or success is False or applied.get("success") is False or told.startswith(_FAILED):
        return "failed"
    proved = code == 0 or success is True or applied.get("success") is True or told.startswith("success")
    return "completed" if proved or not is_patch else None
