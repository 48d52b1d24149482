"""Rate limits in the headers of providers, and the cost of answers."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.contracts.facts.model import Limit
from callboard.contracts.ports.model import Quota, Usage
from callboard.contracts.settings import Price
from callboard.models.wire.quota import read_quota
from tests.models.requests import make_request, read_answer
from tests.models.servers import Exchange, connect_model

DATE = {"date": "Sat, 21 Nov 2026 12:00:00 GMT"}
NOON = 1_795_262_400


@pytest.mark.parametrize(
    ("reset", "milliseconds"),
    [
        ("20ms", 20),
        ("6m0s", 360_000),
        ("1h2m3.5s", 3_723_500),
        ("7", 7_000),
        ("0.5", 500),
        (str(NOON + 90), 90_000),
        (str((NOON + 90) * 1000), 90_000),
        ("2026-11-21T12:00:30Z", 30_000),
        ("2026-11-21T11:59:00+00:00", 0),
        ("2026-11-21T12:00:30", None),
        ("soon", None),
        ("", None),
        ("9" * 30, None),
        ("-5", 0),
    ],
)
def test_the_reset_of_a_limit_is_relative_to_now(reset: str, milliseconds: int | None):
    headers = {**DATE, "x-ratelimit-limit-tokens": "100", "x-ratelimit-reset-tokens": reset}
    quota = read_quota(headers)
    assert quota == Quota(limits=(Limit(what="tokens", limit=100, resets_in_ms=milliseconds),))


def test_header_names_of_each_provider_are_recognised():
    anthropic = {
        "anthropic-ratelimit-input-tokens-limit": "80000",
        "anthropic-ratelimit-input-tokens-remaining": "79000",
        "anthropic-ratelimit-requests-remaining": "49",
    }
    assert read_quota(anthropic) == Quota(
        limits=(Limit(what="requests", remaining=49), Limit(what="input_tokens", limit=80_000, remaining=79_000))
    )
    gateway = {"x-ratelimit-limit": "20, 20;w=60", "x-ratelimit-remaining": "3"}
    assert read_quota(gateway) == Quota(limits=(Limit(what="requests", limit=20, remaining=3),))


@pytest.mark.parametrize("headers", [{}, {"x-ratelimit-limit-tokens": "lots"}, {"x-ratelimit-reset-tokens": "1s"}])
def test_headers_without_a_limit_have_no_quota(headers: dict[str, str]):
    assert read_quota(headers) is None


def test_a_wait_or_an_exhausted_quota_needs_no_limit():
    assert read_quota({}, retry_after=1.5) == Quota(retry_after_ms=1500)
    assert read_quota({}, exhausted=True) == Quota(exhausted=True)


USED = {"prompt_tokens": 1_000_000, "completion_tokens": 500_000, "prompt_tokens_details": {"cached_tokens": 200_000}}


async def read_usage(reported: dict[str, Any], **endpoint: Any) -> Usage:
    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.text("Hi.", finish_reason="stop")
        await exchange.event({"id": "r1", "choices": [], "created": 1, "model": "m", "usage": reported})
        await exchange.end_stream()

    async with connect_model(play, **endpoint) as (model, _):
        return (await read_answer(model, make_request("go")))[1].usage


async def test_the_cost_of_the_provider_is_used():
    usage = await read_usage({**USED, "cost": 0.25}, price=Price(input=1.0, output=1.0))
    assert (usage.amount, usage.source) == (0.25, "provider")
    assert (await read_usage({**USED, "cost": "a lot"})).amount is None


async def test_a_configured_price_has_a_price_for_cached_tokens():
    usage = await read_usage(USED, price=Price(input=2.0, output=4.0, cached=0.5))
    assert usage.amount == pytest.approx(0.8 * 2.0 + 0.2 * 0.5 + 0.5 * 4.0)
    assert usage.source == "listed"
    whole = await read_usage(USED, price=Price(input=2.0, output=4.0))
    assert whole.amount == pytest.approx(1.0 * 2.0 + 0.5 * 4.0)


async def test_an_unknown_cost_is_absent():
    usage = await read_usage(USED)
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (1_000_000, 500_000, 200_000)
    assert (usage.amount, usage.source) == (None, "")
