"""Long exchanges: rings, endless chains and their limit, and several notices of one handoff."""

from __future__ import annotations

from callboard.contracts.commands.turn import ResumeThread
from callboard.contracts.entities.team import Edge
from callboard.contracts.facts.exchange.inbox import InboxConsumed, InboxReserved
from callboard.contracts.facts.session import ThreadPaused, ThreadResumed
from callboard.control.outcomes import WakeTimeReached
from tests.control.exchange.test_messages import SECOND, respond_handoff, send_handoff
from tests.control.rigs.examples import SESSION
from tests.control.rigs.team import CRITIC, WORKER, agent_definition, facts_of, only_fact, team


def test_a_ring_of_main_agents_that_message_each_other_never_deadlocks() -> None:
    """MAR-09: no agent waits for another. Each one reads its messages in its next turn."""
    names = ("lead", "one", "two")
    session = team(*(agent_definition(name) for name in names))
    for number, name in enumerate(names):
        session.uses(name, "send_message", to=[names[(number + 1) % 3]], text="and you?")
    assert session.running_agents() == list(names)
    for name in names:
        session.responds(name)
    assert session.running_agents() == []
    assert [item.source for item in session.thread_of("lead").inbox] == ["two"], "a lead in chat waits for its person"


def test_an_endless_exchange_is_paused_with_the_reason_until_a_person_resumes_it() -> None:
    """MAR-09"""
    session = team(agent_definition("lead"), agent_definition("one"), agent_definition("two"))
    session.uses("lead", "send_message", to=["one"], text="begin")
    sender, receiver = "one", "two"
    turns = 0
    paused: list[ThreadPaused] = []
    while session.thread_of(sender).run is not None:
        paused = facts_of(session.uses(sender, "send_message", to=[receiver], text="and you?"), ThreadPaused)
        session.responds(sender)
        sender, receiver, turns = receiver, sender, turns + 1
    assert turns == 32
    assert paused == [ThreadPaused(cause="no_progress", reason="33 agents woke each other without a person")]
    resumed = session.when(ResumeThread(session_id=SESSION, thread_id=session.thread_of(sender).thread))
    assert only_fact(resumed, ThreadResumed) == ThreadResumed()
    assert session.running_agents() == ["lead", sender]
    assert session.run_of(sender).hops == 0


def test_an_endless_exchange_between_parent_and_child_is_paused() -> None:
    """MAR-09"""
    session = team(agent_definition("lead"), agent_definition("other"), WORKER)
    session.uses("lead", "send_message", to=["other"], text="begin")
    session.uses("other", "spawn_subagent", agent="worker", objective="x")
    session.responds("other")
    turns = 0
    while session.thread_of("worker-1").run is not None:
        result = session.responds("worker-1")
        if session.thread_of("other").run is None:
            break
        session.uses("other", "send_subagent_input", agent="worker-1", text="again")
        session.responds("other")
        turns += 1
    assert turns == 15
    assert only_fact(result, ThreadPaused).cause == "no_progress"


def test_notices_of_one_handoff_are_delivered_one_by_one_even_if_they_come_together() -> None:
    """COM-06, COM-16: a notice that comes during the run of an earlier one waits for the next run."""
    session = team(
        agent_definition("lead"), agent_definition("owner", edges=(Edge(to="critic", ownership=True),)), CRITIC
    )
    session.uses("lead", "send_message", to=["owner"], text="begin")
    send_handoff(session, "critic", by="owner", ownership=True, response={"expectation": "required", "within_s": 60})
    session.responds("owner")
    session.uses("critic", "respond_handoff", handoff_id="hnd_1", decision="accept")
    session.now += 60 * SECOND
    woken = session.when(WakeTimeReached(at=session.now))
    assert only_fact(woken, InboxReserved).items == ("hnd_1.expired",)
    session.uses("critic", "respond_handoff", handoff_id="hnd_1", decision="complete", reason="Here it is.")

    result = session.responds("owner", "No answer came.")

    assert only_fact(result, InboxConsumed).items == ("hnd_1.expired",)
    assert only_fact(result, InboxReserved).items == ("hnd_1.returned",)


def test_a_person_answers_a_handoff_by_command() -> None:
    """COM-06, UI-18: a person has no turns that would read it."""
    session = team(
        agent_definition("lead", edges=(Edge(to="owner"),)), agent_definition("owner", kind="human", policy=())
    )
    session.tool_result("lead", "send_handoff", to="owner", message="Which one?")
    session.when(respond_handoff("hnd_1", "accept"))
    assert session.state.handoffs["hnd_1"].accepted
    session.when(respond_handoff("hnd_1", "complete"))
    assert (session.state.handoffs, session.thread_of("owner").inbox) == ({}, ())
