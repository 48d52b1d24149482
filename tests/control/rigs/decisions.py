"""Tests of decisions: earlier steps, one more step, and the facts that it leads to.

    session = session_after(submit("one"))
    session.when(submit("two")).then(
        (TurnSubmitted(...), at(turn=2)), (QueueAdded(position=1), at(turn=2))
    )

Real decisions build the session. Their facts pass through the bytes of the log before they are
folded, so the state has nothing that the log lacks. Ids count by kind: `trn_1`, `run_1`, `act_1`.
The outcome that reports a call also names it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from callboard.contracts.commands.base import Answer
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.ids import PREFIXES, IdKind
from callboard.contracts.ports.tools import Evaluation
from callboard.contracts.record import (
    NewFact,
    Origin,
    Record,
    build_header,
    decode_header,
    decode_payload,
    encode_header,
    encode_payload,
)
from callboard.contracts.scope import Scope
from callboard.control.batch import Decision
from callboard.control.decide import SessionCommand, decide_command, decide_outcome
from callboard.control.decide.tool.action_approval import find_waiting_call
from callboard.control.decide.tool.calls import is_blocking
from callboard.control.decision_inputs import DecisionInputs, RunConfig
from callboard.control.effects import Effect, derive_effects
from callboard.control.evolve import evolve
from callboard.control.outcomes import ExternalCallReported, ModelResponded, Outcome
from callboard.control.state.session import Session, Thread
from callboard.control.state.turn import OpenRun
from tests.control.rigs.examples import FOLDER, NOW, SESSION, THREAD, WORKSPACE, configure_run

Step = SessionCommand | Outcome
ScopedFact = tuple[Fact, Scope]


class CountedIds:
    """A source of ids that counts by kind."""

    def __init__(self) -> None:
        self._issued: Counter[str] = Counter()

    def new(self, kind: IdKind) -> str:
        self._issued[kind] += 1
        return f"{PREFIXES[kind]}_{self._issued[kind]}"


@dataclass(frozen=True)
class StepResult:
    """The result of a step. `before` is the sequence before it. `answer` is None for an outcome."""

    before: int
    decision: Decision
    answer: Answer | None
    effects: list[Effect]

    @property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(new.fact for new in self.decision.facts)

    def then(self, *expected: ScopedFact) -> StepResult:
        """Check that the step led to exactly these facts, in this order."""
        assert [(new.fact, new.scope) for new in self.decision.facts] == _with_context_through(expected, self.before)
        return self

    def ends_with(self, *expected: ScopedFact) -> StepResult:
        """Check that these facts are the last ones, in this order."""
        last = [(new.fact, new.scope) for new in self.decision.facts[-len(expected) :]]
        assert last == _with_context_through(expected, self.before + len(self.facts) - len(expected))
        return self

    def then_nothing(self) -> None:
        """Check that the step led to no fact, no blob, no closed id and no ended partial."""
        assert self.decision == Decision(facts=(), state=self.decision.state)

    def with_answer(self, answer: Answer) -> StepResult:
        """Check the answer of the command."""
        assert self.answer == answer
        return self


def _with_context_through(expected: tuple[ScopedFact, ...], before: int) -> list[ScopedFact]:
    """Set `context_through` of each expected model request to the fact before it."""
    return [
        (
            msgspec.structs.replace(fact, context_through=before + index) if isinstance(fact, ModelRequested) else fact,
            scope,
        )
        for index, (fact, scope) in enumerate(expected)
    ]


class Scenario:
    """A session after some steps. A test may set its public attributes between them."""

    def __init__(
        self, *, expiry: int = 0, configure_run: Callable[[str, Mode, PermissionMode], RunConfig] = configure_run
    ) -> None:
        self.state = Session(session=SESSION)
        self.now = NOW
        self.epoch = 1
        self.expiry = expiry
        self.configure_run = configure_run
        self.closed: set[str] = set()
        self.ids = CountedIds()
        self.records: list[Record] = []
        self._evaluations: dict[str, Evaluation] = {}

    def after(self, *steps: Step) -> Scenario:
        """Apply the steps. None of them may be refused."""
        for step in steps:
            self.when(step)
        return self

    def when(self, step: Step, **inputs: Any) -> StepResult:
        """Apply one step. `known` replaces fields of the decision inputs. Raises Refusal."""
        answer: Answer | None = None
        decision_inputs = msgspec.structs.replace(self._decision_inputs(step), **inputs)
        before = self.state
        if isinstance(step, SessionCommand):
            decision, answer = decide_command(self.state, step, decision_inputs)
        else:
            decision = decide_outcome(self.state, step, decision_inputs)
        if isinstance(step, ModelResponded):
            self._evaluations.update({call.call: call.evaluation for call in step.calls})
        if isinstance(step, ExternalCallReported):
            self._evaluations[step.call.call] = step.call.evaluation
        records = self._append(decision, decision_inputs)
        self.records.extend(records)
        for record in records:
            self.state = evolve(self.state, record)
        assert self.state == decision.state, "the folded facts give the state in which they were decided"
        self.closed |= set(decision.closed)
        return StepResult(before.sequence, decision, answer, derive_effects(records))

    def add_thread(self, agent: str, thread: str) -> Scenario:
        """Open a thread of another main agent, which no single command does."""
        fact = ThreadOpened(agent_name=agent, kind="main", definition=agent, definition_hash="d1")
        return self.put(fact, Scope(agent=agent, thread=thread))

    def put(self, fact: Fact, scope: Scope) -> Scenario:
        """Append a fact without a decision."""
        for record in self._append(
            Decision(facts=(NewFact(fact, scope),), state=self.state), self._decision_inputs(None)
        ):
            self.records.append(record)
            self.state = evolve(self.state, record)
        return self

    def refuses(self, step: Step, **inputs: Any) -> Problem:
        """Check that the step is refused, and return the problem."""
        with pytest.raises(Refusal) as refused:
            self.when(step, **inputs)
        return refused.value.problem

    @property
    def thread(self) -> Thread:
        return self.state.threads[THREAD]

    @property
    def run(self) -> OpenRun:
        assert self.thread.run is not None
        return self.thread.run

    @property
    def queue(self) -> list[str]:
        return [queued.turn for queued in self.thread.queue]

    def _decision_inputs(self, step: Step | None) -> DecisionInputs:
        step_ids = {
            getattr(step, name, None) for name in ("turn_id", "action_id", "artifact_id", "process_id", "item_id")
        }
        waiting_call = find_waiting_call(self.state, getattr(step, "action_id", ""))
        return DecisionInputs(
            now=self.now,
            ids=self.ids,
            configure_run=self.configure_run,
            workspace=WORKSPACE,
            folder=FOLDER,
            epoch=self.epoch,
            closed_ids=frozenset(self.closed & step_ids),
            evaluation=self._evaluations[waiting_call[2].call] if waiting_call is not None else None,
            evaluations=self.pending_evaluations(),
            approval_expiry_us=self.expiry,
        )

    def pending_evaluations(self) -> dict[str, Evaluation]:
        """Return the gate's evaluations of the calls that wait for others, as a runtime requests them."""
        evaluations: dict[str, Evaluation] = {}
        for thread in self.state.threads.values():
            for call in thread.run.calls if thread.run is not None and not thread.run.stopping else ():
                if call.phase == "requested":
                    evaluations[call.call] = self._evaluations[call.call]
                    if is_blocking(call.tool, evaluations[call.call]):
                        break
        return evaluations

    def _append(self, decision: Decision, inputs: DecisionInputs) -> list[Record]:
        at = max(inputs.now, self.state.at)
        records: list[Record] = []
        for sequence, new in enumerate(decision.facts, start=self.state.sequence + 1):
            header = decode_header(encode_header(build_header(new, Origin(at=at), inputs.epoch)))
            fact = decode_payload(header.type, encode_payload(new.fact))
            records.append(Record(stream=SESSION, sequence=sequence, header=header, link=b"", fact=fact))
        return records


def session_after(*steps: Step, expiry: int = 0) -> Scenario:
    """Return a session after these steps."""
    return Scenario(expiry=expiry).after(*steps)
