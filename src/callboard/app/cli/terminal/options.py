"""Arguments, options and help texts that several verbs share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from callboard.contracts.commands.base import COMMANDS
from callboard.contracts.errors import Refusal

from .approvals import Approve

SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="Session id, or `last`.")]
ReasonOption = Annotated[str, typer.Option(help="Reason, recorded in the log.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Permission to replace an existing file.")]
JsonObject = Annotated[bool, typer.Option("--json", help="Output as one JSON object.")]
JsonFacts = Annotated[bool, typer.Option("--json", help="Output as facts, one JSON line each.")]
BroadFolder = Annotated[bool, typer.Option("--wide", help="Permission to open a home or system folder.")]
ApproveOption = Annotated[
    Literal["ask", "none", "all-edits", "all"] | None,
    typer.Option(
        "--approve", help="Approvals: ask you, none, all file edits, or all. [default: ask in a terminal, else none]"
    ),
]


def resolve_folder(folder: Path, field: str) -> Path:
    """Return the folder as an absolute path. Raises Refusal `no_folder`, naming `field`."""
    path = folder.expanduser().absolute()
    if not path.is_dir():
        raise Refusal("no_folder", f"{path} is not a folder.", field=field, hint="Give an existing folder.")
    return path


def _check_folder(folder: Path) -> Path:
    return resolve_folder(folder, "--folder")


FolderOption = Annotated[
    Path,
    typer.Option(
        "--folder",
        "-C",
        callback=_check_folder,
        help="Project folder. [default: .]",
        show_default=False,
    ),
]


def format_command_help(name: str, details: str = "") -> str:
    """Return the summary of a declared command, followed by details of the verb."""
    summary = COMMANDS[name].summary
    return f"{summary}\n\n{details}" if details else summary


def resolve_approval(approve: Literal["ask", "none", "all-edits", "all"] | None) -> Approve | None:
    """Return the policy that answers approvals; None if the person in the terminal answers them.

    Raises:
        Refusal: `invalid_input` for `ask` without a terminal.
    """
    interactive = sys.stdin.isatty() and sys.stderr.isatty()
    if approve == "ask" and not interactive:
        raise Refusal(
            "invalid_input",
            "`ask` needs a terminal.",
            field="--approve",
            hint="Use --approve none, all-edits or all.",
        )
    policy = ("ask" if interactive else "none") if approve is None else approve
    return None if policy == "ask" else policy
