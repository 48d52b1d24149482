"""Settings of this command line that a running Callboard does not use."""

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
from .milestones import format_shared_folder
from .output import Style, print_err, strip_controls


async def load_or_warn(state_folder: StateFolder, **flags: Any) -> tuple[Settings, Refusal | None]:
    """Load the settings; while Callboard is running, report an invalid file as a warning.

    The running process keeps its last valid settings. This process then uses the defaults, without models.

    Returns:
        The settings, and why the file is invalid; None if it is valid.
    Raises:
        Refusal: `bad_settings` for an invalid option or variable, or for an invalid file if no Callboard is running.
    """
    try:
        return load_settings(state_folder, os.environ, **flags), None
    except Refusal as refusal:
        running = await find_endpoint(state_folder)
        if running is None:
            raise
        settings = load_settings(state_folder, os.environ, file=False, **flags)
        style = Style(sys.stderr)
        print_err(style.warn(strip_controls(refusal.problem.message)))
        hint = strip_controls(refusal.problem.hint)
        print_err(style.dim(f"Process {running.pid} continues with its last valid settings. {hint}"))
        return msgspec.structs.replace(settings, models=()), refusal


def warn_shared_folder(folder: str) -> None:
    """Print a warning for each process that serves the folder with another state folder."""
    for use in find_others(folder, StateFolder.from_environment(os.environ).folder, os.environ):
        print_err(Style(sys.stderr).warn(format_shared_folder(use)))
