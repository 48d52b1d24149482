"""Invariants of one thread, checked from its facts without code of the deciders or their state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from callboard.contracts.facts.action import ActionExpired, ActionRequired, ActionResolved, ActionWithdrawn
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.message import (
    MessageInterrupted,
    MessageText,
    OutputFinal,
    ReasoningCompleted,
    ReasoningInterrupted,
)
from callboard.contracts.facts.model import ModelCompleted, ModelFailed, ModelInterrupted, ModelRequested
from callboard.contracts.facts.permission import PermissionEvaluated
from callboard.contracts.facts.queue import (
    QueueAdded,
    QueueEdited,
    QueuePromoted,
    QueueRemoved,
    SteerAccepted,
    SteerRejected,
    SteerRequested,
)
from callboard.contracts.facts.session import ThreadPaused, ThreadResumed
from callboard.contracts.facts.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    ToolStarted,
)
from callboard.contracts.facts.turn import (
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnInterruptRequested,
    TurnStarted,
    TurnSubmitted,
)
from callboard.contracts.record import NewFact
from callboard.contracts.scope import Scope

PARTS = (MessageText, MessageInterrupted, ReasoningCompleted, ReasoningInterrupted)


@dataclass
class Call:
    tool: str
    allowed: bool = False
    started: bool = False
    action: str = ""


@dataclass
class Run:
    """The open run, as its facts describe it."""

    run: str
    turn: str
    mode: str
    max_iters: int
    iterations: int = 0
    model: int = 0
    stopping: bool = False
    finalised: bool = False
    answered: bool = False
    plain: bool = False
    calls: dict[str, Call] = field(default_factory=dict[str, Call])
    steers: list[str] = field(default_factory=list[str])
    steps: set[int] = field(default_factory=set[int])
    last_step: int = 0


class Witness:
    """Checks the facts of a thread batch by batch."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self.queue: list[str] = []
        self.paused = False
        self.turns: dict[str, str] = {}
        self.ended: set[str] = set()
        self.runs: set[str] = set()

    def check(self, batch: tuple[NewFact, ...], closed: tuple[str, ...]) -> None:
        """Check the facts of one decision and the ids that it closes."""
        before = set(self.ended)
        if self.run is not None:
            self.run.last_step = max(self.run.steps, default=0)
        for new in batch:
            for name in new.fact.needs:
                assert getattr(new.scope, name), f"{new.fact.type} lacks its {name}"
            self._check_fact(new.fact, new.scope)
        assert sorted(closed) == sorted(self.ended - before), "the decision lists the ids that it closes"
        self._check_batch_end()

    def _check_batch_end(self) -> None:
        """Check the invariants at the end of a batch."""
        assert all(state != "submitted" for state in self.turns.values()), "input starts or is queued in its own batch"
        run = self.run
        if run is None:
            assert self.paused or not self.queue, "a thread with a queue runs or is paused"
            return
        assert not self.paused, "a paused thread runs nothing"
        assert run.model or run.calls or run.stopping, "a run waits for a model, a call or its stop"
        active = [call for call in run.calls.values() if call.started or call.action]
        # A call that waits for others does not start while the turn is stopping. It ends with the turn.
        assert active or not run.calls or run.stopping, "a call runs, waits for a person, or waits for such a call"

    def _check_fact(self, fact: Fact, scope: Scope) -> None:
        if scope.run:
            if isinstance(fact, TurnStarted):
                self._start_run(fact, scope)
            else:
                assert self.run is not None, f"{fact.type} follows the end of its run"
                assert (scope.run, scope.turn) == (self.run.run, self.run.turn), f"{fact.type} belongs to the open run"
                self._check_run_fact(self.run, fact, scope)
        else:
            self._check_thread_fact(fact, scope)

    def _check_thread_fact(self, fact: Fact, scope: Scope) -> None:
        turn = scope.turn
        match fact:
            case TurnSubmitted():
                assert turn not in self.turns, "a turn is submitted once"
                self.turns[turn] = "submitted"
            case QueueAdded():
                assert self.turns[turn] == "submitted"
                self.turns[turn] = "queued"
                self.queue.append(turn)
                assert fact.position == len(self.queue)
            case QueuePromoted():
                assert self.queue.index(turn) > 0, "the first is not promoted"
                self.queue.remove(turn)
                self.queue.insert(0, turn)
            case QueueEdited():
                assert turn in self.queue
            case QueueRemoved():
                self.queue.remove(turn)
                self._end_entity(turn)
            case ThreadPaused():
                assert self.run is None
                assert not self.paused
                self.paused = True
            case ThreadResumed():
                assert self.paused
                self.paused = False
            case _:
                assert not turn, f"{fact.type} has a turn and no run"

    def _start_run(self, fact: TurnStarted, scope: Scope) -> None:
        assert self.run is None, "a thread runs one turn at a time"
        assert not self.paused, "a paused thread starts nothing"
        assert scope.run not in self.runs
        if self.turns[scope.turn] == "queued":
            assert self.queue[0] == scope.turn, "turns start in the order of their queue"
            self.queue.pop(0)
        else:
            assert not self.queue, "input does not overtake the queue"
        self.turns[scope.turn] = "running"
        self.runs.add(scope.run)
        self.run = Run(run=scope.run, turn=scope.turn, mode=fact.mode, max_iters=fact.max_iters)

    def _check_run_fact(self, run: Run, fact: Fact, scope: Scope) -> None:
        if isinstance(fact, (ModelRequested, *PARTS, ToolRequested, ActionRequired)):
            self._add_step(run, scope.step)
        if scope.tool_call:
            self._check_call_fact(run, fact, scope)
            return
        match fact:
            case ModelRequested():
                assert not run.model
                assert not run.calls, "the model is called after all results"
                assert not run.stopping, "nothing starts while the turn is stopping"
                assert fact.iteration == run.iterations + 1 <= run.max_iters
                run.iterations, run.model, run.answered = fact.iteration, scope.step, False
                assert not run.steers, "a model call includes every pending steer"
            case ModelCompleted() | ModelInterrupted():
                assert run.model == scope.step
                run.model, run.answered, run.plain = 0, isinstance(fact, ModelCompleted), True
            case ModelFailed():
                assert run.model == scope.step
                run.model = run.model if fact.retry_in_ms is not None else 0
            case SteerRequested():
                assert not run.stopping
                assert fact.steer_id not in run.steers
                run.steers.append(fact.steer_id)
            case SteerAccepted():
                assert scope.step > max(run.steps), "the next model call accepts it"
                run.steers.remove(fact.steer_id)
            case SteerRejected():
                run.steers.remove(fact.steer_id)
            case TurnInterruptRequested():
                assert not run.stopping
                run.stopping = True
            case OutputFinal():
                assert set(fact.parts) <= run.steps
            case TurnCompleted() | TurnFailed() | TurnInterrupted():
                self._end_run(run, fact)
            case _:
                assert not isinstance(fact, (ToolStarted, ToolCompleted)), f"{fact.type} names no call"

    def _check_call_fact(self, run: Run, fact: Fact, scope: Scope) -> None:
        call_id = scope.tool_call
        if isinstance(fact, ToolRequested):
            assert call_id not in run.calls
            assert call_id not in self.ended
            run.calls[call_id] = Call(tool=fact.tool)
            run.plain = False
            return
        assert call_id in run.calls, f"{fact.type} belongs to an open call"
        call = run.calls[call_id]
        match fact:
            case PermissionEvaluated():
                call.allowed = fact.verdict == "allow"
            case ActionRequired():
                assert not call.action
                assert not call.started
                call.action = scope.action
            case ActionResolved() | ActionExpired() | ActionWithdrawn():
                assert call.action == scope.action
                call.action = ""
                call.allowed = isinstance(fact, ActionResolved) and fact.decision == "approve"
                self._end_entity(scope.action)
            case ToolStarted():
                assert call.allowed, "nothing starts without an allow or an approval"
                assert not call.started
                assert not call.action
                assert not run.stopping, "nothing starts while the turn is stopping"
                call.started = True
            case ToolCompleted() | ToolFailed() | ToolLost() | ToolRefused() | ToolCancelled():
                was_started = fact.started if isinstance(fact, ToolCancelled) else not isinstance(fact, ToolRefused)
                assert call.started == was_started, f"{fact.type} of a call with started={call.started}"
                assert not call.action, "an action closes before its call"
                run.finalised |= isinstance(fact, ToolCompleted) and call.tool == "Finalize"
                del run.calls[call_id]
                self._end_entity(call_id)
            case _:
                pass

    def _end_run(self, run: Run, fact: Fact) -> None:
        assert not run.model, "the model call closes before its turn"
        assert not run.calls, "open calls close before their turn"
        assert not run.steers, "every steer is accepted or rejected"
        match fact:
            case TurnCompleted():
                assert run.answered
                assert not run.stopping, "a stopping turn does not complete"
                assert run.finalised if run.mode == "auto" else run.plain, "text ends chat, Finalize ends auto"
            case TurnFailed(code="max_iters"):
                assert run.iterations == run.max_iters
            case _:
                pass
        assert getattr(fact, "iterations", None) == run.iterations
        self.turns[run.turn] = "ended"
        self._end_entity(run.turn)
        self.run = None

    def _add_step(self, run: Run, step: int) -> None:
        assert step not in run.steps, "no two elements of a run share a step"
        assert step > run.last_step, "a step is greater than those of earlier batches"
        run.steps.add(step)

    def _end_entity(self, entity: str) -> None:
        assert entity not in self.ended, f"{entity} ends once"
        self.ended.add(entity)

    def pending_actions(self) -> Iterator[str]:
        """Yield the ids of the pending actions."""
        if self.run is not None:
            yield from (call.action for call in self.run.calls.values() if call.action)

    def running_calls(self) -> Iterator[str]:
        """Yield the ids of the running calls."""
        if self.run is not None:
            yield from (name for name, call in self.run.calls.items() if call.started)
