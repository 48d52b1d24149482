"""One agent: its activity, what it waits for, and its usage."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.entities.team import WorkUsage
from callboard.contracts.facts.action import ActionType
from callboard.contracts.facts.session import PauseCause
from callboard.contracts.rows.agent import AgentRow, AgentState, BackgroundWork, Connection, RemoteWork
from callboard.contracts.rows.status import StatusDetail
from callboard.contracts.rows.team import Degraded

from . import remote
from .background import Sleeper

#: Maximum length of an objective or a result in the roster, in characters.
_MAX_CHARS = 400
#: Requests that show the state `plan_ready`.
_PLANS: frozenset[ActionType] = frozenset({"plan_decision", "teammate_plan_decision"})
#: States that the state of a remote task replaces.
_OPEN: frozenset[AgentState] = frozenset({"running", "waiting", "idle"})
#: States that a pause does not replace.
_STOPPED: frozenset[AgentState] = frozenset({"failed", "killed", "closed"})


class Member(msgspec.Struct, gc=False):
    """An agent. `build_row` adds its current state to `card`, which seldom changes.

    Attributes:
        calls: The tools of the running calls.
        waits: The running calls that wait for children.
        pending: The actions without an answer.
        began: Start of the open turn, in microseconds since the epoch.
        sleeper: The sleep of a background agent.
        remote: The work of a remote agent.
        unreached: Whether the newest attempt to reach the agent failed.
        needs_input: Whether something waits for the person who is the agent.
        paused: Why the thread is paused.
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
    queued: set[str] = set()
    calls: dict[str, str] = {}
    waits: set[str] = set()
    pending: dict[str, ActionType] = {}
    sleeper: Sleeper | None = None
    remote: RemoteWork | None = None
    unreached: bool = False
    needs_input: bool = False
    paused: PauseCause | None = None

    def change(self, **changes: Any) -> None:
        """Change fields of the card."""
        self.card = msgspec.structs.replace(self.card, **changes)

    def build_row(self) -> AgentRow:
        """Return the current row."""
        blocked = next(reversed(self.pending), "")
        return msgspec.structs.replace(
            self.card,
            sequence=self.sequence,
            state=self.derive_state(),
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
            degraded=self._list_degraded(bool(blocked)),
            usage=self.build_usage(),
            background=self.find_background_work(),
            remote=self.remote,
            paused=None if self.current_run or self.pending else self.paused,
            epoch=self.epoch,
        )

    def find_background_work(self) -> BackgroundWork | None:
        """Return a background agent's work; None for other agents."""
        if self.sleeper is None:
            return None
        blocked = bool(self.pending) or self.state == "needs_input"
        return self.sleeper.build_background_work(running=bool(self.current_run), blocked=blocked)

    def build_usage(self) -> WorkUsage:
        """Return the usage for its task, or a main agent's usage for all its work."""
        return WorkUsage(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            duration_ms=self.duration_ms,
            model_calls=self.model_calls,
            tool_calls=self.tool_calls,
        )

    def derive_state(self) -> AgentState:
        """Return the state to show. A need for a person's input ranks above work."""
        if self.pending:
            return "plan_ready" if any(kind in _PLANS for kind in self.pending.values()) else "needs_input"
        if self.needs_input and self.state in _OPEN:
            return "needs_input"
        if self.paused and not self.current_run and self.state not in _STOPPED:
            return "needs_input"
        if self.remote is not None and self.remote.task_state is not None and self.state in _OPEN:
            task_state = self.remote.task_state
            if not self.current_run:
                return remote.RESTING.get(task_state, self.state)
            if task_state in remote.NEEDS and self.remote.told_at >= self.began:
                return "needs_input"
        return "waiting" if self.state == "running" and self.waits else self.state

    def _list_degraded(self, blocked: bool) -> tuple[Degraded, ...]:
        """Return what is unknown of the agent, or prevents its work."""
        card = self.card
        degraded: list[Degraded] = []
        if card.agent_kind == "subagent" and not card.parent_agent_id:
            degraded.append("lineage_unavailable")
        if self._is_unreachable():
            degraded.append("remote_unavailable")
        if blocked:
            degraded.append("permission_blocked")
        return tuple(degraded)

    def _is_unreachable(self) -> bool:
        """Return whether a remote agent with open work is disconnected, or the newest attempt to reach it failed."""
        if self.remote is None or self.connection != "disconnected":
            return False
        return self.unreached or remote.is_unfinished(self.remote)


def shorten(text: Text) -> Text:
    """Return the start of a text, as the roster shows it."""
    return text if len(text.text) <= _MAX_CHARS else msgspec.structs.replace(text, text=text.text[:_MAX_CHARS])
