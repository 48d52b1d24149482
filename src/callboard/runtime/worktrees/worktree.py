"""A git worktree for a child: its own copy of the folder's files on a branch of its own, which its parent merges.

It stands beside the repository, outside of every workspace's folder and of the user's state, so that the child's tools and its
sandbox reach it like any folder. Git is run by the runtime: in the sandbox `.git` cannot be written.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from callboard.contracts import casing
from callboard.contracts.commands.team import Merge
from callboard.contracts.content import Blob
from callboard.contracts.entities import worktree as worktrees
from callboard.contracts.facts.tool import FileChange
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.effects import RemoveWorktree
from callboard.control.outcomes import WorktreeLeft, WorktreeMade
from callboard.control.state.session import Child
from callboard.tools.shielded_wait import wait_shielded

from ..sessions.host import SessionHost
from .git import git as _git
from .git import git_paths, locate_repository
from .merged_files import read_merged_files

log = logging.getLogger(__name__)

#: No program of anybody's is asked what differs.
_PLAIN = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
#: One merge at a time in each folder.
_merging: dict[str, asyncio.Lock] = {}


async def create_worktree(host: SessionHost, scope: Scope) -> None:
    """Makes the child's worktree beside the repository and reports it, or why there is none. A child that nobody told would
    wait for it for ever."""
    try:
        made = await _isolated(host, scope)
    except Exception as error:
        log.exception("a worktree could not be made")
        made = _failed(scope, f"the runtime failed ({type(error).__name__})")
    await host.report(made)


async def _isolated(host: SessionHost, scope: Scope) -> WorktreeMade:
    folder = host.workspace.folder
    branch = f"callboard/{worktrees.number(host.session)}/{scope.agent}"
    found = await locate_repository(folder)
    if found.code:
        return _failed(scope, found.text)
    root, prefix, base = found.text.splitlines()
    path = Path(root).with_name(worktrees.name(Path(root).name, host.session, scope.agent))
    if not path.exists():
        made = await _git(folder, "worktree", "add", "--quiet", "-B", branch, str(path), base)
        if made.code:
            return _failed(scope, made.text)
    return WorktreeMade(thread=scope.thread, path=str(path / prefix).rstrip("/"), branch=branch, base=base)


class MergeResult(NamedTuple):
    """What a merge came to. `files` are those that it changed, `conflict` those for which nothing was merged; `said` is git's
    word on it. `brought` are the files below the folder, and `blobs` what they hold."""

    status: Literal["merged", "nothing_to_merge", "conflict", "failed"]
    message: str
    files: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    changes: tuple[FileChange, ...] = ()
    blobs: tuple[Blob, ...] = ()


async def merge_for_call(host: SessionHost, arguments: str) -> tuple[ToolOutcome, tuple[FileChange, ...]]:
    """Merges the child's branch into the folder for an agent's call; and the files that came with it."""
    asked = casing.decode(arguments, Merge)
    merged = await merge_child(host, asked.agent)
    if merged.status in ("merged", "nothing_to_merge"):
        return ToolOutcome(output=merged.message, blobs=merged.blobs), merged.changes
    return ToolOutcome(output="", code="merge_failed", message=merged.message), ()


async def merge_child(host: SessionHost, agent: str) -> MergeResult:
    """Merges the child's branch into the folder, all of it or nothing, also where the task is cancelled meanwhile. What the
    child left uncommitted is committed first."""
    merged, _ = await wait_shielded(asyncio.create_task(_merge(host, agent)))
    return merged


async def _merge(host: SessionHost, agent: str) -> MergeResult:
    thread = next((one for one in host.state.threads.values() if one.agent == agent), None)
    child = thread.child if thread is not None else None
    if child is None or not child.worktree:
        return MergeResult("failed", f"{agent} has no worktree any more.")
    async with _merging.setdefault(host.workspace.folder, asyncio.Lock()):
        return await _merged(host.workspace.folder, agent, child, host.dependencies.secrets.redact_bytes)


async def _merged(folder: str, agent: str, child: Child, redact: Callable[[bytes], bytes]) -> MergeResult:
    place = await locate_repository(folder)
    if place.code:
        return MergeResult("failed", f"Nothing was merged: {place.text}.")
    if not (await _git(folder, "rev-parse", "--quiet", "--verify", "MERGE_HEAD")).code:
        return MergeResult("failed", "A merge is under way in the folder already: end it first.")
    if await _kept(child.worktree):
        await _git(child.worktree, "commit", "--quiet", "--no-verify", "-m", f"The work of {agent}")
    ahead = await _git(folder, "rev-list", "--count", f"HEAD..{child.branch}")
    if ahead.code:
        return MergeResult("failed", ahead.text)
    if ahead.text == "0":
        return MergeResult("nothing_to_merge", f"{agent} changed nothing that is not here already.")
    merged = await _git(
        folder, "merge", "--no-ff", "--no-edit", "--no-stat", "-m", f"Merge the work of {agent}", child.branch
    )
    if not merged.code:
        stat = await _git(folder, "diff", *_PLAIN, "--stat", "HEAD^1", "HEAD")
        files = await _names(folder, "HEAD^1", "HEAD")
        changes, blobs = await read_merged_files(folder, "HEAD^1", "HEAD", redact)
        return MergeResult("merged", stat.text, files, changes=changes, blobs=blobs)
    conflicts = await _names(folder, "--diff-filter=U")
    await _git(folder, "merge", "--abort")
    if not conflicts:
        return MergeResult("failed", f"Nothing was merged: {merged.text}")
    said = f"These files are in conflict, and nothing was merged: {', '.join(conflicts)}."
    return MergeResult("conflict", said, conflict=conflicts)


async def _names(folder: str, *which: str) -> tuple[str, ...]:
    """The files that differ."""
    return await git_paths(folder, "diff", *_PLAIN, "--name-only", "-z", *which)


async def _kept(worktree: str) -> bool:
    """Puts what the child left into the index, and says whether there is any. A repository of its own that it made there is
    left out."""
    changed = await _changed(worktree)
    mine = [one for one in changed if not one.endswith("/")]
    if mine:
        root = (await locate_repository(worktree)).text.partition("\n")[0]
        named = ("--all", "--pathspec-from-file=-", "--pathspec-file-nul")
        await _git(root, "--literal-pathspecs", "add", *named, stdin="\0".join(mine))
    return bool(mine)


async def _changed(worktree: str) -> tuple[str, ...]:
    """The paths of a worktree, from its top, that are not as its newest commit has them."""
    asked = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")
    return tuple(one[3:] for one in await git_paths(worktree, *asked))


async def remove_worktree(host: SessionHost, effect: RemoveWorktree) -> None:
    """Removes a closed child's worktree and its branch, where it changed nothing or all of it is merged; else reports that it
    stays."""
    scope, folder = effect.scope, host.workspace.folder
    reason = await _unmerged(folder, effect)
    if not reason:
        there = await locate_repository(effect.path)
        root = there.text.partition("\n")[0]
        gone = await _git(folder, "worktree", "remove", "--force", root) if not there.code else there
        reason = gone.text if gone.code else ""
    if not reason:
        await _git(folder, "branch", "--quiet", "-D", effect.branch)
        return
    await host.report(
        WorktreeLeft(
            agent=scope.agent, parent=scope.parent_thread, path=effect.path, branch=effect.branch, reason=reason
        )
    )


async def _unmerged(folder: str, effect: RemoveWorktree) -> str:
    there = await locate_repository(effect.path)
    if there.code:
        return there.text
    if await _changed(effect.path):
        return "it has changes that are not committed"
    ahead = await _git(folder, "rev-list", "--count", f"HEAD..{effect.branch}")
    if ahead.code:
        return ahead.text
    return "" if ahead.text == "0" else f"{ahead.text} of its commits are not merged"


def _failed(scope: Scope, said: str) -> WorktreeMade:
    return WorktreeMade(thread=scope.thread, code="worktree_failed", message=f"git made no worktree: {said}")
