"""Handoffs over edges, messages between agents, and the inbox of both."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.contracts.commands.exchange.handoff import RespondHandoff, SendHandoff
from callboard.contracts.entities.handoff_payload import MAX_MESSAGE_BYTES, Expectation, HandoffStatus, Payload
from callboard.contracts.entities.team import Edge, Ref
from callboard.contracts.facts.artifact import ArtifactCreated
from callboard.contracts.facts.exchange.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    ReplyEnded,
)
from callboard.contracts.facts.exchange.inbox import InboxConsumed, InboxReserved
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.scope import Scope
from callboard.control.outcomes import WakeTimeReached
from tests.control.rigs.examples import NOW, SESSION, interrupt, submit
from tests.control.rigs.team import CLERK, CRITIC, WORKER, Team, agent_definition, fact_types, facts_of, only_fact, team

SECOND = 1_000_000
#: A lead with unconditional edges to all other main agents.
OPEN = agent_definition("lead", edges=(Edge(to="critic"), Edge(to="clerk")), aliases=("Boss",))


def send_handoff(session: Team, to: str, by: str = "lead", **fields: Any) -> str:
    """Send a handoff, and return its id."""
    return session.tool_result(by, "send_handoff", to=to, message="Look at it.", **fields)["handoff_id"]


def respond_handoff(handoff: str, decision: Any, reason: str = "") -> RespondHandoff:
    return RespondHandoff(session_id=SESSION, handoff_id=handoff, decision=decision, reason=reason)


def test_without_an_edge_a_handoff_is_refused_and_nothing_is_queued() -> None:
    """COM-01"""
    session = team(agent_definition("lead"), CRITIC, WORKER)
    assert session.refusal_code("lead", "send_handoff", to="critic", message="Look.") == "no_edge"
    problem = session.refuses(SendHandoff(session_id=SESSION, to="critic", message="Look."))
    assert (problem.message, problem.hint) == ("There is no edge from lead to critic.", "Edges lead to: none.")
    assert [thread.agent for thread in session.state.threads.values()] == ["lead"]


def test_a_one_way_edge_carries_one_way_and_a_two_way_edge_both() -> None:
    """COM-02"""
    session = team(OPEN, CRITIC, CLERK)
    send_handoff(session, "critic")
    send_handoff(session, "clerk")
    assert session.refusal_code("critic", "send_handoff", to="lead", message="Done.") == "no_edge"
    session.responds("clerk")
    assert send_handoff(session, "clerk", by="critic")


@pytest.mark.parametrize("name", ["critic", "CRITIC", "the judge", "ＣＲＩＴＩＣ"])
def test_an_id_or_an_alias_in_any_case_reaches_the_same_agent(name: str) -> None:
    """COM-03"""
    session = team(OPEN, CRITIC)
    send_handoff(session, name)
    assert session.running_agents() == ["lead", "critic"]
    assert send_handoff(session, name.upper())
    assert [thread.agent for thread in session.state.threads.values()] == ["lead", "critic"]


@pytest.mark.parametrize(
    ("message", "code"),
    [("", "empty_message"), (" \n", "empty_message"), ("x" * (MAX_MESSAGE_BYTES + 1), "message_too_large")],
)
def test_a_blank_or_too_large_message_is_refused_without_an_event(message: str, code: str) -> None:
    """COM-04"""
    session = team(OPEN, CRITIC)
    assert session.refusal_code("lead", "send_handoff", to="critic", message=message) == code
    problem = session.refuses(SendHandoff(session_id=SESSION, to="critic", message=message))
    assert (problem.code, problem.field) == (code, "message")
    large = {"x": "y" * 40_000}
    assert (
        session.refuses(SendHandoff(session_id=SESSION, to="critic", message="x", structured=large)).field
        == "structured"
    )


def test_a_message_of_eight_kilobytes_is_sent() -> None:
    """COM-04"""
    session = team(OPEN, CRITIC)
    assert (
        session.tool_result("lead", "send_handoff", to="critic", message="x" * MAX_MESSAGE_BYTES)["status"] == "queued"
    )


def test_every_optional_field_is_recorded_unchanged() -> None:
    """COM-05"""
    session = team(OPEN, CRITIC)
    result = session.uses(
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
    assert only_fact(result, HandoffRequested) == HandoffRequested(
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
        context_boundary=only_fact(result, HandoffRequested).context_boundary,
        hops=1,
        unresolved=("artifact://diff/123",),
    )


def test_refs_to_artifacts_of_the_session_are_resolved_and_others_are_marked_unresolved() -> None:
    """By id or path. Other refs stay unmarked."""
    session = team(OPEN, CRITIC)
    session.put(ArtifactCreated(artifact_kind="code", path="a.py"), Scope(artifact="art_1"))
    refs = ["art_1", "artifact://art_1", "artifact://a.py", "artifact://b.py", "art_2", "a.py"]
    artifacts = [{"type": "file", "ref": ref} for ref in refs]
    handoff = only_fact(
        session.uses("lead", "send_handoff", to="critic", message="Look.", artifacts=artifacts), HandoffRequested
    )
    assert handoff.artifacts == {"art_1": "art_1", "artifact://art_1": "art_1", "artifact://a.py": "art_1"}
    assert handoff.unresolved == ("artifact://b.py", "art_2")


def test_handoffs_of_several_senders_are_consumed_once_in_the_order_sent() -> None:
    """COM-06, COM-07: a running receiver is not interrupted. Its input waits in the inbox."""
    clerk = agent_definition("clerk", edges=(Edge(to="critic"),))
    session = team(OPEN, CRITIC, clerk)
    first = send_handoff(session, "critic")
    session.uses("lead", "send_message", to=["clerk"], text="hi")
    sent = [
        send_handoff(session, "critic"),
        send_handoff(session, "critic", by="clerk"),
        send_handoff(session, "critic"),
    ]
    assert [item.item for item in session.thread_of("critic").inbox] == [first, *sent]
    assert session.run_of("critic").reserved == (first,)

    result = session.responds("critic")
    assert only_fact(result, InboxConsumed).items == (first,)
    assert only_fact(result, InboxReserved).items == tuple(sent)
    result = session.responds("critic")
    assert only_fact(result, InboxConsumed).items == tuple(sent)
    assert session.thread_of("critic").inbox == ()


def test_a_turn_that_fails_before_its_model_responds_leaves_its_inputs_deliverable() -> None:
    """COM-09"""
    session = team(OPEN, CRITIC)
    handoff = send_handoff(session, "critic")
    session.fails("critic")
    assert [item.item for item in session.thread_of("critic").inbox] == [handoff]
    result = session.when(submit("try again", session_id=SESSION, thread_id="thr_2"))
    assert only_fact(result, InboxReserved).items == (handoff,)
    assert only_fact(session.responds("critic"), InboxConsumed).items == (handoff,)


def test_a_handoff_is_accepted_when_read_and_completes_with_that_turn() -> None:
    """Communication spec, Handoff delivery."""
    session = team(OPEN, CRITIC)
    send_handoff(session, "critic")
    read = session.uses("critic", "create_task", title="Look")
    assert only_fact(read, HandoffAccepted).reason == "consumed"
    session.fails("critic")
    assert list(session.state.handoffs) == ["hnd_1"]
    session.when(submit("go on", session_id=SESSION, thread_id="thr_2"))
    assert only_fact(session.responds("critic"), HandoffCompleted).returned is False
    assert session.state.handoffs == {}


def test_a_handoff_over_a_confirming_edge_waits_for_the_receivers_answer() -> None:
    """Communication spec, Handoff delivery: reading alone does not accept the handoff."""
    session = team()
    sent = session.tool_result("lead", "send_handoff", to="clerk", message="Look.")
    assert sent["status"] == "waiting_for_answer"
    result = session.uses("clerk", "respond_handoff", handoff_id="hnd_1", decision="accept")
    accepted = only_fact(result, HandoffAccepted)
    assert (accepted.source, accepted.target, accepted.ownership) == ("lead", "clerk", False)
    assert only_fact(session.responds("clerk"), HandoffCompleted).target == "clerk"


def test_a_rejection_is_delivered_to_the_sender_with_its_reason() -> None:
    """Communication spec, Handoff delivery."""
    session = team()
    session.tool_result("lead", "send_handoff", to="clerk", message="Look.")
    result = session.uses("clerk", "respond_handoff", handoff_id="hnd_1", decision="reject", reason="no time")
    assert only_fact(result, HandoffRejected) == HandoffRejected(
        source="lead", target="clerk", to_thread="thr_1", reason="no time"
    )
    assert [item.item for item in session.thread_of("lead").inbox] == ["hnd_1.rejected"]
    assert session.refusal_code("clerk", "respond_handoff", handoff_id="hnd_1", decision="accept") == "unknown_handoff"


def test_a_handoff_that_a_person_accepts_for_an_agent_is_delivered_to_it_again() -> None:
    session = team()
    session.tool_result("lead", "send_handoff", to="clerk", message="Look.")
    session.responds("clerk", "Somebody else should answer.")
    assert session.running_agents() == ["lead"]
    result = session.when(respond_handoff("hnd_1", "accept"))
    assert only_fact(result, InboxReserved).items == ("hnd_1.accepted",)
    assert only_fact(session.responds("clerk"), HandoffCompleted).source == "lead"


def test_an_acceptance_during_the_handoffs_run_is_delivered_next_and_completes_later() -> None:
    session = team()
    session.tool_result("lead", "send_handoff", to="clerk", message="Look.")
    assert session.run_of("clerk").reserved == ("hnd_1",)
    session.when(respond_handoff("hnd_1", "accept"))
    result = session.responds("clerk", "I wait for an answer.")
    assert (facts_of(result, HandoffCompleted), only_fact(result, InboxReserved).items) == ([], ("hnd_1.accepted",))
    assert only_fact(session.responds("clerk", "Looked."), HandoffCompleted).source == "lead"


def test_only_the_receiver_answers_a_handoff() -> None:
    session = team()
    session.tool_result("lead", "send_handoff", to="clerk", message="Look.")
    assert session.refusal_code("lead", "respond_handoff", handoff_id="hnd_1", decision="accept") == "not_yours"
    assert (
        session.refusal_code("clerk", "respond_handoff", handoff_id="hnd_1", decision="complete")
        == "handoff_not_waiting"
    )


def test_ownership_moves_on_acceptance_and_returns_on_completion() -> None:
    """Subagents specification, handoff: the person's input goes to the owner."""
    session = team(mode="auto")
    send_handoff(session, "critic", ownership=True)
    assert session.state.owner == ""
    session.uses("critic", "respond_handoff", handoff_id="hnd_1", decision="accept")
    assert session.state.owner == "thr_2"
    result = session.when(submit("and the tests?", session_id=SESSION))
    assert [new.scope.thread for new in result.decision.facts if isinstance(new.fact, TurnSubmitted)] == ["thr_2"]
    done = session.uses("critic", "respond_handoff", handoff_id="hnd_1", decision="complete", reason="all good")
    assert only_fact(done, HandoffCompleted) == HandoffCompleted(
        source="lead", target="critic", returned=True, to_thread="thr_1", reason="all good"
    )
    assert session.state.owner == "thr_1"
    assert [item.item for item in session.thread_of("lead").inbox] == ["hnd_1.returned"]


