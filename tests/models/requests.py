"""Requests to models, and readers of their answers."""

from __future__ import annotations

from typing import Any

from callboard.contracts.ports.model import (
    Content,
    Finished,
    Model,
    ModelEvent,
    ModelFailure,
    ModelMessage,
    ModelRequest,
    ReasoningContent,
    ReasoningDelta,
    Role,
    TextContent,
    TextDelta,
    ToolCallContent,
    ToolCallDelta,
    ToolResultContent,
    ToolSpec,
)

READ = ToolSpec(
    name="Read",
    description="Reads a file.",
    schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def make_message(role: Role, *content: Content | str) -> ModelMessage:
    parts = tuple(TextContent(part) if isinstance(part, str) else part for part in content)
    return ModelMessage(role=role, content=parts)


def make_request(*messages: ModelMessage | str, **fields: Any) -> ModelRequest:
    history = tuple(make_message("user", message) if isinstance(message, str) else message for message in messages)
    return ModelRequest(**{"model": "m", "system": (), "messages": history, **fields})


def make_call(call_id: str, tool: str, arguments: str) -> ToolCallContent:
    return ToolCallContent(call_id=call_id, tool=tool, arguments=arguments)


def make_result(call_id: str, tool: str, text: str, *, failed: bool = False) -> ModelMessage:
    return make_message("tool", ToolResultContent(call_id=call_id, tool=tool, text=text, failed=failed))


async def collect(model: Model, request: ModelRequest) -> list[ModelEvent]:
    return [event async for event in model.stream(request)]


async def read_answer(model: Model, request: ModelRequest) -> tuple[list[Content], Finished]:
    """Return the joined parts of the answer, and its end."""
    *deltas, finished = await collect(model, request)
    assert isinstance(finished, Finished)
    return join_parts(deltas), finished


async def read_failure(model: Model, request: ModelRequest) -> tuple[list[Content], ModelFailure]:
    """Return the joined parts before the failure, and the failure."""
    events: list[ModelEvent] = []
    try:
        async for event in model.stream(request):
            events.append(event)  # noqa: PERF401 events before a failure are kept
    except ModelFailure as failed:
        return join_parts(events), failed
    raise AssertionError(f"did not fail: {events}")


def join_parts(events: list[ModelEvent]) -> list[Content]:
    parts: dict[int, Content] = {}
    for event in events:
        match event, parts.get(getattr(event, "index", -1)):
            case TextDelta(index, text), None:
                parts[index] = TextContent(text)
            case TextDelta(index, text), TextContent(before):
                parts[index] = TextContent(before + text)
            case ReasoningDelta(index, text, signature), None:
                parts[index] = ReasoningContent(text, signature)
            case ReasoningDelta(index, text, later), ReasoningContent(before, signature):
                parts[index] = ReasoningContent(before + text, later or signature)
            case ToolCallDelta(index, call_id, tool, arguments, signature), None:
                parts[index] = ToolCallContent(call_id, tool, arguments, signature)
            case ToolCallDelta(index, _, _, arguments, later), ToolCallContent(call_id, tool, before, signature):
                parts[index] = ToolCallContent(call_id, tool, before + arguments, later or signature)
            case other:
                raise AssertionError(f"does not continue a part: {other}")
    return [parts[index] for index in sorted(parts)]
