"""Agents that sleep and wake by themselves."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.agent import AddAgent, AgentAdded
from callboard.contracts.commands.handoff import SendMessage
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
from tests.control.rigs.sleepers import AT_NINE, MINUTE, SECOND, Sleepers, sleepers, told, watcher
from tests.control.rigs.team import one, team, types

MINE = Scope(agent="watcher", thread="thr_2", task="tsk_1")
HALF_AN_HOUR = 1800


def add(name: str = "watcher") -> AddAgent:
    return AddAgent(session_id=SESSION, agent=name)


def test_an_agent_that_is_taken_in_has_a_task_and_sleeps() -> None:
    """UI-22: wake reason and schedule are facts, and nothing runs because a file exists."""
    given = Sleepers()
    given.definitions = (*given.definitions, watcher(every=HALF_AN_HOUR, wake_on=("turn.failed",)))
    given.when(submit("the objective", permission_mode="edits"))
    assert [one.agent for one in given.state.threads.values()] == ["lead"]

    then = given.when(add())
    then.then(
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
        (TaskCreated(title="Looks at the folder.", assignee="watcher", entity="automation_job"), MINE),
        (
            AgentSlept(
                reason="joined",
                wake_at=NOW + HALF_AN_HOUR * SECOND,
                wake_on=("turn.failed",),
                schedule="every 1800 s",
                permission_mode="edits",
            ),
            MINE,
        ),
    ).answered(AgentAdded(session_id=SESSION, agent_id="watcher", thread_id="thr_2", added=True, sequence=9))
    assert then.effects == [WakeAt(NOW + HALF_AN_HOUR * SECOND), ScheduleSession(f"{SESSION}/9")]
    given.when(add("Watcher")).then().answered(
        AgentAdded(session_id=SESSION, agent_id="watcher", thread_id="thr_2", added=False, sequence=9)
    )


def test_mains_join_and_subagents_do_not() -> None:
    """Multi-agent runtime spec, Hard invariants: a subagent works for one parent, so nobody takes it in."""
    given = team()
    assert types(given.when(add("critic"))) == ["thread.opened"]
    refused = given.refuses(add("worker"))
    assert (refused.code, refused.field, refused.hint) == (
        "delegate_target_denied",
        "agent",
        "Give it an objective with spawn_subagent.",
    )
    assert given.refuses(add("nobody")).code == "unknown_agent"


def test_it_wakes_when_its_time_comes_runs_and_sleeps_again() -> None:
    """UI-22"""
    given = sleepers(every=HALF_AN_HOUR)
    given.passes(HALF_AN_HOUR - 1).then_nothing()
    then = given.passes(1)

    turn = Scope(agent="watcher", thread="thr_2", turn="trn_2")
    assert types(then) == [
        "agent.woke",
        "turn.submitted",
        "task.started",
        "turn.started",
        "routing.resolved",
        "model.requested",
    ]
    assert [(new.fact, new.scope) for new in then.decision.facts[:3]] == [
        (
            AgentWoke(reason="schedule", due=given.now),
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

    given.now += 5 * MINUTE
    ended = given.says("watcher", "All is well.")
    ended.ends_with(
        (
            AgentSlept(
                reason="ran",
                wake_at=given.now + HALF_AN_HOUR * SECOND,
                schedule="every 1800 s",
                permission_mode="edits",
            ),
            MINE,
        )
    )
    assert "task.completed" not in types(ended), "the job goes on when one of its runs is over"

    again = given.passes(HALF_AN_HOUR)
    assert again.decision.facts[2].scope.attempt == 2
    assert "Your last run ended at 2023-11-14T22:48:20Z: it completed." in told(again)


def test_two_wakes_never_overlap() -> None:
    """A time that comes while it runs starts no second run."""
    given = sleepers(cron="* * * * *")
    given.passes(MINUTE / SECOND)
    assert given.works() == ["watcher"]
    given.passes(600).then_nothing()
    assert given.works() == ["watcher"]


def test_times_that_pass_while_it_runs_are_left_out_and_that_is_said() -> None:
    given = sleepers(cron="*/5 * * * *")
    given.passes(300)
    given.passes(12 * 60)
    slept = one(given.says("watcher"), AgentSlept)
    assert (slept.reason, slept.wake_at > given.now, slept.wake_at % (5 * MINUTE)) == ("skipped", True, 0)
    given.passes(0).then_nothing()


def test_a_wake_time_missed_while_the_process_was_down_wakes_the_agent_once() -> None:
    """UI-22: the process was down for two days."""
    given = sleepers(cron=AT_NINE)
    due = given.of_watcher().wake_at
    given.now += 2 * 24 * 3600 * SECOND
    given.epoch = 2
    then = given.when(HostTakenOver(partials=()))

    assert one(then, AgentWoke) == AgentWoke(reason="schedule", due=due)
    assert "you could not be woken earlier. Other times since then were skipped." in told(then)
    slept = one(given.says("watcher"), AgentSlept)
    assert (slept.reason, slept.wake_at > given.now) == ("ran", True)
    given.passes(0).then_nothing()


def test_a_run_that_its_process_died_of_is_over_and_its_agent_sleeps() -> None:
    """CTL-06, MAR-16: what was interrupted is not resumed; the next time is another attempt."""
    given = sleepers(every=60)
    given.passes(60)
    given.epoch = 2
    given.now += 10 * SECOND
    then = given.when(HostTakenOver(partials=()))
    assert types(then)[-3:] == ["model.interrupted", "turn.interrupted", "agent.slept"]
    assert one(then, AgentSlept).wake_at == given.now + MINUTE
    assert given.works() == []
    assert WakeAt(given.now + MINUTE) in derive_pending_effects(given.state)
    assert one(given.passes(60), AgentWoke).reason == "schedule"


def test_what_wakes_it_by_itself_is_no_wider_than_the_session_was() -> None:
    """The lead works under more later; what nobody asked for does not."""
    given = sleepers(every=60, permission_mode="ask")
    given.when(submit("more", session_id=SESSION, permission_mode="full"))
    given.says("lead")
    assert one(given.passes(60), TurnStarted).permission_mode == "ask"


def test_one_that_may_finalise_works_on_its_own() -> None:
    given = sleepers(definition=watcher(every=60))
    given.definitions = (given.definitions[0], msgspec.structs.replace(watcher(every=60), policy=("Finalize",)))
    assert one(given.passes(60), TurnSubmitted).mode == "auto"


def test_a_fact_that_it_waits_for_wakes_it() -> None:
    """UI-22: the wake's cause is the event."""
    given = sleepers(wake_on=("turn.failed",))
    given.when(submit("more", session_id=SESSION))
    then = given.fails("lead")
    failed = then.before + types(then).index("turn.failed") + 1

    assert one(then, AgentWoke) == AgentWoke(reason="fact", cause=f"{SESSION}/{failed}")
    assert f"turn.failed of lead (event {SESSION}/{failed})" in told(then)
    slept = one(given.says("watcher"), AgentSlept)
    assert (slept.reason, slept.wake_at) == ("ran", 0)


