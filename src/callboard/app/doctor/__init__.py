"""Checks of the machine, the state folder, the settings and the project folder.

Each finding names the command that fixes it. Checks change nothing, ask no model and open the store for reading only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from ..state_folder import StateFolder
from . import machine_checks, project_checks, state_checks
from .finding import Finding, State

__all__ = ["Finding", "State", "examine"]


async def examine(home: StateFolder, environment: Mapping[str, str], folder: Path) -> tuple[Finding, ...]:
    """Run all checks; return their findings in the order in which a first start needs them."""
    machine, state, project = await asyncio.gather(
        asyncio.to_thread(machine_checks.check_machine, home),
        state_checks.check_state(home, environment),
        project_checks.check_project(home, environment, folder),
    )
    return (*state, *project, *machine)
