"""What a folder says of itself in `.callboard/settings.toml`, and what of it would widen what holds there.

The folder is nobody's friend: its file is read through no link and past no size, and what is wrong with it is told, not raised.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.agents import Definition
from callboard.contracts.settings import Asked, FolderSettings, Settings, SettingsProblem, Shell, StdioServer, Widening
from callboard.control.decision_inputs import narrow_mode
from callboard.tools.files.handles import Folder
from callboard.tools.files.paths import PathDenied
from callboard.tools.mcp.environment import base_environment
from callboard.tools.unsandboxed.binding import bind
from callboard.tools.unsandboxed.variables import list_loaders, read_assignments

from . import widenings
from .loader import LARGEST, convert_tables, parse_toml

FILE: Final = ".callboard/settings.toml"


class Program(NamedTuple):
    """A file that a server or a hook of a folder is started from: its path in the folder, or an absolute one elsewhere; its
    SHA-256 in hex; what starts it; and where every link on its path leads."""

    path: str
    digest: str
    what: Literal["server", "hook"] = "server"
    resolved: str = ""


class FolderFile(msgspec.Struct, frozen=True, kw_only=True):
    """The file as it was read: its bytes (None where there is none), its tables, what it says, and what is wrong with it.
    `keeps_last` says that it is invalid, and that `tables` and `settings` are of the last valid file."""

    source: bytes | None = None
    tables: dict[str, Any] = {}
    settings: FolderSettings = FolderSettings()
    problems: tuple[SettingsProblem, ...] = ()
    keeps_last: bool = False

    def keep_last_valid(self, former: FolderFile) -> FolderFile:
        """Return this file with what the former one said, where this one is invalid and the former one was not."""
        if not self.problems or (former.problems and not former.keeps_last):
            return self
        problems = tuple(msgspec.structs.replace(problem, keeps_last=True) for problem in self.problems)
        return msgspec.structs.replace(
            self, tables=former.tables, settings=former.settings, problems=problems, keeps_last=True
        )

    @property
    def shell(self) -> dict[str, Any]:
        """The keys of the shell that it names."""
        return self.tables.get("shell", {})


def read_folder_file(folder: str) -> FolderFile:
    """The folder's file."""
    try:
        with Folder(folder) as opened:
            source = opened.read(FILE, LARGEST)
    except PathDenied as denied:
        return _unread(denied.message, "Callboard reads no settings through a link.")
    except IsADirectoryError:
        return _unread("It is a folder.", "Settings are a file.")
    except (FileNotFoundError, NotADirectoryError):
        return FolderFile()
    except OSError as error:
        return _unread(f"It cannot be read: {error.strerror or error}.", "Look at its permissions.")
    if source is None:
        return FolderFile()
    try:
        tables = parse_toml(source, FILE)
        says = convert_tables(tables, FolderSettings, FILE, text=source)
        _must_load_nothing(says)
        return FolderFile(source=source, tables=tables, settings=says)
    except Refusal as refusal:
        problem = refusal.problem
        told = SettingsProblem(file=FILE, message=problem.message, field=problem.field, hint=problem.hint)
        return FolderFile(source=source, problems=(told,))


def _must_load_nothing(says: FolderSettings) -> None:
    """Raises Refusal `bad_settings` for a variable that makes a program load what its command does not name."""
    programs = [("servers", at, one) for at, one in enumerate(says.servers) if isinstance(one, StdioServer)]
    programs += [("hooks", at, one) for at, one in enumerate(says.hooks)]
    for table, at, one in programs:
        for name in list_loaders({*one.env, *read_assignments(one.command)}):
            raise Refusal(
                "bad_settings",
                f"{FILE}: a folder's file cannot set {name} for {one.name}, which runs outside of the sandbox: "
                "it makes programs load other code.",
                field=f"{table}[{at}].env.{name}",
                hint=f"Remove it. Where you want it, move {one.name} to your own settings.",
            )


