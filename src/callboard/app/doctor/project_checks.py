"""The settings, the models, the folder one is in, and the servers that bring tools."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.models import ConfiguredModel
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import Rule
from callboard.contracts.rows import WorkspaceRow
from callboard.contracts.settings import Hook, HttpServer, Server, Settings, StdioServer
from callboard.contracts.tool_names import is_tool_name, tool_of
from callboard.tools.mcp.environment import base_environment as given
from callboard.tools.unsandboxed.reach import Reach
from callboard.tools.unsandboxed.reach import check_program as look_at

from ..folder_use import find_others
from ..models.model_catalog import ModelCatalog
from ..reading import open_reader
from ..settings.folder_file import FILE
from ..settings.loader import load_settings
from ..settings.problems import field_suffix
from ..settings.settings_files import SettingsFiles
from ..state_folder import StateFolder
from ..wiring import build_models
from .finding import Finding, bad, ok, warn
from .secret_checks import check_secrets

_SECONDS = 2.0
_PORTS = {"http": 80, "https": 443}


class _FolderState(NamedTuple):
    """The settings that name a hook or a server, where it is started, and where agents could change its program."""

    settings: Path
    start: Path
    reach: Reach


async def check_project(home: StateFolder, environment: Mapping[str, str], folder: Path) -> tuple[Finding, ...]:
    """Reaches the addresses that are set, and says nothing to them. `folder` is absolute with symlinks resolved."""
    book = SettingsFiles(home, environment, FolderDefinitions())
    opened = await _opened(home)
    trusted = next((row.trusted for row in opened if row.path == str(folder)), "")
    own = Reach((str(folder),))
    of_folder = _folder(home, folder, book, trusted)
    shared = _shared(home, environment, folder)
    try:
        settings = load_settings(home, environment)
    except Refusal as refusal:
        problem = refusal.problem
        said = f"{problem.message}{field_suffix(problem.message, problem.field)}"
        means = "Callboard does not start before it is mended."
        return (bad("settings", said, means, f"$EDITOR {home.settings}"), of_folder, *shared)
    where = str(home.settings) if home.settings.exists() else "none; the defaults hold"
    holding = book.effective(str(folder), trusted)

    every = tuple({str(folder), *(row.path for row in opened)})

    def stands(one: Server | Hook) -> _FolderState:
        if book.is_users(one):
            return _FolderState(home.settings, Path.home(), Reach(every))
        return _FolderState(folder / FILE, folder, Reach(every, trusted=str(folder)))

    return (
        ok("settings", where),
        *await _models(settings, environment),
        of_folder,
        *shared,
        *[await _server(one, stands(one)) for one in holding.servers],
        *[_hook(one, stands(one), own) for one in holding.hooks],
        *[found for rule in holding.rules if (found := _rule(rule)) is not None],
        *await check_secrets(home, environment, settings, holding),
    )


async def _models(settings: Settings, environment: Mapping[str, str]) -> tuple[Finding, ...]:
    try:
        models = build_models(settings, environment)
    except Refusal as refusal:
        said = refusal.problem.message
        return (bad("models", said, "Callboard does not start before it is mended.", "callboard models"),)
    try:
        listed = await ModelCatalog(models, environment, places=()).listed()
    finally:
        await models.close()
    if not settings.models:
        means = "Agents answer with a search of the folder."
        return (warn("models", "none is configured", means, "callboard models (shows what could be, with the lines)"),)
    return tuple([await _model(one) for one in listed.configured])


async def _model(one: ConfiguredModel) -> Finding:
    name = f"model {one.name}"
    if not one.usable:
        return bad(name, one.why, "Agents that want it fail.", "callboard models")
    if one.address and not await _reached(one.address):
        means = "Agents that want it fail until it answers."
        return bad(name, f"nothing answers at {one.address}", means, f"callboard models --test {one.name}")
    return ok(name, f"{one.label}{f' at {one.address}' if one.address else ''}")


def _folder(home: StateFolder, folder: Path, book: SettingsFiles, trusted: str) -> Finding:
    if not folder.is_dir():
        return bad("folder", f"{folder} is not a folder", "There is nothing to work on.", "callboard -C FOLDER")
    broken = [one for one in book.problems(str(folder)) if one.file != str(home.settings)]
    if broken:
        means = "Until it is mended everything is asked about there."
        return bad("folder", f"{broken[0].file}: {broken[0].message}", means, f"$EDITOR {folder / broken[0].file}")
    asked = book.asked(str(folder))
    if not asked.digest:
        return ok("folder", f"{folder}: its files widen nothing")
    if trusted == asked.digest:
        return ok("folder", f"{folder} is trusted for what its files ask for")
    count = len(asked.widenings)
    said = f"{folder}: its files ask for {count} thing{'' if count == 1 else 's'} that nobody let them"
    return warn("folder", said, "That does not hold.", "callboard trust")


def _shared(home: StateFolder, environment: Mapping[str, str], folder: Path) -> tuple[Finding, ...]:
    """Report the processes that serve the folder with another state folder."""
    means = "Neither knows the other's sessions and approvals, and both can change the same files."
    return tuple(
        warn(
            "folder use",
            f"process {one.pid} serves {folder} with the state folder {one.home}",
            means,
            f"kill {one.pid} (ends it as Ctrl-C does)",
        )
        for one in find_others(folder, home.folder, environment)
    )


async def _opened(home: StateFolder) -> tuple[WorkspaceRow, ...]:
    """The folders that are opened here."""
    with contextlib.suppress(Refusal):
        async with open_reader(home) as source:
            return await source.list_workspaces()
    return ()


async def _server(server: Server, stands: _FolderState) -> Finding:
    name = f"tool server {server.name}"
    means = "Its tools are not there."
    if isinstance(server, HttpServer):
        if await _reached(server.url):
            return ok(name, f"{server.url} answers")
        return bad(name, f"nothing answers at {server.url}", means, "start it, or take it out of the settings")
    return _program(name, server, means, stands) or ok(name, f"starts {server.command[0]}")


def _hook(hook: Hook, stands: _FolderState, own: Reach) -> Finding:
    name, program = f"hook {hook.name}", hook.command[0]
    wrong = _program(name, hook, "The calls that it is asked about are denied.", stands, own)
    if wrong is not None:
        return wrong
    strange = ", ".join(one for one in dict.fromkeys(map(tool_of, hook.tools)) if not is_tool_name(one))
    if strange:
        said = f"starts {program}, and names {strange}, which no tool of Callboard's is called"
        return warn(
            name, said, "Unless an agent brings one of that name, it is never asked about it.", "callboard tools"
        )
    return ok(name, f"starts {program}")


def _rule(rule: Rule) -> Finding | None:
    """A misspelt tool makes a rule that denies without an effect."""
    tool = tool_of(rule.matcher)
    if is_tool_name(tool):
        return None
    said = f"{rule.verdict} names {tool}, which is not a tool of Callboard"
    return warn(
        f"rule {rule.matcher}", said, "Unless an agent has a tool of that name, it never applies.", "callboard tools"
    )


def _program(name: str, one: StdioServer | Hook, means: str, stands: _FolderState, *own: Reach) -> Finding | None:
    """What is wrong with its program."""
    program, start = one.command[0], str(stands.start)
    absent = bad(name, f"{program} is not installed", means, f"install {program}")
    try:
        search, works = one.env.get("PATH", given()["PATH"]), isinstance(one, StdioServer)
        looked = look_at(one.command, start, search, *own, stands.reach, given_data=works)
    except FileNotFoundError:
        return absent
    if shutil.which(stands.start / looked.command[0]) is None:
        return absent
    if looked.exposed is None:
        return None
    told, mended = looked.exposed.problem, looked.exposed.remedy
    return bad(name, told, f"{means} {mended}.", f"$EDITOR {stands.settings}")


async def _reached(url: str) -> bool:
    """True where something takes a connection at the address."""
    place = urlsplit(url)
    try:
        port = place.port or _PORTS.get(place.scheme, 443)
        async with asyncio.timeout(_SECONDS):
            _, writer = await asyncio.open_connection(place.hostname, port)
    except (OSError, TimeoutError, ValueError):
        return False
    writer.close()
    return True
