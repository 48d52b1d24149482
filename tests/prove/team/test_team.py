"""A team at work at the scale of a test. `make prove-team` is the long run."""

from __future__ import annotations

import pytest

from tests.prove.team import proof

#: Real processes that are killed often, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(300)


async def test_a_real_run_has_the_facts_of_the_conformance_fixture_and_shows_the_team_of_its_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """SUB-01, SUB-02, SUB-03, SUB-04: roster, graph, board, lanes and runs; and the team from
    snapshots alone.
    """
    code = await proof.prove(2, "", 1)

    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("sabotage", "claim"),
    [
        ("unsaid:channel.opened", proof.ELEVEN),
        ("forget:handoff.accepted", proof.SAME_TEAM),
        ("forget:channel.opened", proof.ALONE),
    ],
)
async def test_the_proof_of_teams_fails_where_a_fact_is_dropped(
    capsys: pytest.CaptureFixture[str], sabotage: str, claim: str
) -> None:
    code = await proof.prove(1, sabotage, 1)

    output = capsys.readouterr().out
    assert code == 1
    assert f"FAIL {claim}" in output, output
