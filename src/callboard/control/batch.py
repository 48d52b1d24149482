"""The facts of one decision, with the state that they lead to."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from callboard.contracts.content import Blob, Text, fit_text
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.message import MessageInterrupted, MessageText, ReasoningCompleted, ReasoningInterrupted
from callboard.contracts.facts.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
)
from callboard.contracts.live import PartialKind, build_partial_key
from callboard.contracts.ports.tools import Evaluation
from callboard.contracts.record import NewFact
from callboard.contracts.scope import Scope

from .decision_inputs import DecisionInputs
from .evolve import apply
from .outcomes import RequestedCall
from .state.session import Session, Thread
from .state.turn import OpenCall, OpenRun

_ENDS: dict[type[Fact], PartialKind] = {
    MessageText: "text",
    MessageInterrupted: "text",
    ReasoningCompleted: "reasoning",
    ReasoningInterrupted: "reasoning",
    ToolRequested: "arguments",
    ToolCompleted: "output",
    ToolFailed: "output",
    ToolRefused: "output",
    ToolCancelled: "output",
    ToolLost: "output",
}


class Decision(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The result of a decision: the facts in order, and the blobs that they refer to. `closed` are
    the ids that end with them, `ends` the keys of the partials that they finish. `state` is the
    state after them, at the time of the decision."""

    facts: tuple[NewFact, ...]
    state: Session
    blobs: tuple[Blob, ...] = ()
    closed: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


class BatchMark(NamedTuple):
    """A point in a batch to roll back to."""

    state: Session
    facts: int
    blobs: int
    ends: int


class Batch:
    """The facts of an unfinished decision. Each fact changes `state` immediately, so later rules see
    it. `evaluations` are the gate's newest evaluations of queued calls, by call id."""

    def __init__(self, state: Session, inputs: DecisionInputs) -> None:
        self.state = state
        self.inputs = inputs
        self.evaluations: dict[str, Evaluation] = dict(inputs.evaluations)
        self._at = max(inputs.now, state.at)
        self._facts: list[NewFact] = []
        self._blobs: list[Blob] = []
        self._ends: list[str] = []

    def add(self, fact: Fact, scope: Scope) -> None:
        """Add a fact. A scope that lacks an id of the fact raises ValueError."""
        self._facts.append(NewFact(fact, scope))
        self.state = apply(self.state, fact, scope, self.state.sequence + 1, self._at, self.inputs.epoch)

    @property
    def last_fact(self) -> Fact | None:
        """Return the fact added last."""
        return self._facts[-1].fact if self._facts else None

    def mark(self) -> BatchMark:
        """Return a mark of the present state, for `roll_back`."""
        return BatchMark(self.state, len(self._facts), len(self._blobs), len(self._ends))

    def roll_back(self, mark: BatchMark) -> None:
        """Remove all that was added since the mark."""
        self.state = mark.state
        del self._facts[mark.facts :], self._blobs[mark.blobs :], self._ends[mark.ends :]

    def store_text(self, text: str) -> Text:
        """Return the text as a fact stores it; a large text becomes a blob of the batch."""
        stored, blobs = fit_text(text)
        self._blobs.extend(blobs)
        return stored

    def drop_partial(self, kind: PartialKind, scope: Scope) -> None:
        """Drop a partial that leaves no fact."""
        self._ends.append(build_partial_key(kind, scope))

    def add_blobs(self, *blobs: Blob) -> None:
        """Add blobs that facts of this batch refer to."""
        self._blobs.extend(blobs)

    def get_thread(self, thread: str) -> Thread:
        """Return the thread, with the changes of this batch."""
        return self.state.threads[thread]

    def build_decision(self) -> Decision:
        """Return the decision with all facts of the batch."""
        closed: list[str] = []
        ends = list(self._ends)
        for new in self._facts:
            if new.fact.closes is not None:
                closed.append(str(getattr(new.scope, new.fact.closes)))
            kind = _ENDS.get(type(new.fact))
            if kind is not None:
                ends.append(build_partial_key(kind, new.scope))
        return Decision(
            facts=tuple(self._facts),
            state=self.state,
            blobs=tuple(self._blobs),
            closed=tuple(closed),
            ends=tuple(dict.fromkeys(ends)),
        )


def build_thread_scope(thread: Thread, turn: str = "") -> Scope:
    """Return the scope of a thread, or of a turn in it."""
    return Scope(agent=thread.agent, thread=thread.thread, turn=turn)


def build_run_scope(thread: Thread, run: OpenRun, step: int = 0) -> Scope:
    """Return the scope of a run, or of one of its steps."""
    return Scope(agent=thread.agent, thread=thread.thread, turn=run.turn, run=run.run, step=step)


def build_call_scope(thread: Thread, run: OpenRun, call: OpenCall | RequestedCall) -> Scope:
    """Return the scope of a tool call."""
    return msgspec.structs.replace(build_run_scope(thread, run, call.step), tool_call=call.call)


def build_action_scope(thread: Thread, run: OpenRun, call: OpenCall) -> Scope:
    """Return the scope of the action that a call waits for."""
    return msgspec.structs.replace(build_call_scope(thread, run, call), step=call.action_step, action=call.action)
