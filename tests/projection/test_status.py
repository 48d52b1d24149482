"""The status line at each milestone of a turn."""

from __future__ import annotations

from callboard.contracts.content import Text
from callboard.contracts.facts.action import ActionRequired, ActionResolved
from callboard.contracts.facts.model import ModelCompleted, ModelFailed
from callboard.contracts.facts.queue import QueueAdded
from callboard.contracts.facts.session import ThreadPaused, ThreadResumed
from callboard.contracts.facts.task import TaskFailed, TaskPaused, TaskResumed, TaskStarted
from callboard.contracts.facts.tool import ToolCompleted, ToolStarted
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted, TurnInterruptRequested
from callboard.contracts.rows.status import StatusRow
from callboard.projection.overlay import overlay
from tests.projection.runs import with_ids
from tests.projection.session_builder import (
    RUN,
    THREAD,
    TURN,
    SessionBuilder,
    calling_session,
    idle_session,
    model_session,
    running_session,
    step,
    turn_submitted,
)

CALL = step(2, tool_call="cal_1")
TASK = with_ids(THREAD, task="tsk_1", attempt=1)
ACTION = step(3, tool_call="cal_1", action="act_1")
REQUIRED = ActionRequired(
    action_type="tool_approval",
    prompt="May it?",
    decisions=("approve", "reject"),
    scopes=("once",),
    risk="low",
    tool="Write",
)


def reads(session: SessionBuilder) -> tuple[str, str, str]:
    row = session.table.get_row(StatusRow, "thr_1")
    assert row is not None
    return row.status, row.detail, row.tool


def test_a_turn_has_a_status_before_its_first_text():
    """UI-02: accepted, routing and preparing are milestones of the log."""
    session = idle_session()
    assert reads(session) == ("idle", "ready", "")
    assert reads(session.add(turn_submitted(), TURN)) == ("accepted", "submitted", "")
    assert reads(model_session()) == ("preparing", "asking_model", "")


def test_live_text_refines_the_status():
    """UI-02"""
    session = model_session().stream("reasoning", step(2), "Hm")
    assert reads(session) == ("streaming", "reasoning", "")
    assert reads(session.stream("text", step(3), "So")) == ("streaming", "answering", "")
    assert reads(session.stream("arguments", step(4, tool_call="cal_1"), "{", tool="Write")) == (
        "streaming",
        "calling_tool",
        "Write",
    )
    assert reads(session.add(ModelCompleted(stop_reason="tool_calls"), step(1))) == ("streaming", "answering", "")


def test_a_further_frame_does_not_change_the_status():
    """UI-02"""
    session = model_session().stream("text", step(2), "So")
    assert [op.panel for op in session.stream("text", step(2), " it", offset=2).ops] == ["parts"]


def test_the_status_names_the_running_tool():
    """UI-02"""
    assert reads(calling_session()) == ("streaming", "calling_tool", "Write")
    assert reads(running_session()) == ("streaming", "running_tool", "Write")
    assert reads(running_session().add(ToolCompleted(output=Text(text="ok")), CALL)) == (
        "preparing",
        "asking_model",
        "",
    )


def test_a_waiting_call_ranks_above_a_running_call():
    session = running_session().add(REQUIRED, ACTION)
    assert reads(session) == ("blocked", "waiting_approval", "Write")
    session.add(ToolStarted(tool="Read"), step(4, tool_call="cal_2"))
    assert reads(session) == ("blocked", "waiting_approval", "Write")
    assert reads(session.add(ActionResolved(decision="reject"), ACTION)) == ("streaming", "running_tool", "Read")


def test_a_failed_attempt_reads_retrying_until_the_answer_comes():
    """UI-02"""
    session = model_session().add(ModelFailed(code="model_unavailable", message="Busy.", retry_in_ms=100), step(1))
    assert reads(session) == ("retrying", "waiting_retry", "")
    assert reads(session.stream("text", step(2), "So")) == ("streaming", "answering", "")


def test_an_interrupt_reads_stopping_until_the_turn_has_stopped():
    """UI-02: the line shows the intent, not the outcome."""
    session = running_session().add(TurnInterruptRequested(), RUN)
    assert reads(session) == ("streaming", "stopping", "Write")
    assert reads(session.stream("text", step(9), "late")) == ("streaming", "stopping", "Write")
    assert reads(session.add(TurnInterrupted(cause="person"), RUN)) == ("done", "interrupted", "")


def test_the_status_shows_how_a_turn_ended():
    """UI-02"""
    assert reads(model_session().add(TurnCompleted(iterations=1), RUN)) == ("done", "completed", "")
    assert reads(model_session().add(TurnFailed(code="model_auth", message="No."), RUN)) == ("failed", "failed", "")


def test_a_paused_thread_shows_its_pause_until_it_resumes():
    session = model_session().add(TurnInterrupted(cause="crash"), RUN).add(ThreadPaused(cause="recovered"), THREAD)
    assert reads(session) == ("blocked", "paused", "")
    session.add(turn_submitted(), with_ids(THREAD, turn="trn_2"))
    assert reads(session) == ("blocked", "paused", "")
    assert reads(session.add(ThreadResumed(), THREAD)) == ("idle", "ready", "")


def test_a_paused_task_blocks_its_thread_unless_its_attempt_failed():
    """UI-02: a thread waits for its open attempt, and a failed attempt is not open."""
    session = idle_session().add(TaskStarted(assignee="main"), TASK)
    assert reads(session.add(TaskPaused(), TASK)) == ("blocked", "paused", "")
    assert reads(session.add(TaskFailed(code="failed", message="No."), TASK)) == ("idle", "ready", "")
    assert reads(session.add(TaskPaused(), TASK)) == ("idle", "ready", "")
    session.add(TaskResumed(), TASK).add(TaskStarted(assignee="main"), TASK)
    assert reads(session.add(TaskPaused(), TASK)) == ("blocked", "paused", "")


def test_queued_input_does_not_change_the_running_status():
    """UI-11"""
    session = (
        running_session()
        .add(turn_submitted(), with_ids(THREAD, turn="trn_2"))
        .add(QueueAdded(position=1), with_ids(THREAD, turn="trn_2"))
    )
    assert reads(session) == ("streaming", "running_tool", "Write")


def test_work_of_a_dead_process_reads_lost_unless_it_waits():
    """A client detects a dead process, and the stored row does not change."""
    row = running_session().table.get_row(StatusRow, "thr_1")
    waiting = calling_session().add(REQUIRED, ACTION).table.get_row(StatusRow, "thr_1")
    assert row is not None
    assert waiting is not None
    assert overlay(row, 1) == row
    assert (overlay(row, 2).status, overlay(row, 2).detail) == ("blocked", "lost")
    assert overlay(row, None).detail == "lost"
    assert overlay(waiting, None) == waiting
