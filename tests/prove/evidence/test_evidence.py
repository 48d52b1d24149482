"""Evidence packs at the scale of a test. `make prove-evidence` is the long run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.prove import auditor
from tests.prove.evidence import proof

#: Real processes that are killed often, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(300)


async def test_a_receiver_without_the_product_can_verify_packs(capsys: pytest.CaptureFixture[str]) -> None:
    """SUB-04, CTL-01, CTL-05: through a kill, an erasure and a deletion."""
    code = await proof.prove(1, "", 1)

    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("sabotage", "claim"),
    [("other-words", proof.HOLDS), ("short-pack", proof.LOG), ("keep-packs", proof.ERASED)],
)
async def test_the_proof_of_evidence_fails_if_a_pack_differs_from_the_log(
    capsys: pytest.CaptureFixture[str], sabotage: str, claim: str
) -> None:
    code = await proof.prove(1, sabotage, 1)

    output = capsys.readouterr().out
    assert code == 1
    assert f"FAIL {claim}" in output, output


def test_the_auditor_needs_nothing_but_python(tmp_path: Path) -> None:
    """The input is no pack. The message needs no import of the product or of a package."""
    (tmp_path / "pack.zip").write_bytes(b"no pack")

    alone = [sys.executable, "-I", "-S", auditor.__file__, str(tmp_path / "pack.zip")]
    done = subprocess.run(alone, check=False, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (1, "")
    assert "it cannot be read" in done.stdout
