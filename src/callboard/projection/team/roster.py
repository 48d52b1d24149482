"""The roster: one row an agent, once there is a second one. A solo run shows no team."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callboard.contracts.facts import AgentSlept, AgentWoke, Fact, SubagentClosed, ThreadOpened, WarningRaised
from callboard.contracts.record import Record
from callboard.contracts.rows import AgentRow, Op
from callboard.contracts.rows.team import Degraded, RemoteWork

from ..ops import upsert
from . import agent_changes, inbox
from . import human_agents as persons
from . import merges as merging
from .agent import Member
from .background import OF_TASKS
from .human_agents import HumanAgents
from .inbox import Inboxes
from .merges import OpenMerges

#: The facts that change the roster.
TAKES: frozenset[type[Fact]] = frozenset(
    {ThreadOpened, WarningRaised, *agent_changes.TAKES, *inbox.TAKES, *merging.TAKES, *persons.TAKES}
)


class RosterPanel(msgspec.Struct):
    """`members` are the agents that can still do something, by thread; `several` says that there was ever a second one.
    `sleepers` are the threads of those that wake for a task, by task, `lacking` what is degraded of each agent, by thread.
    `apart` are the rows of those that were closed before their work was merged, by agent: the worktree is gone unless a warning
    says that it stays."""

    members: dict[str, Member] = msgspec.field(default_factory=dict[str, Member])
    several: bool = False
    inboxes: Inboxes = msgspec.field(default_factory=Inboxes)
    sleepers: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    lacking: dict[str, tuple[Degraded, ...]] = msgspec.field(default_factory=dict[str, tuple[Degraded, ...]])
    merging: OpenMerges = msgspec.field(default_factory=OpenMerges)
    persons: HumanAgents = msgspec.field(default_factory=HumanAgents)
    apart: dict[str, AgentRow] = msgspec.field(default_factory=dict[str, AgentRow])

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to."""
        fact, scope = record.fact, record.scope
        if type(fact) in persons.TAKES:
            self.persons.take(record)
        if isinstance(fact, ThreadOpened):
            return self._join(record, fact)
        if isinstance(fact, WarningRaised):
            return self._kept(record, fact)
        kind = type(fact)
        change = agent_changes.TAKES.get(kind)
        thread = scope.thread
        if kind in OF_TASKS:
            thread = self.sleepers.get(scope.task, "")
        elif isinstance(fact, AgentSlept | AgentWoke):
            self.sleepers[scope.task] = thread
        member = self.members.get(thread)
        unmerged = member is not None and member.card.unmerged
        if member is not None and change is not None:
            change(member, record)
            if kind not in OF_TASKS:
                header = record.header
                member.last_activity, member.epoch = header.at, header.epoch
        if not self.several:
            return []
        if kind in merging.TAKES and (merged := self._named(self.merging.merged(record))):
            self.members[merged].change(unmerged=False)
            return [*self._rows((thread, merged), record.sequence)]
        changed = dict.fromkeys(self.inboxes.apply(record)) if kind in inbox.TAKES else {}
        if change is not None:
            changed[thread] = None
        changed |= dict.fromkeys(self._asked())
        ops = self._rows(changed, record.sequence)
        if isinstance(fact, SubagentClosed):
            if member is not None and unmerged:
                self.apart[scope.agent] = member.row()
            self.members.pop(thread, None)
            self.lacking.pop(thread, None)
        return ops

    def _asked(self) -> list[str]:
        """The threads of the persons for whom something waits since, or waits no more."""
        known = ((thread, self.members.get(thread)) for thread in self.persons.agents)
        return [thread for thread, one in known if one is not None and one.asked != self.persons.asked(thread)]

    def _kept(self, record: Record, fact: WarningRaised) -> list[Op]:
        row = self.apart.pop(record.scope.agent, None) if fact.code == "worktree_kept" else None
        return upsert(msgspec.structs.replace(row, unmerged=True, sequence=record.sequence)) if row is not None else []

    def _named(self, agent: str) -> str:
        return next((thread for thread, one in self.members.items() if agent and one.card.agent_id == agent), "")

    def degraded(self) -> tuple[Degraded, ...]:
        """What is degraded of anybody, each once."""
        return tuple(dict.fromkeys(one for found in self.lacking.values() for one in found))

    def _join(self, record: Record, fact: ThreadOpened) -> list[Op]:
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
        shown = (scope.thread,) if self.several else tuple(self.members)
        self.several = True
        return self._rows(shown, record.sequence)

    def _rows(self, threads: Iterable[str], sequence: int) -> list[Op]:
        rows: list[AgentRow] = []
        for thread in threads:
            member = self.members.get(thread)
            if member is not None:
                member.inbox, member.sequence = self.inboxes.count(thread), sequence
                member.asked = self.persons.asked(thread)
                row = member.row()
                if row.degraded:
                    self.lacking[thread] = row.degraded
                elif self.lacking:
                    self.lacking.pop(thread, None)
                rows.append(row)
        return upsert(*rows)
