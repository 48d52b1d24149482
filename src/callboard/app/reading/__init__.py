"""Reading without changing anything: from the process that runs, or from the store where none does.

port      what can be read
remote    of the process that runs
local     of a store that nobody writes
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from callboard.contracts.errors import Refusal

from ..hosting.announcement import find_endpoint
from ..state_folder import VARIABLE, StateFolder
from .port import Reader, SessionListing

__all__ = ["Reader", "SessionListing", "no_session", "no_store", "open_reader", "resolve_session"]


def no_session() -> Refusal:
    """What is said where no session was ever made."""
    return Refusal("unknown_session", "There is no session yet.", hint='`callboard run "PROMPT"` makes one.')


def no_store(home: StateFolder) -> Refusal:
    """The refusal of a state folder that may be another one than was meant."""
    hint = f'Set {VARIABLE} to a state folder that has one. `callboard run "PROMPT"` makes one.'
    return Refusal("unknown_session", f"There is no store in {home.folder}.", field=VARIABLE, hint=hint)


@asynccontextmanager
async def open_reader(home: StateFolder) -> AsyncGenerator[Reader]:
    """What can be read. Opening a store that nobody writes takes nothing over: what ran reads as it was left.

    Raises Refusal `unknown_session` where there is no store yet.
    """
    endpoint = await find_endpoint(home)
    if endpoint is not None:
        from callboard.client.client import Client

        from .remote_reader import RemoteReader

        async with Client(endpoint, locate=lambda: find_endpoint(home)) as client:
            yield RemoteReader(client)
        return
    if not home.has_store():
        raise no_session()
    from callboard.log.sqlite.store import open_store

    from .local_reader import LocalReader

    store = open_store(home.store, read_only=True)
    try:
        yield LocalReader(store)
    finally:
        await store.close()


async def resolve_session(source: Reader, named: str) -> str:
    """The session's id: as it is named, or the newest one where that is `last`. Raises Refusal `unknown_session`, and
    `invalid_input` where it is empty."""
    if not named.strip():
        hint = "Give an id as `callboard sessions` lists them, or `last`."
        raise Refusal("invalid_input", "No session is named.", field="SESSION", hint=hint)
    if named != "last":
        return named
    cards = (await source.list_sessions()).cards
    if not cards:
        raise no_session()
    return cards[0].session_id
