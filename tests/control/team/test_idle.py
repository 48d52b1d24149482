"""An agent with unread input or open work and no run is paused with a reason, and one command resumes it."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts.commands.handoff import SendMessage
from callboard.contracts.commands.subagent import SendSubagentInput
from callboard.contracts.commands.turn import RemoveQueuedTurn, ResumeThread
from callboard.contracts.facts.handoff import InboxReserved
from callboard.contracts.facts.session import ThreadPaused, ThreadResumed
from callboard.contracts.facts.subagent import SubagentCancelled, TeamChanged
from callboard.contracts.facts.tool import ToolCompleted
from callboard.control.outcomes import HostTakenOver, RunStopped
from tests.control.rigs.examples import SESSION, interrupt, submit
from tests.control.rigs.tasks import create, pause, start
from tests.control.rigs.team import Team, agent_definition, facts_of, only_fact, team

MAINS = (agent_definition("lead"), agent_definition("other"))


def idle_other() -> Team:
    """Another main agent, whose only turn runs."""
    session = team(*MAINS)
    session.uses("lead", "send_message", to=["other"], text="begin")
    return session


@pytest.mark.parametrize(
    ("how", "why"),
    [("interrupted", "its last turn was interrupted"), ("failed", "its last turn failed")],
)
def test_an_interrupted_or_failed_main_agent_is_paused_with_its_inbox_and_its_sender_is_informed(
    how: str, why: str
) -> None:
    """D1"""
    session = idle_other()
    if how == "failed":
        session.answers("other")
        session.uses("lead", "send_message", to=["other"], text="again")
        session.fails("other")
    else:
        session.when(interrupt(thread_id=session.thread_of("other").thread))
        session.stopped("other")
    waiting = len(session.thread_of("other").inbox)

    then = session.uses("lead", "send_message", to=["other"], text="and you?")

    answer = msgspec.json.decode(only_fact(then, ToolCompleted).output.text)
    assert list(answer["paused"]) == ["other"]
    assert session.thread_of("other").paused == "unread"
    assert len(session.thread_of("other").inbox) == waiting + 1
    paused = [record.fact for record in session.records if isinstance(record.fact, ThreadPaused)]
    assert [(fact.cause, fact.reason.endswith(why)) for fact in paused] == [("unread", True)]
    again = session.when(ResumeThread(session_id=SESSION, thread_id=session.thread_of("other").thread))
    assert only_fact(again, ThreadResumed) == ThreadResumed()
    assert len(only_fact(again, InboxReserved).items) == waiting + 1
    assert session.running_agents() == ["lead", "other"]


def test_a_main_that_a_crash_cut_off_with_an_inbox_is_paused_and_resumes() -> None:
    """D1"""
    session = idle_other()
    session.uses("lead", "send_message", to=["other"], text="and this")
    session.epoch += 1

    session.when(HostTakenOver(partials=()))

    assert session.thread_of("other").paused == "recovered"
    session.when(ResumeThread(session_id=SESSION, thread_id=session.thread_of("other").thread))
    assert session.running_agents() == ["other"]


def test_a_lead_in_chat_is_paused_by_what_its_child_hands_over_and_its_team_waits() -> None:
    """D2"""
    session = team()
    session.spawns()
    session.answers("lead", "They work on it.")
    then = session.answers("worker-1", "Done.")

    assert [fact.reason for fact in facts_of(then, ThreadPaused)] == [
        "1 unread item: it reads them with a person's next message"
    ]
    assert facts_of(then, TeamChanged)[-1].phase == "waiting"
    again = session.when(ResumeThread(session_id=SESSION))
    assert only_fact(again, InboxReserved).items == ("itm_1",)
    session.answers("lead", "It is done.")
    assert session.state.tasks == {}


def test_a_lead_in_chat_goes_on_with_the_next_message_of_its_person() -> None:
    """D2: also where the message is to be refused when the thread is busy."""
    session = team()
    session.spawns()
    session.answers("lead")
    session.answers("worker-1")

    then = session.when(submit("and?", session_id=SESSION, when_busy="refuse"))

    assert only_fact(then, InboxReserved).items == ("itm_1",)
    assert session.thread_of("lead").paused is None


def test_an_idle_agent_without_unread_input_is_not_resumed() -> None:
    """D1: resume_thread of an agent without unread input is refused."""
    session = team(*MAINS)
    session.answers("lead")
    assert session.refuses(ResumeThread(session_id=SESSION)).code == "thread_not_paused"


def test_a_child_whose_only_turn_is_removed_before_it_started_is_cancelled() -> None:
    """D1: it would read as queued for ever. More input makes it work."""
    session = team(budget=1)
    session.spawns(2)
    turn = session.thread_of("worker-2").queue[0].turn

    then = session.when(RemoveQueuedTurn(session_id=SESSION, turn_id=turn))

    assert only_fact(then, SubagentCancelled).reason == "its turn was removed"
    session.answers("worker-1")
    session.when(SendSubagentInput(session_id=SESSION, agent="worker-2", text="begin"))
    assert session.running_agents() == ["lead", "worker-2"]


def test_a_person_who_writes_for_an_agent_learns_that_the_receiver_is_paused() -> None:
    """D1"""
    session = idle_other()
    session.when(RunStopped(thread=session.thread_of("other").thread, run=session.run_of("other").run, cause="person"))
    sender = session.thread_of("lead").thread

    then = session.when(SendMessage(session_id=SESSION, thread_id=sender, to=("other",), text="hello"))

    assert msgspec.to_builtins(then.answer)["paused"] == {"other": "it is paused (unread) until a person resumes it"}


def test_a_paused_task_excuses_no_agent_that_works_on_another_one_as_well() -> None:
    """D2: what it has unread is of the other, which would read running with no run."""
    session = team()
    session.when(create("tsk_c"))
    session.when(start("tsk_c", assignee="lead"))
    session.when(pause("tsk_c"))
    session.spawns()
    session.answers("lead", "It is under way.")

    session.answers("worker-1", "It is done.")

    assert session.thread_of("lead").paused == "unread"
    resumed = session.when(ResumeThread(session_id=SESSION))
    assert [fact.type for fact in resumed.facts][:1] == ["thread.resumed"]
    assert session.thread_of("lead").run is not None
