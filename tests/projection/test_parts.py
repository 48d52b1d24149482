"""The conversation: states of tool calls, text, steers, notices and errors."""

from __future__ import annotations

from callboard.contracts.content import Text
from callboard.contracts.facts.message import MessageInterrupted, MessageText, OutputFinal, ReasoningCompleted
from callboard.contracts.facts.model import Limit, ModelFailed, ModelRequested, QuotaReported
from callboard.contracts.facts.queue import SteerAccepted, SteerRejected, SteerRequested
from callboard.contracts.facts.session import ErrorRaised, ThreadPaused, WarningRaised
from callboard.contracts.facts.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
)
from callboard.contracts.facts.turn import TurnFailed, TurnInterrupted
from callboard.contracts.rows.base import AppendText, Row
from callboard.contracts.rows.message import TextPart
from callboard.contracts.rows.part import ErrorPart, NoticePart
from callboard.contracts.rows.queue import SteerPart
from callboard.contracts.rows.tool import ToolPart
from tests.projection.session_builder import (
    RUN,
    THREAD,
    SessionBuilder,
    calling_session,
    idle_session,
    model_session,
    running_session,
    step,
)

CALL = step(2, tool_call="cal_1")


def call(session: SessionBuilder) -> ToolPart:
    row = session.table.get_row(ToolPart, "cal_1")
    assert row is not None
    return row


def parts(session: SessionBuilder) -> list[Row]:
    return session.table.group_rows().get("parts", [])


def kinds(session: SessionBuilder) -> list[str]:
    return [type(row).__name__ for row in parts(session)]


def test_a_tool_row_is_keyed_by_its_call_through_all_seven_states():
    """UI-08"""
    session = model_session().stream("arguments", CALL, '{"pa', tool="Write")
    states = [call(session).state]
    states.append(call(calling_session()).state)
    session = running_session()
    states.append(call(session).state)
    states.append(call(session.stream("output", CALL, "wro")).state)
    states.append(call(session.add(ToolCompleted(output=Text(text="wrote")), CALL)).state)
    states.append(call(running_session().add(ToolFailed(code="tool_failed", message="No."), CALL)).state)
    states.append(call(running_session().add(ToolCancelled(started=True), CALL)).state)
    assert states == [
        "input-streaming",
        "input-available",
        "running",
        "progress",
        "output-available",
        "output-error",
        "cancelled",
    ]


def test_a_call_without_a_result_shows_the_reason():
    """UI-08"""
    ends = (
        ToolRefused(code="rule_denied", message="A rule says no."),
        ToolLost(),
        ToolCancelled(started=True),
        ToolCancelled(started=False),
    )
    rows = [call(running_session().add(end, CALL)) for end in ends]
    assert [(row.state, row.code) for row in rows] == [
        ("output-error", "rule_denied"),
        ("output-error", "tool_lost"),
        ("cancelled", "tool_cancelled"),
        ("cancelled", "tool_not_started"),
    ]


def test_an_ended_call_does_not_change():
    session = running_session().add(ToolCompleted(output=Text(text="wrote")), CALL)
    before = call(session)
    assert call(session.add(ToolFailed(code="tool_failed", message="No."), CALL)) == before


def test_live_output_is_appended_and_then_replaced_by_the_output():
    """UI-08"""
    session = running_session().stream("output", CALL, "one\n")
    session.stream("output", CALL, "two\n", offset=4)
    assert session.ops == [AppendText(panel="parts", key="cal_1", field="output", offset=4, text="two\n")]
    assert call(session).output == Text(text="one\ntwo\n")
    session.add(ToolCompleted(output=Text(text="two lines")), CALL)
    assert call(session).output == Text(text="two lines")


def test_a_repeated_frame_is_skipped_and_a_frame_after_a_gap_waits_for_the_fact():
    """UI-34"""
    session = model_session().stream("text", step(2), "One two")
    assert session.stream("text", step(2), "two three", offset=4).ops == [
        AppendText(panel="parts", key="run_1.2", field="content", offset=7, text=" three")
    ]
    assert session.stream("text", step(2), "two", offset=4).ops == []
    assert session.stream("text", step(2), "five", offset=20).ops == []
    assert session.stream("text", step(3), "not the first", offset=5).ops == []


def test_a_frame_of_a_finished_part_changes_nothing():
    """UI-05"""
    session = model_session().add(MessageText(content=Text(text="Done.")), step(2))
    assert session.stream("text", step(2), "Done.").ops == []


def test_a_final_text_that_differs_replaces_the_streamed_text():
    """UI-05"""
    session = model_session().stream("text", step(2), "The key is sk-1")
    session.add(MessageText(content=Text(text="The key is [redacted]"), revised=True), step(2))
    (row,) = session.table.list_rows(TextPart)
    assert (row.content.text, row.state, row.revised) == ("The key is [redacted]", "final", True)


def test_text_before_a_tool_call_is_commentary_and_keeps_its_place():
    """UI-05"""
    session = model_session().add(MessageText(content=Text(text="I look.")), step(2))
    session.add(ToolRequested(tool="Read", arguments=Text(text="{}")), step(3, tool_call="cal_1"))
    session.add(MessageText(content=Text(text="Found.")), step(5)).add(OutputFinal(parts=(5,)), RUN)
    assert [(row.content.text, row.commentary) for row in session.table.list_rows(TextPart)] == [
        ("I look.", True),
        ("Found.", False),
    ]


