"""Exchanges that go on: rings, chains without end and their bound, and news that come close together."""

from __future__ import annotations

from callboard.contracts.commands.turn import ResumeThread
from callboard.contracts.entities.team import Edge
from callboard.contracts.facts.handoff import InboxConsumed, InboxReserved
from callboard.contracts.facts.session import ThreadPaused, ThreadResumed
from callboard.control.outcomes import WakeTimeReached
from tests.control.exchange.test_messages import SECOND, hands, respond
from tests.control.rigs.examples import SESSION
from tests.control.rigs.team import CRITIC, WORKER, agent, all_of, one, team


def test_a_ring_of_mains_that_message_each_other_never_deadlocks() -> None:
    """MAR-09: nobody waits for anybody; each is told at its next turn."""
    names = ("lead", "one", "two")
    given = team(*(agent(name) for name in names))
    for number, name in enumerate(names):
        given.uses(name, "send_message", to=[names[(number + 1) % 3]], text="and you?")
    assert given.works() == list(names)
    for name in names:
        given.says(name)
    assert given.works() == []
    assert [item.source for item in given.of("lead").inbox] == ["two"], "a lead in chat waits for its person"


def test_an_endless_exchange_is_paused_with_the_reason_until_a_person_resumes_it() -> None:
    """MAR-09"""
    given = team(agent("lead"), agent("one"), agent("two"))
    given.uses("lead", "send_message", to=["one"], text="begin")
    sender, receiver = "one", "two"
    turns = 0
    paused: list[ThreadPaused] = []
    while given.of(sender).run is not None:
        paused = all_of(given.uses(sender, "send_message", to=[receiver], text="and you?"), ThreadPaused)
        given.says(sender)
        sender, receiver, turns = receiver, sender, turns + 1
    assert turns == 32
    assert paused == [ThreadPaused(cause="no_progress", reason="33 agents woke each other without a person")]
    again = given.when(ResumeThread(session_id=SESSION, thread_id=given.of(sender).thread))
    assert one(again, ThreadResumed) == ThreadResumed()
    assert given.works() == ["lead", sender]
    assert given.run_of(sender).hops == 0


def test_an_endless_exchange_between_parent_and_child_is_paused() -> None:
    """MAR-09"""
    given = team(agent("lead"), agent("other"), WORKER)
    given.uses("lead", "send_message", to=["other"], text="begin")
    given.uses("other", "spawn_subagent", agent="worker", objective="x")
    given.says("other")
    turns = 0
    while given.of("worker-1").run is not None:
        then = given.says("worker-1")
        if given.of("other").run is None:
            break
        given.uses("other", "send_subagent_input", agent="worker-1", text="again")
        given.says("other")
        turns += 1
    assert turns == 15
    assert one(then, ThreadPaused).cause == "no_progress"


def test_news_of_one_handoff_are_told_one_by_one_however_close_they_come() -> None:
    """COM-06, COM-16: what comes while a run is told the news before waits for the next one."""
    given = team(agent("lead"), agent("owner", edges=(Edge(to="critic", ownership=True),)), CRITIC)
    given.uses("lead", "send_message", to=["owner"], text="begin")
    hands(given, "critic", by="owner", ownership=True, response={"expectation": "required", "within_s": 60})
    given.says("owner")
    given.uses("critic", "respond_handoff", handoff_id="hnd_1", decision="accept")
    given.now += 60 * SECOND
    woken = given.when(WakeTimeReached(at=given.now))
    assert one(woken, InboxReserved).items == ("hnd_1.expired",)
    given.uses("critic", "respond_handoff", handoff_id="hnd_1", decision="complete", reason="Here it is.")

    then = given.says("owner", "No answer came.")

    assert one(then, InboxConsumed).items == ("hnd_1.expired",)
    assert one(then, InboxReserved).items == ("hnd_1.returned",)


def test_what_is_handed_over_to_a_person_is_answered_by_that_person() -> None:
    """COM-06, UI-18: a person has no turn in which it is read."""
    given = team(agent("lead", edges=(Edge(to="owner"),)), agent("owner", kind="human", policy=()))
    given.gets("lead", "send_handoff", to="owner", message="Which one?")
    given.when(respond("hnd_1", "accept"))
    assert given.state.handoffs["hnd_1"].accepted
    given.when(respond("hnd_1", "complete"))
    assert (given.state.handoffs, given.of("owner").inbox) == ({}, ())
