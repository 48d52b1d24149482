"""`callboard rules`."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from callboard.client.client import Client
from callboard.contracts.commands import GetSession, SessionRead
from callboard.contracts.commands.trust import DryRunRules, ListRules, RuleList, RulesTried
from callboard.contracts.errors import Refusal
from callboard.contracts.settings import FolderSettings, RuleEntry, StandingRule
from callboard.contracts.tool_names import is_tool_name, tool_of

from ..hosting.connection import connect
from ..reading import resolve_session
from ..reading.remote_reader import RemoteReader
from ..settings.loader import convert_tables, parse_toml
from ..state_folder import StateFolder
from .terminal.broad_folders import open_folder
from .terminal.loop import run_async
from .terminal.options import BroadFolder
from .terminal.output import Style, mark_hidden, print_out, to_line
from .terminal.wording import format_count

_HELP = """List the rules that hold, and where each stands; or try some on what agents did.

A rule is a standing answer: `Bash(git status *)` allow, `Edit(.env)` deny. Deny wins, then ask, then allow. They stand in
your settings.toml, in a folder's .callboard/settings.toml (those that allow hold once you trust the folder), or were given by
answers.

\b
Examples:
  callboard rules
  callboard rules --session last
  callboard rules --dry-run new.toml    what [[rules]] of a file would have decided of past calls; changes nothing
"""
_SCOPES = {
    "session": "this session",
    "workspace": "{folder}, by an answer",
    "folder_settings": "{folder}'s settings",
    "user_settings": "your settings",
}
_HERE = "this folder"


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("rules", help=_HELP, short_help="List the rules that hold; try some on past calls.")(_rules)


def _rules(
    folder: Annotated[Path, typer.Option("--folder", "-C", help="The folder.")] = Path(),
    session: Annotated[str, typer.Option("--session", "-s", help="A session: its id, or `last`.")] = "",
    dry_run: Annotated[
        Path | None, typer.Option("--dry-run", help="A TOML file with [[rules]] to try on past calls.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON line a rule, or one for what was tried.")] = False,
    wide: BroadFolder = False,
) -> None:
    tried = None if dry_run is None else _read(dry_run)
    run_async(_carry_out(folder.expanduser().resolve(), session, tried, json=json, wide=wide))


async def _carry_out(
    folder: Path, session: str, tried: tuple[RuleEntry, ...] | None, *, json: bool, wide: bool
) -> None:
    home = StateFolder.from_environment(os.environ)
    async with connect(home, os.environ, lambda _: None) as client:
        workspace, words, named = await _meant(client, folder, session, wide=wide)
        if tried is not None:
            await _try(client, DryRunRules(workspace_id=workspace, rules=tried, session_id=named), json=json)
            return
        found: RuleList = await client.submit(ListRules(workspace_id=workspace, session_id=named))
        if json:
            for rule in found.rules:
                print_out(msgspec.json.encode(rule).decode())
            return
        _print(found.rules, words)


async def _meant(client: Client, folder: Path, session: str, *, wide: bool) -> tuple[str, str, str | None]:
    """The workspace that is asked about, what its folder is called, and the session where one is named: it may be elsewhere."""
    if not session:
        opened = await open_folder(client.submit, folder, wide=wide)
        return opened.workspace_id, _HERE, None
    reader = RemoteReader(client)
    named = await resolve_session(reader, session)
    read: SessionRead = await client.submit(GetSession(session_id=named, turns=1))
    workspace = read.session.workspace_id
    path = next((one.path for one in await reader.list_workspaces() if one.workspace_id == workspace), workspace)
    return workspace, _HERE if path == str(folder) else path, named


async def _try(client: Client, query: DryRunRules, *, json: bool) -> None:
    seen: RulesTried = await client.submit(query)
    if json:
        print_out(msgspec.json.encode(seen).decode())
        return
    style = Style(sys.stdout)
    more = "" if seen.whole else ", the newest; there are more"
    print_out(
        f"{format_count(seen.calls, 'past call')} of {format_count(seen.sessions, 'session')}{more}. Nothing was changed."
    )
    turned = seen.turned
    print_out(
        f"  {turned['allowed']} would have run without asking, {turned['asked']} would have been asked about, "
        f"{turned['denied']} would have been refused; of {seen.unspoken} no rule speaks."
    )
    for rule in seen.rules:
        print_out(
            f"  {rule.verdict.ljust(5)}  {mark_hidden(rule.matcher)}  {style.dim(format_count(rule.calls, 'call'))}"
        )
    for one in seen.examples:
        print_out(
            style.dim(f"  {one.session_id}  {one.was} → {one.would}  {to_line(f'{one.tool} {one.subject}', 100)}")
        )


def _read(path: Path) -> tuple[RuleEntry, ...]:
    try:
        source = path.expanduser().read_bytes()
    except OSError as error:
        raise Refusal(
            "invalid_input",
            f"{path} cannot be read: {error.strerror}.",
            field="--dry-run",
            hint="Give a TOML file with [[rules]].",
        ) from error
    rules = convert_tables({"rules": parse_toml(source, str(path)).get("rules", [])}, FolderSettings, str(path)).rules
    if not rules:
        raise Refusal("invalid_input", f"{path} has no [[rules]].", field="--dry-run", hint="Write some into it.")
    return rules


def _print(rules: tuple[StandingRule, ...], folder: str) -> None:
    if not rules:
        print_out("No rules. An answer with a wider scope makes one, and so does [[rules]] in settings.toml.")
        return
    style = Style(sys.stdout)
    width = max(len(mark_hidden(rule.matcher)) for rule in rules)
    for rule in rules:
        verdict = {"allow": style.good, "ask": style.warn, "deny": style.bad}[rule.verdict](rule.verdict.ljust(5))
        scope = _SCOPES[rule.scope].format(folder=to_line(folder))
        where = f"{scope}{f', until {_time(rule.expires_at)}' if rule.expires_at else ''}"
        held = style.warn(f"  does not hold: {rule.held_back}") if rule.held_back else ""
        tool = tool_of(rule.matcher)
        strange = "" if is_tool_name(tool) else style.warn(f"  no tool of Callboard is called {mark_hidden(tool)}")
        print_out(f"{verdict}  {mark_hidden(rule.matcher).ljust(width)}  {style.dim(where)}{held}{strange}")


def _time(at: int) -> str:
    return datetime.fromtimestamp(at / 1_000_000, UTC).strftime("%Y-%m-%d %H:%M UTC")
