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
from tests.control.rigs.team import Team, agent, all_of, one, team

MAINS = (agent("lead"), agent("other"))


def idle_other() -> Team:
    """Another main agent, whose only turn runs."""
    given = team(*MAINS)
    given.uses("lead", "send_message", to=["other"], text="begin")
    return given


@pytest.mark.parametrize(
    ("how", "why"),
    [("interrupted", "its last turn was interrupted"), ("failed", "its last turn failed")],
)
def test_an_interrupted_or_failed_main_agent_is_paused_with_its_inbox_and_its_sender_is_informed(
    how: str, why: str
) -> None:
    """D1"""
    given = idle_other()
    if how == "failed":
        given.says("other")
        given.uses("lead", "send_message", to=["other"], text="again")
        given.fails("other")
    else:
        given.when(interrupt(thread_id=given.of("other").thread))
        given.stopped("other")
    waiting = len(given.of("other").inbox)

    then = given.uses("lead", "send_message", to=["other"], text="and you?")

    answer = msgspec.json.decode(one(then, ToolCompleted).output.text)
    assert list(answer["paused"]) == ["other"]
    assert given.of("other").paused == "unread"
    assert len(given.of("other").inbox) == waiting + 1
    paused = [record.fact for record in given.records if isinstance(record.fact, ThreadPaused)]
    assert [(fact.cause, fact.reason.endswith(why)) for fact in paused] == [("unread", True)]
    again = given.when(ResumeThread(session_id=SESSION, thread_id=given.of("other").thread))
    assert one(again, ThreadResumed) == ThreadResumed()
    assert len(one(again, InboxReserved).items) == waiting + 1
    assert given.works() == ["lead", "other"]


def test_a_main_that_a_crash_cut_off_with_an_inbox_is_paused_and_resumes() -> None:
    """D1"""
    given = idle_other()
    given.uses("lead", "send_message", to=["other"], text="and this")
    given.epoch += 1

    given.when(HostTakenOver(partials=()))

    assert given.of("other").paused == "recovered"
    given.when(ResumeThread(session_id=SESSION, thread_id=given.of("other").thread))
    assert given.works() == ["other"]


def test_a_lead_in_chat_is_paused_by_what_its_child_hands_over_and_its_team_waits() -> None:
    """D2"""
    given = team()
    given.spawns()
    given.says("lead", "They work on it.")
    then = given.says("worker-1", "Done.")

    assert [fact.reason for fact in all_of(then, ThreadPaused)] == [
        "1 unread item: it reads them with a person's next message"
    ]
    assert all_of(then, TeamChanged)[-1].phase == "waiting"
    again = given.when(ResumeThread(session_id=SESSION))
    assert one(again, InboxReserved).items == ("itm_1",)
    given.says("lead", "It is done.")
    assert given.state.tasks == {}


def test_a_lead_in_chat_goes_on_with_the_next_message_of_its_person() -> None:
    """D2: also where the message is to be refused when the thread is busy."""
    given = team()
    given.spawns()
    given.says("lead")
    given.says("worker-1")

    then = given.when(submit("and?", session_id=SESSION, when_busy="refuse"))

    assert one(then, InboxReserved).items == ("itm_1",)
    assert given.of("lead").paused is None


def test_an_idle_agent_without_unread_input_is_not_resumed() -> None:
    """D1: resume_thread of an agent without unread input is refused."""
    given = team(*MAINS)
    given.says("lead")
    assert given.refuses(ResumeThread(session_id=SESSION)).code == "thread_not_paused"


def test_a_child_whose_only_turn_is_removed_before_it_started_is_cancelled() -> None:
    """D1: it would read as queued for ever. More input makes it work."""
    given = team(budget=1)
    given.spawns(2)
    turn = given.of("worker-2").queue[0].turn

    then = given.when(RemoveQueuedTurn(session_id=SESSION, turn_id=turn))

    assert one(then, SubagentCancelled).reason == "its turn was removed"
    given.says("worker-1")
    given.when(SendSubagentInput(session_id=SESSION, agent="worker-2", text="begin"))
    assert given.works() == ["lead", "worker-2"]


def test_a_person_who_writes_for_an_agent_learns_that_the_receiver_is_paused() -> None:
    """D1"""
    given = idle_other()
    given.when(RunStopped(thread=given.of("other").thread, run=given.run_of("other").run, cause="person"))
    sender = given.of("lead").thread

    then = given.when(SendMessage(session_id=SESSION, thread_id=sender, to=("other",), text="hello"))

    assert msgspec.to_builtins(then.answer)["paused"] == {"other": "it is paused (unread) until a person resumes it"}


def test_a_paused_task_excuses_no_agent_that_works_on_another_one_as_well() -> None:
    """D2: what it has unread is of the other, which would read running with no run."""
    given = team()
    given.when(create("tsk_c"))
    given.when(start("tsk_c", assignee="lead"))
    given.when(pause("tsk_c"))
    given.spawns()
    given.says("lead", "It is under way.")

    given.says("worker-1", "It is done.")

    assert given.of("lead").paused == "unread"
    resumed = given.when(ResumeThread(session_id=SESSION))
    assert [fact.type for fact in resumed.facts][:1] == ["thread.resumed"]
    assert given.of("lead").run is not None
