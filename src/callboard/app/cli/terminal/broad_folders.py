"""Approval of a home or system folder before it opens."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from callboard.contracts.commands.session import OpenedWorkspace, OpenWorkspace
from callboard.contracts.errors import Problem, Refusal

from .approvals import read_line
from .output import mark_hidden, print_err

Submit = Callable[[OpenWorkspace], Awaitable[OpenedWorkspace]]


async def open_folder(submit: Submit, folder: Path | str, *, wide: bool, asks: bool = True) -> OpenedWorkspace:
    """Open a folder. If the server refuses it as too broad, ask the person at the terminal.

    Args:
        wide: Whether `--wide` approved a broad folder.
        asks: Whether a question is allowed; False with `--yes`.
    Raises:
        Refusal: `folder_too_broad` without an approval, and every refusal of `OpenWorkspace`.
    """
    path = str(folder)
    try:
        return await submit(OpenWorkspace(path=path, wide=wide))
    except Refusal as refusal:
        if refusal.code != "folder_too_broad":
            raise
        problem = refusal.problem
    if not (asks and sys.stdin.isatty() and sys.stderr.isatty() and await _confirm(problem)):
        hint = "Open the folder of one project. To open this one, add --wide."
        raise Refusal("folder_too_broad", problem.message, field="--wide", hint=hint)
    return await submit(OpenWorkspace(path=path, wide=True))


async def _confirm(problem: Problem) -> bool:
    print_err(mark_hidden(problem.message))
    print_err("Agents cannot see keys and shell start-up files. Open it? [y/N] ", end="")
    return (await read_line() or "").strip().casefold() in ("y", "yes")
