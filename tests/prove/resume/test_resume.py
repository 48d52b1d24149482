"""Views of clients that drop and return, at the scale of a test.

`make prove-resume` is the long run.
"""

from __future__ import annotations

import pytest

from tests.prove.resume import proof

#: Real processes that are killed often, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(300)

#: Seconds that a write may take while other tests run.
WRITING = 5.0


async def test_clients_that_drop_at_random_end_with_the_view_of_the_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """COM-14, CTL-10, UI-30, UI-34."""
    code = await proof.prove(20, "", 1, WRITING)

    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("sabotage", "claim"),
    [
        ("skip-op", "FAIL no client sees a gap or a repeat"),
        ("repeat-op", "FAIL no client sees a gap or a repeat"),
        ("drop-partial", "FAIL text that a client received does not disappear"),
    ],
)
async def test_the_proof_of_reconnecting_fails_where_a_fault_is_planted(
    capsys: pytest.CaptureFixture[str], sabotage: str, claim: str
) -> None:
    code = await proof.prove(6, sabotage, 1, WRITING)

    output = capsys.readouterr().out
    assert code == 1
    assert claim in output, output
