"""Random commands and outcomes of one thread.

They come in time, late, twice, and for unknown entities. `witness` checks the facts. `Scenario`
compares the folded state with the state in which the facts were decided.
"""

from __future__ import annotations

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.queue import EditQueuedTurn, PromoteQueuedTurn, RemoveQueuedTurn
from callboard.contracts.commands.turn import ResumeThread
from callboard.contracts.errors import Refusal
from callboard.contracts.live import Partial
from callboard.contracts.ports.tools import Evaluation
from callboard.contracts.scope import Scope
from callboard.control.outcomes import (
    ActionTimedOut,
    HostTakenOver,
    ModelAttemptFailed,
    ModelResponded,
    Outcome,
    Piece,
    RequestedCall,
    RunStopped,
    ToolEnded,
)
from callboard.control.state.context import MAX_SPOKEN_TURNS
from callboard.control.state.session import Thread
from callboard.control.state.turn import MAX_MARKS
from tests.control.rigs.decisions import Scenario, Step
from tests.control.rigs.examples import (
    ALLOW,
    ASK,
    DENY,
    SERIAL,
    SERIAL_ASK,
    SERIAL_DENY,
    SESSION,
    THREAD,
    at,
    attempt_failure,
    configure_run,
    interrupt,
    model_response,
    run_stop,
    steer,
    submit,
    tool_end,
)
from tests.control.rigs.witness import Run, Witness

MINUTE = 60_000_000
VERDICTS = st.sampled_from([ALLOW, ALLOW, SERIAL, SERIAL, ASK, ASK, SERIAL_ASK, SERIAL_ASK, DENY, SERIAL_DENY])
TOOLS = st.sampled_from(["Read", "Write", "Finalize"])
#: Ids that callers provide, and minted ids.
CALLER_IDS = st.sampled_from(["trn_a", "trn_b", "trn_c", "trn_d"])
TURNS = CALLER_IDS | st.integers(1, 12).map(lambda number: f"trn_{number}")
#: A move: the parts and calls of a response, whether it succeeds, and the index of an open entity.
MOVES = st.tuples(
    st.lists(st.sampled_from(["text", "reasoning"]), max_size=2),
    st.lists(st.tuples(TOOLS, VERDICTS), max_size=3),
    st.sampled_from([True, True, False]),
    st.integers(0, 9),
)
MOSTLY_NONE = st.sampled_from([None, None, None])
RARELY = st.integers(0, 4).map(lambda number: number == 4)


#: Fields that a thread without a run may have.
_FIELDS_WITHOUT_RUN = (
    "last",
    "working_mode",
    "ended",
    "opened_sequence",
    "context_after",
    "marks",
    "context_usage",
    "spoken_turns",
)


