"""Chat completions over real HTTP, with the third-party server aimock."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from callboard.contracts.ports.model import Finished, ModelFailure, ReasoningContent, TextContent, TextDelta, Usage
from callboard.models.wire import Endpoint, WireModel
from callboard.models.wire.seal import encode_seal
from tests.models.requests import (
    READ,
    collect,
    make_call,
    make_message,
    make_request,
    make_result,
    read_answer,
    read_failure,
)
from tests.models.servers import KEY, Aimock

CUT = "This answer ends long before its last word."


@pytest.fixture
async def model(mock: Aimock) -> AsyncIterator[WireModel]:
    model = WireModel(Endpoint(provider="mock", base_url=mock.base_url, api_key=KEY), "m")
    yield model
    await model.close()


async def test_text_streams_in_pieces_and_ends_with_usage_reason_and_id(model: WireModel):
    *pieces, end = await collect(model, make_request("say hello"))

    texts = [piece for piece in pieces if isinstance(piece, TextDelta)]
    assert len(texts) == len(pieces) > 3
    assert {piece.index for piece in texts} == {0}
    assert "".join(piece.text for piece in texts) == "Hello there, 你好, from the other side."
    assert end == Finished(
        stop_reason="stop",
        provider_reason="stop",
        usage=Usage(input_tokens=120, output_tokens=40),
        response_id="chatcmpl-known",
    )


async def test_reasoning_is_a_separate_part_and_never_in_the_text(model: WireModel):
    """UI-06"""
    parts, end = await read_answer(model, make_request("think first"))

    assert parts == [
        ReasoningContent("The question is about the answer.", encode_seal("mock/m", "reasoning_content", None, None)),
        TextContent("It is 42."),
    ]
    assert end.stop_reason == "stop"


async def test_calls_keep_their_order_ids_and_arguments(model: WireModel):
    parts, end = await read_answer(model, make_request("read both", tools=(READ,)))

    assert parts == [
        TextContent("I read both files."),
        make_call("call_a", "Read", '{"path":"a.md"}'),
        make_call("call_b", "Read", '{"path":"docs/b.md"}'),
    ]
    assert end.stop_reason == "tool_calls"


@pytest.mark.parametrize(("prompt", "reason"), [("stop early", "length"), ("forbidden words", "content_filter")])
async def test_an_answer_has_a_stop_reason(model: WireModel, prompt: str, reason: str):
    _, end = await read_answer(model, make_request(prompt))
    assert end.stop_reason == reason


async def test_prompt_layers_are_one_system_message_and_tools_are_sent(model: WireModel, mock: Aimock):
    await collect(model, make_request("say hello", system=("You help.", "", "Be short."), tools=(READ,)))

    sent = mock.last_request()
    assert sent["messages"] == [
        {"role": "system", "content": "You help.\n\nBe short."},
        {"role": "user", "content": "say hello"},
    ]
    assert sent["tools"] == [
        {
            "type": "function",
            "function": {"name": "read", "description": "Reads a file.", "parameters": dict(READ.schema)},
        }
    ]
    assert sent["stream_options"] == {"include_usage": True}
    assert "parallel_tool_calls" not in sent


async def test_one_call_is_requested_from_the_server(model: WireModel, mock: Aimock):
    await collect(model, make_request("read both", tools=(READ,), one_call=True))
    assert mock.last_request()["parallel_tool_calls"] is False


async def test_a_history_with_reasoning_calls_and_results_is_sent_in_the_wire_format(model: WireModel, mock: Aimock):
    await collect(
        model,
        make_request(
            "read it",
            make_message(
                "assistant",
                ReasoningContent("I need it.", encode_seal("mock/m", "reasoning_content", None, None)),
                make_call("c1", "Read", '{"path":"a.md"}'),
            ),
            make_result("c1", "Read", "# A"),
            make_message(
                "assistant",
                ReasoningContent("of another provider", encode_seal("other/m", "reasoning_content", None, None)),
                ReasoningContent("of an unknown provider", "sig=="),
                "Two more.",
                make_call("c2", "Read", "{broken"),
            ),
            make_result("c2", "Read", "tool_arguments: not JSON", failed=True),
            make_message("assistant", "Done."),
            "say hello",
            tools=(READ,),
        ),
    )

    assert mock.last_request()["messages"] == [
        {"role": "user", "content": "read it"},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "I need it.",
            "tool_calls": [_call("c1", '{"path":"a.md"}')],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "# A"},
        {
            "role": "assistant",
            "content": "Two more.",
            # Servers parse the arguments of earlier calls, so invalid ones become an object.
            "tool_calls": [_call("c2", '{"INVALID_JSON":"{broken"}')],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "tool_arguments: not JSON"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "say hello"},
    ]


async def test_a_wrong_key_is_not_retryable(mock: Aimock):
    """COM-13: a rejected key has another code than a slow provider."""
    model = WireModel(Endpoint(provider="mock", base_url=mock.base_url, api_key="wrong"), "m")

    parts, failed = await read_failure(model, make_request("say hello"))
    await model.close()

    assert (parts, *failure_fields(failed)) == ([], "model_auth", False, None)
    assert failed.message == "mock responded with 401: Invalid API key"


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("too much", ("model_context_full", False, None)),
        ("out of quota", ("model_quota", False, 1.0)),
        ("slow down", ("model_rate_limited", True, 7.0)),
        ("fall over", ("model_unavailable", True, None)),
        ("a prompt that no fixture knows", ("model_unavailable", True, None)),
    ],
)
async def test_a_refused_request_has_a_stable_code(model: WireModel, prompt: str, expected: tuple[Any, ...]):
    parts, failed = await read_failure(model, make_request(prompt))
    assert (parts, failure_fields(failed)) == ([], expected)


async def test_a_truncated_stream_is_not_an_answer(model: WireModel):
    parts, failed = await read_failure(model, make_request("be cut"))

    (part,) = parts
    assert isinstance(part, TextContent)
    assert part.text != CUT
    assert CUT.startswith(part.text)
    assert failure_fields(failed) == ("model_cut_stream", True, None)


async def test_first_calls_at_the_same_time_share_one_client(mock: Aimock):
    model = WireModel(Endpoint(provider="mock", base_url=mock.base_url, api_key=KEY), "m")

    answers = await asyncio.gather(*(read_answer(model, make_request("think first")) for _ in range(4)))
    await model.close()

    assert [parts[-1] for parts, _ in answers] == [TextContent("It is 42.")] * 4


async def test_closing_an_iterator_early_leaves_the_model_usable(model: WireModel):
    async with aclosing(model.stream(make_request("say hello"))) as events:
        first = await anext(events)

    assert isinstance(first, TextDelta)
    assert (await read_answer(model, make_request("say hello")))[1].stop_reason == "stop"


def test_the_library_is_not_imported_before_the_first_call():
    probe = (
        "import sys; from callboard.models.wire import Endpoint, WireModel; "
        "WireModel(Endpoint(provider='p', base_url='http://127.0.0.1:1/v1'), 'm'); "
        "print(sorted({'pydantic_ai', 'openai', 'httpx2', 'pydantic'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_an_endpoint_shows_no_key():
    """The key goes to the provider and nowhere else."""
    assert KEY not in repr(Endpoint(provider="mock", base_url="http://127.0.0.1:1/v1", api_key=KEY))


def failure_fields(failed: ModelFailure) -> tuple[str, bool, float | None]:
    return failed.code, failed.retryable, failed.retry_after


def _call(call_id: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "read", "arguments": arguments}}
