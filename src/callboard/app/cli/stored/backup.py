"""`callboard backup PLACE`."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from ...state_folder import StateFolder
from ..terminal.output import Progress, Style, print_err, print_out

_HELP = """Write a backup of all that is stored to one file.

PLACE is the file to write, or a folder, which gets a file named by the time. The log is copied as of one moment, also while
another `callboard` runs, and the whole copy is checked before the backup is written.

\b
Contains: the log with all its content, the settings, the names of secrets, and uploads that wait.
Leaves out: views.db (made anew from the log), the values of secrets (in the system's keyring), the token, the log of incidents.
It is not encrypted: keep it where only you can read it. A place in a project's folder is refused, since agents read there.

\b
Examples:
  callboard backup /mnt/disk
  callboard backup ~/before-update.tar
  callboard backup /mnt/disk --json | jq -r .file

\b
Exit codes: 0 written, 1 the store is damaged or the disk failed, 2 the place or the request was wrong.
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("backup", help=_HELP)(_backup)


def _backup(
    place: Annotated[Path, typer.Argument(metavar="PLACE", help="The file to write, or a folder.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    damaged: Annotated[bool, typer.Option("--damaged", help="Back up a damaged store as it is.")] = False,
    in_project: Annotated[
        bool, typer.Option("--in-project", help="Allow a place in a project's folder, where agents can read it.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    from ...backups import back_up
    from ...reading import no_store

    home = StateFolder.from_environment(os.environ)
    if not home.has_store():
        raise no_store(home)
    made = back_up(
        home, place.expanduser(), force=force, damaged=damaged, in_project=in_project, progress=Progress(quiet=json)
    )
    if json:
        print_out(msgspec.json.encode(made).decode())
        return
    style = Style(sys.stderr)
    print_out(made.file)
    print_err(f"{made.streams} streams, {made.facts:,} facts, {made.blobs:,} blobs; {made.size:,} bytes.")
    if made.project:
        print_err(
            style.warn(
                f"Agents in {made.project} can read this backup, with the sessions of all folders. Move it soon."
            )
        )
    if made.damages:
        print_err(style.warn(f"{made.damages} damaged in it: `callboard check` lists them."))
    for one in made.left_out:
        print_err(style.dim(f"left out: {one}"))
    options = " --damaged" if made.damages else ""
    print_err(style.dim(f"Restore it: callboard restore {shlex.quote(made.file)}{options}"))