class ThreadMachine(RuleBasedStateMachine):
    """One thread of one session."""

    def __init__(self) -> None:
        super().__init__()
        self.session = Scenario(expiry=MINUTE)
        self.witness = Witness()
        self.calls = 0
        self.reported: list[Outcome] = []
        self._apply(submit("first", mode="auto"))

    def _apply(self, step: Step, **inputs: object) -> bool:
        """Apply a step. Return False if it is refused, which must change nothing."""
        before = self.session.state
        try:
            result = self.session.when(step, **inputs)
        except Refusal:
            assert self.session.state == before
            return False
        self.witness.check(result.decision.facts, result.decision.closed)
        return True

    def _report(self, outcome: Outcome) -> None:
        before = self.session.state.sequence
        self._apply(outcome)
        if self.session.state.sequence > before:
            self.reported.append(outcome)

    # Commands.

    @rule(
        mode=st.sampled_from(["chat", "auto"]),
        when_busy=st.sampled_from(["queue", "interrupt", "refuse"]),
        turn=MOSTLY_NONE | CALLER_IDS,
    )
    def submit(self, mode: str, when_busy: str, turn: str | None) -> None:
        self._apply(submit(mode=mode, when_busy=when_busy, turn_id=turn))

    @precondition(lambda self: self.witness.run is None)
    @rule(mode=st.sampled_from(["chat", "auto"]), more=st.integers(0, 2))
    def begin(self, mode: str, more: int) -> None:
        """Submit input to the idle thread, then more input to the busy thread."""
        for _ in range(1 + more):
            self._apply(submit(mode=mode))

    @precondition(lambda self: self.witness.run is not None)
    @rule(steer_id=st.sampled_from([None, "str_a"]), content=st.sampled_from(["left", "right"]))
    def steer(self, steer_id: str | None, content: str) -> None:
        self._apply(steer(content, steer_id=steer_id))

    @precondition(lambda self: self.witness.run is not None)
    @rule(queued=st.sampled_from(["keep", "keep", "clear"]), turn=MOSTLY_NONE | TURNS)
    def interrupt(self, queued: str, turn: str | None) -> None:
        self._apply(interrupt(queued=queued, turn_id=turn))

    @precondition(lambda self: self.witness.queue)
    @rule(turn=TURNS, change=st.sampled_from([RemoveQueuedTurn, PromoteQueuedTurn, EditQueuedTurn]))
    def change_queue(self, turn: str, change: type) -> None:
        more = {"text": "better"} if change is EditQueuedTurn else {}
        is_queued = turn in self.witness.queue
        assert self._apply(change(session_id=SESSION, turn_id=turn, **more)) == is_queued

    @precondition(lambda self: self.witness.paused)
    @rule(is_unknown=st.booleans())
    def resume(self, is_unknown: bool) -> None:
        self.session.configure_run = _refuse_agent if is_unknown else configure_run
        self._apply(ResumeThread(session_id=SESSION))
        self.session.configure_run = configure_run

    @precondition(lambda self: any(self.witness.pending_actions()))
    @rule(
        action=st.integers(1, 30),
        decision=st.sampled_from(["approve", "approve", "reject", "answer"]),
        scope=st.sampled_from(["once", "once", "session", "workspace"]),
        gate_view=st.sampled_from(["same", "same", "denied", "changed", "nothing"]),
    )
    def respond(self, action: int, decision: str, scope: str, gate_view: str) -> None:
        pending = list(self.witness.pending_actions())
        name = pending[action % len(pending)] if action % 5 else f"act_{action}"
        evaluations = {"denied": DENY, "nothing": None, "changed": msgspec.structs.replace(ASK, binding=None)}
        inputs = {"evaluation": evaluations[gate_view]} if gate_view in evaluations else {}
        answer = RespondAction(session_id=SESSION, action_id=name, decision=decision, scope=scope)  # pyright: ignore[reportArgumentType]
        self._apply(answer, **inputs)

    # Outcomes.

    @precondition(lambda self: self.witness.run is not None)
    @rule(moves=st.lists(MOVES, min_size=1, max_size=3))
    def the_run_continues(self, moves: list[tuple[list[str], list[tuple[str, Evaluation]], bool, int]]) -> None:
        """Continue the open run: the model responds, calls end, or a person answers."""
        for kinds, calls, good, pick in moves:
            run = self.witness.run
            if run is None:
                return
            self.session.configure_run = configure_run if pick else _refuse_agent
            running, pending = list(self.witness.running_calls()), list(self.witness.pending_actions())
            if run.model:
                self._model_responds(run, kinds, calls)
            elif running:
                code = None if good else "tool_failed"
                self._report(
                    msgspec.structs.replace(tool_end(0, code=code), call=running[pick % len(running)], run=run.run)
                )
            elif pending:
                self._apply(
                    RespondAction(
                        session_id=SESSION,
                        action_id=pending[pick % len(pending)],
                        decision="approve" if good else "reject",
                        scope="session" if good and pick == 1 else "once",
                    )
                )
            else:
                self._report(run_stop(run=_run_number(run)))
            self.session.configure_run = configure_run

    def _model_responds(self, run: Run, kinds: list[str], calls: list[tuple[str, Evaluation]]) -> None:
        step = run.model
        pieces = [Piece(kind=kind, step=step + 1 + index, text="so") for index, kind in enumerate(kinds)]  # pyright: ignore[reportArgumentType]
        requested: list[RequestedCall] = []
        for index, (tool, evaluation) in enumerate(calls):
            self.calls += 1
            requested.append(
                RequestedCall(
                    call=f"cal_{self.calls}",
                    step=step + 1 + len(pieces) + index,
                    tool=tool,
                    arguments="{}",
                    provider_call_id="",
                    evaluation=evaluation,
                )
            )
        self._report(model_response(*pieces, *requested, run=_run_number(run), step=step))

    @precondition(lambda self: self.witness.run is not None and self.witness.run.model)
    @rule(last=RARELY, cut=st.booleans())
    def model_fails(self, last: bool, cut: bool) -> None:
        run = self._run()
        retry = None if last else 100
        pieces = [Piece(kind="text", step=run.model + 1, text="On")] if cut else []
        self._report(attempt_failure(*pieces, run=_run_number(run), step=run.model, retry_in_ms=retry))

    @precondition(lambda self: self.calls)
    @rule(call=st.integers(1, 40), code=st.none() | st.just("tool_failed"))
    def tool_ends(self, call: int, code: str | None) -> None:
        running = list(self.witness.running_calls())
        name = running[call % len(running)] if running and call % 5 else f"cal_{call}"
        run = self.witness.run.run if self.witness.run is not None else "run_1"
        self._report(msgspec.structs.replace(tool_end(0, code=code), call=name, run=run))  # pyright: ignore[reportArgumentType]

    @precondition(lambda self: self.witness.run is not None)
    @rule(cause=st.sampled_from(["person", "replaced", "crash", "shutdown"]), unasked=RARELY)
    def run_stops(self, cause: str, unasked: bool) -> None:
        run = self._run()
        if run.stopping or unasked:
            pieces = (Piece(kind="text", step=run.model + 1, text="On"),) if run.model else ()
            self._report(run_stop(*pieces, run=_run_number(run), cause=cause))

    @precondition(lambda self: any(self.witness.pending_actions()))
    @rule(action=st.integers(1, 30), passed=st.booleans())
    def time_passes(self, action: int, passed: bool) -> None:
        pending = list(self.witness.pending_actions())
        self.session.now += MINUTE if passed else 1
        name = pending[action % len(pending)] if action % 5 else f"act_{action}"
        self._report(ActionTimedOut(thread=THREAD, action=name))

    @rule(died=RARELY)
    def is_taken_over(self, died: bool) -> None:
        self.session.epoch += died
        run = self.witness.run
        partials = (Partial(kind="text", scope=at(turn=99, run=99, step=2), text="never was"),)
        if run is not None and run.model:
            scope = Scope(agent="lead", thread=THREAD, turn=run.turn, run=run.run, step=run.model + 1)
            partials = (*partials, Partial(kind="text", scope=scope, text="On"))
        self._apply(HostTakenOver(partials=partials))
        assert self.session.thread.run is None or self.session.run.epoch == self.session.epoch

    @precondition(lambda self: self.reported)
    @rule(index=st.integers(0, 1000))
    def an_outcome_is_repeated(self, index: int) -> None:
        outcome = self.reported[index % len(self.reported)]
        if not isinstance(outcome, (ModelResponded, RunStopped, ToolEnded)):
            return
        before = self.session.state
        self._apply(outcome)
        assert self.session.state == before, "a repeated outcome changes nothing"

    @rule(
        run=st.integers(1, 30),
        step=st.integers(0, 9),
        kind=st.sampled_from(
            [model_response(), attempt_failure(), attempt_failure(retry_in_ms=100), run_stop(), tool_end(1)]
        ),
    )
    def an_unknown_outcome_is_reported(self, run: int, step: int, kind: Outcome) -> None:
        """Report an outcome of an unknown run, or of a part of the open run that does not wait for it."""
        before = self.session.state
        open_run = self.witness.run
        of = open_run.run if open_run is not None else f"run_{run}"
        match kind:
            case ToolEnded():
                running = set(self.witness.running_calls())
                idle = [name for name in (open_run.calls if open_run is not None else ()) if name not in running]
                self._apply(msgspec.structs.replace(kind, run=of, call=[*idle, "cal_0"][run % (len(idle) + 1)]))
            case ModelResponded() | ModelAttemptFailed():
                step = 0 if open_run is not None and step == open_run.model else step
                self._apply(msgspec.structs.replace(kind, run=of, step=step))
            case RunStopped():
                self._apply(msgspec.structs.replace(kind, run=f"run_{run + 100}"))
            case _:
                raise AssertionError("the rule samples no other outcome")
        assert self.session.state == before

    # Invariants.

    @invariant()
    def the_state_matches_the_facts(self) -> None:
        thread = self.session.thread
        run = self.witness.run
        assert self.session.queue == self.witness.queue
        assert (thread.paused is not None) == self.witness.paused
        assert (thread.run.run if thread.run is not None else None) == (run.run if run is not None else None)
        if thread.run is not None and run is not None:
            assert [call.call for call in thread.run.calls] == list(run.calls)
            assert [steer.steer for steer in thread.run.steers] == run.steers
            assert (thread.run.model_step, thread.run.stopping) == (run.model, run.stopping)
            assert thread.run.next_step > max(run.steps)

    @invariant()
    def ended_turns_leave_nothing_in_the_state(self) -> None:
        """Check that finished turns leave nothing in the state."""
        thread = self.session.thread
        assert thread.submitted is None
        if thread.run is None:
            rest = Thread(thread=THREAD, agent="lead", definition="lead", queue=thread.queue, paused=thread.paused)
            fields = {name: getattr(thread, name) for name in _FIELDS_WITHOUT_RUN}
            assert len(thread.marks) <= MAX_MARKS
            assert len(thread.spoken_turns) <= MAX_SPOKEN_TURNS
            assert thread == msgspec.structs.replace(rest, **fields)

    def _run(self) -> Run:
        assert self.witness.run is not None
        return self.witness.run


def _run_number(run: Run) -> int:
    return int(run.run.removeprefix("run_"))


def _refuse_agent(*_: object):
    raise Refusal("unknown_agent", "There is no agent lead any more.")


ThreadMachine.TestCase.settings = settings(max_examples=120, stateful_step_count=50, deadline=None)
TestThread = ThreadMachine.TestCase
