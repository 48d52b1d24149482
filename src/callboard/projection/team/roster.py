"""The roster: one row an agent, once there is a second one. A solo run shows no team."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callboard.contracts.facts import Fact, SubagentClosed, ThreadOpened
from callboard.contracts.record import Record
from callboard.contracts.rows import AgentRow, Op

from ..ops import upsert
from . import changes, inbox
from .inbox import Inboxes
from .member import Member

#: The facts that change the roster.
TAKES: frozenset[type[Fact]] = frozenset({ThreadOpened, *changes.TAKES, *inbox.TAKES})


class RosterPanel(msgspec.Struct):
    """`members` are the agents that can still do something, by thread; `several` says that there was ever a second one."""

    members: dict[str, Member] = msgspec.field(default_factory=dict[str, Member])
    several: bool = False
    inboxes: Inboxes = msgspec.field(default_factory=Inboxes)

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to."""
        fact = record.fact
        if isinstance(fact, ThreadOpened):
            return self._join(record, fact)
        kind = type(fact)
        member = self.members.get(record.scope.thread)
        change = changes.TAKES.get(kind)
        if member is not None and change is not None:
            change(member, record)
            header = record.header
            member.last_activity, member.epoch = header.at, header.epoch
        if not self.several:
            return []
        changed = dict.fromkeys(self.inboxes.apply(record)) if kind in inbox.TAKES else {}
        if change is not None:
            changed[record.scope.thread] = None
        ops = self._rows(changed, record.sequence)
        if isinstance(fact, SubagentClosed):
            self.members.pop(record.scope.thread, None)
        return ops

    def _join(self, record: Record, fact: ThreadOpened) -> list[Op]:
        scope = record.scope
        parent = self.members.get(scope.parent_thread)
        self.members[scope.thread] = Member(
            sequence=record.sequence,
            epoch=record.header.epoch,
            last_activity=record.header.at,
            state="spawning" if scope.parent_thread else "idle",
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
                rows.append(member.row())
        return upsert(*rows)
