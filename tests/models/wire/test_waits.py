"""Waits that providers request in headers, fields or text, over real HTTP (M4)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.models.wire.waits import read_wait
from tests.models.requests import make_request, read_failure
from tests.models.servers import Exchange, connect_model

GOOGLE = {"error": {"code": 429, "message": "Quota.", "status": "RESOURCE_EXHAUSTED"}}
RETRY_INFO = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12s"}]
NAMED: list[tuple[str, dict[str, Any], tuple[str, ...], float]] = [
    ("seconds", {"error": {"message": "Busy."}}, ("retry-after: 7",), 7.0),
    ("milliseconds", {"error": {"message": "Busy."}}, ("retry-after-ms: 1500", "retry-after: 9"), 1.5),
    (
        "a limit that is used up",
        {"error": {"message": "Busy."}},
        ("x-ratelimit-limit-requests: 10", "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 1m3s"),
        63.0,
    ),
    (
        "a limit of Anthropic",
        {"error": {"message": "Busy."}},
        ("anthropic-ratelimit-tokens-remaining: 0", "anthropic-ratelimit-tokens-reset: 30s"),
        30.0,
    ),
    ("Google's retry info", {"error": {**GOOGLE["error"], "details": RETRY_INFO}}, (), 12.0),
    ("a field of the error", {"error": {"message": "Busy.", "metadata": {"retry_after_seconds": 21}}}, (), 21.0),
    ("a field before the text", {"error": {"message": "Try again in 90 seconds.", "retry_after": 3}}, (), 3.0),
    ("the text", {"error": {"message": "Rate limit reached. Please try again in 5 seconds."}}, (), 5.0),
    ("minutes in the text", {"error": {"message": "Limit reached, try again in 1m30.5s. Visit us."}}, (), 90.5),
    ("milliseconds in the text", {"error": {"message": "Please retry after 250 ms"}}, (), 0.25),
]


@pytest.mark.parametrize(("body", "headers", "seconds"), [row[1:] for row in NAMED], ids=[row[0] for row in NAMED])
@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable", "529 Overloaded"])
async def test_m4_a_requested_wait_is_parsed(
    status: str, body: dict[str, Any], headers: tuple[str, ...], seconds: float
) -> None:
    async def play(exchange: Exchange) -> None:
        await exchange.status(status, json.dumps(body), *headers)

    async with connect_model(play) as (model, _):
        _, failed = await read_failure(model, make_request("go"))

    assert failed.retryable
    assert failed.retry_after == pytest.approx(seconds)


async def test_m4_a_date_is_converted_to_a_wait() -> None:
    async def play(exchange: Exchange) -> None:
        until = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
        await exchange.status("503 Service Unavailable", "{}", f"retry-after: {until}")

    async with connect_model(play) as (model, _):
        _, failed = await read_failure(model, make_request("go"))

    assert failed.retry_after is not None
    assert 30 < failed.retry_after <= 90


@pytest.mark.parametrize(
    "text", ["Try again later.", "5 seconds have passed.", "Retry 3 of 5 failed.", "try again in", ""]
)
def test_m4_a_text_without_a_wait_requests_no_wait(text: str) -> None:
    assert read_wait(None, None, {"error": {"message": text}}, text) is None


LEAVES = st.none() | st.text() | st.floats() | st.integers() | st.booleans()
FIELDS = st.sampled_from(("retry_after", "retryDelay", "error"))


@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(FIELDS, inner)))
def test_m4_a_wait_is_never_negative_or_endless(body: object) -> None:
    wait = read_wait(None, None, body, str(body))
    assert wait is None or 0 <= wait <= 40 * 86_400
