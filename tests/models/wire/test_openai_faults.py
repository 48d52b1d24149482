"""A model whose server is faulty, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from callboard.contracts.ports.model import ModelFailure, TextContent, TextDelta
from callboard.models.wire import Endpoint, WireModel
from tests.models.requests import collect, make_call, make_request, read_answer, read_failure
from tests.models.servers import Exchange, Play, connect_model, fault_server

AT_MOST_S = 30.0


async def fail_once(play: Play, **endpoint: Any) -> tuple[list[Any], ModelFailure]:
    async with connect_model(play, **endpoint) as (model, server):
        outcome = await read_failure(model, make_request("go"))
        assert len(server.exchanges) == 1, "a failed request is tried once"
        return outcome


async def test_a_stream_without_a_stop_reason_is_truncated():
    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.text("Half an ans")
        await exchange.event("[DONE]")
        await exchange.end_stream()

    parts, failed = await fail_once(play)

    assert parts == [TextContent("Half an ans")]
    assert (failed.code, failed.retryable) == ("model_cut_stream", True)
    assert failed.message == "The response of faulty was truncated: the stream ended before the response did"


async def test_a_broken_connection_truncates_the_answer_and_keeps_its_beginning():
    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.text("Half")
        exchange.reset()

    parts, failed = await fail_once(play)

    assert parts == [TextContent("Half")]
    assert (failed.code, failed.retryable) == ("model_cut_stream", True)


async def test_a_call_with_truncated_arguments_is_not_a_call():
    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        function = {"name": "Read", "arguments": '{"pa'}
        await exchange.delta({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]})
        await exchange.end_stream()

    parts, failed = await fail_once(play)

    assert parts == [make_call("c1", "Read", '{"pa')]
    assert failed.code == "model_cut_stream"


async def test_an_empty_stream_is_truncated():
    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.end_stream()

    parts, failed = await fail_once(play)

    assert (parts, failed.code, failed.retryable) == ([], "model_cut_stream", True)


async def test_a_connection_closed_before_any_answer_is_unavailable():
    async def play(exchange: Exchange) -> None:
        exchange.reset()

    parts, failed = await fail_once(play)

    assert (parts, failed.code, failed.retryable) == ([], "model_unavailable", True)


async def test_a_missing_server_is_reported_as_unavailable_with_its_address():
    """COM-13"""
    async with fault_server(lambda exchange: exchange.end_stream()) as server:
        gone = server.base_url
    model = WireModel(Endpoint(provider="ollama", base_url=gone), "m")

    _, failed = await read_failure(model, make_request("go"))
    await model.close()

    assert (failed.code, failed.retryable, failed.is_local) == ("model_unavailable", True, True)
    assert failed.message.startswith(f"ollama cannot be reached at {gone}: ")
    # The advice is printed after the message.
    assert failed.message.endswith(".")


async def _stay_silent(exchange: Exchange) -> None:
    await asyncio.Event().wait()


async def _fall_silent(exchange: Exchange) -> None:
    await exchange.begin_stream()
    await exchange.text("One ")
    await asyncio.Event().wait()


@pytest.mark.parametrize(("play", "expected"), [(_stay_silent, []), (_fall_silent, [TextContent("One ")])])
async def test_silence_before_or_between_bytes_is_a_timeout(play: Play, expected: list[TextContent]):
    """A busy machine may time out before the first text. The test then allows more time."""
    parts: list[Any] = []
    for seconds in (0.3, 3.0, AT_MOST_S):
        async with connect_model(play, idle_timeout=seconds) as (model, server):
            parts, failed = await read_failure(model, make_request("go"))
            await asyncio.wait_for(server.client_left.wait(), AT_MOST_S)

        assert (failed.code, failed.retryable) == ("model_timeout", True)
        assert failed.message == f"faulty sent nothing for {seconds:g} seconds."
        if parts == expected:
            break
    assert parts == expected


async def test_single_bytes_are_joined_to_characters_without_a_timeout():
    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.raw(": still thinking\n\n")
        choices = [{"index": 0, "delta": {"content": "好的"}, "finish_reason": "stop"}]
        data = json.dumps({"id": "r1", "choices": choices, "created": 1, "model": "m"}, ensure_ascii=False)
        for byte in f"data: {data}\n\n".encode():
            await exchange.send_bytes(b"1\r\n" + bytes([byte]) + b"\r\n")
        await exchange.end_stream()

    async with connect_model(play, idle_timeout=AT_MOST_S) as (model, _):
        parts, end = await read_answer(model, make_request("go"))

    assert (parts, end.stop_reason) == ([TextContent("好的")], "stop")


GARBAGE = [
    "{not json",
    '"a string"',
    "5",
    "[]",
    '{"choices": 7}',
    '{"choices": [7]}',
    '{"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "Read", "arguments": 3}}]}}]}',
    '{"choices": [{"delta": {"tool_calls": [{"index": 0, "id": 7, "function": {"name": "Read"}}]}}]}',
    '{"choices": [{"delta": {"tool_calls": "Read"}}]}',
    '{"choices": [{"delta": {"content": "x"}, "finish_reason": ["stop"]}]}',
    '{"usage": "a lot", "choices": [{"delta": {"content": "x"}}]}',
]


@pytest.mark.parametrize("before", [[], [TextContent("Well, ")]])
@pytest.mark.parametrize("data", GARBAGE)
async def test_invalid_data_is_garbled_and_keeps_the_text_before(data: str, before: list[TextContent]):
    """SAFE-05"""

    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        for part in before:
            await exchange.text(part.text)
        await exchange.event(data)
        await exchange.end_stream()

    parts, failed = await fail_once(play)

    assert (parts, failed.code, failed.retryable) == (before, "model_garbled", True)
    assert failed.message.startswith("faulty sent an invalid response: ")


async def test_a_text_field_of_another_type_is_left_out():
    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.delta({"content": {"no": "text"}})
        await exchange.text("Hi.", finish_reason="stop")
        await exchange.end_stream()

    async with connect_model(play) as (model, _):
        parts, _ = await read_answer(model, make_request("go"))

    assert parts == [TextContent("Hi.")]


@pytest.mark.parametrize(("media", "body"), [("text/html", "<h1>Sign in</h1>"), ("application/json", '{"ok": true}')])
async def test_a_page_instead_of_a_stream_is_reported_with_the_base_url(media: str, body: str):
    async def play(exchange: Exchange) -> None:
        await exchange.status("200 OK", body, media=media)

    async with connect_model(play) as (model, server):
        _, failed = await read_failure(model, make_request("go"))

    assert (failed.code, failed.retryable) == ("model_garbled", False)
    assert failed.message == (
        f"faulty responded with {media} instead of an event stream. Check the base URL {server.base_url}."
    )


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        ("400 Bad Request", "model_refused_request", False),
        ("401 Unauthorized", "model_auth", False),
        ("402 Payment Required", "model_quota", False),
        ("403 Forbidden", "model_auth", False),
        ("404 Not Found", "unknown_model", False),
        ("408 Request Timeout", "model_timeout", True),
        ("409 Conflict", "model_refused_request", False),
        ("422 Unprocessable Entity", "model_refused_request", False),
        ("429 Too Many Requests", "model_rate_limited", True),
        ("500 Internal Server Error", "model_unavailable", True),
        ("502 Bad Gateway", "model_unavailable", True),
        ("503 Service Unavailable", "model_unavailable", True),
        ("504 Gateway Timeout", "model_unavailable", True),
    ],
)
async def test_each_status_has_its_code_and_the_message_of_the_server(status: str, code: str, retryable: bool):
    async def play(exchange: Exchange) -> None:
        await exchange.status(status, '{"error": {"message": "because I say so"}}')

    _, failed = await fail_once(play)

    assert (failed.code, failed.retryable, failed.retry_after) == (code, retryable, None)
    assert failed.message.startswith(f"faulty responded with {status.split(maxsplit=1)[0]}: because I say so")


async def test_a_page_with_an_error_status_is_reported_by_status():
    async def play(exchange: Exchange) -> None:
        await exchange.status("502 Bad Gateway", "<h1>Bad gateway</h1>", media="text/html")

    _, failed = await fail_once(play)
    assert (failed.code, failed.retryable) == ("model_unavailable", True)


@pytest.mark.parametrize(("header", "seconds"), [("retry-after: 3", 3.0), ("retry-after-ms: 1500", 1.5)])
async def test_the_wait_that_the_server_requests_is_used(header: str, seconds: float):
    async def play(exchange: Exchange) -> None:
        await exchange.status("429 Too Many Requests", '{"error": {"message": "later"}}', header)

    _, failed = await fail_once(play)
    assert failed.retry_after == seconds


async def test_an_error_within_a_stream_has_the_code_of_the_same_error_before_it():
    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.text("Well, ")
        await exchange.event({"error": {"message": "no more", "code": "rate_limit_exceeded"}})

    parts, failed = await fail_once(play)

    assert parts == [TextContent("Well, ")]
    assert (failed.code, failed.retryable) == ("model_rate_limited", True)


async def test_an_unknown_error_in_a_stream_is_retryable():
    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.event({"error": {"message": "CUDA out of memory"}})

    _, failed = await fail_once(play)

    assert (failed.code, failed.retryable) == ("model_unavailable", True)
    assert failed.message == "faulty responded with an error: CUDA out of memory"


async def test_a_key_in_an_error_of_the_server_is_redacted():
    """The key goes to the provider and nowhere else."""

    async def play(exchange: Exchange) -> None:
        sent = exchange.headers["authorization"]
        await exchange.status("401 Unauthorized", json.dumps({"error": {"message": f"unknown credential {sent}"}}))

    _, failed = await fail_once(play)

    assert failed.message.startswith("faulty responded with 401: unknown credential Bearer [key]")
    assert failed.__cause__ is None


async def test_a_key_at_the_end_of_a_long_error_is_redacted():
    async def play(exchange: Exchange) -> None:
        sent = exchange.headers["authorization"]
        length = 500 - len("faulty responded with 401: ") - len(sent) + 3
        await exchange.status("401 Unauthorized", json.dumps({"error": {"message": f"{'x' * length}{sent}"}}))

    _, failed = await fail_once(play)

    assert failed.message.endswith("xBearer [key]")


@pytest.mark.parametrize("key", ["planted key", "planted\nkey", "planted'\tk\u00e9y\n"])
def test_a_key_is_redacted_as_a_library_quotes_it(key: str):
    endpoint = Endpoint(provider="p", base_url="http://localhost:1", api_key=key)

    for quoted in (key, key.strip(), repr(key), repr(key.encode()), json.dumps(key)):
        assert "plant" not in endpoint.redact(f"Illegal header value {quoted}")


async def test_closing_the_iterator_ends_the_request_at_once():
    async with connect_model(_fall_silent) as (model, server):
        async with aclosing(model.stream(make_request("go"))) as events:
            assert await anext(events) == TextDelta(0, "One ")
        await asyncio.wait_for(server.client_left.wait(), AT_MOST_S)


@pytest.mark.parametrize("play", [_stay_silent, _fall_silent])
async def test_cancelling_the_calling_task_ends_the_request_at_once(play: Play):
    async with connect_model(play) as (model, server):
        asking = asyncio.create_task(collect(model, make_request("go")))
        await asyncio.wait_for(server.requested.wait(), AT_MOST_S)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait_for(server.client_left.wait(), AT_MOST_S)
