"""Given what was decided, when something is asked or reported, then these facts and no others.

    given(submit("one")).when(submit("two")).then((TurnSubmitted(...), at(turn=2)), (QueueAdded(position=1), at(turn=2)))

A history is made by real decisions. Their facts go through the bytes that the log would keep before they are folded, so
that a state never knows more than the log does. Ids count by kind: `trn_1`, `run_1`, `act_1`; calls are named by whoever
reports them.
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
from callboard.control.batch import Batch, Decision
from callboard.control.decide import SessionCommand, decide_command, decide_outcome
from callboard.control.decide.tool.action_answer import find_waiting_call
from callboard.control.decide.tool.calls import blocks_next_calls
from callboard.control.decision_inputs import DecisionInputs, RunConfig
from callboard.control.effects import Effect, derive_effects
from callboard.control.evolve import evolve
from callboard.control.outcomes import ExternalCallReported, ModelAnswered, Outcome
from callboard.control.state.session import Session, Thread
from callboard.control.state.turn import OpenRun
from tests.control.rigs.examples import FOLDER, NOW, SESSION, THREAD, WORKSPACE, setup_of

Step = SessionCommand | Outcome
Told = tuple[Fact, Scope]


class CountedIds:
    """Ids that count by kind."""

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()

    def new(self, kind: IdKind) -> str:
        self._given[kind] += 1
        return f"{PREFIXES[kind]}_{self._given[kind]}"


@dataclass(frozen=True)
class Then:
    """What came of a step. `before` is the sequence before it; `answer` is None of an outcome."""

    before: int
    decision: Decision
    answer: Answer | None
    effects: list[Effect]

    @property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(new.fact for new in self.decision.facts)

    def then(self, *expected: Told) -> Then:
        """Exactly these facts with these scopes, in this order."""
        assert [(new.fact, new.scope) for new in self.decision.facts] == _placed(expected, self.before)
        return self

    def ends_with(self, *expected: Told) -> Then:
        """These facts are the last, in this order."""
        last = [(new.fact, new.scope) for new in self.decision.facts[-len(expected) :]]
        assert last == _placed(expected, self.before + len(self.facts) - len(expected))
        return self

    def then_nothing(self) -> None:
        """Nothing was decided: no fact, no blob, no id closed, no partial ended."""
        assert self.decision == Decision(facts=())

    def answered(self, answer: Answer) -> Then:
        """The command got this answer."""
        assert self.answer == answer
        return self


def _placed(expected: tuple[Told, ...], before: int) -> list[Told]:
    """What is expected, with every model asked about all facts up to its own."""
    return [
        (
            msgspec.structs.replace(fact, context_through=before + index) if isinstance(fact, ModelRequested) else fact,
            scope,
        )
        for index, (fact, scope) in enumerate(expected)
    ]


class Given:
    """A session as far as its steps have brought it. `now`, `epoch`, `expiry` and `setup` may be set between steps."""

    def __init__(self, *, expiry: int = 0, setup: Callable[[str, Mode, PermissionMode], RunConfig] = setup_of) -> None:
        self.state = Session(session=SESSION)
        self.now = NOW
        self.epoch = 1
        self.expiry = expiry
        self.setup = setup
        self.closed: set[str] = set()
        self.ids = CountedIds()
        self.records: list[Record] = []
        self._verdicts: dict[str, Evaluation] = {}

    def after(self, *steps: Step) -> Given:
        """Takes the steps, each of which must be honoured."""
        for step in steps:
            self.when(step)
        return self

    def when(self, step: Step, **known: Any) -> Then:
        """Takes one step. `known` overrides what comes in from outside. Raises Refusal."""
        answer: Answer | None = None
        knows = msgspec.structs.replace(self._known(step), **known)
        before = self.state
        if isinstance(step, SessionCommand):
            decision, answer = decide_command(self.state, step, knows)
        else:
            decision = decide_outcome(self.state, step, knows)
        if isinstance(step, ModelAnswered):
            self._verdicts.update({call.call: call.evaluation for call in step.calls})
        if isinstance(step, ExternalCallReported):
            self._verdicts[step.call.call] = step.call.evaluation
        records = self._append(decision, knows)
        self.records.extend(records)
        for record in records:
            self.state = evolve(self.state, record)
        assert self.state == _working_state(before, decision, knows), (
            "folding the facts gives the state they were decided in"
        )
        self.closed |= set(decision.closed)
        return Then(before.sequence, decision, answer, derive_effects(records))

    def joined_by(self, agent: str, thread: str) -> Given:
        """Another agent has a thread in the session: a fact that no command of this version leads to."""
        fact = ThreadOpened(agent_name=agent, kind="main", definition=agent, definition_hash="d1")
        return self.put(fact, Scope(agent=agent, thread=thread))

    def put(self, fact: Fact, scope: Scope) -> Given:
        """A fact that stands in the log, whoever decided it."""
        for record in self._append(Decision(facts=(NewFact(fact, scope),)), self._known(None)):
            self.records.append(record)
            self.state = evolve(self.state, record)
        return self

    def refuses(self, step: Step, **known: Any) -> Problem:
        """The step is refused. Returns what the caller is told."""
        with pytest.raises(Refusal) as refused:
            self.when(step, **known)
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

    def _known(self, step: Step | None) -> DecisionInputs:
        named = {getattr(step, name, None) for name in ("turn_id", "action_id", "artifact_id", "process_id", "item_id")}
        found = find_waiting_call(self.state, getattr(step, "action_id", ""))
        return DecisionInputs(
            now=self.now,
            ids=self.ids,
            configure_run=self.setup,
            workspace=WORKSPACE,
            folder=FOLDER,
            epoch=self.epoch,
            closed_ids=frozenset(self.closed & named),
            evaluation=self._verdicts[found[2].call] if found is not None else None,
            evaluations=self.looks(),
            approval_expiry_us=self.expiry,
        )

    def looks(self) -> dict[str, Evaluation]:
        """What the gate is asked of calls that wait for others, as a runtime asks it."""
        found: dict[str, Evaluation] = {}
        for thread in self.state.threads.values():
            for call in thread.run.calls if thread.run is not None and not thread.run.stopping else ():
                if call.phase == "requested":
                    found[call.call] = self._verdicts[call.call]
                    if blocks_next_calls(call.tool, found[call.call]):
                        break
        return found

    def _append(self, decision: Decision, known: DecisionInputs) -> list[Record]:
        at = max(known.now, self.state.at)
        records: list[Record] = []
        for sequence, new in enumerate(decision.facts, start=self.state.sequence + 1):
            header = decode_header(encode_header(build_header(new, Origin(at=at), known.epoch)))
            fact = decode_payload(header.type, encode_payload(new.fact))
            records.append(Record(stream=SESSION, sequence=sequence, header=header, link=b"", fact=fact))
        return records


def given(*steps: Step, expiry: int = 0) -> Given:
    """A session that these steps have made."""
    return Given(expiry=expiry).after(*steps)


def _working_state(before: Session, decision: Decision, known: DecisionInputs) -> Session:
    batch = Batch(before, known)
    for new in decision.facts:
        batch.add(new.fact, new.scope)
    return batch.state
