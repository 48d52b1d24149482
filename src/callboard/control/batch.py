"""The facts of one decision in the making. Each fact changes the working state at once, so that later rules see it."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from callboard.contracts.content import Blob, Text, fit
from callboard.contracts.facts import (
    Fact,
    MessageInterrupted,
    MessageText,
    ReasoningCompleted,
    ReasoningInterrupted,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
)
from callboard.contracts.live import PartialKind, partial_key
from callboard.contracts.ports.tools import Evaluation
from callboard.contracts.record import NewFact
from callboard.contracts.scope import Scope

from .decision_inputs import DecisionInputs
from .evolve import apply
from .outcomes import RequestedCall
from .state.session import OpenCall, OpenRun, Session, Thread

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


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided: the facts in order, the blobs they refer to, the ids that are terminal with them, and the keys of
    the partials that they finish."""

    facts: tuple[NewFact, ...]
    blobs: tuple[Blob, ...] = ()
    closed: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


class BatchMark(NamedTuple):
    """A point of a batch in the making."""

    state: Session
    facts: int
    blobs: int
    ends: int


class Batch:
    """Collects the facts of one decision and holds the state that they lead to. `looks` are the gate's newest verdicts on calls
    whose turn has not come, by their ids."""

    def __init__(self, state: Session, inputs: DecisionInputs) -> None:
        self.state = state
        self.inputs = inputs
        self.evaluations: dict[str, Evaluation] = dict(inputs.evaluations)
        self._facts: list[NewFact] = []
        self._blobs: list[Blob] = []
        self._ends: list[str] = []

    def add(self, fact: Fact, scope: Scope) -> None:
        """Adds a fact. Raises ValueError where the scope lacks an id that the fact needs."""
        self._facts.append(NewFact(fact, scope))
        at = max(self.inputs.now, self.state.at)
        self.state = apply(self.state, fact, scope, self.state.sequence + 1, at, self.inputs.epoch)

    @property
    def last_fact(self) -> Fact | None:
        """What was said last."""
        return self._facts[-1].fact if self._facts else None

    def mark(self) -> BatchMark:
        """Where the batch stands, to come back to where what follows is refused."""
        return BatchMark(self.state, len(self._facts), len(self._blobs), len(self._ends))

    def roll_back(self, mark: BatchMark) -> None:
        """Takes back all that was said since."""
        self.state = mark.state
        del self._facts[mark.facts :], self._blobs[mark.blobs :], self._ends[mark.ends :]

    def store_text(self, text: str) -> Text:
        """The text as a fact may hold it; what is too large goes with the batch as a blob."""
        held, blobs = fit(text)
        self._blobs.extend(blobs)
        return held

    def drop_partial(self, kind: PartialKind, scope: Scope) -> None:
        """A part in the making that comes to nothing and leaves no fact."""
        self._ends.append(partial_key(kind, scope))

    def add_blobs(self, *blobs: Blob) -> None:
        """Blobs that facts of this batch refer to."""
        self._blobs.extend(blobs)

    def thread(self, thread: str) -> Thread:
        """The thread as the batch has changed it so far."""
        return self.state.threads[thread]

    def build_decision(self) -> Decision:
        """All that was said."""
        closed: list[str] = []
        ends = list(self._ends)
        for new in self._facts:
            if new.fact.closes is not None:
                closed.append(str(getattr(new.scope, new.fact.closes)))
            kind = _ENDS.get(type(new.fact))
            if kind is not None:
                ends.append(partial_key(kind, new.scope))
        return Decision(
            facts=tuple(self._facts), blobs=tuple(self._blobs), closed=tuple(closed), ends=tuple(dict.fromkeys(ends))
        )


def thread_scope(thread: Thread, turn: str = "") -> Scope:
    """The scope of a thread, or of a turn in it."""
    return Scope(agent=thread.agent, thread=thread.thread, turn=turn)


def run_scope(thread: Thread, run: OpenRun, step: int = 0) -> Scope:
    """The scope of a run, or of a step of it."""
    return Scope(agent=thread.agent, thread=thread.thread, turn=run.turn, run=run.run, step=step)


def call_scope(thread: Thread, run: OpenRun, call: OpenCall | RequestedCall) -> Scope:
    """The scope of a tool call."""
    return msgspec.structs.replace(run_scope(thread, run, call.step), tool_call=call.call)


def action_scope(thread: Thread, run: OpenRun, call: OpenCall) -> Scope:
    """The scope of the approval that a call waits for."""
    return msgspec.structs.replace(call_scope(thread, run, call), step=call.action_step, action=call.action)
