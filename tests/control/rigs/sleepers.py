"""A team with sleeping agents: the runtime's schedules, and a clock that the test sets."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.commands.agent import AddAgent
from callboard.contracts.entities.team import Edge
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.turn import Mode, PermissionMode, TurnSubmitted
from callboard.contracts.ports.agents import Definition, Schedule
from callboard.contracts.scope import Scope
from callboard.control.decision_inputs import DecisionInputs
from callboard.control.outcomes import WakeTimeReached
from callboard.control.state.background_agent import Background
from callboard.runtime.sessions.schedules import find_next_wake
from tests.control.rigs.decisions import Step, StepResult
from tests.control.rigs.examples import SESSION, submit
from tests.control.rigs.team import LEAD, WORKER, Team, agent_definition, only_fact

SECOND = 1_000_000
MINUTE = 60 * SECOND
#: NOW is 22:13:20 on a Tuesday.
AT_NINE = "0 9 * * *"


def watcher_definition(**schedule: Any) -> Definition:
    """Return the definition of an agent that sleeps."""
    return agent_definition(
        "watcher",
        kind="background",
        description="Looks at the folder.",
        tools=("Read", "Finalize"),
        policy=(),
        schedule=Schedule(**schedule) if schedule else None,
        edges=(Edge(to="lead", kind="report"),),
    )


class SleepingTeam(Team):
    """A session with a lead, a watcher and a worker."""

    def watcher_background(self) -> Background:
        """Return the watcher's sleep state."""
        background = self.thread_of("watcher").background
        assert background is not None
        return background

    def pass_time(self, seconds: float) -> StepResult:
        """Advance the clock by seconds, then report a reached wake time."""
        self.now += int(seconds * SECOND)
        return self.when(WakeTimeReached(at=self.now))

    def report_task_fact(self, fact: Fact, thread: str = "") -> StepResult:
        """Append a fact of the watcher's task, then report a reached wake time."""
        return self.report_fact(fact, Scope(task=self.watcher_background().task, thread=thread))

    def report_fact(self, fact: Fact, scope: Scope) -> StepResult:
        """Append a fact, then report a reached wake time."""
        self.put(fact, scope)
        return self.when(WakeTimeReached(at=self.now))

    def _decision_inputs(self, step: Step | None) -> DecisionInputs:
        return msgspec.structs.replace(super()._decision_inputs(step), next_wake=find_next_wake)


def sleeping_team(
    *, mode: Mode = "chat", permission_mode: PermissionMode = "edits", definition: Definition | None = None, **when: Any
) -> SleepingTeam:
    """Return a session with a sleeping watcher. In chat mode the lead is idle."""
    session = SleepingTeam(LEAD_ALONE, definition or watcher_definition(**when), WORKER)
    session.when(submit("the objective", mode=mode, permission_mode=permission_mode))
    if mode == "chat":
        session.responds("lead")
    session.when(AddAgent(session_id=SESSION, agent="watcher"))
    return session


def wake_input(result: StepResult) -> str:
    """Return the input that explains the wake to the model."""
    return only_fact(result, TurnSubmitted).input.text


LEAD_ALONE = msgspec.structs.replace(LEAD, edges=())
