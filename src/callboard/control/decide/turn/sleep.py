"""How an agent of kind background goes to sleep, and what each of its runs is: an attempt of one task of the board."""

from __future__ import annotations

from callboard.contracts.facts import AgentSlept, AgentWoke, TaskCreated, TaskStarted
from callboard.contracts.facts.agent import SleepReason, WakeReason
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.ports.agents import Definition, Schedule
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.session import FINALIZE, Background, QueuedTurn, Thread
from .titles import title_of


def begin_background(batch: Batch, thread: Thread, definition: Definition, permission_mode: PermissionMode) -> None:
    """The agent has joined: its task is on the board and it sleeps. It works under no wider mode than this one."""
    task = batch.inputs.ids.new("task")
    scope = Scope(agent=thread.agent, thread=thread.thread, task=task)
    title = title_of(definition.description) or definition.name
    batch.add(TaskCreated(title=title, assignee=thread.agent, entity="automation_job"), scope)
    _sleep(batch, thread, task, "joined", permission_mode, definition.schedule)


def fall_asleep(batch: Batch, thread: Thread, background: Background) -> None:
    """The agent sleeps again: until its next time, or for good where its task is over."""
    definition = batch.inputs.find_definition(thread.definition)
    schedule = definition.schedule if definition is not None else None
    reason: SleepReason = "ran" if background.turn else "resumed"
    if background.is_ended:
        reason, schedule = "ended", None
    elif background.turn and schedule is not None and schedule.cron:
        passed = batch.inputs.next_wake(schedule, background.woke_at)
        if 0 < passed <= batch.inputs.now:
            reason = "skipped"
    _sleep(batch, thread, background.task, reason, background.permission_mode, schedule)


def begin_attempt(batch: Batch, thread: Thread, turn: QueuedTurn, run: str) -> None:
    """A run of the agent is about to begin: it wakes, where nothing said so yet, and the run is an attempt of its task."""
    background = thread.background
    if background is None or background.is_ended:
        return
    scope = Scope(agent=thread.agent, thread=thread.thread, turn=turn.turn, task=background.task)
    if background.turn != turn.turn:
        reason: WakeReason = "inbox" if turn.woken else "person"
        batch.add(AgentWoke(reason=reason), scope)
    if turn.task == background.task:
        # Somebody began the attempt, and said so.
        return
    attempt = Scope(
        agent=thread.agent,
        thread=thread.thread,
        turn=turn.turn,
        run=run,
        task=background.task,
        attempt=background.attempt + 1,
    )
    batch.add(TaskStarted(assignee=thread.agent), attempt)


def scheduled_modes(batch: Batch, thread: Thread, background: Background) -> QueuedTurn:
    """The modes of a run that nobody asked for: it ends with Finalize where the agent may finalise, else with its text."""
    mode = work_mode(batch.inputs.find_definition(thread.definition))
    return QueuedTurn(turn="", mode=mode, permission_mode=background.permission_mode)


def work_mode(definition: Definition | None) -> Mode:
    """Return the mode of work for others: `auto` where the agent can end it, which takes Finalize as policy and as tool."""
    can_finalize = definition is not None and FINALIZE in definition.policy and {"*", FINALIZE} & {*definition.tools}
    return "auto" if can_finalize else "chat"


def format_schedule(schedule: Schedule) -> str:
    """A schedule's times as the log has them; empty where it has none."""
    return f"every {schedule.every} s" if schedule.every else schedule.cron


def _sleep(
    batch: Batch,
    thread: Thread,
    task: str,
    reason: SleepReason,
    permission_mode: PermissionMode,
    schedule: Schedule | None,
) -> None:
    batch.add(
        AgentSlept(
            reason=reason,
            wake_at=batch.inputs.next_wake(schedule, batch.inputs.now) if schedule is not None else 0,
            wake_on=schedule.wake_on if schedule is not None else (),
            schedule=format_schedule(schedule) if schedule is not None else "",
            permission_mode=permission_mode,
        ),
        Scope(agent=thread.agent, thread=thread.thread, task=task),
    )
