"""`callboard up`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from callboard.contracts.commands import WorkspaceIsOpen
from callboard.contracts.errors import Refusal

from ..settings.loader import PORT
from ..state_folder import StateFolder
from .terminal.broad_folders import Submit, open_folder
from .terminal.browser import may_open, open_page
from .terminal.ignored_settings import load_or_warn
from .terminal.loop import run_async
from .terminal.milestones import format_milestone
from .terminal.options import BroadFolder
from .terminal.output import print_out

_HELP = f"""Serve the workbench on a folder and open it in the browser.

Where Callboard runs already, the folder is opened there. Ctrl-C stops it; what happened is kept.

\b
Examples:
  callboard up                          the folder you are in
  callboard up --folder ~/src/project
  callboard up --no-browser             print the address only
  callboard up --json                   one JSON line a milestone: starting, ready, stopping, stopped

\b
Settings, strongest first: flags, the environment (CALLBOARD_PORT, CALLBOARD_BROWSER, CALLBOARD_SCENARIO,
CALLBOARD_DEMO_PACE, CALLBOARD_BASE_URL, CALLBOARD_MODEL, CALLBOARD_API_KEY, OPENAI_API_KEY, OPENAI_BASE_URL,
ANTHROPIC_API_KEY, GEMINI_API_KEY, GOOGLE_API_KEY), and settings.toml in CALLBOARD_HOME:
  port = {PORT}
  browser = true
  demo_pace = 1.0                       how long the agents of demos take to speak; 0 for not at all
  fallback = ["claude"]                 what is asked where a model fails for good, in this order
  [[models]]
  name = "qwen"
  kind = "openai-compatible"            or "openai", "anthropic", "google", where base_url may be left out;
  base_url = "http://localhost:11434/v1"    or "scripted", with scenario = "FILE"; or "recorded", with recording = "PACK"
  model = "qwen3"
  api_key_env = "MY_KEY"                or api_key, or neither

`callboard models` shows what is found on this machine, with the lines that configure it.
"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("up", help=_HELP)(_up)


def _up(
    folder: Annotated[Path, typer.Option("--folder", "-C", help="The folder to work in.")] = Path(),
    port: Annotated[
        int | None, typer.Option(help=f"Where to listen; the next free port where it is taken. [{PORT}]")
    ] = None,
    browser: Annotated[bool | None, typer.Option(help="Open the page when there is a display.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Milestones as JSON lines; opens no browser.")] = False,
    wide: BroadFolder = False,
) -> None:
    from ..hosting.serve import Milestones, Ready, serve_folder

    folder = folder.expanduser().absolute()
    if not folder.is_dir():
        raise Refusal("no_folder", f"{folder} is not a folder.", field="--folder", hint="Give an existing folder.")
    home = StateFolder.from_environment(os.environ)
    settings, unusable = run_async(load_or_warn(home, port=port, browser=browser))

    def tell(milestone: Milestones) -> None:
        print_out(msgspec.json.encode(milestone).decode() if json else format_milestone(milestone, sys.stdout))
        if isinstance(milestone, Ready) and not json and may_open(settings):
            open_page(milestone.opener)

    async def opens(submit: Submit) -> WorkspaceIsOpen:
        return await open_folder(submit, folder, wide=wide)

    run_async(serve_folder(home, settings, os.environ, folder, tell, unusable, opens))
