"""`callboard run PROMPT`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from callboard.client import Client, Endpoint
from callboard.contracts.commands.permission import GetTrust, TrustRead
from callboard.contracts.commands.session import GetSession, SessionRead
from callboard.contracts.commands.settings import GetSettings, SettingsRead
from callboard.contracts.commands.turn import Attachment, SubmitTurn, TurnAccepted, WhenBusy
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.settings import AnyModel

from ...hosting.announcement import find_unused_models
from ...hosting.connection import connect
from ...hosting.serve import count_untrusted
from ...reading import resolve_session
from ...reading.remote_reader import RemoteReader
from ...state_folder import StateFolder
from ..terminal.approvals import Approve
from ..terminal.broad_folders import open_folder
from ..terminal.exit_codes import ENDED_BY_PERSON, work_exit_code
from ..terminal.ignored_settings import load_or_warn, warn_shared_folder
from ..terminal.loop import handle_ctrl_c, run_async
from ..terminal.milestones import format_settings_problem, format_untrusted, format_unused_models
from ..terminal.options import ApproveOption, BroadFolder, FolderOption, JsonFacts, resolve_approval
from ..terminal.output import Style, mark_hidden, print_err
from .conversation import Conversation

_HELP = """Send a prompt to an agent, and follow its turn to the end.

The answer goes to standard output, everything else to standard error. Uses the running Callboard, or starts one until
the turn ends. The session is kept. Ctrl-C stops the turn; a second Ctrl-C exits immediately.

\b
Examples:
  callboard run "Why does the test fail?"
  callboard run "Fix it" --session last            continue the newest session
  callboard run "Write the report" --approve all-edits
  callboard run "What is wrong here?" --file screenshot.png
  callboard run - < prompt.txt > answer.md
  callboard run "Tidy up" --mode auto --json       print every fact, one JSON line each

\b
Exit codes: 0 completed, 1 failed, 2 wrong usage, 3 stopped by another client or with its process,
4 refused, not started because its agent is paused, not allowed, or an approval that no person could give,
130 stopped by Ctrl-C.
"""
BY_HAND = "Ctrl-C in the terminal"


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of one turn.

    Attributes:
        session: Empty for a new session.
        permission: None for the default mode of the folder.
        approve: None if the person in the terminal answers approvals.
        wide: Whether a broad folder is approved.
        files: Files to attach.
    """

    prompt: str
    folder: Path
    session: str
    mode: Mode
    permission: PermissionMode | None
    when_busy: WhenBusy
    approve: Approve | None
    json: bool
    wide: bool = False
    files: tuple[Path, ...] = ()


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("run", help=_HELP)(_run)


def _run(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="Prompt; `-` reads it from standard input.")],
    session: Annotated[str, typer.Option(help="Session id, or `last`. [default: a new session]")] = "",
    folder: FolderOption = Path(),
    mode: Annotated[
        Mode, typer.Option(help="One response per prompt (chat), or work until the objective is met (auto).")
    ] = "chat",
    permission: Annotated[
        PermissionMode | None, typer.Option(help="Permission mode. [default: your settings, else ask]")
    ] = None,
    file: Annotated[
        list[Path] | None,
        typer.Option("--file", metavar="PATH", help="File or image to attach; repeatable, at most 20."),
    ] = None,
    when_busy: Annotated[
        WhenBusy, typer.Option(help="Action if another turn is running: queue, interrupt it, or refuse.")
    ] = "queue",
    approve: ApproveOption = None,
    json: JsonFacts = False,
    wide: BroadFolder = False,
) -> None:
    policy = resolve_approval(approve)
    text = sys.stdin.read() if prompt == "-" else prompt
    if not text.strip():
        raise Refusal("invalid_input", "The prompt is empty.", field="PROMPT", hint="Describe the task.")
    request = RunRequest(
        prompt=text,
        folder=folder,
        session=session,
        mode=mode,
        permission=permission,
        files=tuple(path.expanduser().absolute() for path in file or ()),
        when_busy=when_busy,
        approve=policy,
        json=json,
        wide=wide,
    )
    raise typer.Exit(run_async(_run_request(request)))


async def _run_request(request: RunRequest) -> int:
    """Send the prompt and follow the turn; return the exit code. Raises Refusal."""
    state_folder = StateFolder.from_environment(os.environ)
    settings, _ = await load_or_warn(state_folder)
    with handle_ctrl_c() as stop:
        try:
            async with connect(
                state_folder, os.environ, lambda endpoint: _warn_unused(endpoint, settings.models)
            ) as client:
                accepted, before = await _submit(client, request)
                conversation = Conversation(client, accepted, request.approve, as_json=request.json, before=before)
                turn = await conversation.run(stop, BY_HAND)
                return work_exit_code(
                    turn.state, cause=turn.code, unapproved=conversation.refused, by_hand=stop.is_set()
                )
        except asyncio.CancelledError:
            return ENDED_BY_PERSON


def _warn_unused(endpoint: Endpoint, models: tuple[AnyModel, ...]) -> None:
    unused = find_unused_models(endpoint, models, os.environ)
    if unused:
        print_err(Style(sys.stderr).warn(format_unused_models(unused, endpoint.pid, endpoint.model)))


async def _submit(client: Client, request: RunRequest) -> tuple[TurnAccepted, int]:
    """Submit the turn; return its acceptance, and the sequence before it."""
    command = SubmitTurn(
        text=request.prompt,
        mode=request.mode,
        when_busy=request.when_busy,
        attachments=await _upload_files(client, request.files),
    )
    if request.session:
        session = await resolve_session(RemoteReader(client), request.session)
        read: SessionRead = await client.submit(GetSession(session_id=session, turns=1))
        warn_shared_folder(read.session.folder)
        permission = await _choose_permission_mode(client, request, read.session.workspace_id)
        command = msgspec.structs.replace(command, session_id=session, permission_mode=permission)
        return await client.submit(command), read.head
    opened = await open_folder(client.submit, request.folder, wide=request.wide)
    warn_shared_folder(opened.path)
    permission = await _choose_permission_mode(client, request, opened.workspace_id)
    command = msgspec.structs.replace(command, workspace_id=opened.workspace_id, permission_mode=permission)
    return await client.submit(command), 0


async def _upload_files(client: Client, files: tuple[Path, ...]) -> tuple[Attachment, ...]:
    """Upload the files. Raises Refusal `invalid_input` for an unreadable file, before any upload."""
    contents: list[tuple[str, bytes]] = []
    for path in files:
        try:
            contents.append((path.name, await asyncio.to_thread(path.read_bytes)))
        except OSError as error:
            why = f"{path} cannot be read: {error.strerror}."
            raise Refusal("invalid_input", why, field="--file", hint="Name a readable file.") from error
    return tuple([Attachment(upload=(await client.upload(name, data)).upload) for name, data in contents])


async def _choose_permission_mode(client: Client, request: RunRequest, workspace: str) -> PermissionMode:
    """Return the chosen mode, else the default of the folder; warn about untrusted requests and invalid settings."""
    trust: TrustRead = await client.submit(GetTrust(workspace_id=workspace))
    if count_untrusted(trust):
        print_err(Style(sys.stderr).warn(format_untrusted(count_untrusted(trust))))
    for problem in trust.problems:
        print_err(Style(sys.stderr).warn(mark_hidden(format_settings_problem(problem))))
    if request.permission is not None:
        return request.permission
    settings: SettingsRead = await client.submit(GetSettings(place="folder", workspace_id=workspace))
    return msgspec.convert(settings.holding.get("usual_mode", "ask"), PermissionMode)
