"""Agent UI events of a session, with what its other facts add.

The facts of a session add the entity of a task, the state of an agent that sleeps, the card of a remote agent, the start of
a queued turn and the end of a grant.
"""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.entities.team import BackgroundState
from callboard.contracts.erased import with_erased_form
from callboard.contracts.facts.queue import QueueAdded, QueueRemoved
from callboard.contracts.facts.turn import TurnStarted
from callboard.contracts.record import Record
from callboard.contracts.rows.task import TaskRow

from ...team.agent import Member
from ...team.panels import TeamPanels
from ..agentui_emission import Emission, Emissions, emit_queue
from ..entities.agent import BACKGROUND_STATUS, build_remote_task_payload, emit_background
from ..entities.task import build_job_payload
from .events import AgentUiEvent, translate_fact, wrap_emissions
from .grants import Grants


class AgentUiEvents:
    """The events of one session. Apply its facts in order."""

    def __init__(self) -> None:
        self._team = TeamPanels()
        self._queued: set[str] = set()
        self._background: dict[str, BackgroundState] = {}
        self._grants = Grants()

    def apply(self, record: Record) -> tuple[AgentUiEvent, ...]:
        """Return the events of the fact in order."""
        tasks, members = self._team.tasks.open, self._team.roster.members
        task = tasks.get(record.scope.task)
        self._team.apply(with_erased_form(record))
        task = tasks.get(record.scope.task, task)
        thread = self._team.roster.sleepers.threads.get(record.scope.task) or record.scope.thread
        member = members.get(thread)
        emitted = [self._with_task(emission, task) for emission in translate_fact(record.header.type, record.fact)]
        if member is not None:
            emitted = [_with_member(emission, member) for emission in emitted]
        row = self._team.team.row if self._team.roster.several else None
        expired, emitted = self._grants.apply(record, emitted)
        return (
            *expired,
            *wrap_emissions(record, [*emitted, *self._emit_queue_start(record)], row),
            *(self._emit_background_change(record, emitted, member) if member is not None else ()),
        )

    def _emit_queue_start(self, record: Record) -> Emissions:
        match record.fact:
            case QueueAdded():
                self._queued.add(record.scope.turn)
            case QueueRemoved():
                self._queued.discard(record.scope.turn)
            case TurnStarted() if record.scope.turn in self._queued:
                self._queued.discard(record.scope.turn)
                return emit_queue("started")
            case _:
                pass
        return ()

    def _with_task(self, emission: Emission, task: TaskRow | None) -> Emission:
        """Replace the entity and surface of a task that is a job, or the work of a sleeping or remote agent."""
        if task is None or task.entity == "work_item" or emission.adds.get("runtimeEntity") != "work_item":
            return emission
        if task.entity == "automation_job" and task.job:
            ended = "" if task.key in self._team.tasks.open else str(emission.adds.get("status", ""))
            return msgspec.structs.replace(emission, surface="task_capsule", adds=build_job_payload(task, ended))
        members = self._team.roster.members.values()
        member = next((member for member in members if member.card.agent_id == task.assignee), None)
        if task.entity == "automation_job":
            adds = _build_background_payload(member) or {
                "runtimeEntity": "automation_job",
                "status": "scheduled",
                "runtimeStatus": "idle",
            }
            return msgspec.structs.replace(emission, surface="background_teammate", adds=adds)
        adds = _build_remote_payload(member) or build_remote_task_payload("unknown", "")
        return msgspec.structs.replace(emission, surface="remote_teammate", adds=adds)

    def _emit_background_change(
        self, record: Record, emitted: list[Emission], member: Member
    ) -> tuple[AgentUiEvent, ...]:
        """Return the new state of a sleeping agent, unless the fact's own events show it."""
        work = member.find_background_work()
        if work is None:
            return ()
        before = self._background.get(member.card.thread_id)
        self._background[member.card.thread_id] = work.state
        if before == work.state:
            return ()
        present = {emission.type for emission in emitted if emission.adds.get("runtimeEntity") == "automation_job"}
        missing = (emission for emission in emit_background(work.state) if emission.type not in present)
        completed = (msgspec.structs.replace(emission, adds=_build_background_payload(member)) for emission in missing)
        row = self._team.team.row if self._team.roster.several else None
        return tuple(
            msgspec.structs.replace(event, task_id=work.task_id, agent_id=member.card.agent_id)
            for event in wrap_emissions(record, completed, row)
        )


def _with_member(emission: Emission, member: Member) -> Emission:
    """Add the state of a sleeping or remote agent."""
    entity = emission.adds.get("runtimeEntity")
    if member.remote is not None and (emission.type == "action.required" or entity == "external_task"):
        card = {"agentCardRef": member.remote.url}
        remote = _build_remote_payload(member) if emission.type == "action.required" else card
        return msgspec.structs.replace(emission, adds={**emission.adds, **remote})
    work = member.find_background_work()
    if work is not None and entity == "automation_job":
        adds = {**emission.adds, **_build_background_payload(member)}
        return msgspec.structs.replace(emission, phase=BACKGROUND_STATUS[work.state][1], adds=adds)
    return emission


def _build_remote_payload(member: Member | None) -> dict[str, Any]:
    work = member.remote if member is not None else None
    if work is None:
        return {}
    if work.task_state is None:
        return {"runtimeEntity": "external_task", "agentCardRef": work.url}
    return {**build_remote_task_payload(work.task_state, work.task_id), "agentCardRef": work.url}


def _build_background_payload(member: Member | None) -> dict[str, Any]:
    work = member.find_background_work() if member is not None else None
    if work is None:
        return {}
    return {
        "runtimeEntity": "automation_job",
        "status": work.state,
        "runtimeStatus": BACKGROUND_STATUS[work.state][0],
        "schedule": work.schedule,
        "wakeReason": work.wake_reason,
        "lastRunRef": work.last_run,
        "lastRunStatus": work.last_run_status,
    }