def test_it_does_not_wake_itself() -> None:
    given = sleepers(wake_on=("turn.completed", "agent.slept", "turn.failed"))
    given.when(submit("more", session_id=SESSION))
    assert one(given.says("lead"), AgentWoke).reason == "fact"
    then = given.says("watcher")
    assert "agent.woke" not in types(then)
    given.passes(1).then_nothing()


def test_facts_that_come_while_it_runs_wake_it_once_more() -> None:
    given = sleepers(wake_on=("turn.completed",))
    given.when(submit("one", session_id=SESSION))
    given.says("lead")
    for text in ("two", "three"):
        given.when(submit(text, session_id=SESSION))
        given.says("lead")
    then = given.says("watcher")
    assert types(then)[-7:-4] == ["agent.slept", "agent.woke", "turn.submitted"]
    assert "and 1 more since" in told(then)
    assert "agent.woke" not in types(given.says("watcher"))


def test_agents_that_wake_each_other_stop_until_a_person_says_that_they_go_on() -> None:
    given = sleepers(wake_on=("turn.completed",))
    second = msgspec.structs.replace(watcher(wake_on=("turn.completed",)), name="second", hash="hash-second")
    given.definitions = (*given.definitions, second)
    given.when(add("second"))
    given.when(submit("go", session_id=SESSION))
    given.says("lead")
    for _ in range(200):
        if not given.works():
            break
        given.says(given.works()[0])
    assert given.works() == []
    paused = [(one.agent, one.paused) for one in given.state.threads.values() if one.paused]
    assert {cause for _, cause in paused} == {"no_progress"}


def test_something_in_its_inbox_wakes_it() -> None:
    given = sleepers(every=HALF_AN_HOUR)
    then = given.when(SendMessage(session_id=SESSION, to=("watcher",), text="Look at the notes."))
    assert one(then, AgentWoke) == AgentWoke(reason="inbox")
    assert one(then, TurnSubmitted).source == "inbox"
    assert then.decision.facts[types(then).index("task.started")].scope.attempt == 1
    assert one(given.says("watcher"), AgentSlept).wake_at == given.now + HALF_AN_HOUR * SECOND


def test_a_person_wakes_it() -> None:
    given = sleepers(every=HALF_AN_HOUR)
    then = given.when(SubmitTurn(session_id=SESSION, thread_id="thr_2", text="Look now."))
    assert types(then)[:3] == ["turn.submitted", "agent.woke", "task.started"]
    assert one(then, AgentWoke) == AgentWoke(reason="person")
    given.now += HALF_AN_HOUR * SECOND
    assert one(given.says("watcher"), AgentSlept) == AgentSlept(
        reason="ran", wake_at=given.now + HALF_AN_HOUR * SECOND, schedule="every 1800 s", permission_mode="edits"
    )


def test_a_message_of_a_main_takes_it_in() -> None:
    """Nothing begins because a file exists; it begins because somebody turned to it."""
    given = Sleepers(team().definitions[0], watcher(every=60))
    given.when(submit("the objective"))
    then = given.uses("lead", "send_message", to=["watcher"], text="Keep an eye on it.")
    assert [tag for tag in types(then) if tag.startswith(("agent.", "task.", "thread."))] == [
        "thread.opened",
        "task.created",
        "agent.slept",
        "agent.woke",
        "task.started",
    ]


def test_an_agent_wakes_by_its_schedule_after_the_clock_went_back() -> None:
    """R1: its time was set by a clock that was ten days ahead, and the next process has the right one."""
    given = sleepers(every=HALF_AN_HOUR)
    given.now += 10 * 86_400 * SECOND
    given.when(submit("on the wrong day", session_id=SESSION))
    given.says("lead")
    for _ in range(2):
        given.passes(HALF_AN_HOUR)
        given.says("watcher")
    given.now -= 10 * 86_400 * SECOND
    given.epoch += 1

    then = given.when(HostTakenOver(partials=()))

    assert one(then, WarningRaised).code == "clock_went_back"
    assert one(then, AgentSlept).wake_at == given.now + HALF_AN_HOUR * SECOND
    given.passes(HALF_AN_HOUR)
    assert given.works() == ["watcher"]
