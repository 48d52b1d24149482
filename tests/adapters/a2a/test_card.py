"""Reaching an agent elsewhere: its card is read within bounds and of one origin, and what is no agent is told as that."""

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
from callboard.runtime.workspaces.installation import installs

from .peer import QUICK, nothing, peer, raw

CARD = "/.well-known/agent-card.json"


def serving(answer: Any, rpc: Any = None) -> Starlette:
    async def give(request: Request) -> Response:
        return JSONResponse(answer)

    routes = [Route(CARD, answer if callable(answer) else give)]
    return Starlette(routes=[*routes, Route("/", rpc, methods=["POST"])] if rpc else routes)


def told(url: str, **more: Any) -> dict[str, Any]:
    """A card as v0.3 writes it."""
    return {"name": "Old", "url": url, "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC", **more}


async def refused(app: Starlette, pace: Pace = QUICK) -> tuple[str, str, bool]:
    """How reaching it fails, its address left out."""
    async with raw(app) as there:
        with pytest.raises(ExternalFailure) as failed:
            await A2aAgents(pace).reach(there.url)
        assert there.asked == []
    failure = failed.value
    return failure.code, failure.message.replace(there.url, "URL/"), failure.retryable


async def test_a_card_is_read_at_the_address_or_below_it():
    async with peer(nothing) as there:
        for url in (there.url, there.url.rstrip("/"), f"{there.url}{CARD[1:]}"):
            session = await A2aAgents(QUICK).reach(url)
            assert (session.name, '"name":"Peer"' in session.card) == ("Peer", True)
            await session.close()


async def test_what_is_no_card_is_told_as_that():
    not_one = ("remote_refused", "What is at URL/.well-known/agent-card.json is no Agent Card.", False)
    for garbage in ([], "card", {"name": 3}, {"skills": "many"}):
        assert await refused(serving(garbage)) == not_one

    async def page(request: Request) -> Response:
        return Response("<html>", media_type="text/html")

    assert await refused(serving(page)) == not_one
    code, message, _ = await refused(serving({"name": "Nobody"}))
    assert (code, message.split(" speaks ")[1]) == ("remote_refused", "neither JSON-RPC nor HTTP+JSON of A2A.")


async def test_a_card_that_is_not_there_is_refused_and_a_server_that_is_down_may_be_tried_again():
    async def down(request: Request) -> Response:
        return Response(status_code=503)

    missing = await refused(Starlette(routes=[]))
    assert missing == ("remote_refused", f"There is no card at URL{CARD} (HTTP 404).", False)
    assert await refused(serving(down)) == ("remote_unavailable", f"There is no card at URL{CARD} (HTTP 503).", True)


async def test_nobody_is_there():
    async with peer(nothing) as there:
        url = there.url
    with pytest.raises(ExternalFailure) as failed:
        await A2aAgents(QUICK).reach(url)
    assert (failed.value.code, failed.value.retryable) == ("remote_unavailable", True)
    assert failed.value.message.startswith(f"{url}{CARD[1:]} is not reached: ")


async def test_a_card_that_redirects_elsewhere_is_not_followed():
    async def elsewhere(request: Request) -> Response:
        return RedirectResponse("https://other.test/card")

    code, message, retryable = await refused(serving(elsewhere))
    assert (code, retryable) == ("remote_refused", False)
    assert message == f"URL{CARD} redirects to https://other.test/card, which nobody allowed to be contacted."


@pytest.mark.parametrize(
    "url", ["https://other.test/", "http://127.0.0.1:1/", "https://127.0.0.1/", "file:///etc/passwd", "http://[bad"]
)
async def test_a_card_that_sends_to_another_origin_is_refused(url: str):
    code, message, retryable = await refused(serving(told(url)))
    assert (code, retryable) == ("remote_refused", False)
    assert message == (f"The card at URL{CARD} sends to {url}, another origin, which nobody allowed to be contacted.")


