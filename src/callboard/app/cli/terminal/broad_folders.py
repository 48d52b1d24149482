"""The question before a home or a folder of the system is opened."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from callboard.contracts.commands import OpenWorkspace, WorkspaceIsOpen
from callboard.contracts.errors import Problem, Refusal

from .approvals import read_line
from .output import mark_hidden, print_err

Submit = Callable[[OpenWorkspace], Awaitable[WorkspaceIsOpen]]


async def open_folder(submit: Submit, folder: Path | str, *, wide: bool, asks: bool = True) -> WorkspaceIsOpen:
    """Open a folder; where the server refuses it as too broad, ask the person at the terminal and open it with an approval.

    Args:
        wide: True if the person approved a broad folder with `--wide`.
        asks: False if no question may be put, such as with `--yes`.
    Raises:
        Refusal: `folder_too_broad` without an approval, and what opening refuses.
    """
    path = str(folder)
    try:
        return await submit(OpenWorkspace(path=path, wide=wide))
    except Refusal as refusal:
        if refusal.code != "folder_too_broad":
            raise
        problem = refusal.problem
    if not (asks and sys.stdin.isatty() and sys.stderr.isatty() and await _approves(problem)):
        hint = "Open the folder of one project. If you mean this one, add --wide."
        raise Refusal("folder_too_broad", problem.message, field="--wide", hint=hint)
    return await submit(OpenWorkspace(path=path, wide=True))


async def _approves(problem: Problem) -> bool:
    print_err(mark_hidden(problem.message))
    print_err("Keys and start files of shells stay hidden from agents. Open it? [y/N] ", end="")
    return (await read_line() or "").strip().casefold() in ("y", "yes")
