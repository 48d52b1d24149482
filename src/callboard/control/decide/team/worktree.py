"""A child with a git worktree of its own starts once that is there."""

from __future__ import annotations

from callboard.contracts.commands.team import Merge
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import SubagentIsolated, WarningRaised
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...outcomes import WorktreeLeft, WorktreeMade
from ...state import Thread
from . import ending
from .agents import child_of
from .kin import child_scope


def made(batch: Batch, report: WorktreeMade) -> None:
    """The worktree is there and the child may take a slot; or it could not be made and the child has failed."""
    thread = batch.state.threads.get(report.thread)
    if thread is None or thread.child is None or thread.child.worktree or thread.child.status != "queued":
        return
    if report.code is None:
        batch.say(
            SubagentIsolated(path=report.path, branch=report.branch, base=report.base),
            child_scope(thread, thread.child),
        )
    else:
        ending.failed(batch, thread, thread.child, report.code, report.message)


def may_merge(batch: Batch, parent: Thread, request: Merge) -> None:
    """The runtime merges the child's branch, and the call's result says what came of it. Raises `unknown_agent`,
    `not_your_child`, `worktree_failed` of a child without a worktree, `thread_busy` of one that still works in it."""
    thread, child = child_of(batch.state, request.agent, parent)
    if not child.worktree:
        raise Refusal(
            "worktree_failed", f"{thread.agent} has no worktree: what it did is in your folder already.", field="agent"
        )
    if thread.run is not None:
        raise Refusal("thread_busy", f"{thread.agent} still works in its worktree.", field="agent", hint="Wait for it.")


def left(batch: Batch, report: WorktreeLeft) -> None:
    """A closed child's worktree holds work that nobody merged: it stays, and that is said."""
    batch.say(
        WarningRaised(
            code="worktree_kept",
            message=f"The worktree of {report.agent} stays in {report.path}: {report.reason}.",
            hint=f"Merge the branch {report.branch} or delete it, then remove the folder with git worktree remove.",
        ),
        Scope(thread=report.parent, agent=report.agent),
    )
