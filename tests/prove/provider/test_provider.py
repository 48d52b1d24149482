"""Errors of model providers at the scale of a test. `make prove-provider` is the long run."""

from __future__ import annotations

import pytest

from tests.prove.provider import proof

#: A real process and real servers, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(300)


async def test_errors_of_a_provider_are_recorded_correctly_and_no_turn_hangs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """COM-13, SAFE-05"""
    names = (
        "limited",
        "asks_to_wait",
        "always_fallen",
        "fallen",
        "falls_silent",
        "no_json",
        "page",
        "no_key",
        "always_cut",
    )
    code = await proof.prove(4, names=names)

    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("sabotage", "claim", "n", "names", "bound", "wire"),
    [
        ("cut-is-whole", proof.WHOLE, 2, (), 60.0, 2),
        ("unsaid:model.failed", proof.CODED, 0, ("fallen",), 60.0, 0),
        ("patient", proof.BOUNDED, 0, ("silent",), 7.0, 0),
    ],
)
async def test_the_proof_of_providers_fails_where_a_fault_is_planted(
    capsys: pytest.CaptureFixture[str],
    sabotage: str,
    claim: str,
    n: int,
    names: tuple[str, ...],
    bound: float,
    wire: int,
) -> None:
    code = await proof.prove(
        n, sabotage, names=names, bound=bound, wires=(proof.WIRES[wire],), silence=min(proof.SILENCE_S, bound / 7)
    )

    output = capsys.readouterr().out
    assert code == 1
    assert f"FAIL {claim}" in output, output
