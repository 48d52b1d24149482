"""`callboard run "PROMPT"`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from callboard.client.client import Client
from callboard.client.endpoint import Endpoint
from callboard.contracts.commands import GetSession, SessionRead, SubmitTurn, TurnAccepted
from callboard.contracts.commands.settings import GetSettings, SettingsRead
from callboard.contracts.commands.trust import GetTrust, TrustRead
from callboard.contracts.commands.turns import Attachment, WhenBusy
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.rows import TurnRow
from callboard.contracts.settings import AnyModel

from ...hosting.announcement import find_unused_models
from ...hosting.connection import connect
from ...hosting.serve import count_untrusted
from ...reading import resolve_session
from ...reading.remote_reader import RemoteReader
from ...state_folder import StateFolder
from ..terminal.approvals import Approve
from ..terminal.broad_folders import open_folder
from ..terminal.exit_codes import DONE, ENDED_BY_PERSON, FAILED, INTERRUPTED, REFUSED
from ..terminal.ignored_settings import load_or_warn, warn_shared_folder
from ..terminal.loop import ctrl_c, run_async
from ..terminal.milestones import format_settings_problem, untrusted_note, unused_models_note
from ..terminal.options import ApproveOption, BroadFolder, resolve_approval
from ..terminal.output import Style, mark_hidden, print_err
from .conversation import Conversation

_HELP = """Give an agent a prompt and follow its turn to the end.

The answer goes to standard output, everything else to standard error. Uses the Callboard that runs, or runs one
for as long as the turn takes; the session is kept either way. Ctrl-C stops the turn, a second one leaves at once.

\b
Examples:
  callboard run "Why does the test fail?"
  callboard run "Fix it" --session last            go on in the newest session
  callboard run "Write the report" --approve all-edits
  callboard run "What is wrong here?" --file screenshot.png
  callboard run - < prompt.txt > answer.md
  callboard run "Tidy up" --mode auto --json       every fact, one JSON line each

\b
Exit codes: 0 completed, 1 failed, 2 wrong usage, 3 stopped by somebody else,
4 refused, not started because its agent is paused, or an approval was needed and no user could give it,
130 stopped by Ctrl-C.
"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("run", help=_HELP)(_run)


def _run(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What to do; `-` reads it from standard input.")],
    session: Annotated[str, typer.Option(help="Go on in this session (an id, or `last`) instead of a new one.")] = "",
    folder: Annotated[Path, typer.Option("--folder", "-C", help="The folder to work in.")] = Path(),
    mode: Annotated[Mode, typer.Option(help="Talk, or work the objective until it is finalised.")] = "chat",
    permission: Annotated[
        PermissionMode | None, typer.Option(help="What needs no approval. [your settings, else ask]")
    ] = None,
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="File or image to attach; repeat it for more, at most 20.")
    ] = None,
    when_busy: Annotated[WhenBusy, typer.Option(help="What becomes of the prompt while another turn runs.")] = "queue",
    approve: ApproveOption = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON line a fact instead of text.")] = False,
    wide: BroadFolder = False,
) -> None:
    answered = resolve_approval(approve)
    text = sys.stdin.read() if prompt == "-" else prompt
    if not text.strip():
        raise Refusal("invalid_input", "The prompt is empty.", field="PROMPT", hint="Say what is to be done.")
    wanted = RunRequest(
        prompt=text,
        folder=folder.expanduser().absolute(),
        session=session,
        mode=mode,
        permission=permission,
        files=tuple(path.expanduser().absolute() for path in file or ()),
        when_busy=when_busy,
        approve=answered,
        json=json,
        wide=wide,
    )
    raise typer.Exit(run_async(carry_out(wanted)))


BY_HAND = "Ctrl-C in the terminal"


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One turn, and how it is followed. `session` is empty for a new one; `permission` is None for what is usual in its folder,
    `approve` where a person is asked. `wide` approves a broad folder; `files` are attached."""

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


async def carry_out(wanted: RunRequest) -> int:
    """Gives the prompt and follows the turn; returns the exit code. Raises Refusal."""
    home = StateFolder.from_environment(os.environ)
    settings, _ = await load_or_warn(home)
    with ctrl_c() as asked:
        try:
            async with connect(home, os.environ, lambda found: _tell_unused(found, settings.models)) as client:
                accepted, before = await _submit(client, wanted)
                conversing = Conversation(client, accepted, wanted.approve, as_json=wanted.json, before=before)
                turn = await conversing.run(asked, BY_HAND)
                return exit_of(turn, refused=conversing.refused, by_hand=asked.is_set())
        except asyncio.CancelledError:
            return ENDED_BY_PERSON


def _tell_unused(found: Endpoint, set_here: tuple[AnyModel, ...]) -> None:
    models = find_unused_models(found, set_here, os.environ)
    if models:
        print_err(Style(sys.stderr).warn(unused_models_note(models, found.pid, found.model)))


async def _submit(client: Client, wanted: RunRequest) -> tuple[TurnAccepted, int]:
    """Gives the prompt; returns what became of it, and the sequence before it."""
    request = SubmitTurn(
        text=wanted.prompt,
        mode=wanted.mode,
        when_busy=wanted.when_busy,
        attachments=await _attached(client, wanted.files),
    )
    if wanted.session:
        session = await resolve_session(RemoteReader(client), wanted.session)
        read: SessionRead = await client.submit(GetSession(session_id=session, turns=1))
        warn_shared_folder(read.session.folder)
        permission = await _permission(client, wanted, read.session.workspace_id)
        named = msgspec.structs.replace(request, session_id=session, permission_mode=permission)
        return await client.submit(named), read.head
    opened = await open_folder(client.submit, wanted.folder, wide=wanted.wide)
    warn_shared_folder(opened.path)
    permission = await _permission(client, wanted, opened.workspace_id)
    named = msgspec.structs.replace(request, workspace_id=opened.workspace_id, permission_mode=permission)
    return await client.submit(named), 0


async def _attached(client: Client, files: tuple[Path, ...]) -> tuple[Attachment, ...]:
    """Upload the files. Raises Refusal `invalid_input` of one that cannot be read, before any of them is sent."""
    contents: list[tuple[str, bytes]] = []
    for path in files:
        try:
            contents.append((path.name, await asyncio.to_thread(path.read_bytes)))
        except OSError as error:
            why = f"{path} cannot be read: {error.strerror}."
            raise Refusal("invalid_input", why, field="--file", hint="Name a readable file.") from error
    return tuple([Attachment(upload=(await client.upload(name, data)).upload) for name, data in contents])


async def _permission(client: Client, wanted: RunRequest, workspace: str) -> PermissionMode:
    """The mode that was chosen, else the usual one of the folder; says where the folder's files ask for more than they have."""
    trust: TrustRead = await client.submit(GetTrust(workspace_id=workspace))
    if count_untrusted(trust):
        print_err(Style(sys.stderr).warn(untrusted_note(count_untrusted(trust))))
    for problem in trust.problems:
        print_err(Style(sys.stderr).warn(mark_hidden(format_settings_problem(problem))))
    if wanted.permission is not None:
        return wanted.permission
    settings: SettingsRead = await client.submit(GetSettings(place="folder", workspace_id=workspace))
    return msgspec.convert(settings.holding.get("usual_mode", "ask"), PermissionMode)


def exit_of(turn: TurnRow, *, refused: int, by_hand: bool) -> int:
    """Return the exit code of a turn that ended, after so many refused approvals."""
    match turn.state:
        case "completed":
            return REFUSED if refused else DONE
        case "failed":
            return FAILED
        case _:
            return ENDED_BY_PERSON if by_hand else INTERRUPTED
