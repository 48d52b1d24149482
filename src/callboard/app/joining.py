"""A client of Callboard, whether it runs already or is run here for as long as it is needed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager

from callboard.contracts.settings import Settings

from .client import Client
from .endpoint import Endpoint, find
from .home import Home
from .hosting import find_or_open, hosted


@asynccontextmanager
async def connected(
    home: Home, settings: Settings, environment: Mapping[str, str], join: Callable[[Endpoint], None]
) -> AsyncGenerator[Client]:
    """A client of the process that writes the store; where there is none, this one writes it until the end of the block.

    `join` is told of a process that was there before.
    Raises Refusal `store_locked`, `store_unusable`, `bad_settings`, `bad_scenario`.
    """
    found = await find_or_open(home)
    if isinstance(found, Endpoint):
        join(found)
        async with Client(found, locate=lambda: find(home)) as client:
            yield client
        return
    async with hosted(found, home, settings, environment, stays=False) as host, Client(host.endpoint) as client:
        yield client
