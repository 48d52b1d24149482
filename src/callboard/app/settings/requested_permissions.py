"""Descriptions of permissions that a folder's files request: a code with parameters, and its English text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from callboard.contracts.ports.secrets import HANDLE
from callboard.contracts.settings import (
    Hook,
    RequestedPermission,
    RequestedPermissionCode,
    RuleEntry,
    Server,
    StdioServer,
)
from callboard.tools.files.paths import display

#: A person must see the whole request, so it is not truncated.
_MAX_TEXT_CHARS: Final = 100_000
_HANDLE: Final = re.compile(rf"{re.escape(HANDLE)}([A-Za-z0-9][A-Za-z0-9_-]{{0,63}})")
_NETWORK: Final = "network"
_ENGLISH: Final[Mapping[RequestedPermissionCode, str]] = {
    "rule": "{matcher} runs without asking",
    "server_starts": "the tools of {name}: starts {command}",
    "server_reaches": "the tools of {name}: reaches {url}",
    "hook_starts": "the hook {name} is asked about {tools}: starts {command}",
    "program_runs": "{path} runs as it is now, outside the sandbox",
    "permission_mode": "new turns run in the permission mode {mode} by default",
    "network": "commands reach the network",
    "limit": "commands may take {key} = {value}",
    "agent_mode": "{name} works in the permission mode {mode} where you choose it",
}


def describe_rule(entry: RuleEntry, file: str) -> RequestedPermission:
    """Describe an allow rule."""
    return _build_request("rule", "rule", file, matcher=entry.matcher)


def describe_server(entry: Server, file: str) -> RequestedPermission:
    """Describe a tool server."""
    if isinstance(entry, StdioServer):
        return _build_request(
            "server", "server_starts", file, name=entry.name, **_describe_command(entry.command, entry.env)
        )
    return _build_request(
        "server", "server_reaches", file, name=entry.name, url=entry.url, secrets=_format_secrets(entry.headers)
    )


def describe_hook(entry: Hook, file: str) -> RequestedPermission:
    """Describe a hook."""
    tools = ", ".join(entry.tools)
    return _build_request(
        "hook", "hook_starts", file, name=entry.name, tools=tools, **_describe_command(entry.command, entry.env)
    )


def describe_program(path: str, digest: str, kind: Literal["server", "hook"], file: str) -> RequestedPermission:
    """Describe a program with its present content."""
    return _build_request(kind, "program_runs", file, path=path, digest=digest[:12])


def describe_permission_mode(mode: str, file: str) -> RequestedPermission:
    """Describe a default permission mode."""
    return _build_request("permission_mode", "permission_mode", file, mode=mode)


def describe_limit(key: str, value: object, file: str) -> RequestedPermission:
    """Describe a limit of commands."""
    if key == _NETWORK:
        return _build_request("shell", "network", file)
    return _build_request("shell", "limit", file, key=key, value=str(value))


def describe_agent_mode(name: str, mode: str, file: str) -> RequestedPermission:
    """Describe the permission mode of an agent."""
    return _build_request("agent", "agent_mode", file, name=name, mode=mode)


def _build_request(
    kind: Literal["rule", "server", "hook", "permission_mode", "shell", "agent"],
    code: RequestedPermissionCode,
    file: str,
    **values: str,
) -> RequestedPermission:
    """Build a requested permission without empty parameters."""
    texts = {key: display(value, _MAX_TEXT_CHARS) for key, value in values.items()}
    parameters = {key: text for key, text in texts.items() if text}
    return RequestedPermission(
        what=kind, code=code, parameters=parameters, detail=_format_detail(code, texts), file=file
    )


def _format_detail(code: RequestedPermissionCode, texts: Mapping[str, str]) -> str:
    detail = _ENGLISH[code].format(**texts)
    if texts.get("environment"):
        detail += f", with {texts['environment']}"
    if texts.get("secrets"):
        plural = "s" if ", " in texts["secrets"] else ""
        detail += f", and gives it the secret{plural} {texts['secrets']}"
    return f"{detail} (sha256 {texts['digest']})" if texts.get("digest") else detail


def _describe_command(command: Iterable[str], env: Mapping[str, str]) -> dict[str, str]:
    environment = ", ".join(f"{name}={value}" for name, value in sorted(env.items()))
    return {"command": " ".join(command), "environment": environment, "secrets": _format_secrets(env)}


def _format_secrets(values: Mapping[str, str]) -> str:
    return ", ".join(sorted({name for value in values.values() for name in _HANDLE.findall(value)}))
