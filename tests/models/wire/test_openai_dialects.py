"""Differences between servers of OpenAI's format, over real HTTP."""

from __future__ import annotations

import json

from callboard.contracts.ports.model import Finished, ReasoningContent, TextContent, Usage
from callboard.models.wire.seal import encode_seal
from tests.models.requests import READ, make_call, make_request, read_answer
from tests.models.servers import Exchange, connect_model


async def _as_ollama(exchange: Exchange) -> None:
    await exchange.begin_stream()
    await exchange.delta({"role": "assistant", "content": "", "reasoning": "Let me "})
    await exchange.delta({"role": "assistant", "content": "", "reasoning": "see."})
    await exchange.delta({"content": "I look."})
    for number, path in enumerate(("a.md", "b.md")):
        function = {"name": "Read", "arguments": json.dumps({"path": path})}
        call = {"index": number, "id": f"call_{number}", "type": "function", "function": function}
        await exchange.delta({"content": "", "tool_calls": [call]})
    # Ollama ends answers with tool calls with "stop".
    await exchange.text("", finish_reason="stop")
    await exchange.event("[DONE]")
    await exchange.end_stream()


async def test_reasoning_and_whole_calls_as_ollama_sends_them():
    """UI-06"""
    async with connect_model(_as_ollama) as (model, _):
        parts, end = await read_answer(model, make_request("go", tools=(READ,)))

    assert parts == [
        ReasoningContent("Let me see.", encode_seal("faulty/m", "reasoning", None, None)),
        TextContent("I look."),
        make_call("call_0", "Read", '{"path": "a.md"}'),
        make_call("call_1", "Read", '{"path": "b.md"}'),
    ]
    assert end == Finished(stop_reason="tool_calls", provider_reason="stop", usage=Usage(), response_id="r1")


async def test_reasoning_in_tags_is_not_in_the_text():
    """UI-06"""

    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        for piece in ("<think>", "hm, ", "yes", "</think>", "It ", "is so."):
            await exchange.text(piece)
        await exchange.text("", finish_reason="stop")
        await exchange.end_stream()

    async with connect_model(play) as (model, _):
        parts, _ = await read_answer(model, make_request("go"))

    assert parts == [ReasoningContent("hm, yes"), TextContent("It is so.")]


async def test_cached_and_reasoning_tokens_of_the_server_are_reported():
    usage = {
        "prompt_tokens": 120,
        "completion_tokens": 40,
        "total_tokens": 160,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 24},
    }

    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.text("Hi.", finish_reason="stop")
        await exchange.event({"id": "r1", "model": "m", "created": 1, "choices": [], "usage": usage})
        await exchange.event("[DONE]")
        await exchange.end_stream()

    async with connect_model(play) as (model, _):
        _, end = await read_answer(model, make_request("go"))

    assert end.usage == Usage(input_tokens=120, output_tokens=40, cached_tokens=64, reasoning_tokens=24)


async def test_a_refusal_is_text_of_the_model():
    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.delta({"refusal": "I'd rather "})
        await exchange.delta({"refusal": "not."})
        await exchange.text("", finish_reason="stop")
        await exchange.end_stream()

    async with connect_model(play) as (model, _):
        parts, end = await read_answer(model, make_request("go"))

    assert (parts, end.stop_reason) == ([TextContent("I'd rather not.")], "content_filter")


async def test_an_unlisted_stop_reason_is_unknown():
    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.text("Hi.", finish_reason="moon_phase")
        await exchange.end_stream()

    async with connect_model(play) as (model, _):
        _, end = await read_answer(model, make_request("go"))

    assert end.stop_reason == "unknown"
