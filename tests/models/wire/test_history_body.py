"""Bodies that are assembled from encoded rounds (R4)."""

from __future__ import annotations

import json

import httpx2
import pytest

from callboard.models.wire.history.body import RequestHook, Splice, apply_plan

ROUND, EMPTY = b'{"role":"user"},', b""


@pytest.mark.parametrize(
    ("pieces", "sent"),
    [([ROUND, EMPTY], 1), ([ROUND, EMPTY, ROUND], 2), ([EMPTY, ROUND, EMPTY, EMPTY], 1)],
    ids=["last", "between", "several"],
)
@pytest.mark.parametrize("newest", [[], [{"role": "user", "content": "Go on."}]], ids=["nothing-new", "new"])
async def test_a_round_without_items_leaves_a_valid_body(pieces: list[bytes], sent: int, newest: list[dict[str, str]]):
    """R4: a round can encode to no item, also the last round of a request."""
    request = httpx2.Request("POST", "http://models.test", json={"model": "m", "messages": newest})
    with apply_plan(Splice(pieces, sum(map(len, pieces)))):
        await RequestHook("messages")(request)
    assert isinstance(request.stream, httpx2.AsyncByteStream)
    body = b"".join([piece async for piece in request.stream])

    assert request.headers["content-length"] == str(len(body))
    assert json.loads(body) == {"model": "m", "messages": [{"role": "user"}] * sent + newest}
