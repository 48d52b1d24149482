"""Conversion of protocol updates to events and external calls."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any, cast, get_args

import msgspec
from acp import schema

from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.ports.external import (
    CallKind,
    CallReported,
    CallStatus,
    ExternalCall,
    ExternalDiff,
    ExternalEvent,
    PlanReported,
    PromptEnd,
    TextReported,
    ThoughtReported,
)
from callboard.contracts.ports.model import Usage

_KINDS: tuple[str, ...] = get_args(CallKind)
_STATUSES: tuple[str, ...] = get_args(CallStatus)
_ENDS: tuple[str, ...] = get_args(PromptEnd)
_SHELLS = ("bash", "sh", "zsh", "dash")
_STEPS = ("pending", "in_progress", "completed")

AnyCall = schema.ToolCallStart | schema.ToolCallProgress | schema.ToolCallUpdate


class ToolCallTracker:
    """Current state of the open calls of a session. An update contains only changed fields."""

    def __init__(self) -> None:
        self._calls: dict[str, ExternalCall] = {}

    def apply(self, update: AnyCall) -> ExternalCall:
        """Return the call after this update. Calls that ended are forgotten."""
        before = self._calls.get(update.tool_call_id) or ExternalCall(call_id=update.tool_call_id)
        call = _merge(before, update)
        if call.status in ("completed", "failed"):
            self._calls.pop(call.call_id, None)
        else:
            self._calls[call.call_id] = call
        return call


def convert_update(update: object, calls: ToolCallTracker) -> ExternalEvent | None:
    """Return the event of a session update; None for updates of modes, commands and names."""
    match update:
        case schema.AgentMessageChunk():
            text = format_content(update.content)
            return TextReported(text, update.message_id or "") if text else None
        case schema.AgentThoughtChunk():
            text = format_content(update.content)
            return ThoughtReported(text, update.message_id or "") if text else None
        case schema.ToolCallStart() | schema.ToolCallProgress():
            return CallReported(calls.apply(update))
        case schema.AgentPlanUpdate():
            return PlanReported(tuple(_convert_step(entry) for entry in update.entries))
        case _:
            return None


def convert_end(response: schema.PromptResponse) -> tuple[PromptEnd, Usage]:
    """Return why a prompt ended, and the reported tokens. An unknown reason counts as `cancelled`."""
    reason = str(response.stop_reason)
    usage = Usage()
    if (reported := response.usage) is not None:
        usage = Usage(
            input_tokens=reported.input_tokens,
            output_tokens=reported.output_tokens,
            cached_tokens=reported.cached_read_tokens,
            reasoning_tokens=reported.thought_tokens,
        )
    return cast("PromptEnd", reason) if reason in _ENDS else "cancelled", usage


def format_content(content: object) -> str:
    """Return the text of a content block; a link or a type for other content."""
    match content:
        case schema.TextContentBlock():
            return content.text
        case schema.ResourceContentBlock():
            return f"[{content.name}]({content.uri})"
        case schema.EmbeddedResourceContentBlock():
            resource = content.resource
            return resource.text if isinstance(resource, schema.TextResourceContents) else f"[{resource.uri}]"
        case schema.ImageContentBlock() | schema.AudioContentBlock():
            return f"[{content.type}: {content.mime_type}]"
        case _:
            return ""


def _merge(before: ExternalCall, update: AnyCall) -> ExternalCall:
    changes: dict[str, Any] = {}
    if update.title:
        changes["title"] = update.title
    if update.kind is not None and str(update.kind) in _KINDS:
        changes["kind"] = str(update.kind)
    if update.status is not None and str(update.status) in _STATUSES:
        changes["status"] = str(update.status)
    raw = update.raw_input
    if raw:
        changes["arguments"] = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, sort_keys=True)
        changes["command"] = _find_command(raw) or before.command
    if update.locations is not None:
        changes["paths"] = tuple(dict.fromkeys((*before.paths, *(location.path for location in update.locations))))
    if update.content is not None:
        diffs = _list_diffs(update.content)
        # Some agents send the diff with their request for permission only, and omit it from the result.
        if diffs or update.status == "failed":
            changes["diffs"] = diffs
        contents = [block for block in update.content if isinstance(block, schema.ContentToolCallContent)]
        # Content that names only a terminal of the agent has no text; the output arrives separately.
        if contents or not update.content:
            changes["output"] = "\n".join(text for block in contents if (text := format_content(block.content)))
    printed = _read_terminal_output(update.field_meta)
    if printed:
        changes["output"] = changes.get("output", before.output) + printed
    if update.raw_output and not changes.get("output", before.output):
        changes["output"] = _format_raw_output(update.raw_output)
    return msgspec.structs.replace(before, **changes)


def _list_diffs(content: Sequence[object]) -> tuple[ExternalDiff, ...]:
    return tuple(
        ExternalDiff(path=block.path, before=block.old_text, after=block.new_text)
        for block in content
        if isinstance(block, schema.FileEditToolCallContent)
    )


def _find_command(raw: object) -> str:
    """Return the command that a call would run; empty if its input has none."""
    command = cast("dict[str, object]", raw).get("command") if isinstance(raw, dict) else None
    if isinstance(command, str):
        return _unwrap_shell(_split_words(command)) or command
    if isinstance(command, list):
        words = [str(word) for word in cast("list[object]", command)]
        return _unwrap_shell(words) or " ".join(words)
    return ""


def _unwrap_shell(words: Sequence[str]) -> str:
    """Return the command inside a shell call such as `/bin/bash -lc 'make all'`; empty for any other call."""
    shell = len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1] in ("-c", "-lc")
    return words[2] if shell else ""


def _split_words(command: str) -> Sequence[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return ()


def _read_terminal_output(meta: object) -> str:
    """Return new output of the agent's own terminal. Codex sends it in the metadata, outside the protocol."""
    fields = cast("dict[str, object]", meta) if isinstance(meta, dict) else {}
    delta = fields.get("terminal_output_delta")
    data = cast("dict[str, object]", delta).get("data") if isinstance(delta, dict) else None
    return data if isinstance(data, str) else ""


def _format_raw_output(raw: object) -> str:
    """Return the text field of a call's raw output, or all of it as JSON."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, dict):
        fields = cast("dict[str, object]", raw)
        for name in ("output", "formatted_output", "stdout", "error"):
            if isinstance(fields.get(name), str):
                return str(fields[name])
    return json.dumps(raw, ensure_ascii=False)


def _convert_step(entry: schema.PlanEntry) -> PlanStep:
    status = str(entry.status)
    return PlanStep(entry.content, cast("Any", status) if status in _STEPS else "pending")
