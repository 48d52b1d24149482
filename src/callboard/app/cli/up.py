"""`callboard up`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from callboard.contracts.commands.session import OpenedWorkspace

from ..settings.loader import PORT
from ..state_folder import StateFolder
from .terminal.broad_folders import Submit, open_folder
from .terminal.browser import can_open, open_page
from .terminal.ignored_settings import load_or_warn
from .terminal.loop import run_async
from .terminal.milestones import format_milestone
from .terminal.options import BroadFolder, FolderOption
from .terminal.output import print_json, print_out

_HELP = f"""Serve the workbench on a folder and open it in the browser.

If Callboard is already running, the folder opens there. Ctrl-C stops Callboard; the log is kept.

\b
Examples:
  callboard up                          serve the current folder
  callboard up --folder ~/src/project
  callboard up --no-browser             print the address only
  callboard up --json                   one JSON line per milestone: starting, ready, stopping, stopped

\b
Settings, strongest first: options, the environment (CALLBOARD_PORT, CALLBOARD_BROWSER, CALLBOARD_SCENARIO,
CALLBOARD_DEMO_PACE, CALLBOARD_BASE_URL, CALLBOARD_MODEL, CALLBOARD_API_KEY, OPENAI_API_KEY, OPENAI_BASE_URL,
ANTHROPIC_API_KEY, GEMINI_API_KEY, GOOGLE_API_KEY), and settings.toml in CALLBOARD_HOME:
  port = {PORT}
  browser = true
  demo_pace = 1.0                       delay factor of demos; 0 is no delay
  fallback = ["claude"]                 models to use, in order, when a model fails
  [[models]]
  name = "qwen"
  kind = "openai-compatible"            or "openai", "anthropic", "google" (base_url is optional),
  base_url = "http://localhost:11434/v1"    "scripted" (scenario = "FILE"), "recorded" (recording = "PACK")
  model = "qwen3"
  api_key_env = "MY_KEY"                or api_key, or neither

`callboard models` lists the models found on this machine, with the lines that configure them.
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("up", help=_HELP)(_up)


def _up(
    folder: FolderOption = Path(),
    port: Annotated[
        int | None, typer.Option(help=f"Port, or the next free one if it is taken. [default: {PORT}]")
    ] = None,
    browser: Annotated[
        bool | None, typer.Option(help="Whether to open the page if there is a display. [default: yes]")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Output as one JSON line per milestone, without a browser.")
    ] = False,
    wide: BroadFolder = False,
) -> None:
    from ..hosting.serve import Milestones, ReadyMilestone, serve_folder

    state_folder = StateFolder.from_environment(os.environ)
    settings, unusable = run_async(load_or_warn(state_folder, port=port, browser=browser))

    def report(milestone: Milestones) -> None:
        if json:
            print_json(milestone)
        else:
            print_out(format_milestone(milestone, sys.stdout))
        if isinstance(milestone, ReadyMilestone) and not json and can_open(settings):
            open_page(milestone.opener)

    async def open_here(submit: Submit) -> OpenedWorkspace:
        return await open_folder(submit, folder, wide=wide)

    run_async(serve_folder(state_folder, settings, os.environ, folder, report, unusable, open_here))
