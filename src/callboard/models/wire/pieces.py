"""Conversion of the library's events to deltas of a response, and seals of its parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_ai import messages as lib

from callboard.contracts.ports.model import ReasoningDelta, TextDelta, ToolCallDelta

from .seal import encode_seal

Delta = TextDelta | ReasoningDelta | ToolCallDelta


def convert_event(event: lib.ModelResponseStreamEvent) -> Iterator[Delta]:
    """Yield the deltas of an event. Raises TypeError for values of the wrong type."""
    match event:
        case lib.PartStartEvent(index=index, part=lib.TextPart(content=text)):
            if text:
                yield TextDelta(index, text)
        case lib.PartStartEvent(index=index, part=lib.ThinkingPart(content=text)):
            # The first piece can be empty, but it fixes the position of the part.
            yield ReasoningDelta(index, text)
        case lib.PartStartEvent(index=index, part=lib.ToolCallPart() as call):
            yield ToolCallDelta(
                index, _check_text(call.tool_call_id), _check_text(call.tool_name), _encode_arguments(call.args)
            )
        case lib.PartDeltaEvent(index=index, delta=lib.TextPartDelta(content_delta=text)):
            if text:
                yield TextDelta(index, text)
        case lib.PartDeltaEvent(index=index, delta=lib.ThinkingPartDelta(content_delta=text)):
            if text:
                yield ReasoningDelta(index, text)
        case lib.PartDeltaEvent(index=index, delta=lib.ToolCallPartDelta() as delta):
            call_id, name = _check_text(delta.tool_call_id), _check_text(delta.tool_name_delta)
            yield ToolCallDelta(index, call_id, name, _encode_arguments(delta.args_delta))
        case _:
            return


def list_seals(by: str, parts: list[lib.ModelResponsePart]) -> Iterator[Delta]:
    """Yield the seals of the parts, which the provider sends at the end of the response."""
    for index, part in enumerate(parts):
        match part:
            case lib.ThinkingPart():
                seal = encode_seal(by, part.id, part.signature, part.provider_details)
                if seal:
                    yield ReasoningDelta(index, "", signature=seal)
            case lib.ToolCallPart(provider_details=details) if details:
                yield ToolCallDelta(index, signature=encode_seal(by, None, None, details))
            case _:
                pass


def _encode_arguments(arguments: str | Mapping[str, Any] | None) -> str:
    return json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, Mapping) else _check_text(arguments)


def _check_text(value: object) -> str:
    """Check a text: the SDK declares types that it does not check. Raises TypeError."""
    if value is None or isinstance(value, str):
        return value or ""
    raise TypeError(type(value).__name__)
