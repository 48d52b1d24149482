"""`callboard check`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ...state_folder import StateFolder
from ..terminal.exit_codes import DONE, FAILED
from ..terminal.options import JsonObject
from ..terminal.output import Progress, Style, print_json, print_out, to_line
from ..terminal.wording import format_store_counts

if TYPE_CHECKING:
    from callboard.log.sqlite.upkeep.damage import Checked

_HELP = """Check all stored data, and report damage.

Reads every fact and link, every blob and hash, every reference, and all derived data (views.db). Changes nothing.
Works while Callboard is running, and on a read-only file system.

\b
Examples:
  callboard check
  callboard check --quick                   check only the newest facts, blobs and rows
  callboard check --json | jq -r '.damages[].name'

\b
Exit codes: 0 no data loss, 1 damaged data, 2 no store.
Damaged views exit with 0, because Callboard rebuilds them from the log. `--json` lists them as `rows_damaged`.
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("check", help=_HELP)(_check)


def _check(
    quick: Annotated[bool, typer.Option("--quick", help="Check of the newest facts, blobs and rows only.")] = False,
    json: JsonObject = False,
) -> int:
    from callboard.log.sqlite.upkeep.store_check import check_store

    from ...reading import build_no_store_refusal

    state_folder = StateFolder.from_environment(os.environ)
    if not state_folder.has_store():
        raise build_no_store_refusal(state_folder)
    checked = check_store(state_folder.store, whole=not quick, progress=Progress(quiet=json))
    if json:
        print_json(checked)
    else:
        _print(checked)
    return DONE if checked.is_sound else FAILED


def _print(checked: Checked) -> None:
    style = Style(sys.stdout)
    for damage in checked.damages:
        location = f"{damage.name}/{damage.sequence}" if damage.kind == "fact" else damage.name
        mark = style.bad("damaged") if damage.is_loss else style.warn("derived")
        print_out(f"{mark}  {damage.kind} {to_line(location)}")
        print_out(f"         {to_line(damage.message)}")
        print_out(f"         {style.dim(to_line(damage.advice))}")
    extent = "" if checked.whole else " (quick check of the newest)"
    counts = format_store_counts(checked.streams, checked.facts, checked.blobs)
    mark = style.good("sound") if checked.is_sound else style.bad(f"{len(checked.damages)} damaged")
    print_out(f"{mark}  {counts} in {checked.store}{extent}")
