"""What is missing or wrong before it stands in the way, and the command that mends it.

finding    one thing that was looked at
machine    the programs and abilities that work is done with
state      the state folder, the store, the process that serves, the port
secrets    those that settings name and nobody has
work       the settings, the models, the folder one is in, the servers of tools

Nothing is changed and nothing is asked of a model; what is open is opened for reading.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from ..state_folder import StateFolder
from . import machine, state, work
from .report import Finding, State

__all__ = ["Finding", "State", "examine"]


async def examine(home: StateFolder, environment: Mapping[str, str], folder: Path) -> tuple[Finding, ...]:
    """Everything that was looked at, in the order in which a first start needs it."""
    of_machine, of_state, of_work = await asyncio.gather(
        asyncio.to_thread(machine.look, home), state.look(home, environment), work.look(home, environment, folder)
    )
    return (*of_state, *of_work, *of_machine)
