"""Secrets at the scale of a test. `make prove-secrets` is the long run."""

from __future__ import annotations

import pytest

from tests.prove.secrets import proof

#: A real process that is killed and started again, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(300)


async def test_no_byte_has_a_planted_secret_and_its_users_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """SAFE-03, SAFE-09: through prompts, files, definitions, attachments, answers in pieces, calls, a kill and a deletion."""
    code = await proof.prove(1, "", 1)

    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("sabotage", "claim"),
    [("bare-pieces", proof.LIVE), ("bare-facts", proof.DISK)],
)
async def test_the_proof_of_secrets_fails_where_a_product_writes_or_shows_them(
    capsys: pytest.CaptureFixture[str], sabotage: str, claim: str
) -> None:
    code = await proof.prove(1, sabotage, 1)

    output = capsys.readouterr().out
    assert code == 1
    assert f"FAIL {claim}" in output, output