def list_programs(folder: str, file: FolderFile) -> tuple[Program, ...]:
    """List the programs and scripts that start the folder's own tool servers and hooks, sorted by path.

    They run outside the sandbox, and an agent that can write in the folder can change them. Trust in the folder is therefore
    bound to their content.
    """
    search = base_environment()["PATH"]
    root = f"{folder.rstrip('/')}/"
    servers = [server for server in file.settings.servers if isinstance(server, StdioServer)]
    programs: dict[str, Program] = {}
    for entry in (*file.settings.hooks, *servers):
        what: Literal["server", "hook"] = "server" if isinstance(entry, StdioServer) else "hook"
        for bound in bind(entry.command, entry.env, folder, search).files:
            # A system program has no digest: its path is bound with the command.
            if bound.digest:
                path = os.path.normpath(bound.path)
                programs[path] = Program(path.removeprefix(root), bound.digest, what, bound.resolved)
    return tuple(program for _, program in sorted(programs.items()))


def list_widenings(
    file: FolderFile, agents: Iterable[Definition], user: Settings, programs: Iterable[Program] = ()
) -> Asked:
    """What the folder's own files would widen, and the digest of exactly that: not of the words that tell it. `programs` are
    those files of it that its servers and hooks are started from."""
    found = [
        *_rules(file),
        *_servers(file),
        *_hooks(file),
        *_programs(programs),
        *_mode(file, user),
        *_shell(file, user),
        *_agents(agents),
    ]
    if not found:
        return Asked()
    values = sorted(
        msgspec.json.encode({"what": widening.what, "file": widening.file, "value": value}, order="sorted")
        for widening, value in found
    )
    digest = hashlib.sha256(b"\n".join(values)).hexdigest()
    return Asked(digest=digest, widenings=tuple(widening for widening, _ in found))


def apply_shell_limits(file: FolderFile, user: Shell, *, trusted: bool) -> Shell:
    """What a command may take there: what the folder narrows always, what it widens where it is trusted."""
    said = file.settings.shell
    keys = [key for key in file.shell if said is not None and (trusted or not _wider(said, user, key))]
    return msgspec.structs.replace(user, **{key: getattr(said, key) for key in keys})


def _wider(said: Shell, user: Shell, key: str) -> bool:
    # False is less than True as a smaller limit is less than a larger one.
    return getattr(said, key) > getattr(user, key)


def _rules(file: FolderFile) -> list[tuple[Widening, Any]]:
    return [(widenings.rule(rule, FILE), rule) for rule in file.settings.rules if rule.verdict == "allow"]


def _servers(file: FolderFile) -> list[tuple[Widening, Any]]:
    return [(widenings.server(one, FILE), one) for one in file.settings.servers]


def _hooks(file: FolderFile) -> list[tuple[Widening, Any]]:
    return [(widenings.hook(one, FILE), one) for one in file.settings.hooks]


def _programs(programs: Iterable[Program]) -> list[tuple[Widening, Any]]:
    return [
        (
            widenings.program(one.path, one.digest, one.what, FILE if one.path.startswith("/") else one.path),
            (one.path, one.resolved, one.digest),
        )
        for one in programs
    ]


def _mode(file: FolderFile, user: Settings) -> list[tuple[Widening, Any]]:
    mode = file.settings.permission_mode
    if mode is None or narrow_mode(mode, user.permission_mode) == mode:
        return []
    return [(widenings.permission_mode(mode, FILE), mode)]


def _shell(file: FolderFile, user: Settings) -> list[tuple[Widening, Any]]:
    said = file.settings.shell
    keys = sorted(key for key in file.shell if said is not None and _wider(said, user.shell, key))
    return [(widenings.limit(key, getattr(said, key), FILE), {key: getattr(said, key)}) for key in keys]


def _agents(agents: Iterable[Definition]) -> list[tuple[Widening, Any]]:
    return [
        (
            widenings.agent_mode(one.name, one.permission_mode, one.file),
            {"name": one.name, "permission_mode": one.permission_mode},
        )
        for one in agents
        if one.file and one.permission_mode not in (None, "planning", "ask")
    ]


def _unread(message: str, hint: str) -> FolderFile:
    return FolderFile(source=b"", problems=(SettingsProblem(file=FILE, message=message, hint=hint),))
