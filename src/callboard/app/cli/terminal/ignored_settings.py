"""The settings of a command line beside a Callboard that runs: what the file says is that one's affair."""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.settings import Settings

from ...folder_use import others_on
from ...hosting.announcement import find
from ...settings.loader import load
from ...state_folder import StateFolder
from .milestones import also_served
from .output import Style, err, plain


async def settings_beside(home: StateFolder, **flags: Any) -> tuple[Settings, Refusal | None]:
    """The settings that hold here, and why their file cannot be used. Where it cannot and a Callboard runs, that is told and
    the rest holds, without models: that one goes on with what it read, and is only to be reached.

    Raises Refusal `bad_settings` where none runs, and of a flag or a variable.
    """
    try:
        return load(home, os.environ, **flags), None
    except Refusal as refusal:
        running = await find(home)
        if running is None:
            raise
        rest = load(home, os.environ, file=False, **flags)
        problem = refusal.problem
        style = Style(sys.stderr)
        err(style.warn(plain(problem.message)))
        err(style.dim(f"Process {running.pid}, which runs, goes on with what it read before. {plain(problem.hint)}"))
        return msgspec.structs.replace(rest, models=()), refusal


def warn_of_others(folder: str) -> None:
    """Print a warning for each process that serves the folder with another state folder."""
    for one in others_on(folder, StateFolder.of(os.environ).folder, os.environ):
        err(Style(sys.stderr).warn(also_served(one)))
