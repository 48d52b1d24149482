"""Sleep of background agents. Each of their runs is an attempt of one task of the board."""

from __future__ import annotations

from callboard.contracts.facts.agent import AgentSlept, AgentWoke, SleepReason, WakeReason
from callboard.contracts.facts.task import TaskCreated, TaskStarted
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.ports.agents import Definition, Schedule
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...input_text import make_title
from ...state.background_agent import Background
from ...state.session import Thread
from ...state.turn import FINALIZE, QueuedTurn


def begin_background(batch: Batch, thread: Thread, definition: Definition, permission_mode: PermissionMode) -> None:
    """Create the task of an agent that joined, and let it sleep. `permission_mode` is the widest
    mode of its runs."""
    task = batch.inputs.ids.new("task")
    scope = Scope(agent=thread.agent, thread=thread.thread, task=task)
    title = make_title(definition.description) or definition.name
    batch.add(TaskCreated(title=title, assignee=thread.agent, entity="automation_job"), scope)
    _record_sleep(batch, thread, task, "joined", permission_mode, definition.schedule)


def fall_asleep(batch: Batch, thread: Thread, background: Background) -> None:
    """Let the agent sleep until its next time, or for good if its task ended."""
    definition = batch.inputs.find_definition(thread.definition)
    schedule = definition.schedule if definition is not None else None
    reason: SleepReason = "ran" if background.turn else "resumed"
    if background.is_ended:
        reason, schedule = "ended", None
    elif background.turn and schedule is not None and schedule.cron:
        passed = batch.inputs.next_wake(schedule, background.woke_at)
        if 0 < passed <= batch.inputs.now:
            reason = "skipped"
    _record_sleep(batch, thread, background.task, reason, background.permission_mode, schedule)


def begin_attempt(batch: Batch, thread: Thread, turn: QueuedTurn, run: str) -> None:
    """Record that the agent wakes, unless recorded, and begin an attempt of its task."""
    background = thread.background
    if background is None or background.is_ended:
        return
    scope = Scope(agent=thread.agent, thread=thread.thread, turn=turn.turn, task=background.task)
    if background.turn != turn.turn:
        reason: WakeReason = "inbox" if turn.woken else "person"
        batch.add(AgentWoke(reason=reason), scope)
    if turn.task == background.task:
        # The attempt was begun with the turn.
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


def build_scheduled_modes(batch: Batch, thread: Thread, background: Background) -> QueuedTurn:
    """Return the modes of an automatic run: it ends with Finalize if the agent has that tool, else
    with its text."""
    mode = choose_work_mode(batch.inputs.find_definition(thread.definition))
    return QueuedTurn(turn="", mode=mode, permission_mode=background.permission_mode)


def choose_work_mode(definition: Definition | None) -> Mode:
    """Return the mode of work for others: `auto` if the agent can end it, which takes Finalize as
    policy and as tool."""
    can_finalize = definition is not None and FINALIZE in definition.policy and {"*", FINALIZE} & {*definition.tools}
    return "auto" if can_finalize else "chat"


def format_schedule(schedule: Schedule) -> str:
    """Return the times of a schedule as facts store them; empty for none."""
    return f"every {schedule.every} s" if schedule.every else schedule.cron


def _record_sleep(
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
