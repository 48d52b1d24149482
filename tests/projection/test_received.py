"""Messages from other agents, plans and remote tasks in a turn, apart from its answer."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts.content import Text
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.facts.action import ActionRequired, ActionResolved
from callboard.contracts.facts.handoff import ChannelMessage, HandoffAccepted, InboxConsumed, InboxReserved
from callboard.contracts.facts.message import MessageText, OutputFinal, PlanUpdated
from callboard.contracts.facts.subagent import SubagentClosed, SubagentMerged, WorkerNotification
from callboard.contracts.facts.task import ReviewRequested
from callboard.contracts.facts.turn import TurnCompleted, TurnInterrupted
from callboard.contracts.rows.conversation import (
    ActionPart,
    ActionRow,
    HandoffPart,
    NoticePart,
    NotificationPart,
    Part,
    PlanPart,
    RemoteStatusPart,
    StatusRow,
    TextPart,
    TurnRow,
)
from callboard.contracts.scope import Scope
from callboard.projection.view import SessionView
from tests.projection.runs import within
from tests.projection.story import RUN, THREAD, Story, model_story, step
from tests.projection.team.tales import (
    STEPS,
    handoff_story,
    paused_story,
    plan_story,
    remote_story,
    run_facts,
    run_scope,
)
from tests.projection.team.troupe import REVIEW, add_facts, child, handoff_fact, records_of, team, working, write_facts

NOTE = WorkerNotification(
    item="itm_1", to_thread=THREAD.thread, status="completed", summary="It is written.", transcript="thr_w1"
)
SAID = ChannelMessage(
    item="itm_2",
    source="solo",
    participants=("solo", "writer-1"),
    to_threads=("thr_w1", THREAD.thread),
    message=Text(text="Mind the style."),
)
SECOND = run_scope(THREAD, 2)


def sent() -> Story:
    """Return a lead whose turn ended, with a report, a notification and a message in its inbox."""
    story = add_facts(team(), *write_facts(1)[:4], handoff_fact(), write_facts(1)[4])
    add_facts(story, (NOTE, child(1)), (SAID, within(RUN, channel="cha_1")))
    return story.say(TurnCompleted(iterations=1), RUN)


def parts(story: Story, turn: str) -> list[Part]:
    return [row for row in story.table.panel(Part) if row.turn_id == turn]


def test_items_from_other_agents_appear_in_order_in_the_turn_that_receives_them():
    """UI-16, COM-06: they are separate from the person's input."""
    story = add_facts(sent(), *run_facts(THREAD, 2))
    assert parts(story, SECOND.turn) == []
    story.say(InboxReserved(items=("han_1", "itm_1", "itm_2", "gone")), SECOND)
    found = parts(story, SECOND.turn)
    common = {name: getattr(found[0], name) for name in ("order", "sequence", "turn_id", "thread_id", "at")}
    assert found == [
        HandoffPart(
            key=found[0].key, **common, handoff_id="han_1", source="writer-1", target="solo", message="It is written."
        ),
        NotificationPart(
            key=found[1].key,
            **common,
            agent_id="writer-1",
            task_id="tsk_w1",
            status="completed",
            summary="It is written.",
            transcript="thr_w1",
        ),
        NoticePart(key=found[2].key, **common, code="agent_message", message="Mind the style.", agent_id="solo"),
    ]
    assert len({one.key for one in found}) == 3


def test_the_items_of_an_interrupted_turn_appear_again_in_the_next_one():
    """COM-09: both turns received them."""
    told_it = InboxReserved(items=("itm_1",))
    story = add_facts(sent(), *run_facts(THREAD, 2), (told_it, SECOND), (TurnInterrupted(cause="crash"), SECOND))
    add_facts(story, *run_facts(THREAD, 3), (told_it, run_scope(THREAD, 3)))
    add_facts(
        story,
        (InboxConsumed(items=("itm_1",)), run_scope(THREAD, 3)),
        (TurnCompleted(iterations=1), run_scope(THREAD, 3)),
    )
    add_facts(story, *run_facts(THREAD, 4), (told_it, run_scope(THREAD, 4)))
    turns = [row.turn_id for row in story.table.panel(NotificationPart)]
    assert turns == [SECOND.turn, run_scope(THREAD, 3).turn]


def test_waiting_items_survive_in_the_stored_state_of_a_view():
    """UI-16, UI-29: reopening changes nothing."""
    story = add_facts(sent(), *run_facts(THREAD, 2))
    records = records_of(story)
    restored = SessionView.from_state(story.view.state())
    reserved = InboxReserved(items=("han_1", "itm_1", "itm_2"))
    story.say(reserved, SECOND)
    assert restored.apply(records_of(story)[len(records)]) == story.ops
    assert len(story.ops) == 3


def test_the_sender_receives_news_of_its_handoff():
    """UI-19: it was returned, rejected, or expired."""
    assert [
        (one.turn_id, one.handoff_id, one.news, one.message) for one in handoff_story().table.panel(HandoffPart)
    ] == [
        ("trn_critic1", "han_1", "requested", "Judge it, 1."),
        ("trn_solo2", "han_1", "returned", "judged"),
        ("trn_solo3", "han_2", "rejected", "no time"),
        ("trn_solo3", "han_3", "expired", ""),
    ]


