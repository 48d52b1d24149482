"""Sessions of one turn, built fact by fact."""

from __future__ import annotations

from collections.abc import Iterable

from callboard.contracts.content import Text
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.model import Candidate, ModelRequested, RoutingResolved
from callboard.contracts.facts.session import SessionCreated, ThreadOpened
from callboard.contracts.facts.tool import ToolRequested, ToolStarted
from callboard.contracts.facts.turn import TurnStarted, TurnSubmitted
from callboard.contracts.live import Frame, PartialKind
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.scope import Scope
from callboard.projection.rows import Table
from callboard.projection.view import SessionView
from tests.projection.runs import NOWHERE, Log, with_ids

THREAD = Scope(agent="solo", thread="thr_1")
TURN = with_ids(THREAD, turn="trn_1")
RUN = with_ids(TURN, run="run_1")


class SessionBuilder:
    """A session whose facts reach a view and a table. `ops` are the row operations of the newest
    fact or frame.
    """

    def __init__(self) -> None:
        self.log = Log("ses_1")
        self.view = SessionView()
        self.table = Table()
        self.ops: list[Op] = []

    def records(self) -> tuple[Record, ...]:
        """Return the facts so far."""
        return tuple(item for item in self.log.items if isinstance(item, Record))

    def add(self, fact: Fact, scope: Scope = NOWHERE) -> SessionBuilder:
        return self._record_ops(self.view.apply(self.log.add(fact, scope)))

    def stream(self, kind: PartialKind, scope: Scope, text: str, offset: int = 0, tool: str = "") -> SessionBuilder:
        return self._record_ops(
            self.view.apply_frame(Frame(kind=kind, scope=scope, offset=offset, text=text, tool=tool))
        )

    def _record_ops(self, ops: Iterable[Op]) -> SessionBuilder:
        self.ops = list(ops)
        self.table.apply(self.ops)
        return self


def step(number: int, **ids: str) -> Scope:
    """Return the scope of a step of the run."""
    return with_ids(RUN, step=number, **ids)


def idle_session() -> SessionBuilder:
    """Return a session with one idle thread."""
    session = SessionBuilder()
    session.add(SessionCreated(workspace_id="wks_1", folder="/work", title="Tidy the prompts"))
    return session.add(ThreadOpened(agent_name="Solo", kind="main", definition="solo", definition_hash="d"), THREAD)


def turn_submitted(text: str = "Tidy up.") -> TurnSubmitted:
    return TurnSubmitted(input=Text(text=text), mode="chat", permission_mode="ask")


def turn_started() -> TurnStarted:
    return TurnStarted(
        mode="chat",
        permission_mode="ask",
        max_iters=8,
        definition="solo",
        definition_hash="d",
        workspace_sequence=1,
    )


def model_session() -> SessionBuilder:
    """Return a turn with its first model request, step 1."""
    session = idle_session().add(turn_submitted(), TURN)
    session.add(turn_started(), RUN)
    model = Candidate(provider="scripted", model="m")
    session.add(RoutingResolved(candidates=(model,), chosen=model, reason="the only one"), RUN)
    return session.add(ModelRequested(provider="scripted", model="m", iteration=1, context_through=3), step(1))


def calling_session() -> SessionBuilder:
    """Return a turn with a tool call, step 2."""
    requested = ToolRequested(tool="Write", arguments=Text(text='{"path":"a"}'), summary="Write a")
    return model_session().add(requested, step(2, tool_call="cal_1"))


def running_session() -> SessionBuilder:
    """Return a turn with a running tool."""
    return calling_session().add(ToolStarted(tool="Write"), step(2, tool_call="cal_1"))
