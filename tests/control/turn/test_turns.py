"""Turns: start by input, end by a text response, Finalize or the limit of model calls."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.turn import ResumeThread, ThreadChanged, TurnAccepted
from callboard.contracts.content import MAX_INLINE_BYTES, PREVIEW, Text, make_blob
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.facts.message import OutputFinal
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.facts.queue import QueueAdded
from callboard.contracts.facts.session import SessionCreated, ThreadOpened, ThreadPaused, ThreadResumed
from callboard.contracts.facts.tool import ToolCompleted
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted, TurnSubmitted
from callboard.contracts.scope import Scope
from callboard.control.decide.turn.context import compute_cut
from callboard.control.state.context import MAX_SPOKEN_TURNS, ContextUsage
from callboard.control.state.session import Thread
from callboard.control.state.turn import MAX_MARKS, QueuedTurn, TurnEnd
from tests.control.rigs.decisions import Scenario, session_after
from tests.control.rigs.examples import (
    FOLDER,
    ROLE,
    RUN_CONFIG,
    SESSION,
    THREAD,
    WORKSPACE,
    at,
    attempt_failure,
    configure_run,
    interrupt,
    model_response,
    requested_call,
    run_stop,
    submit,
    text_response,
    tool_end,
)
from tests.control.rigs.expected_facts import message_text, model_completion, model_request, turn_start

RESUME = ResumeThread(session_id=SESSION)


def turn_submitted(text: str = "do it") -> TurnSubmitted:
    return TurnSubmitted(input=Text(text=text), mode="chat", permission_mode="ask")


def test_the_first_input_creates_the_session_and_calls_the_model_in_one_batch():
    result = session_after().when(submit("tidy the site\nand the blog"))
    result.then(
        (SessionCreated(workspace_id=WORKSPACE, folder=FOLDER, title="tidy the site"), Scope()),
        (ThreadOpened(agent_name="lead", kind="main", definition="lead", definition_hash="d1"), at()),
        (turn_submitted("tidy the site\nand the blog"), at(turn=1)),
        *turn_start(1, 1),
    ).with_answer(TurnAccepted(session_id=SESSION, thread_id=THREAD, turn_id="trn_1", status="started", sequence=6))
    assert result.decision.blobs == (ROLE,)


def test_input_past_8_kb_is_a_preview_and_a_blob():
    large = "x" * (MAX_INLINE_BYTES + 1)
    result = session_after(submit(), text_response("done")).when(submit(large))
    blob = make_blob(large.encode())
    result.then(
        (
            TurnSubmitted(
                input=Text(text="x" * PREVIEW, ref=blob.ref, tail="x" * PREVIEW), mode="chat", permission_mode="ask"
            ),
            at(turn=2),
        ),
        *turn_start(2, 2),
    )
    assert result.decision.blobs == (blob, ROLE)


def test_plain_text_ends_a_chat_turn_as_its_output():
    result = session_after(submit()).when(text_response("done"))
    result.then(
        message_text("done", at(turn=1, run=1, step=2)),
        *model_completion(at(turn=1, run=1, step=1)),
        (OutputFinal(parts=(2,)), at(turn=1, run=1)),
        (TurnCompleted(iterations=1), at(turn=1, run=1)),
    )
    assert result.decision.closed == ("trn_1",)
    assert result.decision.ends == ("run_1.2.text",)


def test_an_idle_thread_starts_the_next_turn_at_once():
    session_after(submit(), text_response("done")).when(submit("again")).then(
        (turn_submitted("again"), at(turn=2)), *turn_start(2, 2)
    )


def test_a_caller_can_choose_the_id_of_its_turn():
    result = session_after(submit(), text_response("done")).when(submit(turn_id="trn_7"))
    result.then((turn_submitted(), at(turn=7)), *turn_start(7, 2))


def test_a_turn_id_is_refused_while_its_turn_runs_or_waits():
    """CTL-02"""
    running = session_after(submit(turn_id="trn_a"))
    session = running.after(submit(turn_id="trn_b"))
    for turn in ("trn_a", "trn_b"):
        assert session.refuses(submit(turn_id=turn)) == Problem(
            code="turn_id_used",
            message=f"The session already has a turn {turn}.",
            field="turnId",
            hint="Leave turnId out, or use a new id.",
        )


def test_a_turn_id_is_refused_after_its_turn_ended():
    """CTL-02"""
    session = session_after(submit(turn_id="trn_a"), text_response("done"))
    assert session.refuses(submit(turn_id="trn_a")).code == "turn_id_used"


def test_a_turn_id_of_another_thread_is_refused():
    """CTL-02"""
    session = session_after(submit(turn_id="trn_a")).add_thread("second", "thr_2")
    assert session.refuses(submit(turn_id="trn_a", thread_id="thr_2")).code == "turn_id_used"


def test_a_busy_thread_queues_and_never_runs_two_turns():
    """CTL-03"""
    result = session_after(submit()).when(submit("next"))
    result.then((turn_submitted("next"), at(turn=2)), (QueueAdded(position=1), at(turn=2)))
    result.with_answer(TurnAccepted(session_id=SESSION, thread_id=THREAD, turn_id="trn_2", status="queued", sequence=8))


def test_a_busy_thread_refuses_input_with_when_busy_refuse():
    """CTL-03"""
    session = session_after(submit())
    assert session.refuses(submit(when_busy="refuse")) == Problem(
        code="thread_busy",
        message="A turn is running or waiting in this thread.",
        hint="Set whenBusy to queue or interrupt.",
    )


def test_an_idle_thread_starts_input_with_when_busy_refuse():
    """CTL-03"""
    session_after(submit(), text_response("done")).when(submit(when_busy="refuse")).then(
        (turn_submitted(), at(turn=2)), *turn_start(2, 2)
    )


def test_input_for_an_unknown_thread_is_refused():
    assert session_after(submit()).refuses(submit(thread_id="thr_9")).code == "unknown_thread"


def test_input_for_a_definition_that_cannot_start_is_refused_and_creates_nothing():
    session = Scenario(configure_run=_refuse_agent)
    assert session.refuses(submit()).code == "unknown_agent"
    assert session.state.sequence == 0


def test_reaching_max_iters_fails_the_turn_without_output():
    """MAR-12: the limit is three model calls, and a fourth does not happen."""
    session = session_after(submit())
    for iteration in (1, 2):
        session.after(
            model_response(requested_call(iteration, 2 * iteration), step=2 * iteration - 1), tool_end(iteration)
        )
    session.after(model_response(requested_call(3, 6), step=5))
    session.when(tool_end(3)).then(
        (ToolCompleted(output=Text(text="done"), duration_ms=4), at(turn=1, run=1, step=6, call=3)),
        (
            TurnFailed(
                code="max_iters",
                message="The turn reached its limit of 3 model calls.",
                hint="Send another turn to continue.",
                iterations=3,
            ),
            at(turn=1, run=1),
        ),
    )


def test_plain_text_in_the_last_model_call_completes_the_turn():
    """MAR-12"""
    session = session_after(submit())
    for iteration in (1, 2):
        session.after(
            model_response(requested_call(iteration, 2 * iteration), step=2 * iteration - 1), tool_end(iteration)
        )
    session.when(text_response("done", step=5)).then(
        message_text("done", at(turn=1, run=1, step=6)),
        *model_completion(at(turn=1, run=1, step=5)),
        (OutputFinal(parts=(6,)), at(turn=1, run=1)),
        (TurnCompleted(iterations=3), at(turn=1, run=1)),
    )


def test_text_alone_does_not_end_an_auto_turn():
    result = session_after(submit(mode="auto")).when(text_response("I am done"))
    result.then(
        message_text("I am done", at(turn=1, run=1, step=2)),
        *model_completion(at(turn=1, run=1, step=1)),
        model_request(2, at(turn=1, run=1, step=3)),
    )


def test_text_alone_in_auto_reaches_the_limit_and_fails_the_turn():
    """MAR-12"""
    session = session_after(submit(mode="auto"), text_response("one"), text_response("two", step=3))
    session.when(text_response("three", step=5)).then(
        message_text("three", at(turn=1, run=1, step=6)),
        *model_completion(at(turn=1, run=1, step=5)),
        (
            TurnFailed(
                code="max_iters",
                message="The turn reached its limit of 3 model calls.",
                hint="Send another turn to continue.",
                iterations=3,
            ),
            at(turn=1, run=1),
        ),
    )


def test_a_successful_finalize_ends_an_auto_turn():
    session = session_after(submit(mode="auto"), model_response(requested_call(1, 2, tool="Finalize")))
    session.when(tool_end(1, "all tidy")).then(
        (ToolCompleted(output=Text(text="all tidy"), duration_ms=4), at(turn=1, run=1, step=2, call=1)),
        (OutputFinal(parts=()), at(turn=1, run=1)),
        (TurnCompleted(iterations=1), at(turn=1, run=1)),
    )


def test_a_failed_finalize_does_not_end_an_auto_turn():
    session = session_after(submit(mode="auto"), model_response(requested_call(1, 2, tool="Finalize")))
    session.when(tool_end(1, code="tool_failed")).ends_with(model_request(2, at(turn=1, run=1, step=3)))


def test_a_finalize_beside_other_calls_ends_the_turn_after_they_end():
    """CTL-16"""
    session = session_after(
        submit(mode="auto"), model_response(requested_call(1, 2, tool="Finalize"), requested_call(2, 3))
    )
    done = Text(text="done")
    session.when(tool_end(1)).then((ToolCompleted(output=done, duration_ms=4), at(turn=1, run=1, step=2, call=1)))
    session.when(tool_end(2)).then(
        (ToolCompleted(output=done, duration_ms=4), at(turn=1, run=1, step=3, call=2)),
        (OutputFinal(parts=()), at(turn=1, run=1)),
        (TurnCompleted(iterations=1), at(turn=1, run=1)),
    )


def test_a_finalize_does_not_end_a_chat_turn():
    session = session_after(submit(), model_response(requested_call(1, 2, tool="Finalize")))
    session.when(tool_end(1)).ends_with(model_request(2, at(turn=1, run=1, step=3)))


def test_the_final_output_is_the_text_after_the_last_call():
    session = session_after(submit(), model_response(text_before_call(2), requested_call(1, 3)), tool_end(1))
    session.when(text_response("done", step=4)).then(
        message_text("done", at(turn=1, run=1, step=5)),
        *model_completion(at(turn=1, run=1, step=4)),
        (OutputFinal(parts=(5,)), at(turn=1, run=1)),
        (TurnCompleted(iterations=2), at(turn=1, run=1)),
    )


def test_a_changed_definition_applies_from_the_next_turn_on():
    session = session_after(submit(), model_response(requested_call(1, 2)), submit("next"))
    session.configure_run = lambda *_: msgspec.structs.replace(
        RUN_CONFIG, definition_hash="d2", max_iters=9, tools=("Read",)
    )
    assert session.run.definition_hash == "d1"
    session.after(tool_end(1), text_response("done", step=3))
    assert (session.run.run, session.run.definition_hash, session.run.max_iters) == ("run_2", "d2", 9)


def test_a_run_continues_after_its_definition_is_removed():
    """MAR-16"""
    session = session_after(submit(), model_response(requested_call(1, 2)))
    session.configure_run = _refuse_agent
    session.when(tool_end(1)).ends_with(model_request(2, at(turn=1, run=1, step=3)))


def test_a_queued_turn_that_cannot_start_pauses_its_thread_after_the_ended_turn():
    """MAR-16"""
    session = session_after(submit(), submit("next"))
    session.configure_run = _refuse_agent
    session.when(text_response("done")).then(
        message_text("done", at(turn=1, run=1, step=2)),
        *model_completion(at(turn=1, run=1, step=1)),
        (OutputFinal(parts=(2,)), at(turn=1, run=1)),
        (TurnCompleted(iterations=1), at(turn=1, run=1)),
        (ThreadPaused(cause="failed", reason="unknown_agent"), at()),
    )
    assert session.refuses(RESUME).code == "unknown_agent"
    session.configure_run = configure_run
    session.when(RESUME).then((ThreadResumed(), at()), *turn_start(2, 2))


def test_a_failed_turn_pauses_the_turns_behind_it():
    session = session_after(submit(), submit("next"))
    assert session.when(attempt_failure()).facts[-1] == ThreadPaused(cause="failed", reason="model_unavailable")
    session.when(submit("last")).then((turn_submitted("last"), at(turn=3)), (QueueAdded(position=2), at(turn=3)))


def test_resuming_starts_the_turn_at_the_head_of_the_queue():
    session = session_after(submit(), submit("next"), attempt_failure())
    result = session.when(ResumeThread(session_id=SESSION, reason="the network is back"))
    result.then((ThreadResumed(reason="the network is back"), at()), *turn_start(2, 2))
    result.with_answer(ThreadChanged(session_id=SESSION, thread_id=THREAD, turn_id="trn_2", sequence=15))


def test_a_thread_that_is_not_paused_cannot_be_resumed():
    assert session_after(submit()).refuses(RESUME) == Problem(
        code="thread_not_paused", message="The thread is not paused.", hint="Submit a turn instead."
    )


def test_the_next_message_after_an_interrupt_runs():
    """COM-10"""
    session = session_after(submit(), interrupt(), run_stop())
    assert session.thread.run is None
    session.when(submit("next")).then((turn_submitted("next"), at(turn=2)), *turn_start(2, 2))
    assert session.when(run_stop(run=2, reason="again")).facts[-1] == TurnInterrupted(
        cause="person", reason="again", iterations=1
    )


def text_before_call(step: int):
    return text_response("I will look", step=step - 1).pieces[0]


def test_the_state_does_not_grow_with_finished_turns():
    session = session_after(submit(), text_response("done"))
    first_thread = session.thread
    for run in range(2, 110):
        session.after(
            submit(),
            model_response(requested_call(run, 2), run=run),
            tool_end(run, run=run),
            text_response("done", run=run, step=3),
        )
    last = QueuedTurn(turn="trn_1", mode="chat", permission_mode="ask")
    ended_as = TurnEnd(how="completed", text=Text(text="done"))
    expected = Thread(
        thread=THREAD, agent="lead", definition="lead", working_mode="ask", ended=ended_as, opened_sequence=2
    )
    assert _without_last(first_thread) == _without_last(session.thread) == expected
    assert first_thread.last is not None
    assert msgspec.structs.replace(first_thread.last, sequence=0) == last
    assert len(session.thread.marks) <= MAX_MARKS
    assert len(session.thread.spoken_turns) == MAX_SPOKEN_TURNS


def _without_last(thread: Thread) -> Thread:
    return msgspec.structs.replace(thread, last=None, marks=(), spoken_turns=(), context_usage=ContextUsage())


def _refuse_agent(*_):
    raise Refusal("unknown_agent", "There is no agent lead any more.")


def test_turns_without_a_mark_are_left_out_of_the_context():
    """A model reads at most `MAX_MARKS` turns, however short they are."""
    session = session_after(submit(), text_response("done"))
    for run in range(2, MAX_MARKS + 10):
        session.after(submit(), text_response("done", run=run))

    assert len(session.thread.marks) == MAX_MARKS
    assert compute_cut(session.thread, 1_000_000) == session.thread.marks[0].sequence - 1
    requests = [record.fact for record in session.records if isinstance(record.fact, ModelRequested)]
    assert requests[-1].context_after > 0


def test_a_model_reads_the_newest_turns_of_its_own_thread():
    """The cut counts the steps of the thread."""
    session = session_after(submit(), text_response("done"))
    for run in range(2, 6):
        session.after(submit(), text_response("done", run=run))
    marks = session.thread.marks

    assert [mark.steps for mark in marks] == [3] * 5
    assert compute_cut(session.thread, 12) == 0
    assert compute_cut(session.thread, 11) == marks[1].sequence - 1
    assert compute_cut(session.thread, 3) == marks[3].sequence - 1
    assert compute_cut(session.thread, 0) == marks[4].sequence - 1
