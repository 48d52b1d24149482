"""Agent UI's events of a session, with what other facts say of what each is about: of which entity a task is, how an agent
that sleeps stands, where the card of one elsewhere is, that a turn had waited, and when what was granted is over."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.entities.team import BackgroundState
from callboard.contracts.erased import readable
from callboard.contracts.facts import QueueAdded, QueueRemoved, TurnStarted
from callboard.contracts.record import Record
from callboard.contracts.rows import TaskRow

from ...team.agent import Member
from ...team.panels import TeamPanels
from .classes import emissions
from .emission import Emission, queue
from .events import AgentUiEvent, events_of
from .grants import Grants
from .team import OF_JOB, external, job, of_job


class AgentUiEvents:
    """Makes the events of one session from its facts, which are given in their order."""

    def __init__(self) -> None:
        self._team = TeamPanels()
        self._queued: set[str] = set()
        self._jobs: dict[str, BackgroundState] = {}
        self._grants = Grants()

    def apply(self, record: Record) -> tuple[AgentUiEvent, ...]:
        """The events that the fact is told as, in order."""
        tasks, members = self._team.tasks.open, self._team.roster.members
        task = tasks.get(record.scope.task)
        self._team.apply(readable(record))
        task = tasks.get(record.scope.task, task)
        thread = self._team.roster.sleepers.get(record.scope.task) or record.scope.thread
        member = members.get(thread)
        told = [self._of_task(one, task) for one in emissions(record.header.type, record.fact)]
        if member is not None:
            told = [_of_member(one, member) for one in told]
        row = self._team.team.row if self._team.roster.several else None
        over, told = self._grants.apply(record, told)
        return (
            *over,
            *events_of(record, [*told, *self._waited(record)], row),
            *(self._job(record, told, member) if member is not None and member.sleeper is not None else ()),
        )

    def _waited(self, record: Record) -> tuple[Emission, ...]:
        """A turn that waited in a queue begins."""
        match record.fact:
            case QueueAdded():
                self._queued.add(record.scope.turn)
            case QueueRemoved():
                self._queued.discard(record.scope.turn)
            case TurnStarted() if record.scope.turn in self._queued:
                self._queued.discard(record.scope.turn)
                return queue("started")
            case _:
                pass
        return ()

    def _of_task(self, told: Emission, task: TaskRow | None) -> Emission:
        """A task is told as what it is to others."""
        if task is None or told.adds.get("runtimeEntity") != "work_item":
            return told
        if task.entity == "work_item":
            return told
        if task.entity == "automation_job" and task.job:
            ended = "" if task.key in self._team.tasks.open else str(told.adds.get("status", ""))
            return msgspec.structs.replace(told, surface="task_capsule", adds=of_job(task, ended))
        agents = (one for one in self._team.roster.members.values() if one.card.agent_id == task.assignee)
        member = next(agents, None)
        if task.entity == "automation_job":
            adds = _of_job(member) or {
                "runtimeEntity": "automation_job",
                "status": "scheduled",
                "runtimeStatus": "idle",
            }
            return msgspec.structs.replace(told, surface="background_teammate", adds=adds)
        adds = _of_remote(member) or external("unknown", "")
        return msgspec.structs.replace(told, surface="remote_teammate", adds=adds)

    def _job(self, record: Record, told: list[Emission], member: Member) -> tuple[AgentUiEvent, ...]:
        """How an agent stands that sleeps and wakes, where the fact changed that, as far as it is not told as it."""
        work = member.job()
        if work is None:
            return ()
        before = self._jobs.get(member.card.thread_id)
        self._jobs[member.card.thread_id] = work.state
        if before == work.state:
            return ()
        already = {one.type for one in told if one.adds.get("runtimeEntity") == "automation_job"}
        changed = (one for one in job(work.state) if one.type not in already)
        emitted = (msgspec.structs.replace(one, adds=_of_job(member)) for one in changed)
        row = self._team.team.row if self._team.roster.several else None
        return tuple(
            msgspec.structs.replace(event, task_id=work.task_id, agent_id=member.card.agent_id)
            for event in events_of(record, emitted, row)
        )


def _of_member(told: Emission, member: Member) -> Emission:
    """What an agent that sleeps or is elsewhere tells is told with how it stands."""
    entity = told.adds.get("runtimeEntity")
    if member.remote is not None and (told.type == "action.required" or entity == "external_task"):
        remote = _of_remote(member) if told.type == "action.required" else {"agentCardRef": member.remote.url}
        return msgspec.structs.replace(told, adds={**told.adds, **remote})
    work = member.job()
    if work is not None and entity == "automation_job":
        return msgspec.structs.replace(told, phase=OF_JOB[work.state][1], adds={**told.adds, **_of_job(member)})
    return told


def _of_remote(member: Member | None) -> dict[str, Any]:
    work = member.remote if member is not None else None
    if work is None:
        return {}
    if work.task_state is None:
        return {"runtimeEntity": "external_task", "agentCardRef": work.url}
    return {**external(work.task_state, work.task_id), "agentCardRef": work.url}


def _of_job(member: Member | None) -> dict[str, Any]:
    work = member.job() if member is not None else None
    if work is None:
        return {}
    return {
        "runtimeEntity": "automation_job",
        "status": work.state,
        "runtimeStatus": OF_JOB[work.state][0],
        "schedule": work.schedule,
        "wakeReason": work.wake_reason,
        "lastRunRef": work.last_run,
        "lastRunStatus": work.last_run_status,
    }
