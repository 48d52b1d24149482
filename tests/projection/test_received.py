"""Messages from other agents, plans and remote tasks in a turn, apart from its answer."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts.content import Text
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.facts.action import ActionRequired, ActionResolved
from callboard.contracts.facts.exchange.channel import ChannelMessage
from callboard.contracts.facts.exchange.handoff import HandoffAccepted
from callboard.contracts.facts.exchange.inbox import InboxConsumed, InboxReserved
from callboard.contracts.facts.exchange.review import ReviewRequested
from callboard.contracts.facts.message import MessageText, OutputFinal
from callboard.contracts.facts.plan import PlanUpdated
from callboard.contracts.facts.subagent import SubagentClosed, SubagentMerged, WorkerNotification
from callboard.contracts.facts.turn import TurnCompleted, TurnInterrupted
from callboard.contracts.rows.action import ActionPart, ActionRow
from callboard.contracts.rows.agent import RemoteStatusPart
from callboard.contracts.rows.exchange.handoff import HandoffPart
from callboard.contracts.rows.message import TextPart
from callboard.contracts.rows.part import NoticePart, Part
from callboard.contracts.rows.plan import PlanPart
from callboard.contracts.rows.status import StatusRow
from callboard.contracts.rows.subagent import NotificationPart
from callboard.contracts.rows.turn import TurnRow
from callboard.contracts.scope import Scope
from callboard.projection.view import SessionView
from tests.projection.runs import with_ids
from tests.projection.session_builder import RUN, THREAD, SessionBuilder, model_session, step
from tests.projection.team.scenarios import (
    STEPS,
    handoff_session,
    paused_session,
    plan_session,
    remote_session,
    run_facts,
    run_scope,
)
from tests.projection.team.worker_team import (
    REVIEW,
    add_facts,
    child_run,
    child_scope,
    handoff_fact,
    team_session,
    write_facts,
)

NOTE = WorkerNotification(
    item="itm_1", to_thread=THREAD.thread, status="completed", summary="It is written.", transcript="thr_w1"
)
MESSAGE = ChannelMessage(
    item="itm_2",
    source="solo",
    participants=("solo", "writer-1"),
    to_threads=("thr_w1", THREAD.thread),
    message=Text(text="Mind the style."),
)
SECOND = run_scope(THREAD, 2)


def session_with_inbox() -> SessionBuilder:
    """Return a lead whose turn ended, with a report, a notification and a message in its inbox."""
    session = add_facts(team_session(), *write_facts(1)[:4], handoff_fact(), write_facts(1)[4])
    add_facts(session, (NOTE, child_scope(1)), (MESSAGE, with_ids(RUN, channel="cha_1")))
    return session.add(TurnCompleted(iterations=1), RUN)


def parts(session: SessionBuilder, turn: str) -> list[Part]:
    return [row for row in session.table.list_rows(Part) if row.turn_id == turn]


def test_items_from_other_agents_appear_in_order_in_the_turn_that_receives_them():
    """UI-16, COM-06: they are separate from the person's input."""
    session = add_facts(session_with_inbox(), *run_facts(THREAD, 2))
    assert parts(session, SECOND.turn) == []
    session.add(InboxReserved(items=("han_1", "itm_1", "itm_2", "gone")), SECOND)
    items = parts(session, SECOND.turn)
    common = {name: getattr(items[0], name) for name in ("order", "sequence", "turn_id", "thread_id", "at")}
    assert items == [
        HandoffPart(
            key=items[0].key, **common, handoff_id="han_1", source="writer-1", target="solo", message="It is written."
        ),
        NotificationPart(
            key=items[1].key,
            **common,
            agent_id="writer-1",
            task_id="tsk_w1",
            status="completed",
            summary="It is written.",
            transcript="thr_w1",
        ),
        NoticePart(key=items[2].key, **common, code="agent_message", message="Mind the style.", agent_id="solo"),
    ]
    assert len({item.key for item in items}) == 3


