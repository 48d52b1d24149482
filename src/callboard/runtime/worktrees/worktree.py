"""Git worktrees for children: their own branch and files, which the parent merges.

A worktree is located next to the repository, outside every workspace folder and the user's state.
So the child's tools and sandbox use it like any folder. The runtime runs git, because the sandbox
cannot write `.git`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from callboard.contracts import casing
from callboard.contracts.commands.subagent import MergeArguments
from callboard.contracts.content import Blob
from callboard.contracts.entities.worktree import build_worktree_name, get_session_suffix
from callboard.contracts.facts.tool import FileChange
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.effects import RemoveWorktree
from callboard.control.outcomes import WorktreeLeft, WorktreeMade
from callboard.control.state.subagent import Child
from callboard.tools.shielded_wait import wait_shielded

from ..sessions.host import SessionHost
from .git import git as _git
from .git import locate_repository, read_git_paths
from .merged_files import read_merged_files

log = logging.getLogger(__name__)

#: Diff without external programs.
_SAFE_DIFF = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
#: One lock per folder: merges run one at a time.
_merge_locks: dict[str, asyncio.Lock] = {}


async def create_worktree(host: SessionHost, scope: Scope) -> None:
    """Create the child's worktree and report it.

    A failure is reported as well, because the child would wait forever.
    """
    try:
        outcome = await _create(host, scope)
    except Exception as error:
        log.exception("a worktree could not be created")
        outcome = _fail_creation(scope, f"the runtime failed ({type(error).__name__})")
    await host.report(outcome)


async def _create(host: SessionHost, scope: Scope) -> WorktreeMade:
    folder = host.workspace.folder
    branch = f"callboard/{get_session_suffix(host.session)}/{scope.agent}"
    repository = await locate_repository(folder)
    if repository.code:
        return _fail_creation(scope, repository.text)
    root, prefix, base = repository.text.splitlines()
    path = Path(root).with_name(build_worktree_name(Path(root).name, host.session, scope.agent))
    if not path.exists():
        added = await _git(folder, "worktree", "add", "--quiet", "-B", branch, str(path), base)
        if added.code:
            return _fail_creation(scope, added.text)
    return WorktreeMade(thread=scope.thread, path=str(path / prefix).rstrip("/"), branch=branch, base=base)


class MergeResult(NamedTuple):
    """The result of a merge.

    Attributes:
        files: Changed files.
        conflict: Files in conflict; nothing was merged then.
        message: The output of git.
        changes: Changed files below the folder.
        blobs: Their contents.
    """

    status: Literal["merged", "nothing_to_merge", "conflict", "failed"]
    message: str
    files: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    changes: tuple[FileChange, ...] = ()
    blobs: tuple[Blob, ...] = ()


async def merge_for_call(host: SessionHost, arguments: str) -> tuple[ToolOutcome, tuple[FileChange, ...]]:
    """Merge a child's branch for an agent's call. Return the outcome and the changed files."""
    request = casing.decode(arguments, MergeArguments)
    merged = await merge_child(host, request.agent)
    if merged.status in ("merged", "nothing_to_merge"):
        return ToolOutcome(output=merged.message, blobs=merged.blobs), merged.changes
    return ToolOutcome(output="", code="merge_failed", message=merged.message), ()


async def merge_child(host: SessionHost, agent: str) -> MergeResult:
    """Merge a child's branch into the folder: all of it or nothing.

    Uncommitted changes of the child are committed first. Cancellation does not interrupt the merge.
    """
    merged, _ = await wait_shielded(asyncio.create_task(_merge(host, agent)))
    return merged


async def _merge(host: SessionHost, agent: str) -> MergeResult:
    thread = next((candidate for candidate in host.state.threads.values() if candidate.agent == agent), None)
    child = thread.child if thread is not None else None
    if child is None or not child.worktree:
        return MergeResult("failed", f"{agent} has no worktree.")
    async with _merge_locks.setdefault(host.workspace.folder, asyncio.Lock()):
        return await _run_merge(host.workspace.folder, agent, child, host.dependencies.secrets.redact_bytes)


async def _run_merge(folder: str, agent: str, child: Child, redact: Callable[[bytes], bytes]) -> MergeResult:
    repository = await locate_repository(folder)
    if repository.code:
        return MergeResult("failed", f"Nothing was merged: {repository.text}.")
    if not (await _git(folder, "rev-parse", "--quiet", "--verify", "MERGE_HEAD")).code:
        return MergeResult("failed", "The folder has an unfinished merge. Finish or abort it first.")
    if await _stage_changes(child.worktree):
        await _git(child.worktree, "commit", "--quiet", "--no-verify", "-m", f"The work of {agent}")
    ahead = await _git(folder, "rev-list", "--count", f"HEAD..{child.branch}")
    if ahead.code:
        return MergeResult("failed", ahead.text)
    if ahead.text == "0":
        return MergeResult("nothing_to_merge", f"{agent} has no changes to merge.")
    merged = await _git(
        folder, "merge", "--no-ff", "--no-edit", "--no-stat", "-m", f"Merge the work of {agent}", child.branch
    )
    if not merged.code:
        stat = await _git(folder, "diff", *_SAFE_DIFF, "--stat", "HEAD^1", "HEAD")
        files = await _diff_names(folder, "HEAD^1", "HEAD")
        changes, blobs = await read_merged_files(folder, "HEAD^1", "HEAD", redact)
        return MergeResult("merged", stat.text, files, changes=changes, blobs=blobs)
    conflicts = await _diff_names(folder, "--diff-filter=U")
    await _git(folder, "merge", "--abort")
    if not conflicts:
        return MergeResult("failed", f"Nothing was merged: {merged.text}")
    message = f"Nothing was merged because of conflicts in: {', '.join(conflicts)}."
    return MergeResult("conflict", message, conflict=conflicts)


async def _diff_names(folder: str, *arguments: str) -> tuple[str, ...]:
    """Return the files that differ."""
    return await read_git_paths(folder, "diff", *_SAFE_DIFF, "--name-only", "-z", *arguments)


async def _stage_changes(worktree: str) -> bool:
    """Stage the child's changes, except nested repositories. Return True if there are any."""
    changed = await _list_changed_paths(worktree)
    files = [path for path in changed if not path.endswith("/")]
    if files:
        root = (await locate_repository(worktree)).text.partition("\n")[0]
        options = ("--all", "--pathspec-from-file=-", "--pathspec-file-nul")
        await _git(root, "--literal-pathspecs", "add", *options, stdin="\0".join(files))
    return bool(files)