def test_an_interrupted_text_keeps_its_start():
    session = model_session().stream("text", step(2), "It is al")
    session.add(MessageInterrupted(content=Text(text="It is al")), step(2))
    (row,) = session.table.list_rows(TextPart)
    assert (row.state, row.content.text) == ("interrupted", "It is al")


def test_a_retry_removes_streamed_text_and_adds_a_notice():
    """The conversation shows the failed attempt in place of its partial text."""
    session = (
        model_session()
        .stream("text", step(2), "It is al")
        .stream("arguments", step(3, tool_call="cal_9"), "{", tool="Read")
    )
    session.add(ModelFailed(code="model_cut_stream", message="Cut.", retry_in_ms=500), step(1))
    (notice,) = parts(session)
    assert isinstance(notice, NoticePart)
    assert (notice.code, notice.message, notice.retry_in_ms, notice.attempt) == ("model_cut_stream", "Cut.", 500, 2)


def test_arguments_without_a_call_are_removed_with_the_turn():
    """UI-26: a call that did not happen is not shown."""
    session = model_session().stream("arguments", CALL, '{"pa', tool="Write")
    assert kinds(session) == ["ToolPart"]
    assert kinds(session.add(TurnInterrupted(cause="person"), RUN)) == []


def test_a_turn_that_fails_ends_with_its_error():
    """UI-02: one part with the next step; it does not repeat the last failed attempt."""
    session = model_session().add(ModelFailed(code="model_auth", message="Bad key."), step(1))
    session.add(TurnFailed(code="model_auth", message="Bad key.", hint="Check the key."), RUN)
    (error,) = parts(session)
    assert isinstance(error, ErrorPart)
    assert (error.code, error.message, error.hint, error.retryable) == (
        "model_auth",
        "Bad key.",
        "Check the key.",
        False,
    )


def test_a_steer_waits_at_the_end_and_moves_before_the_answer_that_includes_it():
    """UI-11"""
    session = calling_session().add(SteerRequested(steer_id="str_1", input=Text(text="In English.")), RUN)
    assert kinds(session) == ["ToolPart", "SteerPart"]
    session.add(ToolRefused(code="rule_denied", message="No."), CALL)
    session.add(SteerAccepted(steer_id="str_1"), step(3))
    session.add(ModelRequested(provider="scripted", model="m", iteration=2, context_through=9), step(3))
    session.add(MessageText(content=Text(text="Yes.")), step(4))
    assert kinds(session) == ["ToolPart", "SteerPart", "TextPart"]
    (steer,) = session.table.list_rows(SteerPart)
    assert (steer.outcome, steer.content.text) == ("accepted", "In English.")


def test_a_rejected_steer_shows_the_reason_and_keeps_its_text():
    """UI-11"""
    session = model_session().add(SteerRequested(steer_id="str_1", input=Text(text="In English.")), RUN)
    session.add(MessageText(content=Text(text="Oui.")), step(2))
    rejected = SteerRejected(steer_id="str_1", input=Text(text="In English."), reason="turn_completed")
    session.add(rejected, RUN)
    assert kinds(session) == ["TextPart", "SteerPart"]
    (steer,) = session.table.list_rows(SteerPart)
    assert (steer.outcome, steer.reason, steer.content.text) == ("rejected", "turn_completed", "In English.")


def test_a_pause_is_noted_at_the_end_of_the_turn_before_it():
    session = (
        model_session().add(MessageText(content=Text(text="So")), step(2)).add(TurnInterrupted(cause="crash"), RUN)
    )
    session.add(ThreadPaused(cause="recovered", reason="the process ended"), THREAD)
    notice = parts(session)[-1]
    assert isinstance(notice, NoticePart)
    assert (notice.code, notice.turn_id) == ("paused_recovered", "trn_1")


def test_a_warning_appears_where_it_was_raised():
    """UI-03"""
    session = model_session().add(MessageText(content=Text(text="So")), step(2))
    session.add(WarningRaised(code="answer_cut", message="Cut.", hint="Ask it to go on."), step(1))
    session.add(MessageText(content=Text(text="on")), step(4))
    assert kinds(session) == ["TextPart", "NoticePart", "TextPart"]


def test_an_error_outside_of_turns_is_shown_alone():
    """UI-26"""
    (error,) = parts(idle_session().add(ErrorRaised(code="store_full", message="No room.", hint="Free some.")))
    assert isinstance(error, ErrorPart)
    assert (error.code, error.turn_id) == ("store_full", "")


def test_a_providers_limits_appear_as_a_notice():
    session = model_session()
    low = (Limit(what="output_tokens", limit=100, remaining=9, resets_in_ms=1000), Limit(what="requests", limit=5))
    session.add(QuotaReported(provider="cloud", limits=low), step(1))
    session.add(QuotaReported(provider="cloud", retry_after_ms=1000), step(1))
    session.add(QuotaReported(provider="cloud", exhausted=True), step(1))
    assert [(part.code, part.message) for part in parts(session) if isinstance(part, NoticePart)] == [
        ("model_limits", "The limits of cloud are nearly reached: 9 of 100 output tokens left."),
        ("model_limits", "The limits of cloud are reached."),
        ("model_limits", "The quota of cloud is used up."),
    ]


def test_reasoning_that_a_provider_hides_has_no_part():
    session = model_session().add(ReasoningCompleted(content=Text(text=""), signature="sig"), step(2))
    session.add(MessageText(content=Text(text="Hi.")), step(3))
    assert kinds(session) == ["TextPart"]
