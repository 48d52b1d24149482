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


async def examine(state_folder: StateFolder, environment: Mapping[str, str], folder: Path) -> tuple[Finding, ...]:
    """Run all checks; return their findings in the order in which a first start needs them."""
    machine, state, project = await asyncio.gather(
        asyncio.to_thread(machine_checks.check_machine, state_folder),
        state_checks.check_state(state_folder, environment),
        project_checks.check_project(state_folder, environment, folder),
    )
    return (*state, *project, *machine)
