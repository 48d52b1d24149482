"""Worktrees of children: creation, merge and removal."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.commands.subagent import ChildChanged, MergeArguments
from callboard.contracts.commands.task import ChildMerged, MergeSubagent
from callboard.contracts.content import Blob
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import WarningRaised
from callboard.contracts.facts.subagent import SubagentIsolated, SubagentMerged, SubagentMergeRequested
from callboard.contracts.facts.tool import FileChange
from callboard.contracts.scope import Scope
from callboard.contracts.text.sentences import to_clause

from ...batch import Batch
from ...outcomes import WorktreeLeft, WorktreeMade
from ...state.session import Thread
from ...state.subagent import Child
from ..agent.addressing import require_child
from ..artifact.versions import record_changes
from . import ending
from .child_scope import build_child_scope


class MergeReported(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a merge that a person requested; `scope` is the child's. `changes` are the
    merged files, `blobs` their contents."""

    session_id: str
    scope: Scope
    status: Literal["merged", "nothing_to_merge", "conflict", "failed"]
    files: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    message: str = ""
    changes: tuple[FileChange, ...] = ()
    blobs: tuple[Blob, ...] = ()


def record_worktree(batch: Batch, outcome: WorktreeMade | WorktreeLeft) -> None:
    """Record what happened to a child's worktree."""
    if isinstance(outcome, WorktreeMade):
        record_made(batch, outcome)
    else:
        warn_of_kept_worktree(batch, outcome)


def record_made(batch: Batch, outcome: WorktreeMade) -> None:
    """Record that the worktree is ready, so the child can start, or fail the child."""
    thread = batch.state.threads.get(outcome.thread)
    if thread is None or thread.child is None or thread.child.worktree or thread.child.status != "queued":
        return
    if outcome.code is None:
        batch.add(
            SubagentIsolated(path=outcome.path, branch=outcome.branch, base=outcome.base),
            build_child_scope(thread, thread.child),
        )
    else:
        ending.fail_child(batch, thread, thread.child, outcome.code, outcome.message)


def require_mergeable(
    batch: Batch, parent: Thread | None, request: MergeArguments | MergeSubagent
) -> tuple[Thread, Child]:
    """Return the child whose branch the runtime can merge.

    Raises:
        Refusal: `unknown_agent`, `not_your_child`; `merge_failed` for a child without a worktree;
            `thread_busy` for a running child.
    """
    thread, child = require_child(batch.state, request.agent, parent)
    if not child.worktree:
        raise Refusal(
            "merge_failed",
            f"{thread.agent} has no worktree.",
            field="agent",
            hint="There is nothing to merge: its changes are already in your folder.",
        )
    if thread.run is not None:
        raise Refusal("thread_busy", f"{thread.agent} still works in its worktree.", field="agent", hint="Wait for it.")
    return thread, child


def begin_merge(batch: Batch, request: MergeSubagent) -> ChildChanged:
    """Request a merge; the runtime makes it once this fact is durable.

    Raises:
        Refusal: `thread_busy` during a merge, and the codes of `require_mergeable`.
    """
    thread, child = require_mergeable(batch, None, request)
    if child.merging:
        raise Refusal("thread_busy", f"{thread.agent} is being merged.", field="agent", hint="Wait for it.")
    batch.add(SubagentMergeRequested(reason=request.reason), build_child_scope(thread, child))
    return ChildChanged(
        session_id=batch.state.session, agent_id=thread.agent, status=child.status, sequence=batch.state.sequence
    )


def finish_merge(batch: Batch, report: MergeReported) -> ChildMerged:
    """Record the result of a merge. The reporter refuses a failed one after this fact."""
    batch.add_blobs(*report.blobs)
    record_changes(batch, report.scope, report.changes, "merge")
    batch.add(
        SubagentMerged(status=report.status, files=report.files, conflict=report.conflict, message=report.message),
        report.scope,
    )
    return ChildMerged(
        session_id=batch.state.session,
        agent_id=report.scope.agent,
        status="nothing_to_merge" if report.status == "failed" else report.status,
        files=report.files,
        conflict=report.conflict,
        sequence=batch.state.sequence,
    )


def lose_merges(batch: Batch, message: str) -> None:
    """Record an unknown result for merges whose process ended."""
    for thread in list(batch.state.threads.values()):
        if thread.child is not None and thread.child.merging:
            batch.add(SubagentMerged(status="unknown", message=message), build_child_scope(thread, thread.child))


def warn_of_kept_worktree(batch: Batch, outcome: WorktreeLeft) -> None:
    """Warn that the worktree of a closed child has unmerged work and was kept."""
    batch.add(
        WarningRaised(
            code="worktree_kept",
            message=f"The worktree of {outcome.agent} was kept in {outcome.path}: {to_clause(outcome.reason)}.",
            hint=f"Merge the branch {outcome.branch} or delete it, then remove the folder with git worktree remove.",
        ),
        Scope(thread=outcome.parent, agent=outcome.agent),
    )
