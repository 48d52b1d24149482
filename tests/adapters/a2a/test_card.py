"""Connecting to a remote agent: size limits and origin of its card, and failures."""

from __future__ import annotations

import gzip
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from callboard.adapters.a2a import A2aAgents, Pace
from callboard.contracts.ports.external import ExternalFailure, TextReported
from callboard.runtime.workspaces.installation import build_install_command

from .peer import QUICK, complete_at_once, peer, raw_peer

CARD = "/.well-known/agent-card.json"


def card_server(answer: Any, rpc: Any = None) -> Starlette:
    async def send_card(request: Request) -> Response:
        return JSONResponse(answer)

    routes = [Route(CARD, answer if callable(answer) else send_card)]
    return Starlette(routes=[*routes, Route("/", rpc, methods=["POST"])] if rpc else routes)


def v03_card(url: str, **more: Any) -> dict[str, Any]:
    """Return a card in the format of v0.3."""
    return {"name": "Old", "url": url, "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC", **more}


async def connection_failure(app: Starlette, pace: Pace = QUICK) -> tuple[str, str, bool]:
    """Return code, message and retryability of a failed connection, with `URL/` for the address."""
    async with raw_peer(app) as there:
        with pytest.raises(ExternalFailure) as failed:
            await A2aAgents(pace).connect(there.url)
        assert there.methods == []
    failure = failed.value
    return failure.code, failure.message.replace(there.url, "URL/"), failure.retryable


async def test_a_card_is_read_at_the_address_or_below_it():
    async with peer(complete_at_once) as there:
        for url in (there.url, there.url.rstrip("/"), f"{there.url}{CARD[1:]}"):
            session = await A2aAgents(QUICK).connect(url)
            assert (session.name, '"name":"Peer"' in session.card) == ("Peer", True)
            await session.close()


async def test_an_invalid_card_is_refused():
    invalid = ("remote_refused", "Invalid Agent Card at URL/.well-known/agent-card.json.", False)
    for garbage in ([], "card", {"name": 3}, {"skills": "many"}):
        assert await connection_failure(card_server(garbage)) == invalid

    async def page(request: Request) -> Response:
        return Response("<html>", media_type="text/html")

    assert await connection_failure(card_server(page)) == invalid
    code, message, _ = await connection_failure(card_server({"name": "Bare"}))
    assert (code, message.split(" supports ")[1]) == ("remote_refused", "neither JSON-RPC nor HTTP+JSON of A2A.")


async def test_a_missing_card_is_refused_and_a_failing_server_is_retryable():
    async def down(request: Request) -> Response:
        return Response(status_code=503)

    missing = await connection_failure(Starlette(routes=[]))
    assert missing == ("remote_refused", f"There is no card at URL{CARD} (HTTP 404).", False)
    assert await connection_failure(card_server(down)) == (
        "remote_unavailable",
        f"There is no card at URL{CARD} (HTTP 503).",
        True,
    )


async def test_an_unreachable_agent_is_retryable():
    async with peer(complete_at_once) as there:
        url = there.url
    with pytest.raises(ExternalFailure) as failed:
        await A2aAgents(QUICK).connect(url)
    assert (failed.value.code, failed.value.retryable) == ("remote_unavailable", True)
    assert failed.value.message.startswith(f"Cannot reach {url}{CARD[1:]}: ")


async def test_a_redirect_of_the_card_is_not_followed():
    async def elsewhere(request: Request) -> Response:
        return RedirectResponse("https://other.test/card")

    code, message, retryable = await connection_failure(card_server(elsewhere))
    assert (code, retryable) == ("remote_refused", False)
    assert message == f"URL{CARD} redirects to https://other.test/card, an address without approval."


@pytest.mark.parametrize(
    "url", ["https://other.test/", "http://127.0.0.1:1/", "https://127.0.0.1/", "file:///etc/passwd", "http://[bad"]
)
async def test_a_card_with_interfaces_of_another_origin_only_is_refused(url: str):
    code, message, retryable = await connection_failure(card_server(v03_card(url)))
    assert (code, retryable) == ("remote_refused", False)
    assert message == (
        f"The card at URL{CARD} names only interfaces of other origins, such as {url}, without approval."
    )


