"""Options and arguments that several verbs share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from callboard.contracts.errors import Refusal

from .approvals import Approve

SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="Session id, or `last`.")]
FolderOption = Annotated[Path, typer.Option("--folder", "-C", help="Project folder.", show_default="current folder")]
ReasonOption = Annotated[str, typer.Option(help="Reason, recorded in the log.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Permission to replace an existing file.")]
JsonObject = Annotated[bool, typer.Option("--json", help="Output as one JSON object.")]
JsonFacts = Annotated[bool, typer.Option("--json", help="Output as one JSON line per fact.")]
BroadFolder = Annotated[bool, typer.Option("--wide", help="Permission to open a home or system folder.")]
ApproveOption = Annotated[
    Literal["ask", "none", "all-edits", "all"] | None,
    typer.Option(
        "--approve", help="Who approves: you are asked, or a rule of this run. [ask in a terminal, else none]"
    ),
]


def resolve_approval(approve: Literal["ask", "none", "all-edits", "all"] | None) -> Approve | None:
    """What answers in place of a person; None where one is asked. Raises Refusal `invalid_input` where there is no terminal."""
    interactive = sys.stdin.isatty() and sys.stderr.isatty()
    if approve == "ask" and not interactive:
        raise Refusal(
            "invalid_input",
            "There is no terminal to ask in.",
            field="--approve",
            hint="Use --approve none, all-edits or all.",
        )
    chosen = ("ask" if interactive else "none") if approve is None else approve
    return None if chosen == "ask" else chosen
