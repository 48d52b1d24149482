"""`callboard rules`."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from callboard.client import Client
from callboard.contracts.commands.permission import DryRunResult, DryRunRules, ListRules, RuleList
from callboard.contracts.commands.session import GetSession, SessionRead
from callboard.contracts.errors import Refusal
from callboard.contracts.settings import FolderSettings, ListedRule, RuleEntry
from callboard.contracts.text.sentences import format_count
from callboard.contracts.tool_names import is_tool_name, parse_tool

from ..hosting.connection import connect
from ..reading import resolve_session
from ..reading.remote_reader import RemoteReader
from ..settings.loader import convert_tables, parse_toml
from ..state_folder import StateFolder
from .terminal.broad_folders import open_folder
from .terminal.loop import run_async
from .terminal.options import BroadFolder, FolderOption, format_command_help
from .terminal.output import Style, mark_hidden, print_json, print_out, to_line

_DETAILS = """With --dry-run, tries new rules on past calls. A rule decides matching calls without a question:
`Bash(git status *)` allow, `Edit(.env)` deny. Deny wins over ask, ask over allow. Rules come from your settings.toml,
from a folder's .callboard/settings.toml (allow rules need trust), and from answers with a wider scope.

\b
Examples:
  callboard rules
  callboard rules --session last
  callboard rules --dry-run new.toml    show how a file's [[rules]] would have decided past calls; change nothing
"""
_SCOPES = {
    "session": "this session",
    "workspace": "{folder}, by an answer",
    "folder_settings": "{folder}'s settings",
    "user_settings": "your settings",
}
_CURRENT_FOLDER = "this folder"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "rules", help=format_command_help("list_rules", _DETAILS), short_help="List permission rules, or try new ones."
    )(_rules)


def _rules(
    folder: FolderOption = Path(),
    session: Annotated[str, typer.Option("--session", "-s", help="Session id, or `last`.")] = "",
    dry_run: Annotated[
        Path | None, typer.Option("--dry-run", help="TOML file with [[rules]] to try on past calls.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Output as one JSON line per rule, or one JSON object of a dry run.")
    ] = False,
    wide: BroadFolder = False,
) -> None:
    entries = None if dry_run is None else _read_entries(dry_run)
    run_async(_run(folder.resolve(), session, entries, json=json, wide=wide))


async def _run(folder: Path, session: str, entries: tuple[RuleEntry, ...] | None, *, json: bool, wide: bool) -> None:
    state_folder = StateFolder.from_environment(os.environ)
    async with connect(state_folder, os.environ, lambda _: None) as client:
        workspace, label, session_id = await _resolve(client, folder, session, wide=wide)
        if entries is not None:
            await _run_dry(client, DryRunRules(workspace_id=workspace, rules=entries, session_id=session_id), json=json)
            return
        listed: RuleList = await client.submit(ListRules(workspace_id=workspace, session_id=session_id))
        if json:
            for rule in listed.rules:
                print_json(rule)
            return
        _print(listed.rules, label)


async def _resolve(client: Client, folder: Path, session: str, *, wide: bool) -> tuple[str, str, str | None]:
    """Return the workspace, the label of its folder, and the session id if one is named, which can be of another folder."""
    if not session:
        opened = await open_folder(client.submit, folder, wide=wide)
        return opened.workspace_id, _CURRENT_FOLDER, None
    reader = RemoteReader(client)
    session_id = await resolve_session(reader, session)
    read: SessionRead = await client.submit(GetSession(session_id=session_id, turns=1))
    workspace = read.session.workspace_id
    path = next((row.path for row in await reader.list_workspaces() if row.workspace_id == workspace), workspace)
    return workspace, _CURRENT_FOLDER if path == str(folder) else path, session_id


async def _run_dry(client: Client, query: DryRunRules, *, json: bool) -> None:
    result: DryRunResult = await client.submit(query)
    if json:
        print_json(result)
        return
    style = Style(sys.stdout)
    more = "" if result.whole else ", the newest only"
    calls, sessions = format_count(result.calls, "past call"), format_count(result.sessions, "session")
    print_out(f"{calls} in {sessions}{more}. Nothing was changed.")
    changes = result.turned
    print_out(
        f"  {changes['allowed']} newly allowed, {changes['asked']} newly asked, {changes['denied']} newly denied; "
        f"{result.unspoken} without a matching rule."
    )
    for rule in result.rules:
        calls = format_count(rule.calls, "call")
        print_out(f"  {rule.verdict.ljust(5)}  {mark_hidden(rule.matcher)}  {style.dim(calls)}")
    for example in result.examples:
        call = to_line(f"{example.tool} {example.subject}", 100)
        print_out(style.dim(f"  {example.session_id}  {example.was} → {example.would}  {call}"))


def _read_entries(path: Path) -> tuple[RuleEntry, ...]:
    try:
        source = path.expanduser().read_bytes()
    except OSError as error:
        raise Refusal(
            "invalid_input",
            f"{path} cannot be read: {error.strerror}.",
            field="--dry-run",
            hint="Name a TOML file with [[rules]].",
        ) from error
    tables = {"rules": parse_toml(source, str(path)).get("rules", [])}
    rules = convert_tables(tables, FolderSettings, str(path)).rules
    if not rules:
        raise Refusal("invalid_input", f"{path} has no [[rules]].", field="--dry-run", hint="Add a [[rules]] table.")
    return rules


def _print(rules: tuple[ListedRule, ...], folder: str) -> None:
    if not rules:
        print_out("No rules. Add [[rules]] to settings.toml, or answer an approval with a wider scope.")
        return
    style = Style(sys.stdout)
    width = max(len(mark_hidden(rule.matcher)) for rule in rules)
    for rule in rules:
        verdict = {"allow": style.good, "ask": style.warn, "deny": style.bad}[rule.verdict](rule.verdict.ljust(5))
        scope = _SCOPES[rule.scope].format(folder=to_line(folder))
        source = f"{scope}{f', until {_format_time(rule.expires_at)}' if rule.expires_at else ''}"
        inactive = style.warn(f"  not applied: {rule.held_back}") if rule.held_back else ""
        tool = parse_tool(rule.matcher)
        unknown = "" if is_tool_name(tool) else style.warn(f"  {mark_hidden(tool)} is not a tool of Callboard")
        print_out(f"{verdict}  {mark_hidden(rule.matcher).ljust(width)}  {style.dim(source)}{inactive}{unknown}")


def _format_time(at: int) -> str:
    return datetime.fromtimestamp(at / 1_000_000, UTC).strftime("%Y-%m-%d %H:%M UTC")