def test_an_agent_receives_news_of_a_handoff_that_a_person_accepts_for_it():
    """UI-19"""
    _, scope = handoff_fact()
    story = add_facts(sent(), *run_facts(THREAD, 2), (InboxReserved(items=("han_1",)), SECOND))
    add_facts(story, (InboxConsumed(items=("han_1",)), SECOND), (TurnCompleted(iterations=1), SECOND))
    accepted = HandoffAccepted(source="writer-1", target="solo", reason="by all means")
    story.say(accepted, Scope(agent="solo", thread=THREAD.thread, handoff=scope.handoff))
    add_facts(story, *run_facts(THREAD, 3), (InboxReserved(items=("han_1.accepted",)), run_scope(THREAD, 3)))
    assert [one.news for one in story.table.panel(HandoffPart)] == ["requested", "accepted"]


def test_a_reviewer_sees_the_review_request():
    """UI-20"""
    asks = ReviewRequested(
        reviewer="solo", target="writer-1", item="itm_9", to_thread=THREAD.thread, instructions=Text(text="Be strict.")
    )
    story = add_facts(team(), (asks, REVIEW), (InboxReserved(items=("itm_9",)), RUN))
    (notice,) = story.table.panel(NoticePart)
    assert (notice.code, notice.agent_id, notice.message) == ("review_requested", "writer-1", "Be strict.")


def test_a_plan_is_live_until_it_is_final_and_keeps_its_place():
    """CTX-03"""
    story = plan_story()
    (plan,) = story.table.panel(PlanPart)
    assert (plan.state, plan.steps, plan.key) == ("final", STEPS, "run_1.2")
    story.say(MessageText(content=Text(text="Done.")), step(4))
    assert [type(one) for one in parts(story, "trn_1")] == [PlanPart, TextPart]


def test_an_unfinished_plan_ends_with_its_run():
    """CTX-03, UI-26: no plan reads as live forever."""
    for end, state in ((TurnCompleted(iterations=1), "final"), (TurnInterrupted(cause="person"), "interrupted")):
        story = model_story().say(PlanUpdated(steps=(PlanStep("Look", "pending"),)), within(RUN, step=2))
        (plan,) = story.table.panel(PlanPart)
        assert plan.state == "streaming"
        story.say(end, RUN)
        (plan,) = story.table.panel(PlanPart)
        assert plan.state == state


def test_a_remote_task_has_one_line_in_its_turn():
    """UI-23"""
    rows = remote_story().table.panel(RemoteStatusPart)
    assert [(one.turn_id, one.remote_task_id, one.task_state, one.artifacts) for one in rows] == [
        ("trn_scout1", "rmt_1", "completed", ("report", "log")),
        ("trn_scout2", "rmt_2", "failed", ()),
        ("trn_scout3", "rmt_3", "canceled", ()),
        ("trn_scout4", "rmt_4", "rejected", ()),
        ("trn_scout5", "rmt_5", "unknown", ()),
    ]


def test_a_question_keeps_its_answer_and_names_no_tool():
    """UI-09"""
    story = model_story()
    asks = ActionRequired(
        action_type="clarification",
        prompt="Which branch?",
        decisions=("answer", "reject"),
        scopes=("once",),
        risk="low",
        tool="RemoteInput",
    )
    story.say(asks, step(2, action="act_1"))
    (pending,) = story.table.panel(ActionRow)
    (status,) = story.table.panel(StatusRow)
    assert (pending.decisions, pending.tool, pending.prompt) == (("answer", "reject"), "", "Which branch?")
    assert (status.detail, status.tool) == ("waiting_approval", "")
    story.say(ActionResolved(decision="answer", answer=Text(text="main")), step(2, action="act_1"))
    (part,) = story.table.panel(ActionPart)
    assert (part.outcome, part.answer, part.tool, part.actor) == ("answered", Text(text="main"), "", "person")
    assert story.table.panel(ActionRow) == []


def test_received_items_and_plans_are_not_part_of_the_answer():
    """UI-06: the answer has its own parts and no others."""
    story = add_facts(sent(), *run_facts(THREAD, 2), (InboxReserved(items=("itm_1", "han_1")), SECOND))
    story.say(PlanUpdated(steps=STEPS, final=True), within(SECOND, step=1))
    story.say(MessageText(content=Text(text="It is written.")), within(SECOND, step=2))
    add_facts(story, (OutputFinal(parts=(2,)), SECOND), (TurnCompleted(iterations=1), SECOND))
    turn = story.table.row(TurnRow, SECOND.turn)
    assert turn is not None
    assert turn.final_parts == (f"{SECOND.run}.2",)
    assert turn.input == Text()
    answers = [one for one in parts(story, SECOND.turn) if one.key in turn.final_parts]
    assert [msgspec.to_builtins(one)["kind"] for one in answers] == ["assistant_text"]


def test_a_closed_child_receives_no_items_and_leaves_the_state():
    """Ended work is in the rows and not in the state."""
    story = team()
    story.say(SAID, within(RUN, channel="cha_1"))
    before = len(story.view.state())
    add_facts(story, (SubagentClosed(), child(1)), (InboxReserved(items=("itm_2",)), working(1)))
    assert story.table.panel(NoticePart) == []
    assert len(story.view.state()) < before


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
    story = add_facts(team(), (TurnCompleted(iterations=1), RUN), (merged, child(1)))
    (notice,) = story.table.panel(NoticePart)
    assert (notice.code, notice.message, notice.agent_id) == (f"merge_{merged.status}", reads, "writer-1")
    assert (notice.turn_id, notice.thread_id) == ("trn_1", THREAD.thread)


def test_an_export_of_evidence_appears_in_the_conversation():
    """It is an audit line of the session."""
    (notice,) = [one for one in paused_story().table.panel(NoticePart) if one.code == "evidence_exported"]
    assert (notice.message, notice.turn_id) == ("Evidence of the facts 1 to 7 was exported.", "trn_1")
