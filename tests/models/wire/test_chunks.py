"""Chunks of answers, parsed to the same objects as the library's (R4)."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, cast

import httpx2
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionChunk

from callboard.models.wire.formats.chat import ChunkClient

CALL = {
    "index": 0,
    "id": "call_1",
    "type": "function",
    "function": {"name": "Read", "arguments": "{}"},
    "extra": {"a": 1},
}
DELTA = {"role": "assistant", "content": "text", "reasoning_content": "why", "tool_calls": [CALL]}
USAGE = {
    "prompt_tokens": 3,
    "completion_tokens": 4,
    "total_tokens": 7,
    "cost": 0.25,
    "prompt_tokens_details": {"cached_tokens": 1, "audio_tokens": None},
}
CHUNK: dict[str, Any] = {
    "id": "r1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "system_fingerprint": None,
    "provider": "some gateway",
    "service_tier": "default",
    "choices": [{"index": 0, "delta": DELTA, "logprobs": None, "finish_reason": "stop", "native_finish_reason": "eos"}],
    "usage": USAGE,
}
VALUES = [None, "", "other", "1", 0, 1, 1.0, 2.5, True, [], {}, [None], {"a": "b"}]
MISSING = object()
RESPONSE = httpx2.Response(200)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all keys and items."""
    keys: list[Any] = (
        list(value) if isinstance(value, dict) else [*range(len(value))] if isinstance(value, list) else []
    )
    return [place for key in keys for place in ((*path, key), *places(value[key], (*path, key)))]


def process(client: AsyncOpenAI, data: Any) -> ChatCompletionChunk:
    read = cast("Any", client)._process_response_data
    return read(data=copy.deepcopy(data), cast_to=ChatCompletionChunk, response=RESPONSE)


OURS, THEIRS = (kind(base_url="http://127.0.0.1:9/v1", api_key="none") for kind in (ChunkClient, AsyncOpenAI))


def variants() -> Iterator[dict[str, Any]]:
    """Yield the chunk, and copies with each place removed or replaced."""
    yield CHUNK
    for path in places(CHUNK):
        for value in (MISSING, *VALUES):
            chunk = copy.deepcopy(CHUNK)
            inner: Any = chunk
            for key in path[:-1]:
                inner = inner[key]
            if value is MISSING:
                del inner[path[-1]]
            else:
                inner[path[-1]] = value
            yield chunk


def test_r4_a_chunk_is_the_same_object_as_the_library_builds() -> None:
    for data in variants():
        ours, theirs = process(OURS, data), process(THEIRS, data)
        assert repr(ours) == repr(theirs)
        assert ours.to_dict(warnings=False) == theirs.to_dict(warnings=False)


def test_r4_a_standard_chunk_is_not_left_to_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AsyncOpenAI, "_process_response_data", None)
    assert process(OURS, CHUNK).choices[0].delta.content == "text"
