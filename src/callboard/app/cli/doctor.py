"""`callboard doctor`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from ..state_folder import StateFolder
from .terminal.exit_codes import DONE, FAILED
from .terminal.loop import run_async
from .terminal.output import Style, mark_hidden, print_out

_HELP = """Look for what is missing or wrong, and say what mends it.

Changes nothing and asks no model. Exits with 1 where something does not work.

\b
Examples:
  callboard doctor
  callboard doctor --json | jq -r 'select(.state == "bad") | .mend'
"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("doctor", help=_HELP)(_doctor)


def _doctor(
    folder: Annotated[Path, typer.Option("--folder", "-C", help="The folder to work in.")] = Path(),
    json: Annotated[bool, typer.Option("--json", help="One JSON line a finding.")] = False,
) -> int:
    # Here, since no other verb looks at all of it.
    from ..doctor import Finding, examine

    findings = run_async(examine(StateFolder.from_environment(os.environ), os.environ, folder.expanduser().resolve()))

    def tell(one: Finding, width: int, style: Style) -> None:
        mark = {"ok": style.good("ok  "), "warn": style.warn("warn"), "bad": style.bad("bad ")}[one.state]
        print_out(f"{mark}  {one.name.ljust(width)}  {mark_hidden(one.said)}")
        if one.means:
            print_out(f"      {' ' * width}  {style.dim(one.means)}")
        if one.mend:
            print_out(f"      {' ' * width}  {style.bold(mark_hidden(one.mend))}")

    if json:
        for one in findings:
            print_out(msgspec.json.encode(one).decode())
    else:
        width, style = max(len(one.name) for one in findings), Style(sys.stdout)
        for one in findings:
            tell(one, width, style)
    return FAILED if any(one.state == "bad" for one in findings) else DONE
