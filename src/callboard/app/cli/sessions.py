"""`callboard sessions`."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from callboard.contracts.commands.session import SessionSize
from callboard.contracts.rows.session import SessionCard, WorkspaceRow
from callboard.contracts.text.sentences import format_count

from ..reading import SessionListing, open_reader
from ..state_folder import StateFolder
from .terminal.loop import run_async
from .terminal.options import format_command_help, resolve_folder
from .terminal.output import Style, print_err, print_out, read_terminal_width, to_line
from .terminal.wording import PROCESS_ENDED

_DETAILS = """Reads from the running Callboard, else from the store. Changes nothing. A session that cannot be read is listed as
damaged, with the reason.

\b
Examples:
  callboard sessions
  callboard sessions --folder .         sessions of this folder
  callboard sessions --archived --sizes with archived sessions and sizes
  callboard sessions --json | jq -r 'select(.attention == "needs_input") | .sessionId'
"""
_STATE_COLUMNS, _AGE_COLUMNS = 13, 9


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("sessions", help=format_command_help("list_sessions", _DETAILS), short_help="List the sessions.")(
        _sessions
    )


def _sessions(
    folder: Annotated[
        Path | None, typer.Option("--folder", "-C", help="Project folder. [default: all folders]")
    ] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Also archived sessions.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Output as one JSON line per session.")] = False,
    with_sizes: Annotated[
        bool, typer.Option("--sizes", help="Size of each session; the setting `retention` frees space.")
    ] = False,
) -> None:
    state_folder = StateFolder.from_environment(os.environ)
    listing, workspaces, sizes = (
        run_async(_read(state_folder, with_sizes=with_sizes))
        if state_folder.has_store()
        else (SessionListing(()), (), {})
    )
    paths = {row.workspace_id: row.path for row in workspaces}
    path = None if folder is None else str(folder.expanduser().resolve())
    if folder is not None and path not in paths.values():
        # Sessions of a deleted folder are still listed.
        resolve_folder(folder, "--folder")
    cards = [
        card
        for card in listing.cards
        if (archived or not card.archived) and (path is None or paths.get(card.workspace_id) == path)
    ]
    if json:
        for card in cards:
            print_out(_encode_card(card, sizes.get(card.session_id)))
    elif cards:
        _print(cards, paths, sizes)
    elif not listing.missing:
        print_err('No sessions yet. `callboard run "PROMPT"` creates one.')
    if listing.missing:
        count = format_count(listing.missing, "session")
        verb = "is" if listing.missing == 1 else "are"
        print_err(Style(sys.stderr).warn(f"{count} could not be opened and {verb} not listed. See {state_folder.log}."))


async def _read(
    state_folder: StateFolder, *, with_sizes: bool
) -> tuple[SessionListing, tuple[WorkspaceRow, ...], dict[str, SessionSize]]:
    async with open_reader(state_folder) as reader:
        sizes = await reader.list_sizes() if with_sizes else {}
        return await reader.list_sessions(), await reader.list_workspaces(), sizes


def _encode_card(card: SessionCard, size: SessionSize | None) -> str:
    """Return the card as one JSON line, with its size if there is one."""
    fields = msgspec.to_builtins(card)
    if size is not None:
        fields |= {"factBytes": size.facts, "contentBytes": size.contents}
    return msgspec.json.encode(fields).decode()


def _print(cards: list[SessionCard], paths: dict[str, str], sizes: dict[str, SessionSize]) -> None:
    style = Style(sys.stdout)
    now = datetime.now(UTC).timestamp()
    id_width = max(len(card.session_id) for card in cards)
    width = max(20, read_terminal_width() - id_width - _STATE_COLUMNS - _AGE_COLUMNS - 6) if sys.stdout.isatty() else 0
    for card in cards:
        state = (PROCESS_ENDED if card.state == "lost" else card.state).ljust(_STATE_COLUMNS)
        if card.attention == "needs_input":
            state = style.warn("needs you".ljust(_STATE_COLUMNS))
        elif card.attention == "failed":
            state = style.bad(state)
        folder = to_line(Path(paths.get(card.workspace_id, "")).name)
        age = (_format_age(now - card.updated_at / 1_000_000) if card.updated_at else "").rjust(_AGE_COLUMNS)
        size = sizes.get(card.session_id)
        bytes_used = f"{_format_bytes(size.facts + size.contents)}  " if size is not None else ""
        title_room = max(width - len(bytes_used), 10) if width else 0
        title = to_line(f"{card.title}  {folder}", title_room)
        print_out(f"{card.session_id.ljust(id_width)}  {state}  {style.dim(age)}  {bytes_used}{title}")
        if card.problem:
            print_out(f"{' ' * id_width}  {style.bad(to_line(card.problem))}")
    if any(card.state == "damaged" for card in cards):
        print_err("`callboard check` lists all damage; `callboard restore FILE --replace` restores a backup.")


def _format_bytes(count: int) -> str:
    """Return a number of bytes in six characters and a unit."""
    for size, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")):
        if count >= size:
            return f"{count / size:6.1f} {unit}"
    return f"{count:6} B "


def _format_age(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds / size)} {unit} ago"
    return "now"
