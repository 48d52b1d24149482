"""`callboard restore FILE`."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from ...state_folder import StateFolder
from ..terminal.options import JsonObject
from ..terminal.output import Progress, Style, print_err, print_json, print_out
from ..terminal.wording import format_store_counts

_HELP = """Restore a backup.

Unpacks the backup next to the store and checks every hash and link before anything changes. The former store is kept
under another name in the state folder. Stop Callboard first.

\b
Examples:
  callboard restore callboard-20260101-120000.tar
  callboard restore callboard-20260101-120000.tar --replace     replace an existing store
  CALLBOARD_HOME=/tmp/look callboard restore FILE               restore to another folder, to inspect it

\b
Exit codes: 0 restored, 1 damaged backup or a running process, 2 invalid backup file, 4 existing store.
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("restore", help=_HELP)(_restore)


def _restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Backup file.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replacement of an existing store; the old one is renamed.")
    ] = False,
    damaged: Annotated[
        bool, typer.Option("--damaged", help="Permission to restore a damaged backup as it is.")
    ] = False,
    json: JsonObject = False,
) -> None:
    from ...backups import restore

    state_folder = StateFolder.from_environment(os.environ)
    result = restore(state_folder, file.expanduser(), replace=replace, damaged=damaged, progress=Progress(quiet=json))
    if json:
        print_json(result)
        return
    style = Style(sys.stderr)
    made_at = datetime.fromtimestamp(result.made_at / 1_000_000, UTC)
    print_out(str(state_folder.store))
    counts = format_store_counts(result.streams, result.facts, result.blobs)
    print_err(f"As of {made_at:%Y-%m-%d %H:%M} UTC: {counts}.")
    for path in result.former:
        print_err(style.dim(f"former: {path}"))
