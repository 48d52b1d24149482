"""Scopes of children, and the children of a parent."""

from __future__ import annotations

from callboard.contracts.scope import Scope

from ...state.session import Session, Thread
from ...state.subagent import Child

#: Statuses of a child without work; it can get more input.
ENDED = ("completed", "failed", "cancelled")


def build_child_scope(thread: Thread, child: Child, turn: str = "", run: str = "") -> Scope:
    """Return the scope of a fact about a child."""
    return Scope(
        agent=thread.agent,
        thread=thread.thread,
        turn=turn,
        run=run,
        task=child.task,
        parent_thread=child.parent,
        parent_run=child.parent_run,
        job=child.job,
    )


def list_children(state: Session, parent: str) -> list[Thread]:
    """Return the children of a thread that are not closed, in the order of their spawns."""
    return [thread for thread in state.threads.values() if thread.child is not None and thread.child.parent == parent]
