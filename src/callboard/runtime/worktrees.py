"""A git worktree for a child: its own copy of the folder's files on a branch of its own, which its parent merges.

It stands beside the repository, outside of every workspace's folder and of the user's state, so that the child's tools and its
sandbox reach it like any folder. Git is run by the runtime: in the sandbox `.git` cannot be written.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from callboard.contracts.commands.team import Merge
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.effects import RemoveWorktree
from callboard.control.outcomes import WorktreeLeft, WorktreeMade
from callboard.control.state import Child
from callboard.tools.outlasting import outlast

from .host import SessionHost

#: Nothing that a folder's files say is run: no hooks, no monitor, no signing program.
_OPTIONS = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "commit.gpgsign=false"),
    *("-c", "user.name=Callboard", "-c", "user.email=callboard@localhost"),
)


#: One merge at a time in each folder.
_merging: dict[str, asyncio.Lock] = {}


class _Said(NamedTuple):
    """What git said. `code` 0 is success."""

    code: int
    text: str


async def isolate(host: SessionHost, scope: Scope) -> None:
    """Makes the child's worktree beside the repository and reports it, or why there is none."""
    folder = host.home.folder
    number = host.session[-6:].lower()
    branch = f"callboard/{number}/{scope.agent}"
    top = await _git(folder, "rev-parse", "--show-toplevel", "--show-prefix", "HEAD")
    if top.code:
        await host.report(_failed(scope, top.text))
        return
    root, *rest = top.text.splitlines()
    prefix, base = (rest[0], rest[-1]) if len(rest) > 1 else ("", rest[-1])
    path = Path(root).with_name(f".{Path(root).name}-{number}-{scope.agent}")
    if not path.exists():
        made = await _git(folder, "worktree", "add", "--quiet", "-B", branch, str(path), base)
        if made.code:
            await host.report(_failed(scope, made.text))
            return
    await host.report(WorktreeMade(thread=scope.thread, path=str(path / prefix).rstrip("/"), branch=branch, base=base))


class Merged(NamedTuple):
    """What a merge came to. `files` are those that it changed, `conflict` those for which nothing was merged; `said` is git's
    word on it."""

    status: Literal["merged", "nothing_to_merge", "conflict", "failed"]
    said: str
    files: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()


async def merge(host: SessionHost, arguments: str) -> ToolOutcome:
    """Merges the child's branch into the folder for an agent's call."""
    asked = msgspec.json.decode(arguments, type=Merge)
    merged = await merge_child(host, asked.agent)
    if merged.status in ("merged", "nothing_to_merge"):
        return ToolOutcome(output=merged.said)
    return ToolOutcome(output="", code="merge_failed", message=merged.said)


async def merge_child(host: SessionHost, agent: str) -> Merged:
    """Merges the child's branch into the folder, all of it or nothing, also where the task is cancelled meanwhile. What the
    child left uncommitted is committed first."""
    merged, _ = await outlast(asyncio.create_task(_merge(host, agent)))
    return merged


async def _merge(host: SessionHost, agent: str) -> Merged:
    thread = next((one for one in host.state.threads.values() if one.agent == agent), None)
    child = thread.child if thread is not None else None
    if child is None or not child.worktree:
        return Merged("failed", f"{agent} has no worktree any more.")
    async with _merging.setdefault(host.home.folder, asyncio.Lock()):
        return await _merged(host.home.folder, agent, child)


async def _merged(folder: str, agent: str, child: Child) -> Merged:
    if not (await _git(folder, "rev-parse", "--quiet", "--verify", "MERGE_HEAD")).code:
        return Merged("failed", "A merge is under way in the folder already: end it first.")
    if (await _git(child.worktree, "status", "--porcelain")).text:
        await _git(child.worktree, "add", "--all")
        await _git(child.worktree, "commit", "--quiet", "--no-verify", "-m", f"The work of {agent}")
    ahead = await _git(folder, "rev-list", "--count", f"HEAD..{child.branch}")
    if ahead.code:
        return Merged("failed", ahead.text)
    if ahead.text == "0":
        return Merged("nothing_to_merge", f"{agent} changed nothing that is not here already.")
    merged = await _git(folder, "merge", "--no-ff", "--no-edit", "-m", f"Merge the work of {agent}", child.branch)
    if not merged.code:
        stat = await _git(folder, "diff", "--stat", "HEAD^1", "HEAD")
        return Merged("merged", stat.text, await _names(folder, "HEAD^1", "HEAD"))
    conflicts = await _names(folder, "--diff-filter=U")
    await _git(folder, "merge", "--abort")
    if not conflicts:
        return Merged("failed", f"Nothing was merged: {merged.text}")
    said = f"These files are in conflict, and nothing was merged: {', '.join(conflicts)}."
    return Merged("conflict", said, conflict=conflicts)


async def _names(folder: str, *which: str) -> tuple[str, ...]:
    """The files that differ."""
    return tuple((await _git(folder, "diff", "--name-only", *which)).text.splitlines())


async def remove(host: SessionHost, effect: RemoveWorktree) -> None:
    """Removes a closed child's worktree and its branch, where it changed nothing or all of it is merged; else reports that it
    stays."""
    scope, folder = effect.scope, host.home.folder
    reason = await _unmerged(folder, effect)
    if not reason:
        top = await _git(effect.path, "rev-parse", "--show-toplevel")
        gone = await _git(folder, "worktree", "remove", "--force", top.text) if not top.code else top
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
    changed = await _git(effect.path, "status", "--porcelain")
    if changed.code:
        return changed.text
    if changed.text:
        return "it has changes that are not committed"
    ahead = await _git(folder, "rev-list", "--count", f"HEAD..{effect.branch}")
    if ahead.code:
        return ahead.text
    return "" if ahead.text == "0" else f"{ahead.text} of its commits are not merged"


def _failed(scope: Scope, said: str) -> WorktreeMade:
    return WorktreeMade(thread=scope.thread, code="worktree_failed", message=f"git made no worktree: {said}")


async def _git(folder: str, *arguments: str) -> _Said:
    try:
        process = await asyncio.create_subprocess_exec(
            *("git", "-C", folder, *_OPTIONS, *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    except OSError as error:
        return _Said(127, f"git cannot be run ({error.strerror})")
    out, _ = await process.communicate()
    return _Said(process.returncode or 0, out.decode(errors="replace").strip())
