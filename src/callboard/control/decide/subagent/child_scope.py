"""Whose a child is, and how facts about it are placed."""

from __future__ import annotations

from callboard.contracts.scope import Scope

from ...state.session import Child, Session, Thread

#: A child of one of these works on nothing; it may be given more to do.
ENDED = ("completed", "failed", "cancelled")


def child_scope(thread: Thread, child: Child, turn: str = "", run: str = "") -> Scope:
    """The scope of a fact about a child."""
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
    """The children of a thread that are not closed, in the order in which they were given."""
    return [one for one in state.threads.values() if one.child is not None and one.child.parent == parent]
