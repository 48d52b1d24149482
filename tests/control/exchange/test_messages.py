"""What agents send each other: handoffs over edges, messages, and the inbox in which both wait."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.contracts.commands.handoff import RespondHandoff, SendHandoff
from callboard.contracts.entities.handoff_payload import MAX_MESSAGE_BYTES, Expectation, HandoffStatus, Payload
from callboard.contracts.entities.team import Edge, Ref
from callboard.contracts.facts.artifact import ArtifactCreated
from callboard.contracts.facts.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    InboxConsumed,
    InboxReserved,
    ReplyEnded,
)
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.scope import Scope
from callboard.control.outcomes import WakeTimeReached
from tests.control.rigs.examples import NOW, SESSION, interrupt, submit
from tests.control.rigs.team import CLERK, CRITIC, WORKER, Team, agent, all_of, one, team, types

SECOND = 1_000_000
#: Edges to everybody, without conditions.
OPEN = agent("lead", edges=(Edge(to="critic"), Edge(to="clerk")), aliases=("Boss",))


def hands(given: Team, to: str, by: str = "lead", **rest: Any) -> str:
    """A handoff is sent; its id."""
    return given.gets(by, "send_handoff", to=to, message="Look at it.", **rest)["handoff_id"]


def respond(handoff: str, decision: Any, reason: str = "") -> RespondHandoff:
    return RespondHandoff(session_id=SESSION, handoff_id=handoff, decision=decision, reason=reason)


def test_without_an_edge_a_handoff_is_refused_and_nothing_is_queued() -> None:
    """COM-01"""
    given = team(agent("lead"), CRITIC, WORKER)
    assert given.denied("lead", "send_handoff", to="critic", message="Look.") == "no_edge"
    problem = given.refuses(SendHandoff(session_id=SESSION, to="critic", message="Look."))
    assert (problem.message, problem.hint) == ("There is no edge from lead to critic.", "Edges lead to: none.")
    assert [one.agent for one in given.state.threads.values()] == ["lead"]


def test_an_edge_carries_one_way_and_one_for_both_ways_carries_both() -> None:
    """COM-02"""
    given = team(OPEN, CRITIC, CLERK)
    hands(given, "critic")
    hands(given, "clerk")
    assert given.denied("critic", "send_handoff", to="lead", message="Done.") == "no_edge"
    given.says("clerk")
    assert hands(given, "clerk", by="critic")


@pytest.mark.parametrize("name", ["critic", "CRITIC", "the judge", "ＣＲＩＴＩＣ"])
def test_an_id_or_an_alias_in_any_case_reaches_the_same_agent(name: str) -> None:
    """COM-03"""
    given = team(OPEN, CRITIC)
    hands(given, name)
    assert given.works() == ["lead", "critic"]
    assert hands(given, name.upper())
    assert [one.agent for one in given.state.threads.values()] == ["lead", "critic"]


@pytest.mark.parametrize(
    ("message", "code"),
    [("", "empty_message"), (" \n", "empty_message"), ("x" * (MAX_MESSAGE_BYTES + 1), "message_too_large")],
)
def test_a_blank_or_too_large_message_is_an_error_and_no_event(message: str, code: str) -> None:
    """COM-04"""
    given = team(OPEN, CRITIC)
    assert given.denied("lead", "send_handoff", to="critic", message=message) == code
    problem = given.refuses(SendHandoff(session_id=SESSION, to="critic", message=message))
    assert (problem.code, problem.field) == (code, "message")
    large = {"x": "y" * 40_000}
    assert (
        given.refuses(SendHandoff(session_id=SESSION, to="critic", message="x", structured=large)).field == "structured"
    )


def test_a_message_of_eight_kilobytes_is_sent() -> None:
    """COM-04"""
    given = team(OPEN, CRITIC)
    assert given.gets("lead", "send_handoff", to="critic", message="x" * MAX_MESSAGE_BYTES)["status"] == "queued"


def test_every_optional_field_stands_in_the_fact_unchanged() -> None:
    """COM-05"""
    given = team(OPEN, CRITIC)
    then = given.uses(
        "lead",
        "send_handoff",
        to="critic",
        message="Look.",
        structured={"key": ["value", 1]},
        artifacts=[{"type": "diff", "ref": "artifact://diff/123"}],
        status={"ok": True, "reason": "tests-pass"},
        response={"expectation": "optional", "reply_to": "lead"},
        context_ref="ctx://1",
        meta={"k": None},
        reason="second look",
    )
    assert one(then, HandoffRequested) == HandoffRequested(
        source="lead",
        target="critic",
        to_thread="thr_2",
        edge="handoff",
        payload=Payload(
            message="Look.",
            structured={"key": ["value", 1]},
            artifacts=(Ref(type="diff", ref="artifact://diff/123"),),
            status=HandoffStatus(ok=True, reason="tests-pass"),
            response=Expectation(expectation="optional", reply_to="lead"),
        ),
        context_ref="ctx://1",
        meta={"k": None},
        reason="second look",
        context_boundary=one(then, HandoffRequested).context_boundary,
        hops=1,
        unresolved=("artifact://diff/123",),
    )


def test_refs_of_artifacts_lead_to_those_of_the_session_and_the_others_are_marked() -> None:
    """By the id, by the path; what is no ref of an artifact is left alone."""
    given = team(OPEN, CRITIC)
    given.put(ArtifactCreated(artifact_kind="code", path="a.py"), Scope(artifact="art_1"))
    refs = ["art_1", "artifact://art_1", "artifact://a.py", "artifact://b.py", "art_2", "a.py"]
    artifacts = [{"type": "file", "ref": ref} for ref in refs]
    told = one(given.uses("lead", "send_handoff", to="critic", message="Look.", artifacts=artifacts), HandoffRequested)
    assert told.artifacts == {"art_1": "art_1", "artifact://art_1": "art_1", "artifact://a.py": "art_1"}
    assert told.unresolved == ("artifact://b.py", "art_2")


def test_handoffs_of_several_senders_are_consumed_once_in_the_order_sent() -> None:
    """COM-06, COM-07: a receiver at work is not interrupted; what it gets waits in its inbox."""
    clerk = agent("clerk", edges=(Edge(to="critic"),))
    given = team(OPEN, CRITIC, clerk)
    first = hands(given, "critic")
    given.uses("lead", "send_message", to=["clerk"], text="hi")
    sent = [hands(given, "critic"), hands(given, "critic", by="clerk"), hands(given, "critic")]
    assert [item.item for item in given.of("critic").inbox] == [first, *sent]
    assert given.run_of("critic").reserved == (first,)

    then = given.says("critic")
    assert one(then, InboxConsumed).items == (first,)
    assert one(then, InboxReserved).items == tuple(sent)
    then = given.says("critic")
    assert one(then, InboxConsumed).items == tuple(sent)
    assert given.of("critic").inbox == ()


def test_a_turn_that_fails_before_its_model_answered_leaves_its_inputs_deliverable() -> None:
    """COM-09"""
    given = team(OPEN, CRITIC)
    handoff = hands(given, "critic")
    given.fails("critic")
    assert [item.item for item in given.of("critic").inbox] == [handoff]
    then = given.when(submit("try again", session_id=SESSION, thread_id="thr_2"))
    assert one(then, InboxReserved).items == (handoff,)
    assert one(given.says("critic"), InboxConsumed).items == (handoff,)


def test_a_handoff_is_accepted_when_read_and_completes_with_that_turn() -> None:
    """Communication spec, Handoff delivery."""
    given = team(OPEN, CRITIC)
    hands(given, "critic")
    read = given.uses("critic", "create_task", title="Look")
    assert one(read, HandoffAccepted).reason == "consumed"
    given.fails("critic")
    assert list(given.state.handoffs) == ["hnd_1"]
    given.when(submit("go on", session_id=SESSION, thread_id="thr_2"))
    assert one(given.says("critic"), HandoffCompleted).returned is False
    assert given.state.handoffs == {}


def test_an_edge_that_confirms_waits_for_the_receivers_answer() -> None:
    """Communication spec, Handoff delivery: the receiver is told, and reading alone accepts nothing."""
    given = team()
    sent = given.gets("lead", "send_handoff", to="clerk", message="Look.")
    assert sent["status"] == "waiting_for_answer"
    then = given.uses("clerk", "respond_handoff", handoff_id="hnd_1", decision="accept")
    accepted = one(then, HandoffAccepted)
    assert (accepted.source, accepted.target, accepted.ownership) == ("lead", "clerk", False)
    assert one(given.says("clerk"), HandoffCompleted).target == "clerk"


def test_a_rejection_tells_its_sender_why() -> None:
    """Communication spec, Handoff delivery."""
    given = team()
    given.gets("lead", "send_handoff", to="clerk", message="Look.")
    then = given.uses("clerk", "respond_handoff", handoff_id="hnd_1", decision="reject", reason="no time")
    assert one(then, HandoffRejected) == HandoffRejected(
        source="lead", target="clerk", to_thread="thr_1", reason="no time"
    )
    assert [item.item for item in given.of("lead").inbox] == ["hnd_1.rejected"]
    assert given.denied("clerk", "respond_handoff", handoff_id="hnd_1", decision="accept") == "unknown_handoff"


def test_what_a_person_accepts_for_an_agent_is_told_to_it_again() -> None:
    given = team()
    given.gets("lead", "send_handoff", to="clerk", message="Look.")
    given.says("clerk", "Somebody else should answer.")
    assert given.works() == ["lead"]
    then = given.when(respond("hnd_1", "accept"))
    assert one(then, InboxReserved).items == ("hnd_1.accepted",)
    assert one(given.says("clerk"), HandoffCompleted).source == "lead"


def test_an_acceptance_during_the_handoffs_run_is_delivered_next_and_completes_later() -> None:
    given = team()
    given.gets("lead", "send_handoff", to="clerk", message="Look.")
    assert given.run_of("clerk").reserved == ("hnd_1",)
    given.when(respond("hnd_1", "accept"))
    then = given.says("clerk", "I wait for an answer.")
    assert (all_of(then, HandoffCompleted), one(then, InboxReserved).items) == ([], ("hnd_1.accepted",))
    assert one(given.says("clerk", "Looked."), HandoffCompleted).source == "lead"


def test_only_the_receiver_answers_a_handoff() -> None:
    given = team()
    given.gets("lead", "send_handoff", to="clerk", message="Look.")
    assert given.denied("lead", "respond_handoff", handoff_id="hnd_1", decision="accept") == "not_yours"
    assert given.denied("clerk", "respond_handoff", handoff_id="hnd_1", decision="complete") == "handoff_not_waiting"


def test_an_ownership_moves_on_acceptance_and_comes_back_on_completion() -> None:
    """Subagents specification, handoff: the person's words go to the owner, and whoever resumes is told."""
    given = team(mode="auto")
    hands(given, "critic", ownership=True)
    assert given.state.owner == ""
    given.uses("critic", "respond_handoff", handoff_id="hnd_1", decision="accept")
    assert given.state.owner == "thr_2"
    then = given.when(submit("and the tests?", session_id=SESSION))
    assert [new.scope.thread for new in then.decision.facts if isinstance(new.fact, TurnSubmitted)] == ["thr_2"]
    done = given.uses("critic", "respond_handoff", handoff_id="hnd_1", decision="complete", reason="all good")
    assert one(done, HandoffCompleted) == HandoffCompleted(
        source="lead", target="critic", returned=True, to_thread="thr_1", reason="all good"
    )
    assert given.state.owner == "thr_1"
    assert [item.item for item in given.of("lead").inbox] == ["hnd_1.returned"]