def test_an_edge_without_ownership_refuses_to_move_it() -> None:
    session = team(OPEN, CRITIC)
    assert (
        session.refusal_code("lead", "send_handoff", to="critic", message="x", ownership=True)
        == "ownership_not_allowed"
    )


def test_a_required_reply_is_tracked_until_it_comes() -> None:
    """COM-16"""
    session = team(OPEN, agent_definition("critic", edges=(Edge(to="lead"),)))
    send_handoff(session, "critic", response={"expectation": "required", "within_s": 60})
    session.responds("critic", "Later.")
    assert [handoff.reply_by for handoff in session.state.handoffs.values()] == [NOW + 60 * SECOND]
    session.when(submit("answer it", session_id=SESSION, thread_id="thr_2"))
    result = session.uses("critic", "send_handoff", to="lead", message="Here.")
    assert only_fact(result, ReplyEnded) == ReplyEnded(end="answered", to_thread="thr_1", by="critic")


def test_a_missing_required_reply_expires_and_its_sender_is_notified() -> None:
    """COM-16"""
    session = team(OPEN, CRITIC)
    send_handoff(session, "critic", response={"expectation": "required", "within_s": 60})
    session.responds("critic", "I say nothing.")
    session.responds("lead")
    session.now += 60 * SECOND
    result = session.when(WakeTimeReached(at=session.now))
    assert fact_types(result) == ["handoff.reply.ended", "handoff.completed", "thread.paused"]
    assert only_fact(result, ReplyEnded) == ReplyEnded(end="expired", to_thread="thr_1")
    assert [item.item for item in session.thread_of("lead").inbox] == ["hnd_1.expired"]
    session.when(WakeTimeReached(at=session.now)).then_nothing()


