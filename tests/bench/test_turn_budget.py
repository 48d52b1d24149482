"""The work of a turn, in counts that do not depend on the machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from bench.rigs.processes import ROOT
from bench.workers.turn_counts import BUDGETS, TurnCounts

TURNS = 20


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TurnCounts]:
    folder: Path = tmp_path_factory.mktemp("counts")
    command = [sys.executable, "-m", "bench.workers.turn_counts", str(folder), str(TURNS)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return msgspec.convert(json.loads(ended.stdout), dict[str, TurnCounts])


@pytest.mark.parametrize("session", list(BUDGETS))
def test_a_turn_keeps_within_its_budget(session: str, counts: dict[str, TurnCounts]) -> None:
    """Design numbers: a turn waits for nothing but its syncs."""
    counted, budget = msgspec.structs.asdict(counts[session]), msgspec.structs.asdict(BUDGETS[session])

    exceeded = {name: (counted[name], most) for name, most in budget.items() if counted[name] > most}

    assert exceeded == {}
