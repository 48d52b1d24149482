"""Malformed input is refused and writes nothing."""

from __future__ import annotations

import random

import pytest

from tests.prove.input import proof
from tests.prove.input.malformed import Document, Malformed

#: A real process and hundreds of requests, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(300)

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 5}, "age": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}
DOCUMENT = {
    "paths": {
        "/api/v1/commands/greet": {
            "post": {"parameters": [], "requestBody": {"content": {"application/json": {"schema": SCHEMA}}}}
        },
        "/api/v1/queries/find": {
            "get": {"parameters": [{"name": "age", "in": "query", "required": True, "schema": {"type": "integer"}}]}
        },
    },
    "components": {"schemas": {}, "responses": {}},
}


async def test_malformed_input_is_refused_and_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """SAFE-05, CTL-05"""
    code = await proof.prove(400, 1, "")
    output = capsys.readouterr().out
    assert code == 0, output


@pytest.mark.parametrize(("fault", "claim"), [("keep-refused", proof.WRITES_NOTHING), ("crash", proof.NO_DEFECT)])
async def test_the_proof_of_input_fails_where_a_refusal_writes_or_crashes(
    capsys: pytest.CaptureFixture[str], fault: str, claim: str
) -> None:
    """SAFE-05"""
    code = await proof.prove(200, 1, fault)
    output = capsys.readouterr().out
    assert code == 1
    assert f"FAIL {claim}" in output, output


def test_every_drawn_request_violates_the_document():
    draw = random.Random(7)
    document = Document(DOCUMENT, {}, draw)
    malformed = Malformed(document, draw, ())
    drawn = [malformed.draw_request() for _ in range(2000)]
    assert {request.wrong for request in drawn} >= {
        "something missing",
        "something extra",
        "another type",
        "beyond its bounds",
        "another content type",
        "too deep",
        "a parameter missing",
        "a parameter twice",
        "another method",
        "no such path",
    }
    for request in drawn:
        assert (request.headers.get("content-type"), request.body) != ("application/json", b'{"name": "abc"}') or (
            request.wrong in ("a bad key", "compressed", "another method", "no such path")
        )