def test_the_items_of_an_interrupted_turn_appear_again_in_the_next_one():
    """COM-09: both turns received them."""
    reservation = InboxReserved(items=("itm_1",))
    session = add_facts(
        session_with_inbox(), *run_facts(THREAD, 2), (reservation, SECOND), (TurnInterrupted(cause="crash"), SECOND)
    )
    add_facts(session, *run_facts(THREAD, 3), (reservation, run_scope(THREAD, 3)))
    add_facts(
        session,
        (InboxConsumed(items=("itm_1",)), run_scope(THREAD, 3)),
        (TurnCompleted(iterations=1), run_scope(THREAD, 3)),
    )
    add_facts(session, *run_facts(THREAD, 4), (reservation, run_scope(THREAD, 4)))
    turns = [row.turn_id for row in session.table.list_rows(NotificationPart)]
    assert turns == [SECOND.turn, run_scope(THREAD, 3).turn]


def test_waiting_items_survive_in_the_stored_state_of_a_view():
    """UI-16, UI-29: reopening changes nothing."""
    session = add_facts(session_with_inbox(), *run_facts(THREAD, 2))
    records = session.records()
    restored = SessionView.from_state(session.view.encode_state())
    reserved = InboxReserved(items=("han_1", "itm_1", "itm_2"))
    session.add(reserved, SECOND)
    assert restored.apply(session.records()[len(records)]) == session.ops
    assert len(session.ops) == 3


def test_the_sender_receives_news_of_its_handoff():
    """UI-19: it was returned, rejected, or expired."""
    assert [
        (part.turn_id, part.handoff_id, part.news, part.message)
        for part in handoff_session().table.list_rows(HandoffPart)
    ] == [
        ("trn_critic1", "han_1", "requested", "Judge it, 1."),
        ("trn_solo2", "han_1", "returned", "judged"),
        ("trn_solo3", "han_2", "rejected", "no time"),
        ("trn_solo3", "han_3", "expired", ""),
    ]


def test_an_agent_receives_news_of_a_handoff_that_a_person_accepts_for_it():
    """UI-19"""
    _, scope = handoff_fact()
    session = add_facts(session_with_inbox(), *run_facts(THREAD, 2), (InboxReserved(items=("han_1",)), SECOND))
    add_facts(session, (InboxConsumed(items=("han_1",)), SECOND), (TurnCompleted(iterations=1), SECOND))
    accepted = HandoffAccepted(source="writer-1", target="solo", reason="by all means")
    session.add(accepted, Scope(agent="solo", thread=THREAD.thread, handoff=scope.handoff))
    add_facts(session, *run_facts(THREAD, 3), (InboxReserved(items=("han_1.accepted",)), run_scope(THREAD, 3)))
    assert [part.news for part in session.table.list_rows(HandoffPart)] == ["requested", "accepted"]


def test_a_reviewer_sees_the_review_request():
    """UI-20"""
    asks = ReviewRequested(
        reviewer="solo", target="writer-1", item="itm_9", to_thread=THREAD.thread, instructions=Text(text="Be strict.")
    )
    session = add_facts(team_session(), (asks, REVIEW), (InboxReserved(items=("itm_9",)), RUN))
    (notice,) = session.table.list_rows(NoticePart)
    assert (notice.code, notice.agent_id, notice.message) == ("review_requested", "writer-1", "Be strict.")


def test_a_plan_is_live_until_it_is_final_and_keeps_its_place():
    """CTX-03"""
    session = plan_session()
    (plan,) = session.table.list_rows(PlanPart)
    assert (plan.state, plan.steps, plan.key) == ("final", STEPS, "run_1.2")
    session.add(MessageText(content=Text(text="Done.")), step(4))
    assert [type(part) for part in parts(session, "trn_1")] == [PlanPart, TextPart]


def test_an_unfinished_plan_ends_with_its_run():
    """CTX-03, UI-26: no plan reads as live forever."""
    for end, state in ((TurnCompleted(iterations=1), "final"), (TurnInterrupted(cause="person"), "interrupted")):
        session = model_session().add(PlanUpdated(steps=(PlanStep("Look", "pending"),)), with_ids(RUN, step=2))
        (plan,) = session.table.list_rows(PlanPart)
        assert plan.state == "streaming"
        session.add(end, RUN)
        (plan,) = session.table.list_rows(PlanPart)
        assert plan.state == state