def test_an_edge_without_ownership_moves_none() -> None:
    given = team(OPEN, CRITIC)
    assert given.denied("lead", "send_handoff", to="critic", message="x", ownership=True) == "ownership_not_allowed"


def test_a_required_answer_is_tracked_until_it_comes() -> None:
    """COM-16"""
    given = team(OPEN, agent("critic", edges=(Edge(to="lead"),)))
    hands(given, "critic", response={"expectation": "required", "within_s": 60})
    given.says("critic", "Later.")
    assert [handoff.reply_by for handoff in given.state.handoffs.values()] == [NOW + 60 * SECOND]
    given.when(submit("answer it", session_id=SESSION, thread_id="thr_2"))
    then = given.uses("critic", "send_handoff", to="lead", message="Here.")
    assert one(then, ReplyEnded) == ReplyEnded(end="answered", to_thread="thr_1", by="critic")


def test_a_required_answer_that_does_not_come_expires_and_its_sender_is_told() -> None:
    """COM-16"""
    given = team(OPEN, CRITIC)
    hands(given, "critic", response={"expectation": "required", "within_s": 60})
    given.says("critic", "I say nothing.")
    given.says("lead")
    given.now += 60 * SECOND
    then = given.when(WakeTimeReached(at=given.now))
    assert types(then) == ["handoff.reply.ended", "handoff.completed", "thread.paused"]
    assert one(then, ReplyEnded) == ReplyEnded(end="expired", to_thread="thr_1")
    assert [item.item for item in given.of("lead").inbox] == ["hnd_1.expired"]
    given.when(WakeTimeReached(at=given.now)).then_nothing()


