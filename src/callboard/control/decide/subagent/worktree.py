"""A child with a git worktree of its own starts once that is there."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.commands.tasks import MergeDone, MergeSubagent
from callboard.contracts.commands.team import ChildChanged, Merge
from callboard.contracts.content import Blob
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    FileChange,
    SubagentIsolated,
    SubagentMerged,
    SubagentMergeRequested,
    WarningRaised,
)
from callboard.contracts.scope import Scope
from callboard.contracts.text.sentences import clause

from ...batch import Batch
from ...outcomes import WorktreeLeft, WorktreeMade
from ...state.session import Child, Thread
from ..agent.addressing import require_child
from ..artifact.versions import record_changes as changed
from . import ending
from .child_scope import child_scope


class MergeReported(msgspec.Struct, frozen=True, kw_only=True):
    """What a merge that a person asked for came to; `scope` is the child's. `brought` are the files that came with it, and
    `blobs` what they hold."""

    session_id: str
    scope: Scope
    status: Literal["merged", "nothing_to_merge", "conflict", "failed"]
    files: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    message: str = ""
    changes: tuple[FileChange, ...] = ()
    blobs: tuple[Blob, ...] = ()


def record_worktree(batch: Batch, report: WorktreeMade | WorktreeLeft) -> None:
    """What became of a child's worktree."""
    if isinstance(report, WorktreeMade):
        record_made(batch, report)
    else:
        warn_of_kept_worktree(batch, report)


def record_made(batch: Batch, report: WorktreeMade) -> None:
    """The worktree is there and the child may take a slot; or it could not be made and the child has failed."""
    thread = batch.state.threads.get(report.thread)
    if thread is None or thread.child is None or thread.child.worktree or thread.child.status != "queued":
        return
    if report.code is None:
        batch.add(
            SubagentIsolated(path=report.path, branch=report.branch, base=report.base),
            child_scope(thread, thread.child),
        )
    else:
        ending.fail_child(batch, thread, thread.child, report.code, report.message)


def require_mergeable(batch: Batch, parent: Thread | None, request: Merge | MergeSubagent) -> tuple[Thread, Child]:
    """The runtime merges the child's branch, and the call's result says what came of it. Raises `unknown_agent`,
    `not_your_child`, `merge_failed` of a child without a worktree, `thread_busy` of one that still works in it."""
    thread, child = require_child(batch.state, request.agent, parent)
    if not child.worktree:
        raise Refusal(
            "merge_failed", f"{thread.agent} has no worktree: what it did is in your folder already.", field="agent"
        )
    if thread.run is not None:
        raise Refusal("thread_busy", f"{thread.agent} still works in its worktree.", field="agent", hint="Wait for it.")
    return thread, child


def begin_merge(batch: Batch, request: MergeSubagent) -> ChildChanged:
    """A person asks for the merge; the runtime makes it once this is durable. Raises what `may_merge` raises, and
    `thread_busy` while the child is being merged."""
    thread, child = require_mergeable(batch, None, request)
    if child.merging:
        raise Refusal("thread_busy", f"{thread.agent} is being merged.", field="agent", hint="Wait for it.")
    batch.add(SubagentMergeRequested(reason=request.reason), child_scope(thread, child))
    return ChildChanged(
        session_id=batch.state.session, agent_id=thread.agent, status=child.status, sequence=batch.state.sequence
    )


def finish_merge(batch: Batch, report: MergeReported) -> MergeDone:
    """Says what the merge came to. One that failed is refused by whoever reports it, behind this fact."""
    batch.add_blobs(*report.blobs)
    changed(batch, report.scope, report.changes, "merge")
    batch.add(
        SubagentMerged(status=report.status, files=report.files, conflict=report.conflict, message=report.message),
        report.scope,
    )
    return MergeDone(
        session_id=batch.state.session,
        agent_id=report.scope.agent,
        status="nothing_to_merge" if report.status == "failed" else report.status,
        files=report.files,
        conflict=report.conflict,
        sequence=batch.state.sequence,
    )


def lose_merges(batch: Batch, message: str) -> None:
    """The process that merged has ended: nobody saw what came of it."""
    for thread in list(batch.state.threads.values()):
        if thread.child is not None and thread.child.merging:
            batch.add(SubagentMerged(status="unknown", message=message), child_scope(thread, thread.child))


def warn_of_kept_worktree(batch: Batch, report: WorktreeLeft) -> None:
    """A closed child's worktree holds work that nobody merged: it stays, and that is said."""
    batch.add(
        WarningRaised(
            code="worktree_kept",
            message=f"The worktree of {report.agent} stays in {report.path}: {clause(report.reason)}.",
            hint=f"Merge the branch {report.branch} or delete it, then remove the folder with git worktree remove.",
        ),
        Scope(thread=report.parent, agent=report.agent),
    )
