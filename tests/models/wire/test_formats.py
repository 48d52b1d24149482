"""The formats other than chat completions, over real HTTP with the third-party server aimock."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.contracts.facts.model import Limit
from callboard.contracts.ports.model import Finished, ModelFailure, Quota, ReasoningContent, TextContent, TextDelta
from callboard.models.wire import Format, WireModel
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
from tests.models.servers import Aimock

FORMATS: list[tuple[Format, str]] = [
    ("openai", "gpt-5.4"),
    ("anthropic", "claude-sonnet-5-5"),
    ("google", "gemini-3.8-flash"),
]


@pytest.fixture(params=FORMATS, ids=lambda format_and_name: format_and_name[0])
async def model(request: pytest.FixtureRequest, mock: Aimock) -> Any:
    format, name = request.param
    model = WireModel(mock.endpoint(format), name)
    yield model
    await model.close()


async def test_text_streams_in_pieces_and_ends_with_usage_and_reason(model: WireModel):
    *pieces, end = await collect(model, make_request("say hello"))

    texts = [piece.text for piece in pieces if isinstance(piece, TextDelta)]
    assert len(texts) > 3
    assert "".join(texts) == "Hello there, 你好, from the other side."
    assert isinstance(end, Finished)
    assert (end.stop_reason, end.usage.input_tokens, end.usage.output_tokens) == ("stop", 120, 40)
    assert end.usage.source == "listed"
    assert end.usage.amount is not None
    assert 0 < end.usage.amount < 0.01


async def test_reasoning_is_a_separate_part_and_never_in_the_text(model: WireModel):
    """UI-06"""
    parts, end = await read_answer(model, make_request("think first"))

    reasoning, text = parts
    assert isinstance(reasoning, ReasoningContent)
    assert (reasoning.text, text) == ("The question is about the answer.", TextContent("It is 42."))
    assert end.stop_reason == "stop"


async def test_calls_keep_their_order_ids_and_arguments(model: WireModel):
    parts, end = await read_answer(model, make_request("read both", tools=(READ,)))

    content = [part for part in parts if not isinstance(part, ReasoningContent)]
    arguments = [('{"path":"a.md"}', '{"path": "a.md"}'), ('{"path":"docs/b.md"}', '{"path": "docs/b.md"}')]
    assert content[0] == TextContent("I read both files.")
    assert [
        call in [make_call(name, "Read", text) for text in ways]
        for call, name, ways in zip(content[1:], ("call_a", "call_b"), arguments, strict=True)
    ] == [True, True]
    assert end.stop_reason == "tool_calls"


async def test_a_conversation_with_calls_and_results_can_continue(model: WireModel):
    parts, _ = await read_answer(model, make_request("read both", tools=(READ,)))
    request = make_request(
        "read both",
        make_message("assistant", *parts),
        make_result("call_a", "Read", "# A"),
        make_result("call_b", "Read", "no such file", failed=True),
        "say hello",
        tools=(READ,),
        system=("You help.",),
        one_call=True,
    )
    content, end = await read_answer(model, request)
    assert content[-1] == TextContent("Hello there, 你好, from the other side.")
    assert end.stop_reason == "stop"


async def test_a_wrong_key_is_not_retryable(mock: Aimock):
    """COM-13"""
    for format, name in FORMATS:
        model = WireModel(mock.endpoint(format, api_key="wrong"), name)
        _, failed = await read_failure(model, make_request("say hello"))
        await model.close()
        assert (failed.code, failed.retryable) == ("model_auth", False), format


async def test_a_truncated_stream_is_not_an_answer(model: WireModel):
    parts, failed = await read_failure(model, make_request("be cut"))
    texts = [part.text for part in parts if isinstance(part, TextContent)]
    assert "".join(texts) != "This answer ends long before its last word."
    assert (failed.code, failed.retryable) == ("model_cut_stream", True)


@pytest.mark.parametrize(
    ("prompt", "code", "retryable"),
    [("slow down", "model_rate_limited", True), ("fall over", "model_unavailable", True)],
)
async def test_a_refused_request_has_a_stable_code(model: WireModel, prompt: str, code: str, retryable: bool):
    parts, failed = await read_failure(model, make_request(prompt))
    assert (parts, failed.code, failed.retryable) == ([], code, retryable)


async def test_a_failure_has_the_limits_of_the_provider(model: WireModel):
    _, failed = await read_failure(model, make_request("slow down"))
    assert isinstance(failed, ModelFailure)
    assert failed.retry_after == 7.0
    assert failed.quota == Quota(
        limits=(
            Limit(what="requests", limit=60, remaining=0, resets_in_ms=1000),
            Limit(what="tokens", limit=150_000, remaining=0, resets_in_ms=360_000),
        ),
        retry_after_ms=7000,
    )


async def test_the_context_window_of_a_model_is_known_after_loading(mock: Aimock):
    for format, name in FORMATS:
        model = WireModel(mock.endpoint(format), name)
        await model.warm()
        assert model.window is not None, format
        assert model.window >= 100_000, format
        await model.close()
    configured = WireModel(mock.endpoint("anthropic", window=5), "claude-sonnet-5-5")
    await configured.warm()
    assert configured.window == 5
    await configured.close()
    unlisted = WireModel(mock.endpoint("openai-compatible"), "m")
    await unlisted.warm()
    assert unlisted.window is None
    await unlisted.close()