async def test_only_interfaces_of_the_approved_origin_are_used():
    async def reply(request: Request) -> Response:
        sent = await request.json()
        message = {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "Here."}]}
        return JSONResponse({"jsonrpc": "2.0", "id": sent["id"], "result": message})

    async def card(request: Request) -> Response:
        also = [{"url": f"{request.base_url}", "transport": "JSONRPC"}]
        return JSONResponse(v03_card("https://other.test/", additionalInterfaces=also))

    async with raw_peer(card_server(card, reply)) as there:
        session = await A2aAgents(QUICK).connect(there.url)
        events = [event async for event in session.prompt("Hello?")]
        await session.close()
    assert events[0] == TextReported("Here.", "m")
    assert there.methods == ["message/send"]


async def test_a_card_is_limited_in_size_and_time():
    async def slow(request: Request) -> Response:
        async def never() -> AsyncIterator[bytes]:
            yield b"{"
            await there.hold.wait()

        return StreamingResponse(never())

    large = await connection_failure(card_server(v03_card("http://x/", description="x" * 300_000)))
    assert large == ("remote_refused", f"The card at URL{CARD} has more than 262144 bytes.", False)
    async with raw_peer(card_server(slow)) as there:
        with pytest.raises(ExternalFailure) as failed:
            await A2aAgents(Pace(card=0.05)).connect(there.url)
        there.hold.set()
    assert (failed.value.code, failed.value.retryable) == ("remote_unavailable", True)
    assert failed.value.message.endswith("took more than 0.05 s.")


async def test_a_compressed_card_is_refused():
    async def compressed(request: Request) -> Response:
        return Response(gzip.compress(b"{}"), headers={"content-encoding": "gzip"})

    code, message, _ = await connection_failure(card_server(compressed))
    assert (code, message) == (
        "remote_unavailable",
        f"Cannot reach URL{CARD}: The response is compressed although the request forbade it.",
    )


async def prompt_failure(rpc: Any, *, streaming: bool = True) -> ExternalFailure:
    """Return the failure of a prompt to which `rpc` replies."""

    async def card(request: Request) -> Response:
        return JSONResponse(v03_card(f"{request.base_url}", capabilities={"streaming": streaming}))

    async def reply(request: Request) -> Response:
        await request.body()
        return await rpc(request)

    async with raw_peer(card_server(card, reply)) as there:
        session = await A2aAgents(QUICK).connect(there.url)
        with pytest.raises(ExternalFailure) as failed:
            async for _ in session.prompt("Do it."):
                pass
        await session.close()
        assert there.texts == ["Do it."]
    return failed.value


@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "polled"])
@pytest.mark.parametrize(
    "garbage", [b"nonsense", b"[]", b"{}", b'{"jsonrpc":"2.0","id":"1","result":{"kind":"task"}}', b"\xff\xfe"]
)
async def test_a_malformed_response_fails_the_prompt(garbage: bytes, streaming: bool):
    async def rpc(request: Request) -> Response:
        media = "text/event-stream" if streaming else "application/json"
        return Response(b"data: " + garbage + b"\n\n" if streaming else garbage, media_type=media)

    failure = await prompt_failure(rpc, streaming=streaming)
    assert failure.code in ("remote_refused", "remote_unavailable")
    assert not failure.retryable


async def test_an_event_is_limited_in_size():
    async def rpc(request: Request) -> Response:
        async def much() -> AsyncIterator[bytes]:
            yield b"data: "
            for _ in range(20):
                yield b"x" * 1_000_000

        return StreamingResponse(much(), media_type="text/event-stream")

    failure = await prompt_failure(rpc)
    assert (failure.code, failure.retryable) == ("remote_unavailable", False)
    assert "The response has more than 8388608 bytes in one piece." in failure.message


async def test_a_required_login_is_a_rejection():
    async def rpc(request: Request) -> Response:
        return Response("no", status_code=401)

    failure = await prompt_failure(rpc)
    assert (failure.code, failure.retryable) == ("remote_refused", False)
    assert "401" in failure.message


async def test_without_the_extra_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "a2a.client", None)
    with pytest.raises(ExternalFailure) as failed:
        await A2aAgents().connect("http://127.0.0.1:1/")
    assert (failed.value.code, failed.value.message) == (
        "not_installed",
        f"A2A support is not installed. In a terminal: {build_install_command('a2a')}",
    )
