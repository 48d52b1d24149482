"""Idle agents with unread input or open work: a pause with a reason, and one resume command."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts.commands.exchange.message import SendMessage
from callboard.contracts.commands.queue import RemoveQueuedTurn
from callboard.contracts.commands.subagent import SendSubagentInput
from callboard.contracts.commands.turn import ResumeThread
from callboard.contracts.facts.exchange.inbox import InboxReserved
from callboard.contracts.facts.session import ThreadPaused, ThreadResumed
from callboard.contracts.facts.subagent import SubagentCancelled, TeamChanged
from callboard.contracts.facts.tool import ToolCompleted
from callboard.control.outcomes import HostTakenOver, RunStopped
from tests.control.rigs.examples import SESSION, interrupt, submit
from tests.control.rigs.tasks import create, pause, start
from tests.control.rigs.team import Team, agent_definition, facts_of, only_fact, team

MAINS = (agent_definition("lead"), agent_definition("other"))


def session_with_other() -> Team:
    """Return a session whose second main agent runs its only turn."""
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
    session = session_with_other()
    if how == "failed":
        session.responds("other")
        session.uses("lead", "send_message", to=["other"], text="again")
        session.fails("other")
    else:
        session.when(interrupt(thread_id=session.thread_of("other").thread))
        session.stops("other")
    waiting = len(session.thread_of("other").inbox)

    result = session.uses("lead", "send_message", to=["other"], text="and you?")

    answer = msgspec.json.decode(only_fact(result, ToolCompleted).output.text)
    assert list(answer["paused"]) == ["other"]
    assert session.thread_of("other").paused == "unread"
    assert len(session.thread_of("other").inbox) == waiting + 1
    paused = [record.fact for record in session.records if isinstance(record.fact, ThreadPaused)]
    assert [(fact.cause, fact.reason.endswith(why)) for fact in paused] == [("unread", True)]
    resumed = session.when(ResumeThread(session_id=SESSION, thread_id=session.thread_of("other").thread))
    assert only_fact(resumed, ThreadResumed) == ThreadResumed()
    assert len(only_fact(resumed, InboxReserved).items) == waiting + 1
    assert session.running_agents() == ["lead", "other"]


def test_a_main_agent_interrupted_by_a_crash_with_an_inbox_is_paused_and_can_resume() -> None:
    """D1"""
    session = session_with_other()
    session.uses("lead", "send_message", to=["other"], text="and this")
    session.epoch += 1

    session.when(HostTakenOver(partials=()))

    assert session.thread_of("other").paused == "recovered"
    session.when(ResumeThread(session_id=SESSION, thread_id=session.thread_of("other").thread))
    assert session.running_agents() == ["other"]


def test_a_result_of_a_child_pauses_a_lead_in_chat_and_its_team_waits() -> None:
    """D2"""
    session = team()
    session.spawns()
    session.responds("lead", "They work on it.")
    result = session.responds("worker-1", "Done.")

    assert [fact.reason for fact in facts_of(result, ThreadPaused)] == [
        "1 unread item: it reads them with a person's next message"
    ]
    assert facts_of(result, TeamChanged)[-1].phase == "waiting"
    resumed = session.when(ResumeThread(session_id=SESSION))
    assert only_fact(resumed, InboxReserved).items == ("itm_1",)
    session.responds("lead", "It is done.")
    assert session.state.tasks == {}


def test_a_lead_in_chat_continues_with_the_next_message_of_its_person() -> None:
    """D2: also with `when_busy="refuse"`."""
    session = team()
    session.spawns()
    session.responds("lead")
    session.responds("worker-1")

    result = session.when(submit("and?", session_id=SESSION, when_busy="refuse"))

    assert only_fact(result, InboxReserved).items == ("itm_1",)
    assert session.thread_of("lead").paused is None


def test_an_idle_agent_without_unread_input_is_not_resumed() -> None:
    """D1: resume_thread of an agent without unread input is refused."""
    session = team(*MAINS)
    session.responds("lead")
    assert session.refuses(ResumeThread(session_id=SESSION)).code == "thread_not_paused"


def test_a_child_whose_only_turn_is_removed_before_it_started_is_cancelled() -> None:
    """D1: otherwise it would read as queued for ever. More input starts it."""
    session = team(budget=1)
    session.spawns(2)
    turn = session.thread_of("worker-2").queue[0].turn

    result = session.when(RemoveQueuedTurn(session_id=SESSION, turn_id=turn))

    assert only_fact(result, SubagentCancelled).reason == "its turn was removed"
    session.responds("worker-1")
    session.when(SendSubagentInput(session_id=SESSION, agent="worker-2", text="begin"))
    assert session.running_agents() == ["lead", "worker-2"]


def test_a_message_that_a_person_sends_for_an_agent_reports_a_paused_receiver() -> None:
    """D1"""
    session = session_with_other()
    session.when(RunStopped(thread=session.thread_of("other").thread, run=session.run_of("other").run, cause="person"))
    sender = session.thread_of("lead").thread

    result = session.when(SendMessage(session_id=SESSION, thread_id=sender, to=("other",), text="hello"))

    assert msgspec.to_builtins(result.answer)["paused"] == {"other": "it is paused (unread) until a person resumes it"}


def test_an_agent_with_a_paused_task_is_still_paused_for_unread_input_of_another() -> None:
    """D2: otherwise the other task would read running without a run."""
    session = team()
    session.when(create("tsk_c"))
    session.when(start("tsk_c", assignee="lead"))
    session.when(pause("tsk_c"))
    session.spawns()
    session.responds("lead", "It is under way.")

    session.responds("worker-1", "It is done.")

    assert session.thread_of("lead").paused == "unread"
    resumed = session.when(ResumeThread(session_id=SESSION))
    assert [fact.type for fact in resumed.facts][:1] == ["thread.resumed"]
    assert session.thread_of("lead").run is not None
