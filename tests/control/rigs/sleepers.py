"""A team with agents that sleep: its schedules are those of the runtime, and time goes where a test puts it."""

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
from callboard.control.state.team import Background
from callboard.runtime.sessions.schedules import find_next_wake
from tests.control.rigs.decisions import Step, Then
from tests.control.rigs.examples import NOW, SESSION, submit
from tests.control.rigs.team import LEAD, WORKER, Team, agent, one

SECOND = 1_000_000
MINUTE = 60 * SECOND
#: NOW is 22:13:20 on a Tuesday.
AT_NINE = "0 9 * * *"


def watcher(**schedule: Any) -> Definition:
    """An agent that sleeps."""
    return agent(
        "watcher",
        kind="background",
        description="Looks at the folder.",
        tools=("Read", "Finalize"),
        policy=(),
        schedule=Schedule(**schedule) if schedule else None,
        edges=(Edge(to="lead", kind="report"),),
    )


class Sleepers(Team):
    """A lead, a watcher and a worker."""

    def of_watcher(self) -> Background:
        """What the state knows of the watcher's sleep."""
        found = self.of("watcher").background
        assert found is not None
        return found

    def passes(self, seconds: float) -> Then:
        """So many seconds pass; then the runtime reports that a time has come."""
        self.now += int(seconds * SECOND)
        return self.when(WakeTimeReached(at=self.now))

    def on_task(self, fact: Fact, thread: str = "") -> Then:
        """Somebody says this of the watcher's task; then what follows from it is decided."""
        return self.happens(fact, Scope(task=self.of_watcher().task, thread=thread))

    def happens(self, fact: Fact, scope: Scope) -> Then:
        """A fact that stands in the log; then what follows from it is decided."""
        self.put(fact, scope)
        return self.when(WakeTimeReached(at=self.now))

    def _known(self, step: Step | None) -> DecisionInputs:
        return msgspec.structs.replace(super()._known(step), next_wake=find_next_wake)


def sleepers(
    *, mode: Mode = "chat", permission_mode: PermissionMode = "edits", definition: Definition | None = None, **when: Any
) -> Sleepers:
    """A session in which the watcher has been taken in and sleeps, and the lead is idle."""
    made = Sleepers(LEAD_ALONE, definition or watcher(**when), WORKER)
    made.when(submit("the objective", mode=mode, permission_mode=permission_mode))
    if mode == "chat":
        made.says("lead")
    made.when(AddAgent(session_id=SESSION, agent="watcher"))
    return made


def told(then: Then) -> str:
    """What its model is told of why it wakes."""
    return one(then, TurnSubmitted).input.text


LEAD_ALONE = msgspec.structs.replace(LEAD, edges=())

__all__ = ["AT_NINE", "MINUTE", "NOW", "SECOND", "Sleepers", "sleepers", "told", "watcher"]