def test_a_remote_task_has_one_line_in_its_turn():
    """UI-23"""
    rows = remote_session().table.list_rows(RemoteStatusPart)
    assert [(row.turn_id, row.remote_task_id, row.task_state, row.artifacts) for row in rows] == [
        ("trn_scout1", "rmt_1", "completed", ("report", "log")),
        ("trn_scout2", "rmt_2", "failed", ()),
        ("trn_scout3", "rmt_3", "canceled", ()),
        ("trn_scout4", "rmt_4", "rejected", ()),
        ("trn_scout5", "rmt_5", "unknown", ()),
    ]


def test_a_question_keeps_its_answer_and_names_no_tool():
    """UI-09"""
    session = model_session()
    asks = ActionRequired(
        action_type="clarification",
        prompt="Which branch?",
        decisions=("answer", "reject"),
        scopes=("once",),
        risk="low",
        tool="RemoteInput",
    )
    session.add(asks, step(2, action="act_1"))
    (pending,) = session.table.list_rows(ActionRow)
    (status,) = session.table.list_rows(StatusRow)
    assert (pending.decisions, pending.tool, pending.prompt) == (("answer", "reject"), "", "Which branch?")
    assert (status.detail, status.tool) == ("waiting_approval", "")
    session.add(ActionResolved(decision="answer", answer=Text(text="main")), step(2, action="act_1"))
    (part,) = session.table.list_rows(ActionPart)
    assert (part.outcome, part.answer, part.tool, part.actor) == ("answered", Text(text="main"), "", "person")
    assert session.table.list_rows(ActionRow) == []


def test_received_items_and_plans_are_not_part_of_the_answer():
    """UI-06: the answer has its own parts and no others."""
    session = add_facts(session_with_inbox(), *run_facts(THREAD, 2), (InboxReserved(items=("itm_1", "han_1")), SECOND))
    session.add(PlanUpdated(steps=STEPS, final=True), with_ids(SECOND, step=1))
    session.add(MessageText(content=Text(text="It is written.")), with_ids(SECOND, step=2))
    add_facts(session, (OutputFinal(parts=(2,)), SECOND), (TurnCompleted(iterations=1), SECOND))
    turn = session.table.get_row(TurnRow, SECOND.turn)
    assert turn is not None
    assert turn.final_parts == (f"{SECOND.run}.2",)
    assert turn.input == Text()
    answers = [part for part in parts(session, SECOND.turn) if part.key in turn.final_parts]
    assert [msgspec.to_builtins(answer)["kind"] for answer in answers] == ["assistant_text"]


def test_a_closed_child_receives_no_items_and_leaves_the_state():
    """Ended work is in the rows and not in the state."""
    session = team_session()
    session.add(MESSAGE, with_ids(RUN, channel="cha_1"))
    before = len(session.view.encode_state())
    add_facts(session, (SubagentClosed(), child_scope(1)), (InboxReserved(items=("itm_2",)), child_run(1)))
    assert session.table.list_rows(NoticePart) == []
    assert len(session.view.encode_state()) < before


@pytest.mark.parametrize(
    ("merged", "reads"),
    [
        (SubagentMerged(status="merged", files=("a.md", "b.md")), "2 files merged."),
        (SubagentMerged(status="nothing_to_merge"), "There was nothing to merge."),
        (SubagentMerged(status="conflict", conflict=("a.md",)), "Nothing was merged, because of conflicts in a.md."),
        (SubagentMerged(status="failed", message="git is not there"), "git is not there"),
        (SubagentMerged(status="unknown"), "The result of the merge is unknown."),
    ],
)
def test_the_result_of_a_merge_appears_in_the_parents_turn(merged: SubagentMerged, reads: str):
    """UI-26: also an unknown result."""
    session = add_facts(team_session(), (TurnCompleted(iterations=1), RUN), (merged, child_scope(1)))
    (notice,) = session.table.list_rows(NoticePart)
    assert (notice.code, notice.message, notice.agent_id) == (f"merge_{merged.status}", reads, "writer-1")
    assert (notice.turn_id, notice.thread_id) == ("trn_1", THREAD.thread)


def test_an_export_of_evidence_appears_in_the_conversation():
    """It is an audit line of the session."""
    (notice,) = [part for part in paused_session().table.list_rows(NoticePart) if part.code == "evidence_exported"]
    assert (notice.message, notice.turn_id) == ("Evidence of the facts 1 to 7 was exported.", "trn_1")