def test_an_idle_agent_wakes_for_its_inbox_and_a_lead_in_chat_waits_for_its_person() -> None:
    """MAR-13, COM-07"""
    session = team(agent_definition("lead"), agent_definition("other"))
    session.uses("lead", "send_message", to=["other"], text="hi")
    session.responds("lead")
    session.uses("other", "send_message", to=["lead"], text="hello")
    session.responds("other")
    assert session.running_agents() == []
    assert only_fact(session.when(submit("and?", session_id=SESSION)), InboxReserved).items == ("itm_2",)


def test_a_stopped_lead_in_auto_mode_is_not_started_by_its_childs_result() -> None:
    """Multi-agent runtime spec, Mode loop semantics."""
    session = team(mode="auto")
    session.spawns()
    session.when(interrupt())
    session.stops("lead")
    session.responds("worker-1")
    assert session.running_agents() == [], "only a person starts a stopped thread again"


def test_a_blocked_agent_does_not_block_another() -> None:
    """COM-12"""
    session = team(OPEN, CRITIC, agent_definition("clerk"))
    send_handoff(session, "critic")
    send_handoff(session, "clerk")
    session.fails("critic")
    session.responds("clerk")
    assert session.running_agents() == ["lead"]
    send_handoff(session, "clerk")
    assert session.running_agents() == ["lead", "clerk"]


