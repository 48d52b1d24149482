"""The settings of a command line beside a Callboard that runs: what the file says is that one's affair."""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.settings import Settings

from ...folder_use import find_others
from ...hosting.announcement import find_endpoint
from ...settings.loader import load_settings
from ...state_folder import StateFolder
from .milestones import shared_folder_note
from .output import Style, print_err, strip_controls


async def load_or_warn(home: StateFolder, **flags: Any) -> tuple[Settings, Refusal | None]:
    """The settings that hold here, and why their file cannot be used. Where it cannot and a Callboard runs, that is told and
    the rest holds, without models: that one goes on with what it read, and is only to be reached.

    Raises Refusal `bad_settings` where none runs, and of a flag or a variable.
    """
    try:
        return load_settings(home, os.environ, **flags), None
    except Refusal as refusal:
        running = await find_endpoint(home)
        if running is None:
            raise
        rest = load_settings(home, os.environ, file=False, **flags)
        problem = refusal.problem
        style = Style(sys.stderr)
        print_err(style.warn(strip_controls(problem.message)))
        print_err(
            style.dim(
                f"Process {running.pid}, which runs, goes on with what it read before. {strip_controls(problem.hint)}"
            )
        )
        return msgspec.structs.replace(rest, models=()), refusal


def warn_shared_folder(folder: str) -> None:
    """Print a warning for each process that serves the folder with another state folder."""
    for one in find_others(folder, StateFolder.from_environment(os.environ).folder, os.environ):
        print_err(Style(sys.stderr).warn(shared_folder_note(one)))
