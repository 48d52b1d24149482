"""One agent, as far as its facts tell: what it does, what it waits for, and what it took."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.entities.team import WorkUsage
from callboard.contracts.facts.action import ActionType
from callboard.contracts.facts.thread import PauseCause
from callboard.contracts.rows import AgentRow
from callboard.contracts.rows.conversation import StatusDetail
from callboard.contracts.rows.team import AgentState, BackgroundWork, Connection, Degraded, RemoteWork

from . import remote
from .background import Sleeper

#: How much of an objective or a result stands in the roster, in characters.
SHOWN = 400
#: Plans that wait for a decision rise as that.
_PLANS: frozenset[ActionType] = frozenset({"plan_decision", "teammate_plan_decision"})
#: States that what an agent elsewhere tells of its task says more of.
_OPEN: frozenset[AgentState] = frozenset({"running", "waiting", "idle"})
#: States that say more than that an agent is paused.
_STOPPED: frozenset[AgentState] = frozenset({"failed", "killed", "closed"})


class Member(msgspec.Struct):
    """`card` has what seldom changes; the rest is laid over it when the row is made.

    `calls` are the tools of the calls that run, `waits` those of them that wait for children, `pending` the actions without
    an answer. `began` is when the open turn did. `sleeper` is what one of kind background waits for, `remote` what one
    elsewhere told, `unreached` that it could not be reached when it was last asked, `asked` that something waits for the
    person that it is, `paused` why its thread is paused.
    """

    card: AgentRow
    sequence: int
    epoch: int
    state: AgentState = "idle"
    connection: Connection = "idle"
    detail: StatusDetail = "ready"
    model: str = ""
    provider: str = ""
    permission_mode: str = ""
    latest_turn: str = ""
    latest_turn_status: str = ""
    current_run: str = ""
    last_activity: int = 0
    stalled_since: int = 0
    began: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    duration_ms: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    inbox: int = 0
    queued: set[str] = msgspec.field(default_factory=set[str])
    calls: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    waits: set[str] = msgspec.field(default_factory=set[str])
    pending: dict[str, ActionType] = msgspec.field(default_factory=dict[str, ActionType])
    sleeper: Sleeper | None = None
    remote: RemoteWork | None = None
    unreached: bool = False
    asked: bool = False
    paused: PauseCause | None = None

    def change(self, **changes: Any) -> None:
        """Changes what seldom changes."""
        self.card = msgspec.structs.replace(self.card, **changes)

    def row(self) -> AgentRow:
        """The row as it now is."""
        blocked = next(reversed(self.pending), "")
        return msgspec.structs.replace(
            self.card,
            sequence=self.sequence,
            state=self.shown(),
            model=self.model,
            provider=self.provider,
            permission_mode=self.permission_mode,
            connection=self.connection,
            last_activity=self.last_activity,
            activity="waiting_approval" if blocked else "running_tool" if self.calls else self.detail,
            tool=next(reversed(self.calls.values()), ""),
            latest_turn=self.latest_turn,
            latest_turn_status=self.latest_turn_status,
            current_run=self.current_run,
            queued_turns=len(self.queued),
            inbox=self.inbox,
            blocked_on=blocked,
            stalled_since=self.stalled_since,
            degraded=self._degraded(bool(blocked)),
            usage=self.usage(),
            background=None
            if self.sleeper is None
            else self.sleeper.shown(
                running=bool(self.current_run), blocked=bool(blocked) or self.state == "needs_input"
            ),
            remote=self.remote,
            paused=None if self.current_run or self.pending else self.paused,
            epoch=self.epoch,
        )

    def job(self) -> BackgroundWork | None:
        """How its sleep stands, where it is one that sleeps."""
        if self.sleeper is None:
            return None
        blocked = bool(self.pending) or self.state == "needs_input"
        return self.sleeper.shown(running=bool(self.current_run), blocked=blocked)

    def usage(self) -> WorkUsage:
        """What its work on its task took so far; a main agent's, all of it."""
        return WorkUsage(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            duration_ms=self.duration_ms,
            model_calls=self.model_calls,
            tool_calls=self.tool_calls,
        )

    def shown(self) -> AgentState:
        """The state as a person should read it: that somebody is needed rises above work."""
        if self.pending:
            return "plan_ready" if any(kind in _PLANS for kind in self.pending.values()) else "needs_input"
        if self.asked and self.state in _OPEN:
            return "needs_input"
        if self.paused and not self.current_run and self.state not in _STOPPED:
            return "needs_input"
        if self.remote is not None and self.remote.task_state is not None and self.state in _OPEN:
            told = self.remote.task_state
            if not self.current_run:
                return remote.RESTING.get(told, self.state)
            if told in remote.NEEDS and self.remote.told_at >= self.began:
                return "needs_input"
        return "waiting" if self.state == "running" and self.waits else self.state

    def _degraded(self, blocked: bool) -> tuple[Degraded, ...]:
        """What keeps it from being shown whole, or from going on: each because a fact says so, or none does."""
        card = self.card
        found: list[Degraded] = []
        if card.agent_kind == "subagent" and not card.parent_agent_id:
            found.append("lineage_unavailable")
        if self._is_gone():
            found.append("remote_unavailable")
        if blocked:
            found.append("permission_blocked")
        return tuple(found)

    def _is_gone(self) -> bool:
        """True for one elsewhere that is not there for what it has to do, or was not there when it was asked."""
        if self.remote is None or self.connection != "disconnected":
            return False
        return self.unreached or remote.unfinished(self.remote)


def glance(text: Text) -> Text:
    """As much of a text as a roster shows."""
    return text if len(text.text) <= SHOWN else msgspec.structs.replace(text, text=text.text[:SHOWN])
