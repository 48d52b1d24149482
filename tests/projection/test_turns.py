"""The row of a turn: its state, its costs and its end."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts.content import BlobRef, Text
from callboard.contracts.facts.action import ActionExpired, ActionRequired, ActionResolved, Binding
from callboard.contracts.facts.model import CostRecorded
from callboard.contracts.facts.tool import FileChange, ToolCompleted, ToolRequested
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted
from callboard.contracts.rows.action import ActionPart, ActionRow, RequestedChange
from callboard.contracts.rows.session import SessionCard
from callboard.contracts.rows.turn import TurnRow
from tests.projection.session_builder import (
    RUN,
    SessionBuilder,
    calling_session,
    idle_session,
    model_session,
    running_session,
    step,
    turn_submitted,
)
from tests.projection.session_builder import TURN as SCOPE

ACTION = step(3, tool_call="cal_1", action="act_1")
REQUIRED = ActionRequired(
    action_type="tool_approval",
    prompt="May it write?",
    decisions=("approve", "reject"),
    scopes=("once", "session"),
    risk="medium",
    tool="Write",
    arguments=Text(text="{}"),
    preview=Text(text="+a"),
    matchers={"session": "Write(*)"},
    expires_at=99,
    policy="ask",
)


def created(*, added: int, removed: int) -> RequestedChange:
    return RequestedChange(path="a.md", creates=True, differs=True, added=added, removed=removed)


def turn(session: SessionBuilder) -> TurnRow:
    row = session.table.get_row(TurnRow, "trn_1")
    assert row is not None
    return row


def card(session: SessionBuilder) -> SessionCard:
    row = session.table.get_row(SessionCard, "ses_1")
    assert row is not None
    return row


def test_a_submitted_turn_shows_its_text_at_once():
    """UI-02"""
    row = turn(idle_session().add(turn_submitted(), SCOPE))
    assert (row.state, row.input.text, row.order) == ("queued", "Tidy up.", 3)


def test_tokens_are_summed_and_remain_unknown_without_a_report():
    """UI-26"""
    session = model_session()
    assert (turn(session).input_tokens, turn(session).output_tokens) == (None, None)
    session.add(CostRecorded(input_tokens=5), step(1)).add(CostRecorded(input_tokens=7, output_tokens=1), step(1))
    assert (turn(session).input_tokens, turn(session).output_tokens) == (12, 1)


def test_files_are_counted_once_and_calls_each_time():
    """UI-08"""
    change = FileChange(path="a.md", kind="modified")
    session = running_session().add(ToolCompleted(output=Text(), changes=(change,)), step(2, tool_call="cal_1"))
    second = step(4, tool_call="cal_2")
    session.add(ToolRequested(tool="Write", arguments=Text(text="{}")), second)
    session.add(ToolCompleted(output=Text(), changes=(change, FileChange(path="b.md", kind="created"))), second)
    assert (turn(session).tool_calls, turn(session).files_changed) == (2, 2)


def test_a_pending_action_has_all_that_a_decision_needs():
    """UI-09"""
    session = calling_session().add(REQUIRED, ACTION)
    assert session.table.list_rows(ActionRow) == [
        ActionRow(
            key="act_1",
            order=8,
            sequence=8,
            action_id="act_1",
            action_type="tool_approval",
            turn_id="trn_1",
            thread_id="thr_1",
            agent_id="solo",
            agent_name="Solo",
            tool_call_id="cal_1",
            tool="Write",
            prompt="May it write?",
            arguments=Text(text="{}"),
            preview=Text(text="+a"),
            risk="medium",
            decisions=("approve", "reject"),
            scopes=("once", "session"),
            matchers={"session": "Write(*)"},
            policy="ask",
            required_at=1_700_000_000_008_000,
            expires_at=99,
        )
    ]
    assert turn(session).state == "waiting"
    assert (card(session).state, card(session).attention, card(session).pending_actions) == (
        "waiting",
        "needs_input",
        1,
    )


WROTE = "--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n+-- more\n"


@pytest.mark.parametrize(
    ("preview", "file_hash", "change"),
    [
        (Text(text=WROTE), "h", RequestedChange(path="a.md", differs=True, added=2, removed=1)),
        (Text(text="--- /dev/null\n+++ b/a.md\n@@ -0,0 +1,1 @@\n+a\n"), "absent", created(added=1, removed=0)),
        (Text(text="--- a/a.md\n+++ b/a.md\n"), "h", RequestedChange(path="a.md", differs=False, added=0, removed=0)),
        (Text(text="--- /dev/null\n+++ b/a.md\n"), "absent", created(added=0, removed=0)),
        (Text(text="--- a/a.md\n+++ b/a.md\nThe file was binary.\n"), "h", RequestedChange(path="a.md", differs=True)),
        (Text(text=WROTE, ref=BlobRef(hash="b", size=9000)), "h", RequestedChange(path="a.md")),
        (None, "h", RequestedChange(path="a.md")),
    ],
)
def test_a_pending_action_shows_the_change_of_its_file(preview: Text | None, file_hash: str, change: RequestedChange):
    """UI-09, UI-26: an unchanged file is marked, and a change that the preview lacks is not
    invented.
    """
    binding = Binding(
        tool="Write", arguments_hash="a", folder="/work", definition_hash="d", file="a.md", file_hash=file_hash
    )
    request = msgspec.structs.replace(REQUIRED, preview=preview, binding=binding)
    (row,) = calling_session().add(request, ACTION).table.list_rows(ActionRow)
    assert row.change == change


def test_a_turn_counts_simultaneous_waits_for_decisions_once():
    """UI-09: waiting for a person is not work of a tool."""
    other = step(4, tool_call="cal_1", action="act_2")
    session = calling_session().add(REQUIRED, ACTION).add(REQUIRED, other)
    began = 1_700_000_000_008_000
    assert (turn(session).waiting_since, turn(session).waited_us) == (began, 0)
    session.add(ActionResolved(decision="approve"), ACTION)
    assert (turn(session).state, turn(session).waiting_since, turn(session).waited_us) == ("waiting", began, 0)
    session.add(ActionExpired(), other)
    assert (turn(session).state, turn(session).waiting_since, turn(session).waited_us) == ("running", 0, 3_000)
    session.add(REQUIRED, step(5, tool_call="cal_1", action="act_3")).add(TurnInterrupted(cause="person"), RUN)
    assert (turn(session).waiting_since, turn(session).waited_us) == (0, 4_000)


def test_an_expired_action_needs_no_attention():
    """UI-09"""
    session = calling_session().add(REQUIRED, ACTION).add(ActionExpired(), ACTION)
    assert session.table.list_rows(ActionRow) == []
    assert turn(session).state == "running"
    assert (card(session).state, card(session).attention, card(session).pending_actions) == ("running", "none", 0)


def test_only_the_first_answer_of_an_action_counts():
    """UI-09"""
    session = calling_session().add(REQUIRED, ACTION).add(ActionResolved(decision="approve", scope="session"), ACTION)
    (line,) = session.table.list_rows(ActionPart)
    assert (line.outcome, line.answered_scope, line.actor, line.prompt) == (
        "approved",
        "session",
        "person",
        "May it write?",
    )
    session.add(ActionResolved(decision="reject"), ACTION)
    assert session.table.list_rows(ActionPart) == [line]


def test_an_action_without_an_answer_ends_with_its_turn():
    """A log of another writer leaves no request pending forever."""
    session = calling_session().add(REQUIRED, ACTION).add(TurnInterrupted(cause="lost"), RUN)
    assert session.table.list_rows(ActionRow) == []
    assert card(session).pending_actions == 0


def test_a_failed_turn_shows_its_error_and_hint():
    session = model_session().add(
        TurnFailed(code="max_iters", message="Bound.", hint="Send another.", iterations=8), RUN
    )
    row = turn(session)
    assert (row.state, row.code, row.message, row.hint, row.iterations) == (
        "failed",
        "max_iters",
        "Bound.",
        "Send another.",
        8,
    )
    assert (card(session).state, card(session).attention) == ("failed", "failed")


def test_an_interrupted_turn_shows_the_cause():
    session = model_session().add(TurnInterrupted(cause="crash", reason="the process ended"), RUN)
    assert (turn(session).state, turn(session).code, turn(session).message) == (
        "interrupted",
        "crash",
        "the process ended",
    )
    assert (card(session).state, card(session).attention) == ("interrupted", "none")


def test_a_fact_has_operations_only_for_the_panels_that_it_changes():
    """A fact sends a viewer only what it changes."""
    session = model_session()
    assert [op.panel for op in session.add(CostRecorded(output_tokens=1), step(1)).ops] == ["status", "turns"]
    assert [op.panel for op in session.add(TurnCompleted(iterations=1), RUN).ops] == [
        "status",
        "turns",
        "runs",
        "session",
        "sessions",
    ]
