"""Read access to stored sessions, through the running process or directly from the store."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from callboard.contracts.errors import Refusal

from ..hosting.announcement import find_endpoint
from ..state_folder import VARIABLE, StateFolder
from .port import Reader, SessionListing

__all__ = [
    "Reader",
    "SessionListing",
    "build_no_session_refusal",
    "build_no_store_refusal",
    "open_reader",
    "resolve_session",
]


def build_no_session_refusal() -> Refusal:
    """Return the refusal for a store without sessions."""
    return Refusal("unknown_session", "There is no session yet.", hint='`callboard run "PROMPT"` creates one.')


def build_no_store_refusal(state_folder: StateFolder) -> Refusal:
    """Return the refusal for a state folder without a store."""
    hint = f'Set {VARIABLE} to a state folder with a store. `callboard run "PROMPT"` creates one.'
    return Refusal("unknown_session", f"There is no store in {state_folder.folder}.", field=VARIABLE, hint=hint)


@asynccontextmanager
async def open_reader(state_folder: StateFolder) -> AsyncGenerator[Reader]:
    """Open a reader. Without a running process it reads the store as the last process left it, without a takeover.

    Raises:
        Refusal: `unknown_session` if there is no store.
    """
    endpoint = await find_endpoint(state_folder)
    if endpoint is not None:
        from callboard.client import Client

        from .remote_reader import RemoteReader

        async with Client(endpoint, locate=lambda: find_endpoint(state_folder)) as client:
            yield RemoteReader(client)
        return
    if not state_folder.has_store():
        raise build_no_session_refusal()
    from callboard.log.sqlite.store import open_store

    from .local_reader import LocalReader

    store = open_store(state_folder.store, read_only=True)
    try:
        yield LocalReader(store)
    finally:
        await store.close()


async def resolve_session(reader: Reader, name: str) -> str:
    """Return the session id; `last` means the newest session.

    Raises:
        Refusal: `unknown_session` if there are no sessions, `invalid_input` for an empty name.
    """
    if not name.strip():
        hint = "Give an id from `callboard sessions`, or `last`."
        raise Refusal("invalid_input", "No session is named.", field="SESSION", hint=hint)
    if name != "last":
        return name
    cards = (await reader.list_sessions()).cards
    if not cards:
        raise build_no_session_refusal()
    return cards[0].session_id