def test_an_idle_agent_wakes_for_its_inbox_and_a_lead_in_chat_waits_for_its_person() -> None:
    """MAR-13, COM-07"""
    given = team(agent("lead"), agent("other"))
    given.uses("lead", "send_message", to=["other"], text="hi")
    given.says("lead")
    given.uses("other", "send_message", to=["lead"], text="hello")
    given.says("other")
    assert given.works() == []
    assert one(given.when(submit("and?", session_id=SESSION)), InboxReserved).items == ("itm_2",)


def test_a_lead_that_works_alone_is_woken_by_what_its_inbox_holds() -> None:
    """Multi-agent runtime spec, Mode loop semantics."""
    given = team(mode="auto")
    given.spawns()
    given.when(interrupt())
    given.stopped("lead")
    given.says("worker-1")
    assert given.works() == [], "what a person stopped is not begun again by others"


def test_one_blocked_agent_does_not_hold_up_another() -> None:
    """COM-12"""
    given = team(OPEN, CRITIC, agent("clerk"))
    hands(given, "critic")
    hands(given, "clerk")
    given.fails("critic")
    given.says("clerk")
    assert given.works() == ["lead"]
    hands(given, "clerk")
    assert given.works() == ["lead", "clerk"]


def test_a_subagent_speaks_to_its_parent_and_to_nobody_else() -> None:
    """MAR-08: Hard invariants 3 and 4."""
    given = team(OPEN, CRITIC, WORKER)
    given.spawns(2)
    for tool, arguments in (
        ("send_message", {"to": ["worker-2"], "text": "hi"}),
        ("send_message", {"to": ["critic"], "text": "hi"}),
        ("send_handoff", {"to": "worker-2", "message": "hi"}),
        ("send_handoff", {"to": "critic", "message": "hi"}),
        ("request_review", {"reviewer": "critic"}),
        ("request_review", {"reviewer": "worker-2"}),
    ):
        assert given.denied("worker-1", tool, **arguments) == "subagents_do_not_talk", tool
    assert "critic" not in [one.agent for one in given.state.threads.values()]
    assert given.gets("worker-1", "send_message", to=["Boss"], text="a question")["channel_id"] == "chn_1"
    assert hands(given, "lead", by="worker-1")
    assert [item.source for item in given.of("lead").inbox] == ["worker-1", "worker-1"]


def test_a_main_writes_to_its_own_children_while_they_work() -> None:
    """MAR-08: Hard invariant 2."""
    given = team(agent("lead"), agent("other"), WORKER)
    given.spawns()
    given.uses("lead", "send_message", to=["worker-1", "other"], text="hi")
    assert given.denied("other", "send_message", to=["worker-1"], text="hi") == "subagents_do_not_talk"
    assert "subagent.completed" not in types(given.says("worker-1"))
    assert given.run_of("worker-1").reserved == ("itm_1",)
    given.says("worker-1")
    assert given.denied("lead", "send_message", to=["worker-1"], text="hi") == "nothing_running"
