"""Random histories of teams at the scale of a test. `make prove-idle` is the long run."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.prove.driver.product import ROOT
from tests.prove.idle import proof


async def test_no_idle_agent_with_unread_input_reads_as_done(capsys: pytest.CaptureFixture[str]) -> None:
    """D1, D2"""
    code = await proof.prove(25, "", 7)

    assert code == 0, capsys.readouterr().out


def test_the_proof_of_idle_agents_fails_where_none_is_paused() -> None:
    """In its own process, because the fault stays in the product."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.prove.idle.proof", "--n", "5", "--sabotage", "no-pause"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 1
    assert f"FAIL {proof.IDLE}" in ended.stdout, ended.stdout
