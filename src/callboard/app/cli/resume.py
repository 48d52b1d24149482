"""`callboard resume`."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import msgspec
import typer

from callboard.client import Client
from callboard.contracts.commands.session import GetSession, SessionRead
from callboard.contracts.commands.turn import ResumeThread, ThreadChanged, TurnAccepted

from ..hosting.connection import connect
from ..reading import build_no_session_refusal, resolve_session
from ..reading.remote_reader import RemoteReader
from ..state_folder import StateFolder
from .run.conversation import Conversation
from .run.run import BY_HAND
from .terminal.approvals import Approve
from .terminal.exit_codes import DONE, ENDED_BY_PERSON, work_exit_code
from .terminal.ignored_settings import warn_shared_folder
from .terminal.loop import handle_ctrl_c, run_async
from .terminal.options import (
    ApproveOption,
    JsonFacts,
    ReasonOption,
    SessionArgument,
    format_command_help,
    resolve_approval,
)
from .terminal.output import print_err

_DETAILS = """After that, follows the turn that starts to its end. An agent is paused after its process ended, after a
failed turn with turns queued behind it, or after repeated identical results. The page shows the reason; `callboard view
SESSION` shows the turns. Uses the running Callboard, or starts one until the turn ends. Ctrl-C stops the turn; a second
Ctrl-C exits immediately.

SESSION is an id from `callboard sessions`, or `last`.

\b
Examples:
  callboard resume last
  callboard resume last --tree            also its children that stopped with their process
  callboard resume SESSION --approve all-edits --json

\b
Exit codes: 0 completed or no turn waited, 1 failed, 2 wrong usage, 3 stopped by another client or with its process,
4 refused, such as an agent that is not paused, not allowed, or an approval that no person could give,
130 stopped by Ctrl-C.
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("resume", help=format_command_help("resume_thread", _DETAILS))(_resume)


def _resume(
    session: SessionArgument,
    thread: Annotated[
        str, typer.Option(metavar="THREAD", help="Thread of the agent. [default: thread of the lead]")
    ] = "",
    tree: Annotated[bool, typer.Option("--tree", help="Also its children that stopped with their process.")] = False,
    reason: ReasonOption = "",
    approve: ApproveOption = None,
    json: JsonFacts = False,
) -> None:
    command = ResumeThread(session_id=session, thread_id=thread or None, tree=tree, reason=reason)
    raise typer.Exit(run_async(_run(command, resolve_approval(approve), as_json=json)))


async def _run(command: ResumeThread, approve: Approve | None, *, as_json: bool) -> int:
    """Resume the agent and follow the turn that starts; return the exit code.

    Raises:
        Refusal: `unknown_session`, `unknown_thread`, `thread_not_paused`, or why no turn can start.
    """
    state_folder = StateFolder.from_environment(os.environ)
    if not state_folder.has_store():
        raise build_no_session_refusal()
    with handle_ctrl_c() as stop:
        try:
            async with connect(state_folder, os.environ, lambda _: None) as client:
                changed, before = await _submit(client, command)
                if not changed.turn_id:
                    if not as_json:
                        print_err("Resumed. No turn of this agent waited.")
                    return DONE
                accepted = TurnAccepted(
                    session_id=changed.session_id,
                    thread_id=changed.thread_id,
                    turn_id=changed.turn_id,
                    status="started",
                    sequence=changed.sequence,
                )
                conversation = Conversation(client, accepted, approve, as_json=as_json, before=before)
                turn = await conversation.run(stop, BY_HAND)
                return work_exit_code(
                    turn.state, cause=turn.code, unapproved=conversation.refused, by_hand=stop.is_set()
                )
        except asyncio.CancelledError:
            return ENDED_BY_PERSON


async def _submit(client: Client, command: ResumeThread) -> tuple[ThreadChanged, int]:
    """Resume the agent; return the result, and the sequence before it."""
    session = await resolve_session(RemoteReader(client), command.session_id)
    read: SessionRead = await client.submit(GetSession(session_id=session, turns=1))
    warn_shared_folder(read.session.folder)
    return await client.submit(msgspec.structs.replace(command, session_id=session)), read.head