async def test_of_several_interfaces_only_those_of_the_address_are_used():
    async def heard(request: Request) -> Response:
        sent = await request.json()
        message = {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "Here."}]}
        return JSONResponse({"jsonrpc": "2.0", "id": sent["id"], "result": message})

    async def card(request: Request) -> Response:
        also = [{"url": f"{request.base_url}", "transport": "JSONRPC"}]
        return JSONResponse(told("https://other.test/", additionalInterfaces=also))

    async with raw(serving(card, heard)) as there:
        session = await A2aAgents(QUICK).reach(there.url)
        said = [event async for event in session.prompt("Hello?")]
        await session.close()
    assert said[0] == TextReported("Here.", "m")
    assert there.asked == ["message/send"]


async def test_a_card_has_a_largest_size_and_a_longest_time():
    async def slow(request: Request) -> Response:
        async def never() -> AsyncIterator[bytes]:
            yield b"{"
            await there.hold.wait()

        return StreamingResponse(never())

    large = await refused(serving(told("http://x/", description="x" * 300_000)))
    assert large == ("remote_refused", f"The card at URL{CARD} has more than 262144 bytes.", False)
    async with raw(serving(slow)) as there:
        with pytest.raises(ExternalFailure) as failed:
            await A2aAgents(Pace(card=0.05)).reach(there.url)
        there.hold.set()
    assert (failed.value.code, failed.value.retryable) == ("remote_unavailable", True)
    assert failed.value.message.endswith("did not come within 0.05 s.")


async def test_what_is_packed_is_not_unpacked():
    async def packed(request: Request) -> Response:
        return Response(gzip.compress(b"{}"), headers={"content-encoding": "gzip"})

    code, message, _ = await refused(serving(packed))
    assert (code, message) == (
        "remote_unavailable",
        f"URL{CARD} is not reached: It sent what is packed, though it was asked not to.",
    )


async def prompted(rpc: Any, *, streaming: bool = True) -> ExternalFailure:
    """How a prompt fails of an agent that answers so."""

    async def card(request: Request) -> Response:
        return JSONResponse(told(f"{request.base_url}", capabilities={"streaming": streaming}))

    async def heard(request: Request) -> Response:
        await request.body()
        return await rpc(request)

    async with raw(serving(card, heard)) as there:
        session = await A2aAgents(QUICK).reach(there.url)
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
async def test_garbage_is_no_answer(garbage: bytes, streaming: bool):
    async def rpc(request: Request) -> Response:
        media = "text/event-stream" if streaming else "application/json"
        return Response(b"data: " + garbage + b"\n\n" if streaming else garbage, media_type=media)

    failure = await prompted(rpc, streaming=streaming)
    assert failure.code in ("remote_refused", "remote_unavailable")
    assert not failure.retryable


async def test_an_event_has_a_largest_size():
    async def rpc(request: Request) -> Response:
        async def much() -> AsyncIterator[bytes]:
            yield b"data: "
            for _ in range(20):
                yield b"x" * 1_000_000

        return StreamingResponse(much(), media_type="text/event-stream")

    failure = await prompted(rpc)
    assert (failure.code, failure.retryable) == ("remote_unavailable", False)
    assert "It sent more than 8388608 bytes at once." in failure.message


async def test_who_wants_a_login_is_told_as_refusing():
    async def rpc(request: Request) -> Response:
        return Response("no", status_code=401)

    failure = await prompted(rpc)
    assert (failure.code, failure.retryable) == ("remote_refused", False)
    assert "401" in failure.message


async def test_without_the_extra_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "a2a.client", None)
    with pytest.raises(ExternalFailure) as failed:
        await A2aAgents().reach("http://127.0.0.1:1/")
    assert (failed.value.code, failed.value.message) == (
        "not_installed",
        f"A2A is not installed here. In a terminal: {installs('a2a')}",
    )
