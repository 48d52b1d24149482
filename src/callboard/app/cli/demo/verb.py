"""`callboard demo`."""

from __future__ import annotations

import sys
from typing import Annotated

import msgspec
import typer

from ..terminal.loop import run_async
from ..terminal.output import Style, err, out

_HELP = """Watch a team at work in a folder of its own.

The runtime, the tools, the gate and the log are the real ones; what the agents say is a script that comes with Callboard, so no
model is asked and none is needed. What asks for your approval waits for it. Uses the Callboard that runs, or runs one until
Ctrl-C; folder and session are kept either way.

\b
Examples:
  callboard demo                          what there is to watch
  callboard demo review_team              watch one, here and in the browser
  callboard demo review_team --no-open    print the page's address only
  callboard demo --list --json            one JSON object a line
  callboard demo solo_run --json          every fact, one JSON line each
"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("demo", help=_HELP)(_demo)


def _demo(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Which one.", show_default=False)] = "",
    listed: Annotated[bool, typer.Option("--list", help="What there is.")] = False,
    opens: Annotated[bool, typer.Option("--open/--no-open", help="Open the page when there is a display.")] = True,
    json: Annotated[bool, typer.Option("--json", help="JSON lines instead of text; opens no browser.")] = False,
) -> None:
    if listed or not name:
        _list(json=json)
        return
    from ...demos.catalog import demo
    from .run import carry_out

    raise typer.Exit(run_async(carry_out(demo(name), opens=opens and not json, json=json)))


def _list(*, json: bool) -> None:
    from ...demos.catalog import demos

    style = Style(sys.stdout)
    found = demos()
    longest = max(len(one.name) for one in found)
    for one in found:
        if json:
            out(msgspec.json.encode(one).decode())
        else:
            out(f"{style.bold(one.name.ljust(longest))}  {one.title}")
            out(f"{' ' * longest}  {style.dim(one.about)}")
    if not json:
        err(style.dim("\n`callboard demo NAME` plays one. The agents' words are a script; all else is real."))
