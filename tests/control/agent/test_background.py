"""Background agents: sleep, wake times and wake events."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.agent import AddAgent, AgentAdded
from callboard.contracts.commands.exchange.message import SendMessage
from callboard.contracts.commands.turn import SubmitTurn
from callboard.contracts.content import Text
from callboard.contracts.entities.team import Edge
from callboard.contracts.facts.agent import AgentSlept, AgentWoke
from callboard.contracts.facts.session import ThreadOpened, WarningRaised
from callboard.contracts.facts.task import TaskCreated, TaskStarted
from callboard.contracts.facts.turn import TurnStarted, TurnSubmitted
from callboard.contracts.scope import Scope
from callboard.control.effects import ScheduleSession, WakeAt, derive_pending_effects
from callboard.control.outcomes import HostTakenOver
from tests.control.rigs.examples import NOW, SESSION, submit
from tests.control.rigs.sleepers import (
    AT_NINE,
    MINUTE,
    SECOND,
    SleepingTeam,
    sleeping_team,
    wake_input,
    watcher_definition,
)
from tests.control.rigs.team import fact_types, only_fact, team

WATCHER = Scope(agent="watcher", thread="thr_2", task="tsk_1")
HALF_AN_HOUR = 1800


def add_agent(name: str = "watcher") -> AddAgent:
    return AddAgent(session_id=SESSION, agent=name)


def test_an_added_background_agent_gets_a_task_and_sleeps() -> None:
    """UI-22: wake reason and schedule are facts. A definition file alone starts nothing."""
    session = SleepingTeam()
    session.definitions = (*session.definitions, watcher_definition(every=HALF_AN_HOUR, wake_on=("turn.failed",)))
    session.when(submit("the objective", permission_mode="edits"))
    assert [thread.agent for thread in session.state.threads.values()] == ["lead"]

    result = session.when(add_agent())
    result.then(
        (
            ThreadOpened(
                agent_name="watcher",
                kind="background",
                definition="watcher",
                definition_hash="hash-watcher",
                description="Looks at the folder.",
                edges=(Edge(to="lead", kind="report"),),
            ),
            Scope(agent="watcher", thread="thr_2"),
        ),
        (TaskCreated(title="Looks at the folder.", assignee="watcher", entity="automation_job"), WATCHER),
        (
            AgentSlept(
                reason="joined",
                wake_at=NOW + HALF_AN_HOUR * SECOND,
                wake_on=("turn.failed",),
                schedule="every 1800 s",
                permission_mode="edits",
            ),
            WATCHER,
        ),
    ).with_answer(AgentAdded(session_id=SESSION, agent_id="watcher", thread_id="thr_2", added=True, sequence=9))
    assert result.effects == [WakeAt(NOW + HALF_AN_HOUR * SECOND), ScheduleSession(f"{SESSION}/9")]
    session.when(add_agent("Watcher")).then().with_answer(
        AgentAdded(session_id=SESSION, agent_id="watcher", thread_id="thr_2", added=False, sequence=9)
    )


def test_a_main_agent_can_be_added_and_a_subagent_cannot() -> None:
    """Multi-agent runtime spec, Hard invariants: a subagent works for one parent."""
    session = team()
    assert fact_types(session.when(add_agent("critic"))) == ["thread.opened"]
    refused = session.refuses(add_agent("worker"))
    assert (refused.code, refused.field, refused.hint) == (
        "delegate_target_denied",
        "agent",
        "Give it an objective with spawn_subagent.",
    )
    assert session.refuses(add_agent("ghost")).code == "unknown_agent"


def test_a_background_agent_wakes_at_its_time_runs_and_sleeps_again() -> None:
    """UI-22"""
    session = sleeping_team(every=HALF_AN_HOUR)
    session.pass_time(HALF_AN_HOUR - 1).then_nothing()
    result = session.pass_time(1)

    turn = Scope(agent="watcher", thread="thr_2", turn="trn_2")
    assert fact_types(result) == [
        "agent.woke",
        "turn.submitted",
        "task.started",
        "turn.started",
        "routing.resolved",
        "model.requested",
    ]
    assert [(new.fact, new.scope) for new in result.decision.facts[:3]] == [
        (
            AgentWoke(reason="schedule", due=session.now),
            Scope(agent="watcher", thread="thr_2", turn="trn_2", task="tsk_1"),
        ),
        (
            TurnSubmitted(
                input=Text(
                    text="You wake because it is time (every 1800 s): 2023-11-14T22:43:20Z. This is your first run. "
                    "End your turn when you have nothing more to do. You sleep until the next wake."
                ),
                mode="chat",
                permission_mode="edits",
                source="schedule",
            ),
            turn,
        ),
        (
            TaskStarted(assignee="watcher"),
            Scope(agent="watcher", thread="thr_2", turn="trn_2", run="run_2", task="tsk_1", attempt=1),
        ),
    ]

    session.now += 5 * MINUTE
    ended = session.responds("watcher", "All is well.")
    ended.ends_with(
        (
            AgentSlept(
                reason="ran",
                wake_at=session.now + HALF_AN_HOUR * SECOND,
                schedule="every 1800 s",
                permission_mode="edits",
            ),
            WATCHER,
        )
    )
    assert "task.completed" not in fact_types(ended), "the task continues after one of its runs"

    second_wake = session.pass_time(HALF_AN_HOUR)
    assert second_wake.decision.facts[2].scope.attempt == 2
    assert "Your last run ended at 2023-11-14T22:48:20Z: it completed." in wake_input(second_wake)


def test_two_runs_of_a_background_agent_never_overlap() -> None:
    """A wake time during a run starts no second run."""
    session = sleeping_team(cron="* * * * *")
    session.pass_time(MINUTE / SECOND)
    assert session.running_agents() == ["watcher"]
    session.pass_time(600).then_nothing()
    assert session.running_agents() == ["watcher"]


def test_wake_times_during_a_run_are_skipped_with_that_reason() -> None:
    session = sleeping_team(cron="*/5 * * * *")
    session.pass_time(300)
    session.pass_time(12 * 60)
    slept = only_fact(session.responds("watcher"), AgentSlept)
    assert (slept.reason, slept.wake_at > session.now, slept.wake_at % (5 * MINUTE)) == ("skipped", True, 0)
    session.pass_time(0).then_nothing()


def test_a_wake_time_missed_while_the_process_was_down_wakes_the_agent_once() -> None:
    """UI-22: the process was down for two days."""
    session = sleeping_team(cron=AT_NINE)
    due = session.watcher_background().wake_at
    session.now += 2 * 24 * 3600 * SECOND
    session.epoch = 2
    result = session.when(HostTakenOver(partials=()))

    assert only_fact(result, AgentWoke) == AgentWoke(reason="schedule", due=due)
    assert "you could not be woken earlier. Other times since then were skipped." in wake_input(result)
    slept = only_fact(session.responds("watcher"), AgentSlept)
    assert (slept.reason, slept.wake_at > session.now) == ("ran", True)
    session.pass_time(0).then_nothing()


def test_a_run_of_a_dead_process_ends_and_its_agent_sleeps() -> None:
    """CTL-06, MAR-16: the interrupted run is not resumed. The next wake is another attempt."""
    session = sleeping_team(every=60)
    session.pass_time(60)
    session.epoch = 2
    session.now += 10 * SECOND
    result = session.when(HostTakenOver(partials=()))
    assert fact_types(result)[-3:] == ["model.interrupted", "turn.interrupted", "agent.slept"]
    assert only_fact(result, AgentSlept).wake_at == session.now + MINUTE
    assert session.running_agents() == []
    assert WakeAt(session.now + MINUTE) in derive_pending_effects(session.state)
    assert only_fact(session.pass_time(60), AgentWoke).reason == "schedule"


def test_a_scheduled_run_keeps_the_permission_mode_from_when_its_agent_was_added() -> None:
    """A wider mode of a later turn does not widen scheduled runs."""
    session = sleeping_team(every=60, permission_mode="ask")
    session.when(submit("more", session_id=SESSION, permission_mode="full"))
    session.responds("lead")
    assert only_fact(session.pass_time(60), TurnStarted).permission_mode == "ask"


def test_a_background_agent_that_may_finalize_runs_in_auto_mode() -> None:
    session = sleeping_team(definition=watcher_definition(every=60))
    session.definitions = (
        session.definitions[0],
        msgspec.structs.replace(watcher_definition(every=60), policy=("Finalize",)),
    )
    assert only_fact(session.pass_time(60), TurnSubmitted).mode == "auto"


def test_a_fact_in_wake_on_wakes_the_agent() -> None:
    """UI-22: the cause of the wake is the event."""
    session = sleeping_team(wake_on=("turn.failed",))
    session.when(submit("more", session_id=SESSION))
    result = session.fails("lead")
    failed = result.before + fact_types(result).index("turn.failed") + 1

    assert only_fact(result, AgentWoke) == AgentWoke(reason="fact", cause=f"{SESSION}/{failed}")
    assert f"turn.failed of lead (event {SESSION}/{failed})" in wake_input(result)
    slept = only_fact(session.responds("watcher"), AgentSlept)
    assert (slept.reason, slept.wake_at) == ("ran", 0)


def test_a_background_agent_does_not_wake_itself() -> None:
    session = sleeping_team(wake_on=("turn.completed", "agent.slept", "turn.failed"))
    session.when(submit("more", session_id=SESSION))
    assert only_fact(session.responds("lead"), AgentWoke).reason == "fact"
    result = session.responds("watcher")
    assert "agent.woke" not in fact_types(result)
    session.pass_time(1).then_nothing()


def test_facts_during_a_run_wake_the_agent_once_more() -> None:
    session = sleeping_team(wake_on=("turn.completed",))
    session.when(submit("one", session_id=SESSION))
    session.responds("lead")
    for text in ("two", "three"):
        session.when(submit(text, session_id=SESSION))
        session.responds("lead")
    result = session.responds("watcher")
    assert fact_types(result)[-7:-4] == ["agent.slept", "agent.woke", "turn.submitted"]
    assert "and 1 more since" in wake_input(result)
    assert "agent.woke" not in fact_types(session.responds("watcher"))


def test_agents_that_wake_each_other_are_paused_until_a_person_resumes_them() -> None:
    session = sleeping_team(wake_on=("turn.completed",))
    second = msgspec.structs.replace(watcher_definition(wake_on=("turn.completed",)), name="second", hash="hash-second")
    session.definitions = (*session.definitions, second)
    session.when(add_agent("second"))
    session.when(submit("go", session_id=SESSION))
    session.responds("lead")
    for _ in range(200):
        if not session.running_agents():
            break
        session.responds(session.running_agents()[0])
    assert session.running_agents() == []
    paused = [(thread.agent, thread.paused) for thread in session.state.threads.values() if thread.paused]
    assert {cause for _, cause in paused} == {"no_progress"}


def test_an_inbox_item_wakes_a_background_agent() -> None:
    session = sleeping_team(every=HALF_AN_HOUR)
    result = session.when(SendMessage(session_id=SESSION, to=("watcher",), text="Look at the notes."))
    assert only_fact(result, AgentWoke) == AgentWoke(reason="inbox")
    assert only_fact(result, TurnSubmitted).source == "inbox"
    assert result.decision.facts[fact_types(result).index("task.started")].scope.attempt == 1
    assert only_fact(session.responds("watcher"), AgentSlept).wake_at == session.now + HALF_AN_HOUR * SECOND


def test_a_message_of_a_person_wakes_a_background_agent() -> None:
    session = sleeping_team(every=HALF_AN_HOUR)
    result = session.when(SubmitTurn(session_id=SESSION, thread_id="thr_2", text="Look now."))
    assert fact_types(result)[:3] == ["turn.submitted", "agent.woke", "task.started"]
    assert only_fact(result, AgentWoke) == AgentWoke(reason="person")
    session.now += HALF_AN_HOUR * SECOND
    assert only_fact(session.responds("watcher"), AgentSlept) == AgentSlept(
        reason="ran", wake_at=session.now + HALF_AN_HOUR * SECOND, schedule="every 1800 s", permission_mode="edits"
    )


def test_a_message_of_a_main_agent_adds_a_background_agent() -> None:
    """A definition file alone starts nothing. A message to the agent does."""
    session = SleepingTeam(team().definitions[0], watcher_definition(every=60))
    session.when(submit("the objective"))
    result = session.uses("lead", "send_message", to=["watcher"], text="Keep an eye on it.")
    assert [tag for tag in fact_types(result) if tag.startswith(("agent.", "task.", "thread."))] == [
        "thread.opened",
        "task.created",
        "agent.slept",
        "agent.woke",
        "task.started",
    ]


def test_an_agent_wakes_by_its_schedule_after_the_clock_went_back() -> None:
    """R1: the wake time was set while the clock was ten days ahead."""
    session = sleeping_team(every=HALF_AN_HOUR)
    session.now += 10 * 86_400 * SECOND
    session.when(submit("on the wrong day", session_id=SESSION))
    session.responds("lead")
    for _ in range(2):
        session.pass_time(HALF_AN_HOUR)
        session.responds("watcher")
    session.now -= 10 * 86_400 * SECOND
    session.epoch += 1

    result = session.when(HostTakenOver(partials=()))

    assert only_fact(result, WarningRaised).code == "clock_went_back"
    assert only_fact(result, AgentSlept).wake_at == session.now + HALF_AN_HOUR * SECOND
    session.pass_time(HALF_AN_HOUR)
    assert session.running_agents() == ["watcher"]
