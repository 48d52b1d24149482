"""Who approves what a command line starts: the person in the terminal, or a rule that they give beforehand."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from callboard.contracts.errors import Refusal

from .approvals import Approve

ApproveOption = Annotated[
    Literal["ask", "none", "all-edits", "all"] | None,
    typer.Option(
        "--approve", help="Who approves: you are asked, or a rule of this run. [ask in a terminal, else none]"
    ),
]


def standing(approve: Literal["ask", "none", "all-edits", "all"] | None) -> Approve | None:
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
