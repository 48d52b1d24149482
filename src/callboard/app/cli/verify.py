"""`callboard verify FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from callboard.contracts.errors import Refusal
from callboard.contracts.text.sentences import format_count

from .terminal.exit_codes import DONE, FAILED
from .terminal.options import JsonObject
from .terminal.output import Style, print_json, print_out, to_line

_HELP = """Verify an evidence pack, using only the file.

Recomputes the hash chain of all facts, the hashes of everything that belongs to them, and which facts belong to the
task. Reports the first error and its location. Needs no running Callboard and changes nothing. The pack's README explains
what the pack proves.

\b
Examples:
  callboard verify evidence-ses_…-120.zip
  callboard verify review.zip --link 9d76…     also check that the chain ends with this link
  callboard verify review.zip --json | jq .finding

\b
Exit codes: 0 valid, 1 invalid, 2 unreadable file.
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("verify", help=_HELP)(_verify)


def _verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Evidence pack.")],
    link: Annotated[str, typer.Option(help="Expected last link, received through another channel.")] = "",
    json: JsonObject = False,
) -> None:
    from callboard.evidence.verify import verify

    try:
        with file.open("rb") as opened:
            verdict = verify(opened, link=link.strip())
    except OSError as error:
        why = error.strerror or str(error)
        raise Refusal(
            "invalid_input", f"{file} cannot be read: {why}.", field="FILE", hint="Name a readable evidence pack."
        ) from error
    if json:
        print_json(verdict)
        raise typer.Exit(DONE if verdict.ok else FAILED)
    style = Style(sys.stdout)
    if verdict.finding is not None:
        print_out(f"{style.bad('invalid')}  {to_line(verdict.finding.where)}: {to_line(verdict.finding.what)}")
        raise typer.Exit(FAILED)
    print_out(f"{style.good('valid')}  facts 1 to {verdict.through} of {to_line(verdict.session_id)}")
    if verdict.task_id:
        print_out(f"       {format_count(verdict.task_facts, 'fact')} of {to_line(verdict.task_id)}")
    erased = format_count(verdict.erased, "erased fact")
    print_out(f"       {format_count(verdict.blobs, 'blob')}, {verdict.left_out} left out; {erased}")
    print_out(f"       made by {to_line(verdict.made_by)}")
    print_out(f"link   {verdict.link}")
    print_out(f"pack   {verdict.pack_hash}")
    if not link:
        note = "Compare the link with one from another channel (--link): a forger could compute a new chain."
        print_out(style.dim(note))
