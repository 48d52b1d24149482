"""Signed and encrypted reasoning, which goes back unchanged to its own provider only."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from callboard.contracts.ports.model import (
    Content,
    Finished,
    ImageContent,
    ReasoningContent,
    TextContent,
    ToolCallContent,
    ToolResultContent,
)
from callboard.models.wire import Endpoint, WireModel
from tests.models.requests import READ, make_message, make_request, make_result, read_answer
from tests.models.servers import Exchange, Play, connect_model, fault_server

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def _anthropic(exchange: Exchange) -> None:
    """Stream thinking, redacted thinking, text and a call."""
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": "I need "},
                {"type": "thinking_delta", "thinking": "it."},
                {"type": "signature_delta", "signature": "sig-1"},
            ],
        ),
        ({"type": "redacted_thinking", "data": "hidden=="}, []),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "I look."}]),
        (
            {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}},
            [{"type": "input_json_delta", "partial_json": '{"path":"a.md"}'}],
        ),
    ]
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": usage}
    await exchange.begin_stream("anthropic-ratelimit-tokens-limit: 100", "anthropic-ratelimit-tokens-remaining: 5")
    await exchange.event({"type": "message_start", "message": message}, "message_start")
    for index, (block, deltas) in enumerate(blocks):
        await exchange.event(
            {"type": "content_block_start", "index": index, "content_block": block}, "content_block_start"
        )
        for delta in deltas:
            await exchange.event({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
        await exchange.event({"type": "content_block_stop", "index": index}, "content_block_stop")
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}}
    await exchange.event(end, "message_delta")
    await exchange.event({"type": "message_stop"}, "message_stop")
    await exchange.end_stream()


async def _google(exchange: Exchange) -> None:
    """Stream a thought and a call, each with a signature."""
    first, second = (base64.b64encode(signature).decode() for signature in (b"of-thought", b"of-call"))
    parts = [
        {"text": "I need it.", "thought": True, "thoughtSignature": first},
        {"functionCall": {"id": "f1", "name": "Read", "args": {"path": "a.md"}}, "thoughtSignature": second},
    ]
    await exchange.begin_stream()
    for place, part in enumerate(parts):
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0}
        end = {"finishReason": "STOP"} if place else {}
        await exchange.event({"candidates": [{**candidate, **end}], "modelVersion": "m"})
    await exchange.end_stream()


async def _responses(exchange: Exchange) -> None:
    """Stream an encrypted and summarised reasoning item, and a call."""
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "Read",
        "arguments": '{"path":"a.md"}',
        "status": "completed",
    }
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "enc=="}
    response = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [], "tools": []}
    response |= {"parallel_tool_calls": False, "tool_choice": "auto"}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    usage |= {"input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 3}}
    part = {"type": "summary_text", "text": ""}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**response, "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**reasoning, "encrypted_content": None}},
        {
            "type": "response.reasoning_summary_part.added",
            "item_id": "rs_1",
            "output_index": 0,
            "summary_index": 0,
            "part": part,
        },
        {
            "type": "response.reasoning_summary_text.delta",
            "item_id": "rs_1",
            "output_index": 0,
            "summary_index": 0,
            "delta": "I need it.",
        },
        {"type": "response.output_item.done", "output_index": 0, "item": reasoning},
        {"type": "response.output_item.added", "output_index": 1, "item": {**call, "arguments": ""}},
        {
            "type": "response.function_call_arguments.delta",
            "item_id": "fc_1",
            "output_index": 1,
            "delta": '{"path":"a.md"}',
        },
        {"type": "response.output_item.done", "output_index": 1, "item": call},
        {"type": "response.completed", "response": {**response, "status": "completed", "usage": usage}},
    ]
    await exchange.begin_stream("x-ratelimit-limit-requests: 100", "x-ratelimit-remaining-requests: 99")
    for number, event in enumerate(events):
        await exchange.event({**event, "sequence_number": number}, event["type"])
    await exchange.end_stream()


PLAYS: dict[str, tuple[Play, str]] = {
    "anthropic": (_anthropic, "claude-sonnet-5-5"),
    "google": (_google, "gemini-3.8-flash"),
    "openai": (_responses, "gpt-5.4"),
}


async def replay_answer(format: str, **sent: Any) -> tuple[list[Content], Finished, dict[str, Any]]:
    """Return the first answer, its end, and the body of the request that repeats the answer."""
    play, name = PLAYS[format]
    async with connect_model(play, format=format, name=name) as (model, server):
        parts, end = await read_answer(model, make_request("go", tools=(READ,)))
        replayed = make_message("assistant", *(with_runtime_id(part) for part in parts))
        await read_answer(
            model, make_request("go", replayed, make_result("call_ours", "Read", "# A"), tools=(READ,), **sent)
        )
        return parts, end, server.exchanges[-1].body


def with_runtime_id(part: Content) -> Content:
    """Return the part with the runtime's id if it is a call."""
    if isinstance(part, ToolCallContent):
        return ToolCallContent("call_ours", part.tool, part.arguments, part.signature)
    return part


