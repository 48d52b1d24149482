"""A folder's own settings in `.callboard/settings.toml`, and the permissions that they request.

The folder is untrusted: links and large files are not read, and problems are returned instead of raised.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.agents import Definition
from callboard.contracts.settings import (
    FolderSettings,
    RequestedPermission,
    RequestedPermissions,
    Settings,
    SettingsProblem,
    SettingsProblemCode,
    Shell,
    StdioServer,
)
from callboard.control.decision_inputs import narrow_mode
from callboard.tools.files.handles import Folder
from callboard.tools.files.paths import PathDenied
from callboard.tools.unsandboxed.binding import bind
from callboard.tools.unsandboxed.variables import build_base_environment, list_loaders, read_assignments

from . import requested_permissions
from .loader import MAX_BYTES, convert_tables, parse_toml
from .problems import to_problem

FILE: Final = ".callboard/settings.toml"


class Program(NamedTuple):
    """A program of a server or hook.

    Attributes:
        path: Path in the folder, or an absolute path outside it.
        digest: SHA-256 of its content, in hex.
        kind: The entry that starts it.
        resolved: The path with all links resolved.
    """

    path: str
    digest: str
    kind: Literal["server", "hook"] = "server"
    resolved: str = ""


class FolderFile(msgspec.Struct, frozen=True, kw_only=True):
    """A folder's settings file.

    Attributes:
        source: Its bytes; None without a file.
        tables: Its TOML tables.
        settings: Its settings.
        problems: Its errors.
        keeps_last: True if the file is invalid, and `tables` and `settings` are of the last valid file.
    """

    source: bytes | None = None
    tables: dict[str, Any] = {}
    settings: FolderSettings = FolderSettings()
    problems: tuple[SettingsProblem, ...] = ()
    keeps_last: bool = False

    def keep_last_valid(self, former: FolderFile) -> FolderFile:
        """Return an invalid file with the settings of the last valid one; any other file unchanged."""
        if not self.problems or (former.problems and not former.keeps_last):
            return self
        problems = tuple(msgspec.structs.replace(problem, keeps_last=True) for problem in self.problems)
        return msgspec.structs.replace(
            self, tables=former.tables, settings=former.settings, problems=problems, keeps_last=True
        )

    @property
    def shell(self) -> dict[str, Any]:
        """The keys of its `shell` table."""
        return self.tables.get("shell", {})


def read_folder_file(folder: str) -> FolderFile:
    """Read the folder's settings file."""
    try:
        with Folder(folder) as opened:
            source = opened.read(FILE, MAX_BYTES)
    except PathDenied as denied:
        return _build_unreadable("file_denied", denied.message, "Callboard reads no settings through a link.")
    except IsADirectoryError:
        return _build_unreadable("file_is_folder", "It is a folder.", "Replace it with a file.")
    except (FileNotFoundError, NotADirectoryError):
        return FolderFile()
    except OSError as error:
        reason = error.strerror or str(error)
        return _build_unreadable(
            "file_unreadable", f"It cannot be read: {reason}.", "Check its permissions.", reason=reason
        )
    if source is None:
        return FolderFile()
    try:
        tables = parse_toml(source, FILE)
        settings = convert_tables(tables, FolderSettings, FILE, text=source)
        _check_variables(settings)
        return FolderFile(source=source, tables=tables, settings=settings)
    except Refusal as refusal:
        return FolderFile(source=source, problems=(to_problem(refusal, FILE),))


def _check_variables(settings: FolderSettings) -> None:
    """Raise Refusal `bad_settings` for a variable that makes a program load code outside its command."""
    programs = [
        ("servers", index, server) for index, server in enumerate(settings.servers) if isinstance(server, StdioServer)
    ]
    programs += [("hooks", index, hook) for index, hook in enumerate(settings.hooks)]
    for table, index, program in programs:
        for name in list_loaders({*program.env, *read_assignments(program.command)}):
            raise Refusal(
                "bad_settings",
                f"{FILE}: a folder's file cannot set {name} for {program.name}, which runs outside the sandbox: "
                "it makes programs load other code.",
                field=f"{table}[{index}].env.{name}",
                hint=f"Remove it. If you need it, move {program.name} to your own settings.",
                reason="loader_variable",
                parameters={"variable": name, "program": program.name},
            )


