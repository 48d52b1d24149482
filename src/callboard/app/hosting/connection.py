"""A client of the running Callboard, or of one started for a single command."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager

from callboard.client import Client, Endpoint

from ..settings.loader import load_settings
from ..state_folder import StateFolder
from .announcement import find_endpoint
from .host import find_or_open, host_runtime


@asynccontextmanager
async def connect(
    state_folder: StateFolder, environment: Mapping[str, str], on_running: Callable[[Endpoint], None]
) -> AsyncGenerator[Client]:
    """Connect to the running process; without one, run the runtime in this process until the end of the block.

    Args:
        on_running: Receives the endpoint of a process that is already running. It uses its own settings.
    Raises:
        Refusal: `store_locked`, `store_unusable`; without a running process also `bad_settings`, `bad_scenario`.
    """
    endpoint = await find_endpoint(state_folder)
    if endpoint is None:
        # Invalid settings must be reported before the store is opened or created.
        settings = load_settings(state_folder, environment)
        opened = await find_or_open(state_folder)
        if not isinstance(opened, Endpoint):
            async with (
                host_runtime(opened, state_folder, settings, environment, stays=False) as host,
                Client(host.endpoint) as client,
            ):
                yield client
            return
        endpoint = opened
    on_running(endpoint)
    async with Client(endpoint, locate=lambda: find_endpoint(state_folder)) as client:
        yield client
