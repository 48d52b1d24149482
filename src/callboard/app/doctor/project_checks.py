"""Checks of settings, models, the project folder, tool servers, hooks and rules."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.model import ConfiguredModel
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import Rule
from callboard.contracts.rows.session import WorkspaceRow
from callboard.contracts.settings import Hook, HttpServer, Server, Settings, StdioServer
from callboard.contracts.text.sentences import format_count
from callboard.contracts.tool_names import is_tool_name, parse_tool
from callboard.tools.unsandboxed.reach import Reach, check_program
from callboard.tools.unsandboxed.variables import build_base_environment

from ..folder_use import find_others
from ..models.model_catalog import ModelCatalog
from ..reading import open_reader
from ..settings.folder_file import FILE
from ..settings.loader import load_settings
from ..settings.problems import describe_effect, describe_problem, format_field_suffix
from ..settings.settings_files import SettingsFiles
from ..state_folder import StateFolder
from ..wiring import build_models
from .finding import Finding, report_bad, report_ok, report_warning
from .secret_checks import check_secrets

_SECONDS = 2.0
_PORTS = {"http": 80, "https": 443}


class _ProgramContext(NamedTuple):
    """The settings file of a hook or server, its working folder, and where agents could change its program."""

    settings: Path
    start: Path
    reach: Reach


async def check_project(state_folder: StateFolder, environment: Mapping[str, str], folder: Path) -> tuple[Finding, ...]:
    """Run the checks. Addresses are only connected to.

    Args:
        folder: Absolute path without links.
    """
    files = SettingsFiles(state_folder, environment, FolderDefinitions())
    opened = await _list_opened(state_folder)
    trusted = next((row.trusted for row in opened if row.path == str(folder)), "")
    own = Reach((str(folder),))
    project = _check_folder(state_folder, folder, files, trusted)
    shared = _check_shared(state_folder, environment, folder)
    try:
        settings = load_settings(state_folder, environment)
    except Refusal as refusal:
        problem = refusal.problem
        message = f"{problem.message}{format_field_suffix(problem.message, problem.field)}"
        effect = "Callboard cannot start until it is fixed."
        return (report_bad("settings", message, effect, f"$EDITOR {state_folder.settings}"), project, *shared)
    where = str(state_folder.settings) if state_folder.settings.exists() else "none; the defaults apply"
    effective = files.read_effective(str(folder), trusted)

    folders = tuple({str(folder), *(row.path for row in opened)})

    def build_context(entry: Server | Hook) -> _ProgramContext:
        if files.is_users(entry):
            return _ProgramContext(state_folder.settings, Path.home(), Reach(folders))
        return _ProgramContext(folder / FILE, folder, Reach(folders, trusted=str(folder)))

    return (
        report_ok("settings", where),
        *await _check_models(settings, environment),
        project,
        *shared,
        *[await _check_server(server, build_context(server)) for server in effective.servers],
        *[_check_hook(hook, build_context(hook), own) for hook in effective.hooks],
        *[finding for rule in effective.rules if (finding := _check_rule(rule)) is not None],
        *await check_secrets(state_folder, environment, settings, effective),
    )


async def _check_models(settings: Settings, environment: Mapping[str, str]) -> tuple[Finding, ...]:
    try:
        models = build_models(settings, environment)
    except Refusal as refusal:
        message = refusal.problem.message
        return (report_bad("models", message, "Callboard cannot start until it is fixed.", "callboard models"),)
    try:
        listed = await ModelCatalog(models, environment, servers=()).list_models()
    finally:
        await models.close()
    if not settings.models:
        effect = "Agents can only search the folder."
        return (
            report_warning("models", "no model is configured", effect, "callboard models (lists available models)"),
        )
    return tuple([await _check_model(model) for model in listed.configured])


async def _check_model(model: ConfiguredModel) -> Finding:
    name = f"model {model.name}"
    if not model.usable:
        return report_bad(name, model.why, "Agents that use it fail.", "callboard models")
    if model.address and not await _is_reachable(model.address):
        effect = "Agents that use it fail until it responds."
        return report_bad(name, f"no response from {model.address}", effect, f"callboard models --test {model.name}")
    return report_ok(name, f"{model.label}{f' at {model.address}' if model.address else ''}")


def _check_folder(state_folder: StateFolder, folder: Path, files: SettingsFiles, trusted: str) -> Finding:
    problems = [problem for problem in files.list_problems(str(folder)) if problem.file != str(state_folder.settings)]
    if problems:
        first = problems[0]
        effect = f"{describe_effect(first)} A running Callboard keeps the last valid settings."
        return report_bad("folder", describe_problem(first), effect, f"$EDITOR {folder / first.file}")
    request = files.read_requested_permissions(str(folder))
    if not request.digest:
        return report_ok("folder", f"{folder}: its files request nothing")
    if trusted == request.digest:
        return report_ok("folder", f"{folder} is trusted")
    count = len(request.widenings)
    message = f"{folder}: its files request {format_count(count, 'extra permission')}"
    return report_warning("folder", message, "They do not apply until you trust the folder.", "callboard trust")


def _check_shared(state_folder: StateFolder, environment: Mapping[str, str], folder: Path) -> tuple[Finding, ...]:
    """Report the processes that serve the folder with another state folder."""
    effect = "The processes share no sessions or approvals, and can change the same files."
    return tuple(
        report_warning(
            "folder use",
            f"process {use.pid} serves {folder} with the state folder {use.home}",
            effect,
            f"kill {use.pid} (stops it like Ctrl-C)",
        )
        for use in find_others(folder, state_folder.folder, environment)
    )


async def _list_opened(state_folder: StateFolder) -> tuple[WorkspaceRow, ...]:
    """Return the opened folders."""
    with contextlib.suppress(Refusal):
        async with open_reader(state_folder) as reader:
            return await reader.list_workspaces()
    return ()


async def _check_server(server: Server, context: _ProgramContext) -> Finding:
    name = f"tool server {server.name}"
    effect = "Its tools are not available."
    if isinstance(server, HttpServer):
        if await _is_reachable(server.url):
            return report_ok(name, f"{server.url} responds")
        return report_bad(name, f"no response from {server.url}", effect, "start it, or remove it from the settings")
    return _check_program(name, server, effect, context) or report_ok(name, f"starts {server.command[0]}")


def _check_hook(hook: Hook, context: _ProgramContext, own: Reach) -> Finding:
    name, program = f"hook {hook.name}", hook.command[0]
    problem = _check_program(name, hook, "All calls that match it are denied.", context, own)
    if problem is not None:
        return problem
    unknown = ", ".join(tool for tool in dict.fromkeys(map(parse_tool, hook.tools)) if not is_tool_name(tool))
    if unknown:
        message = f"starts {program}, and names {unknown}, which is not a tool of Callboard"
        effect = "Unless an agent has a tool of that name, the hook never runs for it."
        return report_warning(name, message, effect, "callboard tools")
    return report_ok(name, f"starts {program}")


def _check_rule(rule: Rule) -> Finding | None:
    """Report a rule for an unknown tool: a misspelt deny rule has no effect."""
    tool = parse_tool(rule.matcher)
    if is_tool_name(tool):
        return None
    message = f"{rule.verdict} names {tool}, which is not a tool of Callboard"
    effect = "Unless an agent has a tool of that name, it never applies."
    return report_warning(f"rule {rule.matcher}", message, effect, "callboard tools")


def _check_program(
    name: str, entry: StdioServer | Hook, effect: str, context: _ProgramContext, *own: Reach
) -> Finding | None:
    """Report a program that is missing, or that agents could change; None if it is safe to start."""
    program, start = entry.command[0], str(context.start)
    missing = report_bad(name, f"{program} is not installed", effect, f"install {program}")
    try:
        path, is_server = entry.env.get("PATH", build_base_environment()["PATH"]), isinstance(entry, StdioServer)
        resolved = check_program(entry.command, start, path, *own, context.reach, given_data=is_server)
    except FileNotFoundError:
        return missing
    if shutil.which(context.start / resolved.command[0]) is None:
        return missing
    if resolved.exposed is None:
        return None
    fix = f"$EDITOR {context.settings}"
    return report_bad(name, resolved.exposed.problem, f"{effect} {resolved.exposed.remedy}.", fix)


async def _is_reachable(url: str) -> bool:
    """Return True if the address accepts connections."""
    address = urlsplit(url)
    try:
        port = address.port or _PORTS.get(address.scheme, 443)
        async with asyncio.timeout(_SECONDS):
            _, writer = await asyncio.open_connection(address.hostname, port)
    except (OSError, TimeoutError, ValueError):
        return False
    writer.close()
    return True
