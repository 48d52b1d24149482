"""A child with a git worktree of its own starts once that is there."""

from __future__ import annotations

from callboard.contracts.facts import SubagentFailed, SubagentIsolated, TaskFailed

from ...batch import Batch
from ...outcomes import WorktreeMade
from .slots import child_scope


def made(batch: Batch, report: WorktreeMade) -> None:
    """The worktree is there and the child may take a slot; or it could not be made and the child has failed."""
    thread = batch.state.threads.get(report.thread)
    if thread is None or thread.child is None or thread.child.worktree or thread.child.status != "queued":
        return
    scope = child_scope(thread, thread.child)
    if report.code is None:
        batch.say(SubagentIsolated(path=report.path, branch=report.branch, base=report.base), scope)
    else:
        batch.say(SubagentFailed(code=report.code, message=report.message), scope)
        batch.say(TaskFailed(code=report.code, message=report.message), scope)
