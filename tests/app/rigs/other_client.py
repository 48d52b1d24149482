"""Actions of another client of the same server."""

from __future__ import annotations

import asyncio

from callboard.app.hosting.announcement import find_endpoint
from callboard.app.state_folder import StateFolder
from callboard.client import Client
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.session import GetThreadRead, ListSessions, SessionList, ThreadRead
from tests.app.rigs.product import Product


def approve_from_elsewhere(product: Product) -> None:
    """Approve the pending action of the newest session."""

    async def approve() -> None:
        endpoint = await find_endpoint(StateFolder(product.home))
        assert endpoint is not None
        async with Client(endpoint) as client:
            listed: SessionList = await client.submit(ListSessions())
            session = listed.sessions[0].session_id
            read: ThreadRead = await client.submit(GetThreadRead(session_id=session))
            action = read.actions[0].action_id
            await client.submit(RespondAction(session_id=session, action_id=action, decision="approve"))

    asyncio.run(approve())