def list_programs(folder: str, file: FolderFile) -> tuple[Program, ...]:
    """List the programs and scripts that start the folder's own tool servers and hooks, sorted by path.

    They run outside the sandbox, and an agent that can write in the folder can change them. Trust in the folder is therefore
    bound to their content.
    """
    search = build_base_environment()["PATH"]
    root = f"{folder.rstrip('/')}/"
    servers = [server for server in file.settings.servers if isinstance(server, StdioServer)]
    programs: dict[str, Program] = {}
    for entry in (*file.settings.hooks, *servers):
        kind: Literal["server", "hook"] = "server" if isinstance(entry, StdioServer) else "hook"
        for bound in bind(entry.command, entry.env, folder, search).files:
            # A system program has no digest: its path is bound with the command.
            if bound.digest:
                path = os.path.normpath(bound.path)
                programs[path] = Program(path.removeprefix(root), bound.digest, kind, bound.resolved)
    return tuple(program for _, program in sorted(programs.items()))


def list_requested_permissions(
    file: FolderFile, agents: Iterable[Definition], user: Settings, programs: Iterable[Program] = ()
) -> RequestedPermissions:
    """List the permissions that the folder's own files request, with a digest of their values, not of their texts.

    Args:
        programs: Programs of its servers and hooks.
    """
    requests = [
        *_request_rules(file),
        *_request_servers(file),
        *_request_hooks(file),
        *_request_programs(programs),
        *_request_mode(file, user),
        *_request_limits(file, user),
        *_request_agents(agents),
    ]
    if not requests:
        return RequestedPermissions()
    values = sorted(
        msgspec.json.encode({"what": permission.what, "file": permission.file, "value": value}, order="sorted")
        for permission, value in requests
    )
    digest = hashlib.sha256(b"\n".join(values)).hexdigest()
    return RequestedPermissions(digest=digest, widenings=tuple(permission for permission, _ in requests))


def apply_shell_limits(file: FolderFile, user: Shell, *, trusted: bool) -> Shell:
    """Return the limits of commands: narrower limits of the folder always, wider ones only if it is trusted."""
    limits = file.settings.shell
    keys = [key for key in file.shell if limits is not None and (trusted or not _is_wider(limits, user, key))]
    return msgspec.structs.replace(user, **{key: getattr(limits, key) for key in keys})


def _is_wider(limits: Shell, user: Shell, key: str) -> bool:
    # False < True, as a smaller limit < a larger one.
    return getattr(limits, key) > getattr(user, key)


def _request_rules(file: FolderFile) -> list[tuple[RequestedPermission, Any]]:
    return [
        (requested_permissions.describe_rule(rule, FILE), rule)
        for rule in file.settings.rules
        if rule.verdict == "allow"
    ]


def _request_servers(file: FolderFile) -> list[tuple[RequestedPermission, Any]]:
    return [(requested_permissions.describe_server(server, FILE), server) for server in file.settings.servers]


def _request_hooks(file: FolderFile) -> list[tuple[RequestedPermission, Any]]:
    return [(requested_permissions.describe_hook(hook, FILE), hook) for hook in file.settings.hooks]


def _request_programs(programs: Iterable[Program]) -> list[tuple[RequestedPermission, Any]]:
    return [
        (
            requested_permissions.describe_program(
                program.path, program.digest, program.kind, FILE if program.path.startswith("/") else program.path
            ),
            (program.path, program.resolved, program.digest),
        )
        for program in programs
    ]


def _request_mode(file: FolderFile, user: Settings) -> list[tuple[RequestedPermission, Any]]:
    mode = file.settings.permission_mode
    if mode is None or narrow_mode(mode, user.permission_mode) == mode:
        return []
    return [(requested_permissions.describe_permission_mode(mode, FILE), mode)]


def _request_limits(file: FolderFile, user: Settings) -> list[tuple[RequestedPermission, Any]]:
    limits = file.settings.shell
    keys = sorted(key for key in file.shell if limits is not None and _is_wider(limits, user.shell, key))
    return [
        (requested_permissions.describe_limit(key, getattr(limits, key), FILE), {key: getattr(limits, key)})
        for key in keys
    ]


def _request_agents(agents: Iterable[Definition]) -> list[tuple[RequestedPermission, Any]]:
    return [
        (
            requested_permissions.describe_agent_mode(agent.name, agent.permission_mode, agent.file),
            {"name": agent.name, "permission_mode": agent.permission_mode},
        )
        for agent in agents
        if agent.file and agent.permission_mode not in (None, "planning", "ask")
    ]


def _build_unreadable(code: SettingsProblemCode, message: str, hint: str, **parameters: str) -> FolderFile:
    problem = SettingsProblem(file=FILE, message=message, hint=hint, code=code, params=parameters)
    return FolderFile(source=b"", problems=(problem,))
