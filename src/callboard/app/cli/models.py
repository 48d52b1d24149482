"""`callboard models`."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from callboard.contracts.commands.model import ConfiguredModel, DetectedSource, ModelList, ModelTestResult
from callboard.contracts.text.sentences import format_count

from ..settings.loader import load_settings
from ..state_folder import StateFolder
from .terminal.exit_codes import FAILED
from .terminal.loop import run_async
from .terminal.options import JsonObject, format_command_help
from .terminal.output import Style, print_err, print_json, print_out, to_line

_DETAILS = """With --test, sends a short question to one. Looks for keys in the environment, for Ollama, LM Studio,
vLLM and llama.cpp on this machine, and for coding agents on PATH. Prints the lines that configure each. Nothing
leaves the machine, except with --test.

\b
Examples:
  callboard models                    list configured and available models
  callboard models --test             send a short question to the default model
  callboard models --test claude      test a model by its entry, its model name, or ENTRY/MODEL
  callboard models --json             one JSON object: configured, found
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("models", help=format_command_help("list_models", _DETAILS), short_help="List models, or test one.")(
        _models
    )


def _models(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="Model to test. [default: the default model]", show_default=False)
    ] = "",
    test: Annotated[bool, typer.Option("--test", help="Test with a short question.")] = False,
    json: JsonObject = False,
) -> None:
    # Local imports: no other verb needs a model in this process.
    from ..models.model_catalog import ModelCatalog
    from ..wiring import build_models

    state_folder = StateFolder.from_environment(os.environ)
    models = build_models(load_settings(state_folder, os.environ), os.environ)
    catalog = ModelCatalog(models, os.environ)

    async def query() -> ModelList | ModelTestResult:
        try:
            return await (catalog.test_model(name) if test or name else catalog.list_models())
        finally:
            await models.close()

    answer = run_async(query())
    if json:
        print_json(answer)
    elif isinstance(answer, ModelTestResult):
        _print_test(answer)
    else:
        _print(answer, state_folder)
    if isinstance(answer, ModelTestResult) and not answer.ok:
        raise typer.Exit(FAILED)


def _print(models: ModelList, state_folder: StateFolder) -> None:
    style = Style(sys.stdout)
    for configured in models.configured:
        print_out(_format_line(configured, style))
        if configured.why:
            print_out(f"    {to_line(configured.why)}")
    available = [model for model in models.found if not model.configured]
    if available:
        print_out("")
        print_out("Available and not configured. The page (`callboard`) adds one with a click. Or add the lines to")
        print_out(f"{state_folder.settings}, or to agents/NAME.md for an agent:")
    for model in available:
        _print_available(model, style)
    if not available and all(model.kind == "offline" for model in models.configured):
        print_err("No key, model server or coding agent was found. Ollama is the shortest way to a local model:")
        print_err("install it from ollama.com, run `ollama pull qwen3`, then `callboard models` again.")


def _format_line(model: ConfiguredModel, style: Style) -> str:
    notes = [
        "default" if model.default else "",
        f"fallback {model.fallback}" if model.fallback else "",
        "images" if model.images else "",
        format_count(model.window, "token") if model.window else "",
        to_line(model.address),
    ]
    mark = style.good("✓") if model.usable and model.kind != "offline" else style.bad("✗")
    return f"{mark} {style.bold(to_line(model.name))}  {style.dim(', '.join(filter(None, notes)))}".rstrip()


def _print_available(model: DetectedSource, style: Style) -> None:
    label = {"key": "key in", "server": "server at", "agent": "agent"}[model.kind]
    names = f"  {style.dim(to_line(', '.join(model.models), 80))}" if model.models else ""
    print_out("")
    print_out(f"{style.bold(model.name)}, {label} {to_line(model.where)}{names}")
    if model.why:
        print_out(f"    {to_line(model.why)}")
    for line in model.settings.splitlines():
        print_out(f"    {to_line(line)}")


def _print_test(result: ModelTestResult) -> None:
    style = Style(sys.stdout)
    name = style.bold(to_line(result.name))
    if result.problem is not None:
        print_out(f"{style.bad('✗')} {name}: {to_line(result.problem.message)}")
        if result.problem.hint:
            print_out(f"    {to_line(result.problem.hint)}")
        return
    usage = (
        f"{format_count(result.input_tokens, 'token')} in" if result.input_tokens is not None else "",
        f"{result.output_tokens} out" if result.output_tokens is not None else "",
        f"${result.amount:.6f}" if result.amount is not None else "",
    )
    tokens = ", ".join(filter(None, usage))
    times = f"first word after {result.first_ms} ms, complete after {result.duration_ms} ms"
    print_out(f"{style.good('✓')} {name}: {to_line(result.text, 80)}")
    print_out(f"    {style.dim(times)}{style.dim(f'; {tokens}') if tokens else ''}")
