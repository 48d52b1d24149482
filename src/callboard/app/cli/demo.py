"""`callboard demo`."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated

import msgspec
import typer

from callboard import __version__
from callboard.client.client import Client
from callboard.client.endpoint import Endpoint
from callboard.contracts.commands import StartDemo, TurnAccepted
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import SessionCreated

from ..demos.demo_catalog import Demo
from ..hosting.connection import connect
from ..state_folder import StateFolder
from .terminal.browser import may_open, open_page
from .terminal.exit_codes import DONE, ENDED_BY_PERSON, FAILED
from .terminal.ignored_settings import load_or_warn
from .terminal.loop import ctrl_c, run_async
from .terminal.output import Style, print_err, print_out
from .terminal.team_watcher import TeamWatcher

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
    from ..demos.demo_catalog import load_demo

    raise typer.Exit(run_async(carry_out(load_demo(name), opens=opens and not json, json=json)))


def _list(*, json: bool) -> None:
    from ..demos.demo_catalog import list_demos

    style = Style(sys.stdout)
    found = list_demos()
    longest = max(len(one.name) for one in found)
    for one in found:
        if json:
            print_out(msgspec.json.encode(one).decode())
        else:
            print_out(f"{style.bold(one.name.ljust(longest))}  {one.title}")
            print_out(f"{' ' * longest}  {style.dim(one.about)}")
    if not json:
        print_err(style.dim("\n`callboard demo NAME` plays one. The agents' words are a script; all else is real."))


class StartedDemo(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="event", tag="started"):
    """A demo began. `link` opens its session in the browser once, `opener` is a file that redirects to it, `folder` is where
    its agents work."""

    name: str
    folder: str
    session_id: str
    link: str
    opener: str


async def carry_out(demo: Demo, *, opens: bool, json: bool) -> int:
    """Plays the demo and follows it; returns the exit code. Raises Refusal."""
    home = StateFolder.from_environment(os.environ)
    settings, _ = await load_or_warn(home)
    joined: list[Endpoint] = []
    with ctrl_c() as asked:
        try:
            async with connect(home, os.environ, joined.append) as client:
                started, accepted = await _start(client, demo)
                _tell(started, demo, json=json)
                if opens and may_open(settings):
                    open_page(started.opener)
                code = await _follow(client, accepted, started, asked, json=json)
                if not asked.is_set() and not json:
                    _say_end(demo, started)
                if not joined and not asked.is_set() and not json and sys.stdout.isatty():
                    print_err(Style(sys.stderr).dim("The page stays open until Ctrl-C."))
                    await asked.wait()
                    return DONE
        except asyncio.CancelledError:
            return ENDED_BY_PERSON
    if asked.is_set() and not json:
        _say_kept(started, goes_on=bool(joined))
    return code


async def _start(client: Client, demo: Demo) -> tuple[StartedDemo, TurnAccepted]:
    if client.endpoint.version != __version__:
        raise Refusal(
            "conflict",
            f"Callboard {client.endpoint.version} is running, and the demos are those of {__version__}.",
            hint="Stop it first, or set CALLBOARD_HOME to another folder.",
        )
    accepted: TurnAccepted = await client.submit(StartDemo(name=demo.name))
    (first,) = await client.read_facts(accepted.session_id, after=0, limit=1)
    folder = msgspec.json.decode(first.payload, type=SessionCreated).folder
    page = await client.create_page_link(f"/s/{accepted.session_id}")
    started = StartedDemo(
        name=demo.name, folder=folder, session_id=accepted.session_id, link=page.link, opener=page.opener
    )
    return started, accepted


async def _follow(
    client: Client, accepted: TurnAccepted, started: StartedDemo, asked: asyncio.Event, *, json: bool
) -> int:
    watching = TeamWatcher(client, accepted.session_id, f"{client.endpoint.url}/#/s/{accepted.session_id}", json=json)
    playing = asyncio.create_task(watching.run())
    leaving = asyncio.create_task(asked.wait())
    try:
        await asyncio.wait((playing, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not playing.done():
            return ENDED_BY_PERSON
        return FAILED if playing.result() else DONE
    finally:
        for task in (playing, leaving):
            task.cancel()
        await asyncio.gather(playing, leaving, return_exceptions=True)


def _tell(started: StartedDemo, demo: Demo, *, json: bool) -> None:
    if json:
        print_out(msgspec.json.encode(started).decode())
        return
    style = Style(sys.stdout)
    asks = {0: "It needs no approval.", 1: "It asks for your approval once."}.get(
        demo.asks, f"It asks for your approval {demo.asks} times."
    )
    print_out(style.bold(demo.title))
    print_out(style.dim(f"The agents' words are a script; runtime, tools, gate and log are the real ones. {asks}"))
    print_out(f"  page     {style.bold(started.link)}")
    print_out(f"  folder   {started.folder}")
    print_out(f"  asked    {demo.objective}\n")


def _say_end(demo: Demo, started: StartedDemo) -> None:
    style = Style(sys.stdout)
    if demo.next:
        print_out(f"\n{style.warn('?')} {demo.next}")
        if demo.say:
            print_out(
                style.dim(f'  Or here: callboard run "{demo.say}" --session {started.session_id} --permission edits')
            )
    print_out(f"\nOver. {_kept(started)}")


def _say_kept(started: StartedDemo, *, goes_on: bool) -> None:
    end = "It goes on in the Callboard that runs." if goes_on else "Stopped in the middle."
    print_err(f"\n{end} {_kept(started)}")


def _kept(started: StartedDemo) -> str:
    return f"Kept: the folder {started.folder} and the session (callboard view {started.session_id})."
