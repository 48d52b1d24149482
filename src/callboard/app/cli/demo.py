"""`callboard demo`."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated

import msgspec
import typer

from callboard import __version__
from callboard.client import Client, Endpoint
from callboard.contracts.commands.session import StartDemo
from callboard.contracts.commands.turn import TurnAccepted
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import SessionCreated

from ..demos.demo_catalog import Demo, list_demos, load_demo
from ..hosting.connection import connect
from ..state_folder import StateFolder
from .terminal.browser import can_open, open_page
from .terminal.exit_codes import DONE, ENDED_BY_PERSON, FAILED
from .terminal.ignored_settings import load_or_warn
from .terminal.loop import handle_ctrl_c, run_async
from .terminal.options import format_command_help
from .terminal.output import Style, print_err, print_json, print_out
from .terminal.team_watcher import TeamWatcher

_DETAILS = """Needs no key. Some demos ask for your approval. Uses the running Callboard, or starts one until Ctrl-C.
The folder and the session are kept.

\b
Examples:
  callboard demo                          list the demos
  callboard demo review_team              watch one here and in the browser
  callboard demo review_team --no-open    print the page's address only
  callboard demo --list --json            one JSON line per demo
  callboard demo solo_run --json          one JSON line per fact
"""


class StartedDemo(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="event", tag="started"):
    """A started demo.

    `link` opens its session in the browser once; `opener` is a file that redirects to it. `folder` is where its agents work.
    """

    name: str
    folder: str
    session_id: str
    link: str
    opener: str


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("demo", help=format_command_help("start_demo", _DETAILS), short_help="Play a demo.")(_demo)


def _demo(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Demo to watch.", show_default=False)] = "",
    listed: Annotated[bool, typer.Option("--list", help="List of demos.")] = False,
    opens: Annotated[
        bool, typer.Option("--open/--no-open", help="Whether to open the page if there is a display.")
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="Output as JSON lines, without a browser.")] = False,
) -> None:
    if listed or not name:
        _list(json=json)
        return
    raise typer.Exit(run_async(_run(load_demo(name), opens=opens and not json, json=json)))


def _list(*, json: bool) -> None:
    style = Style(sys.stdout)
    demos = list_demos()
    width = max(len(demo.name) for demo in demos)
    for demo in demos:
        if json:
            print_json(demo)
        else:
            print_out(f"{style.bold(demo.name.ljust(width))}  {demo.title}")
            print_out(f"{' ' * width}  {style.dim(demo.about)}")
    if not json:
        print_err(style.dim("\n`callboard demo NAME` runs one. A script replaces the model; everything else is real."))


async def _run(demo: Demo, *, opens: bool, json: bool) -> int:
    """Run the demo and follow it; return the exit code. Raises Refusal."""
    state_folder = StateFolder.from_environment(os.environ)
    settings, _ = await load_or_warn(state_folder)
    running: list[Endpoint] = []
    with handle_ctrl_c() as stop:
        try:
            async with connect(state_folder, os.environ, running.append) as client:
                started, accepted = await _start(client, demo)
                _print_start(started, demo, json=json)
                if opens and can_open(settings):
                    open_page(started.opener)
                code = await _follow(client, accepted, stop, json=json)
                if not stop.is_set() and not json:
                    _print_end(demo, started)
                if not running and not stop.is_set() and not json and sys.stdout.isatty():
                    print_err(Style(sys.stderr).dim("The page stays open until Ctrl-C."))
                    await stop.wait()
                    return DONE
        except asyncio.CancelledError:
            return ENDED_BY_PERSON
    if stop.is_set() and not json:
        end = "The demo continues in the running Callboard." if running else "Stopped before its end."
        print_err(f"\n{end} {_describe_kept(started)}")
    return code


async def _start(client: Client, demo: Demo) -> tuple[StartedDemo, TurnAccepted]:
    if client.endpoint.version != __version__:
        raise Refusal(
            "conflict",
            f"Callboard {client.endpoint.version} is running; this demo needs {__version__}.",
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


async def _follow(client: Client, accepted: TurnAccepted, stop: asyncio.Event, *, json: bool) -> int:
    address = f"{client.endpoint.url}/#/s/{accepted.session_id}"
    watcher = TeamWatcher(client, accepted.session_id, address, json=json)
    watching = asyncio.create_task(watcher.run())
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((watching, stopping), return_when=asyncio.FIRST_COMPLETED)
        if not watching.done():
            return ENDED_BY_PERSON
        return FAILED if watching.result() else DONE
    finally:
        for task in (watching, stopping):
            task.cancel()
        await asyncio.gather(watching, stopping, return_exceptions=True)


def _print_start(started: StartedDemo, demo: Demo, *, json: bool) -> None:
    if json:
        print_json(started)
        return
    style = Style(sys.stdout)
    approvals = {0: "It needs no approval.", 1: "It asks for your approval once."}.get(
        demo.asks, f"It asks for your approval {demo.asks} times."
    )
    print_out(style.bold(demo.title))
    print_out(style.dim(f"A script replaces the model; runtime, tools, gate and log are real. {approvals}"))
    print_out(f"  page     {style.bold(started.link)}")
    print_out(f"  folder   {started.folder}")
    print_out(f"  prompt   {demo.objective}\n")


def _print_end(demo: Demo, started: StartedDemo) -> None:
    style = Style(sys.stdout)
    if demo.next:
        print_out(f"\n{style.warn('?')} {demo.next}")
        if demo.say:
            command = f'callboard run "{demo.say}" --session {started.session_id} --permission edits'
            print_out(style.dim(f"  Or here: {command}"))
    print_out(f"\nFinished. {_describe_kept(started)}")


def _describe_kept(started: StartedDemo) -> str:
    return f"Kept: the folder {started.folder} and the session (callboard view {started.session_id})."
