"""The roster: one row per agent, once there is a second agent."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callboard.contracts.facts.session import ThreadOpened, WarningRaised
from callboard.contracts.record import Record
from callboard.contracts.rows.agent import AgentRow, RemoteWork
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.team import Degraded

from ..reducer import Reducer, on, upsert
from .agent import Member
from .agent_changes import CHANGES
from .background import Sleeper, Sleepers
from .human_agents import HumanAgents
from .inbox import Inboxes
from .merges import OpenMerges

#: Facts of a sleeping agent's task. They may come from any thread.
_SLEEPER_TASK_FACTS = Sleeper.FACTS - CHANGES.keys()


class RosterPanel(Reducer):
    """The agents of a session.

    Attributes:
        members: The agents that can still work, by thread.
        several: Whether there was ever a second agent.
        lacking: What degrades each agent, by thread.
        apart: The rows of agents that were closed before the merge of their work, by agent. Their worktree is removed,
            unless a warning reports otherwise.
    """

    USES = (CHANGES, Sleeper.FACTS, Inboxes.FACTS, OpenMerges.FACTS, HumanAgents.FACTS)
    members: dict[str, Member] = msgspec.field(default={})
    several: bool = False
    inboxes: Inboxes = msgspec.field(default_factory=Inboxes)
    sleepers: Sleepers = msgspec.field(default_factory=Sleepers)
    lacking: dict[str, tuple[Degraded, ...]] = msgspec.field(default={})
    merging: OpenMerges = msgspec.field(default_factory=OpenMerges)
    persons: HumanAgents = msgspec.field(default_factory=HumanAgents)
    apart: dict[str, AgentRow] = msgspec.field(default={})

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the fact."""
        fact, scope = record.fact, record.scope
        kind = type(fact)
        self.persons.handle(record)
        self.sleepers.handle(record)
        if kind in self.HANDLERS:
            return self.handle(record)
        change = CHANGES.get(kind)
        of_task = kind in _SLEEPER_TASK_FACTS
        thread = self.sleepers.threads.get(scope.task, "") if of_task else scope.thread
        member = self.members.get(thread)
        unmerged = member is not None and member.card.unmerged
        if member is not None:
            if change is not None:
                change(member, record, fact)
                member.last_activity, member.epoch = record.header.at, record.header.epoch
            if member.sleeper is not None:
                member.sleeper.handle(record)
        if not self.several:
            return []
        if merged := self._find_thread(self.merging.apply(record)):
            self.members[merged].change(unmerged=False)
            return [*self._build_rows((thread, merged), record.sequence)]
        changed = dict.fromkeys(self.inboxes.apply(record))
        if change is not None or of_task:
            changed[thread] = None
        changed |= dict.fromkeys(self._list_changed_persons())
        ops = self._build_rows(changed, record.sequence)
        if fact.closes == "thread":
            if member is not None and unmerged:
                self.apart[scope.agent] = member.build_row()
            self.members.pop(thread, None)
            self.lacking.pop(thread, None)
        return ops

    def _list_changed_persons(self) -> list[str]:
        """Return the threads of persons for whom work started or stopped waiting."""
        return [
            thread
            for thread in self.persons.agents
            if (member := self.members.get(thread)) is not None
            and member.needs_input != self.persons.is_input_needed(thread)
        ]

    @on
    def record_kept_worktree(self, record: Record, fact: WarningRaised) -> list[Op]:
        row = self.apart.pop(record.scope.agent, None) if fact.code == "worktree_kept" else None
        return upsert(msgspec.structs.replace(row, unmerged=True, sequence=record.sequence)) if row is not None else []

    def _find_thread(self, agent: str) -> str:
        members = self.members.items() if agent else ()
        return next((thread for thread, member in members if member.card.agent_id == agent), "")

    def list_degraded(self) -> tuple[Degraded, ...]:
        """Return what degrades the agents, each once."""
        return tuple(dict.fromkeys(reason for reasons in self.lacking.values() for reason in reasons))

    @on
    def join(self, record: Record, fact: ThreadOpened) -> list[Op]:
        scope = record.scope
        parent = self.members.get(scope.parent_thread)
        self.members[scope.thread] = Member(
            sequence=record.sequence,
            epoch=record.header.epoch,
            last_activity=record.header.at,
            state="spawning" if scope.parent_thread else "idle",
            remote=RemoteWork(url=fact.url) if fact.kind == "remote" else None,
            card=AgentRow(
                key=scope.agent,
                order=record.sequence,
                sequence=record.sequence,
                agent_id=scope.agent,
                name=fact.agent_name,
                thread_id=scope.thread,
                agent_kind="subagent" if scope.parent_thread else fact.kind,
                role=fact.role,
                state="idle",
                definition=fact.definition,
                description=fact.description,
                color=fact.color,
                parent_thread_id=scope.parent_thread,
                parent_agent_id=parent.card.agent_id if parent is not None else "",
                parent_run_id=scope.parent_run,
                task_id=scope.task if scope.parent_thread else "",
                policy=fact.policy,
            ),
        )
        if len(self.members) == 1 and not self.several:
            return []
        threads = (scope.thread,) if self.several else tuple(self.members)
        self.several = True
        return self._build_rows(threads, record.sequence)

    def _build_rows(self, threads: Iterable[str], sequence: int) -> list[Op]:
        rows: list[AgentRow] = []
        for thread in threads:
            member = self.members.get(thread)
            if member is not None:
                member.inbox, member.sequence = self.inboxes.count(thread), sequence
                member.needs_input = self.persons.is_input_needed(thread)
                row = member.build_row()
                if row.degraded:
                    self.lacking[thread] = row.degraded
                elif self.lacking:
                    self.lacking.pop(thread, None)
                rows.append(row)
        return upsert(*rows)
