"""`callboard check`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from ...state_folder import StateFolder
from ..terminal.exit_codes import DONE, FAILED
from ..terminal.output import Progress, Style, print_out, to_line

if TYPE_CHECKING:
    from callboard.log.sqlite.upkeep.damage import Checked

_HELP = """Check all that is stored, and name what is damaged.

Reads every fact with its link, every blob with its hash, every reference between them, and all derived data (views.db).
Changes nothing. Works while another `callboard` runs, and on a read-only file system.

\b
Examples:
  callboard check
  callboard check --quick                   the newest facts, blobs and rows only
  callboard check --json | jq -r '.damages[].name'

\b
Exit codes: 0 nothing is lost, 1 something is damaged, 2 there is nothing to check.
Damaged views exit with 0: derived data is folded anew from the log. `--json` names them with the code `rows_damaged`.
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("check", help=_HELP)(_check)


def _check(
    quick: Annotated[bool, typer.Option("--quick", help="The newest facts, blobs and rows only.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> int:
    from callboard.log.sqlite.upkeep.checking import check_store

    from ...reading import no_store

    home = StateFolder.from_environment(os.environ)
    if not home.has_store():
        raise no_store(home)
    checked = check_store(home.store, whole=not quick, progress=Progress(quiet=json))
    if json:
        print_out(msgspec.json.encode(checked).decode())
    else:
        _print(checked)
    return DONE if checked.sound else FAILED


def _print(checked: Checked) -> None:
    style = Style(sys.stdout)
    for one in checked.damages:
        place = f"{one.name}/{one.sequence}" if one.kind == "fact" else one.name
        mark = style.bad("damaged") if one.loses else style.warn("derived")
        print_out(f"{mark}  {one.kind} {to_line(place)}")
        print_out(f"         {to_line(one.message)}")
        print_out(f"         {style.dim(to_line(one.advice))}")
    how = "" if checked.whole else " (a quick look at the newest)"
    mark = style.good("sound") if checked.sound else style.bad(f"{len(checked.damages)} damaged")
    print_out(
        f"{mark}  {checked.streams} streams, {checked.facts:,} facts, {checked.blobs:,} blobs in {checked.store}{how}"
    )