async def _list_changed_paths(worktree: str) -> tuple[str, ...]:
    """Return the uncommitted paths of a worktree, relative to its root."""
    options = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")
    return tuple(entry[3:] for entry in await read_git_paths(worktree, *options))


async def remove_worktree(host: SessionHost, effect: RemoveWorktree) -> None:
    """Remove a closed child's worktree and branch if nothing would be lost; otherwise report that it stays."""
    scope, folder = effect.scope, host.workspace.folder
    reason = await _explain_unmerged(folder, effect)
    if not reason:
        repository = await locate_repository(effect.path)
        root = repository.text.partition("\n")[0]
        removed = await _git(folder, "worktree", "remove", "--force", root) if not repository.code else repository
        reason = removed.text if removed.code else ""
    if not reason:
        await _git(folder, "branch", "--quiet", "-D", effect.branch)
        return
    await host.report(
        WorktreeLeft(
            agent=scope.agent, parent=scope.parent_thread, path=effect.path, branch=effect.branch, reason=reason
        )
    )


async def _explain_unmerged(folder: str, effect: RemoveWorktree) -> str:
    repository = await locate_repository(effect.path)
    if repository.code:
        return repository.text
    if await _list_changed_paths(effect.path):
        return "it has uncommitted changes"
    ahead = await _git(folder, "rev-list", "--count", f"HEAD..{effect.branch}")
    if ahead.code:
        return ahead.text
    return "" if ahead.text == "0" else f"{ahead.text} of its commits are not merged"


def _fail_creation(scope: Scope, reason: str) -> WorktreeMade:
    return WorktreeMade(thread=scope.thread, code="worktree_failed", message=f"git created no worktree: {reason}")
