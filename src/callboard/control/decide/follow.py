"""What follows from a decision for the rest of the team: children that ended are told, slots are filled, calls that waited
go on, agents with something in their inbox wake. It derives from the state alone, so nothing can be forgotten."""

from __future__ import annotations

from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    SnapshotUpdated,
    SubagentCancelled,
    SubagentClosed,
    SubagentCompleted,
    SubagentFailed,
    TaskCancelled,
    TaskCompleted,
    TaskFailed,
    ThreadPaused,
    TurnSubmitted,
    WorkerNotification,
)
from callboard.contracts.facts.subagent import NotificationStatus
from callboard.contracts.scope import Scope

from ..batch import Batch, thread_scope
from ..state import Child, OpenTask, QueuedTurn, Session, Thread, TurnEnd
from .calls import proceed
from .inbox import complete, deliverable
from .team import review, slots, waits
from .team.agents import modes_of
from .team.handoff import MOST_HOPS
from .team.slots import child_scope
from .turns import start

#: How much of a result its notification says; the whole is in the child's transcript.
SUMMARY = 500


def follow(batch: Batch) -> None:
    """Says all that follows, until nothing more does."""
    state = batch.state
    if len(state.threads) == 1 and not state.tasks and not state.threads[state.lead].inbox:
        return
    while True:
        before = batch.state.sequence
        for thread in list(batch.state.threads.values()):
            _over(batch, thread)
        slots.fill(batch)
        for thread_id in waits.settle(batch):
            proceed(batch, thread_id)
        for thread in list(batch.state.threads.values()):
            _wake(batch, thread)
        if batch.state.sequence == before:
            break
    for task in list(batch.state.tasks.values()):
        _task_over(batch, task)
    slots.tell_load(batch)


def _over(batch: Batch, thread: Thread) -> None:
    """A turn is over: handoffs that it took are done, and a child with nothing left to do has ended."""
    end = thread.ended
    if thread.run is not None or end is None:
        return
    complete(batch, thread)
    child = thread.child
    if child is None or child.status != "running":
        return
    if child.ending:
        _cancelled(batch, thread, child)
    elif thread.queue or (deliverable(thread) and thread.paused is None and end.how == "completed"):
        return
    else:
        _ended(batch, thread, child, end)


def _cancelled(batch: Batch, thread: Thread, child: Child) -> None:
    scope = child_scope(thread, child)
    batch.say(SubagentCancelled(reason=child.reason, usage=thread.usage), scope)
    batch.say(TaskCancelled(reason=child.reason), scope)
    _notify(batch, thread, child, "cancelled", Text())
    if child.ending == "closed":
        batch.say(SubagentClosed(reason=child.reason), scope)


def _ended(batch: Batch, thread: Thread, child: Child, end: TurnEnd) -> None:
    scope = child_scope(thread, child)
    match end.how:
        case "completed" if child.review:
            review.open_for_child(batch, thread, child)
            _notify(batch, thread, child, "ready_for_review", end.text)
        case "completed":
            batch.say(SubagentCompleted(result=end.text, usage=thread.usage), scope)
            batch.say(TaskCompleted(summary=end.text.text[:SUMMARY]), scope)
            _notify(batch, thread, child, "completed", end.text)
        case "failed":
            batch.say(
                SubagentFailed(code=end.code, message=end.message, result=end.text, usage=thread.usage),
                scope,
            )
            batch.say(TaskFailed(code=end.code, message=end.message), scope)
            _notify(batch, thread, child, "failed", end.text, end.message)
        case "interrupted":
            _notify(batch, thread, child, "interrupted", end.text)


def _notify(
    batch: Batch, thread: Thread, child: Child, status: NotificationStatus, result: Text, summary: str = ""
) -> None:
    """Tells the parent. One that waits for the child in a call is told by that call's result."""
    parent = batch.state.threads.get(child.parent)
    run = parent.run if parent is not None else None
    awaited = any(thread.agent in call.awaits for call in run.calls) if run is not None else False
    batch.say(
        WorkerNotification(
            item="" if awaited or parent is None else batch.known.ids.new("item"),
            to_thread=child.parent,
            status=status,
            summary=summary or result.text[:SUMMARY],
            result=result,
            transcript=thread.thread,
            usage=thread.usage,
        ),
        child_scope(thread, child),
    )


def _wake(batch: Batch, thread: Thread) -> None:
    """An idle agent with something in its inbox gets a turn. A lead that talks with a person waits for that person."""
    if thread.run is not None or thread.queue or thread.paused is not None or thread.kind in ("human", "remote"):
        return
    child = thread.child
    if child is not None and child.status != "running":
        return
    items = deliverable(thread)
    if not items or not _wakes(batch.state, thread):
        return
    hops = max(one.hops for one in thread.inbox if one.item in items)
    if hops > MOST_HOPS:
        batch.say(
            ThreadPaused(cause="no_progress", reason=f"{hops} agents passed this on without a person"),
            thread_scope(thread),
        )
        return
    modes = modes_of(batch, thread)
    turn = QueuedTurn(turn=batch.known.ids.new("turn"), mode=modes.mode, permission_mode=modes.permission_mode)
    before = batch.mark()
    try:
        batch.say(
            TurnSubmitted(input=Text(), mode=turn.mode, permission_mode=turn.permission_mode, source="inbox"),
            thread_scope(thread, turn.turn),
        )
        start(batch, thread.thread, turn)
    except Refusal as refusal:
        batch.back_to(before)
        batch.say(ThreadPaused(cause="failed", reason=refusal.code), thread_scope(thread))


def _wakes(state: Session, thread: Thread) -> bool:
    if thread.ended is not None and thread.ended.how != "completed":
        # What failed or was stopped would likely fail again, or was stopped for a reason.
        return False
    return thread.thread != state.lead or (thread.last is not None and thread.last.mode == "auto")


def _task_over(batch: Batch, task: OpenTask) -> None:
    """The task of a turn ends with it, once no child works on a part of it and nothing of that is untold."""
    if not task.turn:
        return
    thread = next((one for one in batch.state.threads.values() if one.agent == task.assignee), None)
    if thread is None or thread.run is not None or thread.queue or thread.inbox or thread.ended is None:
        return
    if any(one.parent_task == task.task for one in batch.state.tasks.values()):
        return
    scope = Scope(agent=thread.agent, thread=thread.thread, task=task.task)
    match thread.ended.how:
        case "completed":
            batch.say(TaskCompleted(summary=thread.ended.text.text[:SUMMARY]), scope)
        case "failed":
            batch.say(TaskFailed(code=thread.ended.code, message=thread.ended.message), scope)
        case "interrupted":
            if thread.ended.code not in ("person", "cancelled", "closed"):
                return
            batch.say(TaskCancelled(reason="the turn was interrupted"), scope)
    batch.say(SnapshotUpdated(through=batch.state.sequence), scope)
