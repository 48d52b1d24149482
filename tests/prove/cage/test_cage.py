"""A hostile folder and model at the scale of a test. `make prove-cage` shows the same in full."""

from __future__ import annotations

import pytest

from tests.prove.cage import agent, cards, outside, proof, rules

#: A real server that is killed, and a real browser, on a machine that is busy with other tests.
pytestmark = [pytest.mark.timeout(300), pytest.mark.browser]

#: Seconds that ending a process tree may take while other tests run.
WITHIN = 30.0


async def test_attempts_of_a_hostile_folder_and_model_are_refused_recorded_and_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """SAFE-01, SAFE-02, SAFE-07, SAFE-08, SAFE-10, CTL-09: no attempt succeeds, and no process
    outlives its host.
    """
    code = await proof.prove(1, "", 1, WITHIN)

    assert code == 0, capsys.readouterr().out


async def test_the_proof_of_the_cage_fails_if_the_sandbox_is_open(capsys: pytest.CaptureFixture[str]) -> None:
    code = await proof.prove(1, "open-cage", 1, WITHIN)

    output = capsys.readouterr().out
    assert code == 1
    for claim in (proof.HELD, "no planted secret is in a fact", "no listener was called"):
        assert f"FAIL {claim}" in output, output


async def test_the_proof_of_the_cage_fails_if_an_opened_home_is_like_any_folder(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """X6"""
    code = await proof.prove(1, "open-home", 1, WITHIN)

    output = capsys.readouterr().out
    assert code == 1
    for claim in (proof.HELD, "no planted secret is in a fact"):
        assert f"FAIL {claim}" in output, output


async def test_the_proof_of_the_cage_fails_if_a_folder_can_start_any_program(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """X2, X3"""
    code = await proof.prove(1, "open-outside", 1, WITHIN)

    output = capsys.readouterr().out
    assert code == 1
    for claim in (outside.REFUSED, outside.COMPLETE, outside.AGAIN):
        assert f"FAIL {claim}" in output, output


async def test_the_proof_of_the_cage_fails_if_protected_paths_are_writable(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """X5"""
    code = await proof.prove(1, "open-paths", 1, WITHIN)

    output = capsys.readouterr().out
    assert code == 1
    assert f"FAIL {proof.HELD}" in output, output


@pytest.mark.parametrize(
    ("fault", "claim"),
    [
        ("open-agents", agent.AGAIN),
        ("literal-rules", rules.HELD),
        ("miscounted", cards.COMPLETE),
        ("cut-cards", cards.COMPLETE),
    ],
)
async def test_the_proof_of_the_cage_fails_if_an_approval_or_a_rule_covers_too_much(
    fault: str, claim: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """X2, X7, X8"""
    code = await proof.prove(1, fault, 1, WITHIN)

    output = capsys.readouterr().out
    assert code == 1
    assert f"FAIL {claim}" in output, output
