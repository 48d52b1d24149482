"""A git worktree for a child: its own copy of the folder's files on a branch of its own, which its parent merges."""

from __future__ import annotations

import asyncio
from pathlib import Path

from callboard.contracts.scope import Scope
from callboard.control.outcomes import WorktreeMade

from .host import SessionHost


async def isolate(host: SessionHost, scope: Scope) -> None:
    """Makes the child's worktree beside the folder and reports it, or why there is none."""
    folder = host.home.folder
    number = host.session[-6:].lower()
    path = str(Path(folder).with_name(f".{Path(folder).name}-{number}-{scope.agent}"))
    branch = f"callboard/{number}/{scope.agent}"
    code, base = await _git(folder, "rev-parse", "HEAD")
    if code == 0:
        code, said = await _git(folder, "worktree", "add", "--quiet", "-b", branch, path, base)
    else:
        said = base
    if code == 0:
        made = WorktreeMade(thread=scope.thread, path=path, branch=branch, base=base)
    else:
        made = WorktreeMade(thread=scope.thread, code="worktree_failed", message=f"git made no worktree: {said}")
    await host.report(made)


async def _git(folder: str, *arguments: str) -> tuple[int, str]:
    try:
        process = await asyncio.create_subprocess_exec(
            "git", "-C", folder, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
    except OSError as error:
        return 127, f"git cannot be run ({error.strerror})"
    out, _ = await process.communicate()
    return process.returncode or 0, out.decode(errors="replace").strip()
