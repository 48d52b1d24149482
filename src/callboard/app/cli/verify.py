"""`callboard verify FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from callboard.contracts.errors import Refusal

from .terminal.exit_codes import DONE, FAILED
from .terminal.output import Style, print_out, to_line

_HELP = """Check a pack of evidence, with nothing but the file.

Recomputes the chain of every fact from the first to the last, the hashes of everything that goes with them, and which facts
are of the task that it was asked for. Says the first thing that is wrong and where. Needs no running Callboard and changes
nothing. What it proves and what it does not is in the pack's README.

\b
Examples:
  callboard verify evidence-ses_…-120.zip
  callboard verify review.zip --link 9d76…     also: the chain ends with the link that you were told another way
  callboard verify review.zip --json | jq .finding

\b
Exit codes: 0 it holds, 1 something is wrong, 2 the file cannot be read.
"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("verify", help=_HELP)(_verify)


def _verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The pack.")],
    link: Annotated[str, typer.Option(help="The last link, as you were told it another way.")] = "",
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    from callboard.evidence.verify import verify

    try:
        with file.open("rb") as opened:
            verdict = verify(opened, link=link.strip())
    except OSError as error:
        why = error.strerror or str(error)
        raise Refusal("invalid_input", f"{file} cannot be read: {why}.", field="FILE") from error
    if json:
        print_out(msgspec.json.encode(verdict).decode())
        raise typer.Exit(DONE if verdict.ok else FAILED)
    style = Style(sys.stdout)
    if verdict.finding is not None:
        print_out(f"{style.bad('wrong')}  {to_line(verdict.finding.where)}: {to_line(verdict.finding.what)}")
        raise typer.Exit(FAILED)
    print_out(f"{style.good('holds')}  facts 1 to {verdict.through} of {to_line(verdict.session_id)}")
    if verdict.task_id:
        print_out(f"       {verdict.task_facts} of them are of {to_line(verdict.task_id)}")
    print_out(f"       {verdict.blobs} blobs, {verdict.left_out} left out, {verdict.erased} facts erased")
    print_out(f"       made by {to_line(verdict.made_by)}")
    print_out(f"link   {verdict.link}")
    print_out(f"pack   {verdict.pack_hash}")
    if not link:
        print_out(
            style.dim(
                "That nobody made a whole new chain is sure once the link is the one you were told another way (--link)."
            )
        )
