"""External agents at the scale of a test: the small scripted one.

`make prove-acp` drives real ones.
"""

from __future__ import annotations

import pytest

from tests.prove.acp import proof

#: Real processes, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(300)


async def test_requests_rejections_interrupts_and_deaths_of_an_agent_are_recorded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """COM-13."""
    code = await proof.prove("scripted")

    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("sabotage", "claim"),
    [
        ("unasked", proof.UNASKED),
        ("death-unseen", proof.DEATH),
        ("wide", proof.WIDE),
        ("twice", "edit: one request"),
        ("left", "kill: every process of it ends"),
        ("early", proof.RECORDED),
    ],
)
async def test_the_proof_of_agents_fails_where_a_fault_is_planted(
    capsys: pytest.CaptureFixture[str], sabotage: str, claim: str
) -> None:
    """A1, A2, A4."""
    code = await proof.prove("scripted", sabotage=sabotage)

    output = capsys.readouterr().out
    assert code == 1
    assert f"FAIL scripted 1.2.3: {claim}" in output, output
