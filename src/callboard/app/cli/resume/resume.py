"""What `callboard resume` does once it is clear which agent is resumed."""

from __future__ import annotations

import asyncio
import os

import msgspec

from callboard.client.client import Client
from callboard.contracts.commands import GetSession, ResumeThread, SessionRead, ThreadChanged, TurnAccepted

from ...hosting.connection import connected
from ...reading import newest_session, nothing_yet
from ...reading.remote import RemoteReader
from ...state_folder import StateFolder
from ..run.conversation import Conversation
from ..run.run import BY_HAND, exit_of
from ..terminal.approvals import Approve
from ..terminal.exit_codes import DONE, ENDED_BY_PERSON
from ..terminal.ignored_settings import warn_of_others
from ..terminal.loop import ctrl_c
from ..terminal.output import err


async def carry_out(command: ResumeThread, approve: Approve | None, *, as_json: bool) -> int:
    """Resume the agent and follow the turn that starts.

    Returns:
        The exit code.
    Raises:
        Refusal: `unknown_session`, `unknown_thread`, `thread_not_paused`, or why no turn can start.
    """
    home = StateFolder.of(os.environ)
    if not home.has_store():
        raise nothing_yet()
    with ctrl_c() as asked:
        try:
            async with connected(home, os.environ, lambda _: None) as client:
                changed, before = await _resumed(client, command)
                if not changed.turn_id:
                    if not as_json:
                        err("Resumed. No turn of this agent waited.")
                    return DONE
                accepted = TurnAccepted(
                    session_id=changed.session_id,
                    thread_id=changed.thread_id,
                    turn_id=changed.turn_id,
                    status="started",
                    sequence=changed.sequence,
                )
                conversing = Conversation(client, accepted, approve, as_json=as_json, before=before)
                turn = await conversing.run(asked, BY_HAND)
                return exit_of(turn, refused=conversing.refused, by_hand=asked.is_set())
        except asyncio.CancelledError:
            return ENDED_BY_PERSON


async def _resumed(client: Client, command: ResumeThread) -> tuple[ThreadChanged, int]:
    """Resume the agent; return what runs now, and the sequence before it."""
    session = await newest_session(RemoteReader(client), command.session_id)
    read: SessionRead = await client.submit(GetSession(session_id=session, turns=1))
    warn_of_others(read.session.folder)
    return await client.submit(msgspec.structs.replace(command, session_id=session)), read.head
