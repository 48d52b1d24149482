"""`callboard models`."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import msgspec
import typer

from callboard.contracts.commands.models import ConfiguredModel, FoundModel, ModelList, ModelTested

from ..settings.loader import load_settings
from ..state_folder import StateFolder
from .terminal.exit_codes import FAILED
from .terminal.loop import run_async
from .terminal.output import Style, print_err, print_out, to_line

_HELP = """List the models that can be asked and what could be configured, and test one.

Looks for keys in the environment, for Ollama, LM Studio, vLLM and llama.cpp on this machine, and for coding agents on PATH, and
shows the lines that configure each. Nothing leaves the machine, except with --test.

\b
Examples:
  callboard models                    what is configured, and what is found beside it
  callboard models --test             ask the default one tiny question
  callboard models --test claude      ask that one: its name in the settings, its own name, or both with a slash
  callboard models --json             one JSON object: configured, found
"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("models", help=_HELP, short_help="List the models that can be asked, and test one.")(_models)


def _models(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="With --test: the model to ask.")] = "",
    test: Annotated[bool, typer.Option("--test", help="Ask a model one tiny question.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    # Here, since no other verb needs a model in this process.
    from ..models.model_catalog import ModelCatalog
    from ..wiring import build_models

    home = StateFolder.from_environment(os.environ)
    models = build_models(load_settings(home, os.environ), os.environ)
    desk = ModelCatalog(models, os.environ)

    async def ask() -> ModelList | ModelTested:
        try:
            return await (desk.tested(name) if test or name else desk.listed())
        finally:
            await models.close()

    answer = run_async(ask())
    if json:
        print_out(msgspec.json.encode(answer).decode())
    elif isinstance(answer, ModelTested):
        _print_test(answer)
    else:
        _print(answer, home)
    if isinstance(answer, ModelTested) and not answer.ok:
        raise typer.Exit(FAILED)


def _print(models: ModelList, home: StateFolder) -> None:
    style = Style(sys.stdout)
    for one in models.configured:
        print_out(_line(one, style))
        if one.why:
            print_out(f"    {to_line(one.why)}")
    new = [one for one in models.found if not one.configured]
    if new:
        print_out("")
        print_out(
            "Found and not configured. The page (`callboard`) connects one with a click; by hand the lines go into"
        )
        print_out(f"{home.settings}, those of agents into agents/NAME.md:")
    for one in new:
        _print_found(one, style)
    if not new and all(one.kind == "offline" for one in models.configured):
        print_err(
            "No key, no model server and no coding agent was found. Ollama is the shortest way to a model of your own:"
        )
        print_err("install it from ollama.com, then `ollama pull qwen3`, and run `callboard models` again.")


def _line(one: ConfiguredModel, style: Style) -> str:
    marks = [
        "asked first" if one.default else "",
        f"fallback {one.fallback}" if one.fallback else "",
        "images" if one.images else "",
        f"{one.window:,} tokens" if one.window else "",
        to_line(one.address),
    ]
    mark = style.good("✓") if one.usable and one.kind != "offline" else style.bad("✗")
    return f"{mark} {style.bold(to_line(one.name))}  {style.dim(', '.join(part for part in marks if part))}".rstrip()


def _print_found(one: FoundModel, style: Style) -> None:
    what = {"key": "key in", "server": "server at", "agent": "agent"}[one.kind]
    names = f"  {style.dim(to_line(', '.join(one.models), 80))}" if one.models else ""
    print_out("")
    print_out(f"{style.bold(one.name)}, {what} {to_line(one.where)}{names}")
    if one.why:
        print_out(f"    {to_line(one.why)}")
    for line in one.settings.splitlines():
        print_out(f"    {to_line(line)}")


def _print_test(tested: ModelTested) -> None:
    style = Style(sys.stdout)
    if tested.problem is not None:
        print_out(f"{style.bad('✗')} {style.bold(to_line(tested.name))}: {to_line(tested.problem.message)}")
        if tested.problem.hint:
            print_out(f"    {to_line(tested.problem.hint)}")
        return
    tokens = ", ".join(
        part
        for part in (
            f"{tested.input_tokens} tokens in" if tested.input_tokens is not None else "",
            f"{tested.output_tokens} out" if tested.output_tokens is not None else "",
            f"${tested.amount:.6f}" if tested.amount is not None else "",
        )
        if part
    )
    times = f"first word after {tested.first_ms} ms, all after {tested.duration_ms} ms"
    print_out(f"{style.good('✓')} {style.bold(to_line(tested.name))}: {to_line(tested.text, 80)}")
    print_out(f"    {style.dim(times)}{style.dim(f'; {tokens}') if tokens else ''}")
