"""Providers that redirect, over real HTTP."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from callboard.models.wire import Format
from tests.models.requests import make_request, read_failure
from tests.models.servers import KEY, Exchange, connect_model, fault_server


@pytest.mark.parametrize("format", get_args(Format))
@pytest.mark.parametrize("status", ["302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
async def test_a_redirect_to_another_server_is_reported_and_not_followed(format: Format, status: str):
    """SAFE-03: neither the key nor the conversation goes to an unconfigured address."""

    async def answers(exchange: Exchange) -> None:
        await exchange.begin_stream()

    async with fault_server(answers) as other:
        elsewhere = other.base_url.removesuffix("/v1")

        async def play(exchange: Exchange) -> None:
            to = f"location: {elsewhere.replace('//', f'//me:{KEY}@')}{exchange.path}?key={KEY}#{KEY}"
            await exchange.status(status, "", to)

        async with connect_model(play, format=format) as (model, server):
            parts, failed = await read_failure(model, make_request("go"))
            assert (parts, len(server.exchanges), other.exchanges) == ([], 1, [])
    base = elsewhere if format == "google" else other.base_url
    path = server.exchanges[0].path
    assert (failed.code, failed.retryable) == ("model_unavailable", False)
    assert failed.message == (
        f'faulty redirects to {elsewhere}{path}, which was not followed. If that is the new address, set base_url = "{base}".'
    )


async def test_a_redirect_to_another_path_is_not_followed():
    async def play(exchange: Exchange) -> None:
        await exchange.status("307 Temporary Redirect", "", f"location: /{KEY}/sign-in")

    async with connect_model(play) as (model, server):
        _, failed = await read_failure(model, make_request("go"))
        assert len(server.exchanges) == 1
    assert failed.code == "model_unavailable"
    assert re.fullmatch(
        r"faulty redirects to http://127.0.0.1:\d+/\[key\]/sign-in, which was not followed. Set base_url to the new address.",
        failed.message,
    )
