"""Children: more input, cancel and close (Control plane specification, Subagents)."""

from __future__ import annotations

from callboard.contracts.commands.subagent import (
    ChildChanged,
    ChildInputAccepted,
    ChildInputArguments,
    ChildResult,
    CloseArguments,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.queue import QueueAdded, QueueRemoved
from callboard.contracts.facts.session import ThreadResumed
from callboard.contracts.facts.subagent import SubagentContinued
from callboard.contracts.facts.task import TaskCreated
from callboard.contracts.facts.turn import InterruptCause, TurnInterruptRequested, TurnSubmitted
from callboard.contracts.scope import Scope

from ...batch import Batch, build_run_scope, build_thread_scope
from ...state.session import Thread
from ...state.subagent import Child
from ...state.turn import OpenRun
from ..agent.addressing import carry_mode, require_child, resolve_modes
from .child_scope import ENDED, list_children
from .ending import end_child
from .slots import start_or_wait

#: Note on a result that the child did not finalize.
PLAIN_TEXT = "answered in plain text, not finalized"


def give_input(batch: Batch, parent: Thread | None, request: ChildInputArguments) -> ChildInputAccepted:
    """Queue a turn in the child's thread. An ended child works again.

    Raises:
        Refusal: `unknown_agent`, `not_your_child`, `nothing_running`.
    """
    thread, child = require_child(batch.state, request.agent, parent)
    if child.ending:
        raise Refusal(
            "nothing_running",
            f"{thread.agent} is being stopped.",
            field="agent",
            hint="Send the input again once it has stopped.",
        )
    turn = resume_child(batch, thread, child, request.text, parent.run if parent is not None else None)
    after = batch.get_thread(thread.thread)
    return ChildInputAccepted(
        session_id=batch.state.session,
        agent_id=thread.agent,
        thread_id=thread.thread,
        turn_id=turn,
        status="started" if after.run is not None and after.run.turn == turn else "queued",
        sequence=batch.state.sequence,
    )


def resume_child(batch: Batch, thread: Thread, child: Child, text: str, by: OpenRun | None = None) -> str:
    """Give the child a turn with this text, and a slot if it needs one. `by` is the parent's run,
    if it gives the input. Return the turn."""
    # A child whose only turn was removed before it started gets its parent's modes.
    last = thread.last or (thread.queue[0] if thread.queue else resolve_modes(batch, batch.get_thread(child.parent)))
    turn = batch.inputs.ids.new("turn")
    continue_child(batch, thread, child, text, by)
    batch.add(
        TurnSubmitted(
            input=batch.store_text(text),
            mode=last.mode,
            permission_mode=carry_mode(batch, thread, last.permission_mode),
            source="agent",
        ),
        build_thread_scope(thread, turn),
    )
    batch.add(QueueAdded(position=len(thread.queue) + 1), build_thread_scope(thread, turn))
    if thread.paused is not None and thread.run is None:
        batch.add(ThreadResumed(reason="new input"), build_thread_scope(thread))
    start_or_wait(batch, thread.thread)
    return turn


def continue_child(batch: Batch, thread: Thread, child: Child, text: str, by: OpenRun | None = None) -> None:
    """Give an ended child a new task, for the parent's run that gives it."""
    if child.status not in ENDED:
        return
    scope = Scope(
        agent=thread.agent,
        thread=thread.thread,
        task=batch.inputs.ids.new("task"),
        parent_thread=child.parent,
        parent_run=by.run if by is not None else child.parent_run,
    )
    batch.add(TaskCreated(title=_get_first_line(text), objective=batch.store_text(text), assignee=thread.agent), scope)
    batch.add(SubagentContinued(), scope)


def cancel_child(batch: Batch, parent: Thread | None, request: CloseArguments) -> ChildChanged:
    """Cancel the work of the child and its queue.

    Raises:
        Refusal: `unknown_agent`, `not_your_child`, `nothing_running`.
    """
    thread, child = require_child(batch.state, request.agent, parent)
    if child.status in ENDED:
        raise Refusal(
            "nothing_running",
            f"{thread.agent} has already ended ({child.status}).",
            field="agent",
            hint="No action is needed.",
        )
    stop_child(batch, thread, child, "cancelled", request.reason)
    return _build_answer(batch, thread)


def close_child(batch: Batch, parent: Thread | None, request: CloseArguments) -> ChildChanged:
    """Close the child after its run has stopped.

    Raises:
        Refusal: `unknown_agent`, `not_your_child`.
    """
    thread, child = require_child(batch.state, request.agent, parent)
    stop_child(batch, thread, child, "closed", request.reason)
    return _build_answer(batch, thread)


def cancel_children(batch: Batch, parent: str, reason: str) -> None:
    """Cancel all children of a parent that have not ended (invariant 7). A job's workers continue:
    the job stops them."""
    for thread in list_children(batch.state, parent):
        if thread.child is not None and not thread.child.job and thread.child.status not in ENDED:
            stop_child(batch, thread, thread.child, "cancelled", reason)


def stop_child(batch: Batch, thread: Thread, child: Child, ending: InterruptCause, reason: str) -> None:
    """Stop the child's run and queue; without a run it ends immediately. Record the intent also if its
    turn is stopping for another cause: the child would otherwise wait to be resumed."""
    for queued in thread.queue:
        batch.add(QueueRemoved(reason=reason or f"the child is {ending}"), build_thread_scope(thread, queued.turn))
    run = thread.run
    if run is None:
        end_child(batch, batch.get_thread(thread.thread), child, ending, reason)
    elif not run.stopping or child.ending not in ("closed", ending):
        batch.add(TurnInterruptRequested(cause=ending, reason=reason), build_run_scope(thread, run))


def build_result(thread: Thread) -> ChildResult:
    """Return the child's status and result for its parent."""
    child = thread.child
    if child is None:
        raise LookupError(f"{thread.agent} is not a child")
    return ChildResult(
        agent_id=thread.agent,
        thread_id=thread.thread,
        task_id=child.task,
        status=derive_child_status(thread, child),
        result=child.result.text,
        usage=thread.usage,
        note=PLAIN_TEXT if child.plain_text else "",
    )


def derive_child_status(thread: Thread, child: Child) -> str:
    """Return the child's status in the terms of the Subagents specification: `waiting` while it
    waits for a person."""
    if child.status == "running" and thread.run is not None and any(call.action for call in thread.run.calls):
        return "waiting"
    return child.status


def _build_answer(batch: Batch, thread: Thread) -> ChildChanged:
    after = batch.state.threads.get(thread.thread)
    status = "closed" if after is None or after.child is None else derive_child_status(after, after.child)
    return ChildChanged(
        session_id=batch.state.session, agent_id=thread.agent, status=status, sequence=batch.state.sequence
    )


def _get_first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0].strip()[:80] if lines else ""
