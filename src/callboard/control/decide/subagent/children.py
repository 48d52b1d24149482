"""A child is given more to do, cancelled or closed (Control plane specification, Subagents)."""

from __future__ import annotations

from callboard.contracts.commands.team import ChildChanged, ChildResult, Close, GiveInput, InputGiven
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    QueueAdded,
    QueueRemoved,
    SubagentContinued,
    TaskCreated,
    ThreadResumed,
    TurnInterruptRequested,
    TurnSubmitted,
)
from callboard.contracts.facts.turn import InterruptCause
from callboard.contracts.scope import Scope

from ...batch import Batch, run_scope, thread_scope
from ...state.session import Child, OpenRun, Thread
from ..agent.addressing import carry_mode, require_child, resolve_modes
from . import ending as ends
from .child_scope import ENDED, list_children
from .slots import start_or_wait

#: What a parent reads beside a result that a child did not finalize.
PLAIN_TEXT = "answered in plain text, not finalized"


def give_input(batch: Batch, parent: Thread | None, request: GiveInput) -> InputGiven:
    """Queues a turn in the child's thread; one that has ended goes on with it. Raises `unknown_agent`, `not_your_child`."""
    thread, child = require_child(batch.state, request.agent, parent)
    if child.ending:
        raise Refusal("nothing_running", f"{thread.agent} is being stopped.", field="agent")
    turn = resume_child(batch, thread, child, request.text, parent.run if parent is not None else None)
    after = batch.thread(thread.thread)
    return InputGiven(
        session_id=batch.state.session,
        agent_id=thread.agent,
        thread_id=thread.thread,
        turn_id=turn,
        status="started" if after.run is not None and after.run.turn == turn else "queued",
        sequence=batch.state.sequence,
    )


def resume_child(batch: Batch, thread: Thread, child: Child, text: str, by: OpenRun | None = None) -> str:
    """Gives the child a turn with this text, and a slot where it has none; `by` is the parent's run that does so. Returns the
    turn."""
    # One whose only turn was removed before it started works in its parent's modes.
    last = thread.last or (thread.queue[0] if thread.queue else resolve_modes(batch, batch.thread(child.parent)))
    turn = batch.inputs.ids.new("turn")
    continue_child(batch, thread, child, text, by)
    batch.add(
        TurnSubmitted(
            input=batch.store_text(text),
            mode=last.mode,
            permission_mode=carry_mode(batch, thread, last.permission_mode),
            source="agent",
        ),
        thread_scope(thread, turn),
    )
    batch.add(QueueAdded(position=len(thread.queue) + 1), thread_scope(thread, turn))
    if thread.paused is not None and thread.run is None:
        batch.add(ThreadResumed(reason="new input"), thread_scope(thread))
    start_or_wait(batch, thread.thread)
    return turn


def continue_child(batch: Batch, thread: Thread, child: Child, text: str, by: OpenRun | None = None) -> None:
    """A child that had ended works on another task from here on, for the run of its parent that gives it, where one does."""
    if child.status not in ENDED:
        return
    scope = Scope(
        agent=thread.agent,
        thread=thread.thread,
        task=batch.inputs.ids.new("task"),
        parent_thread=child.parent,
        parent_run=by.run if by is not None else child.parent_run,
    )
    batch.add(TaskCreated(title=_first_line(text), objective=batch.store_text(text), assignee=thread.agent), scope)
    batch.add(SubagentContinued(), scope)


def cancel_child(batch: Batch, parent: Thread | None, request: Close) -> ChildChanged:
    """Cancels what the child works on and what waits for it. Raises `unknown_agent`, `not_your_child`, `nothing_running`."""
    thread, child = require_child(batch.state, request.agent, parent)
    if child.status in ENDED:
        raise Refusal(
            "nothing_running",
            f"{thread.agent} has ended: it {child.status}.",
            field="agent",
            hint="Nothing is to stop.",
        )
    stop_child(batch, thread, child, "cancelled", request.reason)
    return _changed(batch, thread)


def close_child(batch: Batch, parent: Thread | None, request: Close) -> ChildChanged:
    """Closes the child; what it runs is stopped first. Raises `unknown_agent`, `not_your_child`."""
    thread, child = require_child(batch.state, request.agent, parent)
    stop_child(batch, thread, child, "closed", request.reason)
    return _changed(batch, thread)


def cancel_children(batch: Batch, parent: str, reason: str) -> None:
    """A parent's cancel reaches every child that has not ended (invariant 7). What is finished stays finished, and what works
    on a job is the job's to stop: no run of the parent's made it."""
    for thread in list_children(batch.state, parent):
        if thread.child is not None and not thread.child.job and thread.child.status not in ENDED:
            stop_child(batch, thread, thread.child, "cancelled", reason)


def stop_child(batch: Batch, thread: Thread, child: Child, ending: InterruptCause, reason: str) -> None:
    """Stops what the child has under way; where nothing is, it ends at once. The intent is told also where its turn is being
    stopped for another cause: the child would otherwise only wait to go on."""
    for queued in thread.queue:
        batch.add(QueueRemoved(reason=reason or f"the child is {ending}"), thread_scope(thread, queued.turn))
    run = thread.run
    if run is None:
        ends.end_child(batch, batch.thread(thread.thread), child, ending, reason)
    elif not run.stopping or child.ending not in ("closed", ending):
        batch.add(TurnInterruptRequested(cause=ending, reason=reason), run_scope(thread, run))


def build_result(thread: Thread) -> ChildResult:
    """How the child stands, as those are told who wait for it."""
    child = thread.child
    if child is None:
        raise LookupError(f"{thread.agent} is no child")
    return ChildResult(
        agent_id=thread.agent,
        thread_id=thread.thread,
        task_id=child.task,
        status=child_status(thread, child),
        result=child.result.text,
        usage=thread.usage,
        note=PLAIN_TEXT if child.plain_text else "",
    )


def child_status(thread: Thread, child: Child) -> str:
    """The child's status in the words of the Subagents specification: one that waits for a person is waiting."""
    if child.status == "running" and thread.run is not None and any(one.action for one in thread.run.calls):
        return "waiting"
    return child.status


def _changed(batch: Batch, thread: Thread) -> ChildChanged:
    after = batch.state.threads.get(thread.thread)
    status = "closed" if after is None or after.child is None else child_status(after, after.child)
    return ChildChanged(
        session_id=batch.state.session, agent_id=thread.agent, status=status, sequence=batch.state.sequence
    )


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0].strip()[:80] if lines else ""
