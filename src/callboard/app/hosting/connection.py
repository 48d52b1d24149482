"""A client of Callboard, whether it runs already or is run here for as long as it is needed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager

from callboard.client.client import Client
from callboard.client.endpoint import Endpoint

from ..settings.loader import load_settings
from ..state_folder import StateFolder
from .announcement import find_endpoint
from .host import find_or_open, host_runtime


@asynccontextmanager
async def connect(
    home: StateFolder, environment: Mapping[str, str], join: Callable[[Endpoint], None]
) -> AsyncGenerator[Client]:
    """A client of the process that writes the store; where there is none, this one writes it until the end of the block.

    `join` is told of a process that was there before, which is only to be reached: its settings are its own.
    Raises Refusal `store_locked`, `store_unusable`, and where none runs `bad_settings`, `bad_scenario`.
    """
    found = await find_endpoint(home)
    if found is None:
        # Before anything is opened: where they cannot be used nothing is made.
        settings = load_settings(home, environment)
        opened = await find_or_open(home)
        if not isinstance(opened, Endpoint):
            async with (
                host_runtime(opened, home, settings, environment, stays=False) as host,
                Client(host.endpoint) as client,
            ):
                yield client
            return
        found = opened
    join(found)
    async with Client(found, locate=lambda: find_endpoint(home)) as client:
        yield client
