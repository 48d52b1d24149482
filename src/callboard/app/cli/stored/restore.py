"""`callboard restore FILE`."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from ...state_folder import StateFolder
from ..terminal.output import Progress, Style, print_err, print_out

_HELP = """Put a backup in the place of what is stored.

Unpacks the backup beside the store and checks all of it, every hash and every link, before anything changes. The former store
stays under another name in the state folder. Stop Callboard first.

\b
Examples:
  callboard restore callboard-20260101-120000.tar
  callboard restore callboard-20260101-120000.tar --replace     over a store that is there
  CALLBOARD_HOME=/tmp/look callboard restore FILE               beside it, to look into it

\b
Exit codes: 0 restored, 1 the backup is damaged or a process writes to the store, 2 the file is no backup, 4 there is a store.
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("restore", help=_HELP)(_restore)


def _restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")],
    replace: Annotated[bool, typer.Option("--replace", help="Restore over a store, which is kept.")] = False,
    damaged: Annotated[bool, typer.Option("--damaged", help="Restore a damaged backup as it is.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    from ...backups import restore

    home = StateFolder.from_environment(os.environ)
    done = restore(home, file.expanduser(), replace=replace, damaged=damaged, progress=Progress(quiet=json))
    if json:
        print_out(msgspec.json.encode(done).decode())
        return
    style = Style(sys.stderr)
    made = datetime.fromtimestamp(done.made_at / 1_000_000, UTC)
    print_out(str(home.store))
    print_err(f"As of {made:%Y-%m-%d %H:%M} UTC: {done.streams} streams, {done.facts:,} facts, {done.blobs:,} blobs.")
    for one in done.former:
        print_err(style.dim(f"what was there before: {one}"))
