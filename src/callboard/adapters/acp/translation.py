"""The protocol's words as ours: updates of a session become events, its tool calls calls of an external agent."""

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
    """The calls of one session as they stand: an update names only what changed."""

    def __init__(self) -> None:
        self._calls: dict[str, ExternalCall] = {}

    def apply(self, told: AnyCall) -> ExternalCall:
        """The call after this update. Of one that ended nothing is remembered."""
        before = self._calls.get(told.tool_call_id) or ExternalCall(call_id=told.tool_call_id)
        call = _merged(before, told)
        if call.status in ("completed", "failed"):
            self._calls.pop(call.call_id, None)
        else:
            self._calls[call.call_id] = call
        return call


def event_from_update(update: object, calls: ToolCallTracker) -> ExternalEvent | None:
    """The event of a session's update; None for one that tells nothing of the work: modes, commands, names."""
    match update:
        case schema.AgentMessageChunk():
            text = content_text(update.content)
            return TextReported(text, update.message_id or "") if text else None
        case schema.AgentThoughtChunk():
            text = content_text(update.content)
            return ThoughtReported(text, update.message_id or "") if text else None
        case schema.ToolCallStart() | schema.ToolCallProgress():
            return CallReported(calls.apply(update))
        case schema.AgentPlanUpdate():
            return PlanReported(tuple(_step(entry) for entry in update.entries))
        case _:
            return None


def prompt_end(response: schema.PromptResponse) -> tuple[PromptEnd, Usage]:
    """Why a prompt ended, and the tokens that the agent tells. An end that nobody knows is read as a cut one."""
    reason = str(response.stop_reason)
    used = response.usage
    usage = Usage()
    if used is not None:
        usage = Usage(
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cached_tokens=used.cached_read_tokens,
            reasoning_tokens=used.thought_tokens,
        )
    return cast("PromptEnd", reason) if reason in _ENDS else "cancelled", usage


def content_text(content: object) -> str:
    """What a block of content reads as. What is no text is named."""
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


def _merged(before: ExternalCall, told: AnyCall) -> ExternalCall:
    changes: dict[str, Any] = {}
    if told.title:
        changes["title"] = told.title
    if told.kind is not None and str(told.kind) in _KINDS:
        changes["kind"] = str(told.kind)
    if told.status is not None and str(told.status) in _STATUSES:
        changes["status"] = str(told.status)
    raw = told.raw_input
    if raw:
        changes["arguments"] = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, sort_keys=True)
        changes["command"] = _command(raw) or before.command
    if told.locations is not None:
        changes["paths"] = tuple(dict.fromkeys((*before.paths, *(place.path for place in told.locations))))
    if told.content is not None:
        diffs = _diffs(told.content)
        # Some agents show the change when they ask, and say only that it was made once it was.
        if diffs or told.status == "failed":
            changes["diffs"] = diffs
        said = [one for one in told.content if isinstance(one, schema.ContentToolCallContent)]
        # A terminal of the agent's own is named there; what it prints comes beside.
        if said or len(said) == len(told.content):
            changes["output"] = "\n".join(text for one in said if (text := content_text(one.content)))
    printed = _printed(told.field_meta)
    if printed:
        changes["output"] = changes.get("output", before.output) + printed
    if told.raw_output and not changes.get("output", before.output):
        changes["output"] = _output(told.raw_output)
    return msgspec.structs.replace(before, **changes)


def _diffs(content: Sequence[object]) -> tuple[ExternalDiff, ...]:
    return tuple(
        ExternalDiff(path=one.path, before=one.old_text, after=one.new_text)
        for one in content
        if isinstance(one, schema.FileEditToolCallContent)
    )


def _command(raw: object) -> str:
    """The command that a call would run, where its input has one."""
    found = cast("dict[str, object]", raw).get("command") if isinstance(raw, dict) else None
    if isinstance(found, str):
        return _inner(_words(found)) or found
    if isinstance(found, list):
        words = [str(word) for word in cast("list[object]", found)]
        return _inner(words) or " ".join(words)
    return ""


def _inner(words: Sequence[str]) -> str:
    """The command of a shell that is given it as one text, such as `/bin/bash -lc 'make all'`; else the empty text."""
    shell = len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1] in ("-c", "-lc")
    return words[2] if shell else ""


def _words(command: str) -> Sequence[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return ()


def _printed(meta: object) -> str:
    """What a command printed since, as Codex tells it: beside the protocol, for a terminal that is its own."""
    held = cast("dict[str, object]", meta) if isinstance(meta, dict) else {}
    more = held.get("terminal_output_delta")
    data = cast("dict[str, object]", more).get("data") if isinstance(more, dict) else None
    return data if isinstance(data, str) else ""


def _output(raw: object) -> str:
    """What a call printed, where it tells no content: the text among its raw output, or all of it."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, dict):
        held = cast("dict[str, object]", raw)
        for name in ("output", "formatted_output", "stdout", "error"):
            if isinstance(held.get(name), str):
                return str(held[name])
    return json.dumps(raw, ensure_ascii=False)


def _step(entry: schema.PlanEntry) -> PlanStep:
    status = str(entry.status)
    return PlanStep(entry.content, cast("Any", status) if status in _STEPS else "pending")