async def test_thinking_of_anthropic_is_sent_back_signed_even_if_hidden():
    """UI-06"""
    parts, end, body = await replay_answer("anthropic")

    texts = [(type(part), part.text) for part in parts if isinstance(part, ReasoningContent | TextContent)]
    assert texts == [(ReasoningContent, "I need it."), (ReasoningContent, ""), (TextContent, "I look.")]
    assert end.stop_reason == "tool_calls"
    assert end.quota is not None
    assert [(limit.what, limit.limit, limit.remaining) for limit in end.quota.limits] == [("tokens", 100, 5)]
    assert body["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "I need it.", "signature": "sig-1"},
        {"type": "redacted_thinking", "data": "hidden=="},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "call_ours", "name": "read", "input": {"path": "a.md"}},
    ]
    assert body["messages"][2]["content"][0]["tool_use_id"] == "call_ours"


async def test_signatures_of_google_are_sent_back_with_thoughts_and_calls():
    parts, end, body = await replay_answer("google")

    reasoning, call = parts
    assert isinstance(reasoning, ReasoningContent)
    assert (reasoning.text, end.stop_reason) == ("I need it.", "tool_calls")
    assert isinstance(call, ToolCallContent)
    thought, function = body["contents"][1]["parts"]
    assert (thought["thought"], thought["text"]) == (True, "I need it.")
    assert base64.urlsafe_b64decode(thought["thoughtSignature"]) == b"of-thought"
    assert base64.urlsafe_b64decode(function["thoughtSignature"]) == b"of-call"
    assert function["functionCall"] == {"id": "call_ours", "name": "read", "args": {"path": "a.md"}}


async def test_reasoning_of_responses_is_sent_back_encrypted_and_not_stored():
    parts, end, body = await replay_answer("openai")

    assert [type(part) for part in parts] == [ReasoningContent, ToolCallContent]
    assert (end.usage.cached_tokens, end.usage.reasoning_tokens) == (4, 3)
    assert body["store"] is False
    assert "reasoning.encrypted_content" in body["include"]
    summary = [{"type": "summary_text", "text": "I need it."}]
    assert body["input"][1] == {
        "type": "reasoning",
        "id": "rs_1",
        "summary": summary,
        "encrypted_content": "enc==",
    }
    assert (body["input"][2]["type"], body["input"][2]["call_id"]) == ("function_call", "call_ours")


@pytest.mark.parametrize("format", PLAYS)
async def test_reasoning_of_another_model_is_left_out(format: str):
    play, name = PLAYS[format]
    async with connect_model(play, format=format, name=name) as (model, _):
        parts, _ = await read_answer(model, make_request("go", tools=(READ,)))
    async with connect_model(play, format=format, name=name, provider="another") as (model, server):
        replayed = make_message("assistant", *(with_runtime_id(part) for part in parts))
        await read_answer(model, make_request("go", replayed, make_result("call_ours", "Read", "# A"), tools=(READ,)))
        sent = json.dumps(server.exchanges[-1].body)
    assert "a.md" in sent
    for secret in ("I need it.", "sig-1", "hidden==", "enc==", base64.b64encode(b"of-call").decode()):
        assert secret not in sent


@pytest.mark.parametrize("format", [*PLAYS, "openai-compatible"])
async def test_images_are_sent_to_models_that_accept_images(format: str):
    async def play(exchange: Exchange) -> None:
        await exchange.status("500 Enough", "{}")

    async def sent(**endpoint: Any) -> str:
        async with fault_server(play) as server:
            address = server.base_url.removesuffix("/v1") if format == "google" else server.base_url
            name = PLAYS[format][1] if format in PLAYS else "m"
            base: dict[str, Any] = {"provider": "p", "base_url": address, "format": format, **endpoint}
            model = WireModel(Endpoint(**base), name)
            screenshot = ToolResultContent("c1", "Read", "A picture.", images=(ImageContent(PNG, "image/png"),))
            request = make_request(
                make_message("user", "Look:", ImageContent(PNG, "image/png")),
                make_message("assistant", ToolCallContent("c1", "Read", "{}")),
                make_message("tool", screenshot),
                make_message("user", ImageContent(b"x", "image/tiff")),
                tools=(READ,),
            )
            with pytest.raises(Exception, match="500"):
                await read_answer(model, request)
            await model.close()
            return json.dumps(server.exchanges[-1].body)

    encoded = base64.b64encode(PNG).decode()
    with_images = await sent(images=True)
    assert with_images.replace("-", "+").replace("_", "/").count(encoded.replace("-", "+").replace("_", "/")[:60]) == 2
    assert "[An image (image/tiff, 1 bytes) was left out: this model takes no images of this type.]" in with_images
    without_images = await sent(images=False)
    assert encoded[:60] not in without_images
    assert without_images.count("was left out: this model takes no images.") == 3


async def test_the_reasoning_effort_has_the_form_of_the_provider():
    async with connect_model(_anthropic, format="anthropic", name="claude-sonnet-5-5", reasoning="high") as (
        model,
        server,
    ):
        await read_answer(model, make_request("go", tools=(READ,)))
        body = server.exchanges[-1].body
        assert body["thinking"]["type"] in ("adaptive", "enabled")
    async with connect_model(_responses, format="openai", name="gpt-5.4", reasoning="low") as (model, server):
        await read_answer(model, make_request("go", tools=(READ,)))
        assert server.exchanges[-1].body["reasoning"]["effort"] == "low"