def test_a_subagent_exchanges_messages_only_with_its_parent() -> None:
    """MAR-08: Hard invariants 3 and 4."""
    session = team(OPEN, CRITIC, WORKER)
    session.spawns(2)
    for tool, arguments in (
        ("send_message", {"to": ["worker-2"], "text": "hi"}),
        ("send_message", {"to": ["critic"], "text": "hi"}),
        ("send_handoff", {"to": "worker-2", "message": "hi"}),
        ("send_handoff", {"to": "critic", "message": "hi"}),
        ("request_review", {"reviewer": "critic"}),
        ("request_review", {"reviewer": "worker-2"}),
    ):
        assert session.refusal_code("worker-1", tool, **arguments) == "subagents_do_not_talk", tool
    assert "critic" not in [thread.agent for thread in session.state.threads.values()]
    assert session.tool_result("worker-1", "send_message", to=["Boss"], text="a question")["channel_id"] == "chn_1"
    assert send_handoff(session, "lead", by="worker-1")
    assert [item.source for item in session.thread_of("lead").inbox] == ["worker-1", "worker-1"]


def test_a_main_agent_messages_its_own_children_only_while_they_run() -> None:
    """MAR-08: Hard invariant 2."""
    session = team(agent_definition("lead"), agent_definition("other"), WORKER)
    session.spawns()
    session.uses("lead", "send_message", to=["worker-1", "other"], text="hi")
    assert session.refusal_code("other", "send_message", to=["worker-1"], text="hi") == "subagents_do_not_talk"
    assert "subagent.completed" not in fact_types(session.responds("worker-1"))
    assert session.run_of("worker-1").reserved == ("itm_1",)
    session.responds("worker-1")
    assert session.refusal_code("lead", "send_message", to=["worker-1"], text="hi") == "nothing_running"
