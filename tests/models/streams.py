"""Short answers of each wire format with a given stop reason."""

from __future__ import annotations

from typing import Any

from callboard.models.wire import Format
from tests.models.servers import Exchange, Play

TEXT = "Hello."


def play_ending(format: Format, word: str | None) -> Play:
    """Return a play that streams `TEXT` and ends with the stop reason, or without one."""

    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        for name, data in _EVENTS[format](word):
            await exchange.event(data, name)
        await exchange.end_stream()

    return play


def _chat(word: str | None) -> list[tuple[str, Any]]:
    chunk = {"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return [
        ("", {**chunk, "choices": [{"index": 0, "delta": {"content": TEXT}, "finish_reason": None}]}),
        ("", {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": word}]}),
        ("", "[DONE]"),
    ]


def _responses(word: str | None) -> list[tuple[str, Any]]:
    item: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "in_progress",
        "content": [],
    }
    base: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    incomplete = word not in {"completed", "failed", "cancelled"}
    status = "incomplete" if incomplete else word
    details = {"reason": word} if incomplete and word is not None else None
    last = {**base, "status": status, "incomplete_details": details}
    part = {"type": "output_text", "text": "", "annotations": []}
    end = {"completed": "completed", "failed": "failed"}.get(str(status), "incomplete")
    events: list[tuple[str, Any]] = [
        ("response.created", {"response": {**base, "status": "in_progress"}}),
        ("response.output_item.added", {"output_index": 0, "item": item}),
        ("response.content_part.added", {"item_id": "msg_1", "output_index": 0, "content_index": 0, "part": part}),
        (
            "response.output_text.delta",
            {"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": TEXT, "logprobs": []},
        ),
        (f"response.{end}", {"response": last}),
    ]
    return [(name, {"type": name, "sequence_number": at, **data}) for at, (name, data) in enumerate(events)]


def _messages(word: str | None) -> list[tuple[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    events: list[tuple[str, Any]] = [
        ("message_start", {"message": message}),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": TEXT}}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": word, "stop_sequence": None}, "usage": usage}),
        ("message_stop", {}),
    ]
    return [(name, {"type": name, **data}) for name, data in events]


def _generate_content(word: str | None) -> list[tuple[str, Any]]:
    content = {"role": "model", "parts": [{"text": TEXT}]}
    last: dict[str, Any] = {"index": 0, **({} if word is None else {"finishReason": word})}
    return [("", {"candidates": [{"index": 0, "content": content}]}), ("", {"candidates": [last], "modelVersion": "m"})]


_EVENTS = {"openai-compatible": _chat, "openai": _responses, "anthropic": _messages, "google": _generate_content}
