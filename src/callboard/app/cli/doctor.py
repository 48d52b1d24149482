"""`callboard doctor`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..state_folder import StateFolder
from .terminal.exit_codes import DONE, FAILED
from .terminal.loop import run_async
from .terminal.options import FolderOption
from .terminal.output import Style, mark_hidden, print_json, print_out

_HELP = """Check the installation, the settings and a project folder, and suggest fixes.

Changes nothing and calls no model. Exits with 1 if a check is bad.

\b
Examples:
  callboard doctor
  callboard doctor --json | jq -r 'select(.state == "bad") | .fix'
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("doctor", help=_HELP)(_doctor)


def _doctor(
    folder: FolderOption = Path(),
    json: Annotated[bool, typer.Option("--json", help="Output as one JSON line per finding.")] = False,
) -> int:
    # A local import: no other verb needs all of these modules.
    from ..doctor import Finding, examine

    state_folder = StateFolder.from_environment(os.environ)
    findings = run_async(examine(state_folder, os.environ, folder.resolve()))
    style, width = Style(sys.stdout), max(len(finding.name) for finding in findings)

    def show(finding: Finding) -> None:
        mark = {"ok": style.good("ok  "), "warn": style.warn("warn"), "bad": style.bad("bad ")}[finding.state]
        print_out(f"{mark}  {finding.name.ljust(width)}  {mark_hidden(finding.message)}")
        if finding.effect:
            print_out(f"      {' ' * width}  {style.dim(finding.effect)}")
        if finding.fix:
            print_out(f"      {' ' * width}  {style.bold(mark_hidden(finding.fix))}")

    for finding in findings:
        (print_json if json else show)(finding)
    return FAILED if any(finding.state == "bad" for finding in findings) else DONE
