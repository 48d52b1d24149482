"""The work of a large team, in counts that do not depend on the machine."""

from __future__ import annotations

import cProfile
from pathlib import Path

from bench.workers.subagents import Ours

CHILDREN = 200
#: Python calls of the event loop per subagent. It took 60,000 when each decision read all tasks for each agent.
BUDGET = 30_000


async def test_an_agent_of_a_large_team_keeps_within_its_budget(tmp_path: Path) -> None:
    """Design numbers: no decision reads all tasks for each agent."""
    team, profile = Ours(), cProfile.Profile()
    await team.open(tmp_path)
    await team.run(1)

    profile.enable()
    await team.run(CHILDREN)
    profile.disable()
    await team.close()

    calls = sum(entry.callcount for entry in profile.getstats())
    assert calls / CHILDREN <= BUDGET
