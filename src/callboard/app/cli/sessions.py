"""`callboard sessions`."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from callboard.contracts.commands import COMMANDS
from callboard.contracts.commands.sizes import SessionSize
from callboard.contracts.rows import SessionCard, WorkspaceRow

from ..reading import SessionListing, open_reader
from ..state_folder import StateFolder
from .terminal.loop import run_async
from .terminal.output import Style, print_err, print_out, terminal_width, to_line
from .terminal.wording import format_count

_HELP = f"""List the sessions. ({COMMANDS["list_sessions"].summary})

Reads from the process that runs, or from the store where none does; changes nothing.
A session that cannot be read is listed as damaged, with the reason.

\b
Examples:
  callboard sessions
  callboard sessions --folder .         those of this folder
  callboard sessions --archived --sizes how much room each takes
  callboard sessions --json | jq -r 'select(.attention == "needs_input") | .sessionId'
"""
_STATE_COLUMNS, _AGE_COLUMNS = 11, 9


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("sessions", help=_HELP)(_sessions)


def _sessions(
    folder: Annotated[Path | None, typer.Option("--folder", "-C", help="Only those of this folder.")] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Those that were archived, too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON line a session.")] = False,
    with_sizes: Annotated[
        bool, typer.Option("--sizes", help="How much room each takes; the setting retention gives some back.")
    ] = False,
) -> None:
    home = StateFolder.from_environment(os.environ)
    listed, workspaces, sizes = (
        run_async(_read(home, with_sizes=with_sizes)) if home.has_store() else (SessionListing(()), (), {})
    )
    paths = {row.workspace_id: row.path for row in workspaces}
    wanted = None if folder is None else str(folder.expanduser().resolve())
    shown = [
        card
        for card in listed.cards
        if (archived or not card.archived) and (wanted is None or paths.get(card.workspace_id) == wanted)
    ]
    if json:
        for card in shown:
            print_out(_json(card, sizes.get(card.session_id)))
    elif shown:
        _print(shown, paths, sizes)
    elif not listed.missing:
        print_err('No sessions yet. `callboard run "PROMPT"` makes one.')
    if listed.missing:
        print_err(Style(sys.stderr).warn(_missing(listed.missing, home)))


async def _read(
    home: StateFolder, *, with_sizes: bool
) -> tuple[SessionListing, tuple[WorkspaceRow, ...], dict[str, SessionSize]]:
    async with open_reader(home) as source:
        sizes = await source.list_sizes() if with_sizes else {}
        return await source.list_sessions(), await source.list_workspaces(), sizes


def _missing(count: int, home: StateFolder) -> str:
    """Say how many sessions have no line, and where the reason is."""
    verb = "is" if count == 1 else "are"
    return f"{format_count(count, 'session')} could not be opened and {verb} not listed. {home.log} says why."


def _json(card: SessionCard, size: SessionSize | None) -> str:
    """The card as one line, with what it takes where that was asked for."""
    told = msgspec.to_builtins(card)
    if size is not None:
        told |= {"factBytes": size.facts, "contentBytes": size.contents}
    return msgspec.json.encode(told).decode()


def _print(cards: list[SessionCard], paths: dict[str, str], sizes: dict[str, SessionSize]) -> None:
    style = Style(sys.stdout)
    now = datetime.now(UTC).timestamp()
    ids = max(len(card.session_id) for card in cards)
    room = max(20, terminal_width() - ids - _STATE_COLUMNS - _AGE_COLUMNS - 6) if sys.stdout.isatty() else 0
    for card in cards:
        state = card.state.ljust(_STATE_COLUMNS)
        if card.attention == "needs_input":
            state = style.warn("needs you".ljust(_STATE_COLUMNS))
        elif card.attention == "failed":
            state = style.bad(state)
        folder = to_line(Path(paths.get(card.workspace_id, "")).name)
        age = (_age(now - card.updated_at / 1_000_000) if card.updated_at else "").rjust(_AGE_COLUMNS)
        size = sizes.get(card.session_id)
        room_taken = f"{_bytes(size.facts + size.contents)}  " if size is not None else ""
        about = f"{room_taken}{to_line(f'{card.title}  {folder}', max(room - len(room_taken), 10) if room else 0)}"
        print_out(f"{card.session_id.ljust(ids)}  {state}  {style.dim(age)}  {about}")
        if card.problem:
            print_out(f"{' ' * ids}  {style.bad(to_line(card.problem))}")
    if any(card.state == "damaged" for card in cards):
        print_err(
            "`callboard check` lists all that is damaged; `callboard restore FILE --replace` puts a backup in place."
        )


def _bytes(count: int) -> str:
    """A number of bytes in six characters and a unit."""
    for size, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")):
        if count >= size:
            return f"{count / size:6.1f} {unit}"
    return f"{count:6} B "


def _age(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds / size)} {unit} ago"
    return "now"
