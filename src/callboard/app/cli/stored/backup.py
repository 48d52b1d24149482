"""`callboard backup PLACE`."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from callboard.contracts.text.sentences import format_count

from ...state_folder import StateFolder
from ..terminal.options import ForceOption, JsonObject
from ..terminal.output import Progress, Style, print_err, print_json, print_out
from ..terminal.wording import format_store_counts

_HELP = """Back up all stored data to one file.

PLACE is a file, or a folder that gets a file named by the time. The backup is a snapshot of one moment, even while
Callboard is running. The copy is checked before the backup is written.

\b
Includes: the log with all content, the settings, the names of secrets, and pending uploads.
Omits: views.db (rebuilt from the log), the values of secrets (in the system keyring), the token, the incident log.
The backup is not encrypted: store it where only you can read it. Agents can read project folders, so those need --in-project.

\b
Examples:
  callboard backup /mnt/disk
  callboard backup ~/before-update.tar
  callboard backup /mnt/disk --json | jq -r .file

\b
Exit codes: 0 written, 1 damaged store or failed disk, 2 invalid path or request.
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("backup", help=_HELP)(_backup)


def _backup(
    path: Annotated[Path, typer.Argument(metavar="PLACE", help="File to write, or a folder.")],
    force: ForceOption = False,
    damaged: Annotated[bool, typer.Option("--damaged", help="Permission to back up a damaged store as it is.")] = False,
    in_project: Annotated[
        bool, typer.Option("--in-project", help="Permission to write into a project folder, where agents can read it.")
    ] = False,
    json: JsonObject = False,
) -> None:
    from ...backups import back_up
    from ...reading import build_no_store_refusal

    state_folder = StateFolder.from_environment(os.environ)
    if not state_folder.has_store():
        raise build_no_store_refusal(state_folder)
    backup = back_up(
        state_folder,
        path.expanduser(),
        force=force,
        damaged=damaged,
        in_project=in_project,
        progress=Progress(quiet=json),
    )
    if json:
        print_json(backup)
        return
    style = Style(sys.stderr)
    print_out(backup.file)
    counts = format_store_counts(backup.streams, backup.facts, backup.blobs)
    print_err(f"{counts}; {format_count(backup.size, 'byte')}.")
    if backup.project:
        print_err(
            style.warn(
                f"Agents in {backup.project} can read this backup, with the sessions of all folders. Move it soon."
            )
        )
    if backup.damages:
        print_err(
            style.warn(
                f"It contains {format_count(backup.damages, 'damaged part')}. `callboard check` lists the damage."
            )
        )
    for name in backup.left_out:
        print_err(style.dim(f"not included: {name}"))
    options = " --damaged" if backup.damages else ""
    print_err(style.dim(f"Restore it: callboard restore {shlex.quote(backup.file)}{options}"))
