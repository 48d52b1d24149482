"""What a folder's files would allow: a code with parameters, and the same in English."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from callboard.contracts.ports.secrets import HANDLE
from callboard.contracts.settings import Hook, RuleEntry, Server, StdioServer, Widening, WideningCode
from callboard.tools.files.paths import display

#: What a person is asked to trust is shown whole: nothing is hidden behind an ellipsis.
_LONGEST: Final = 100_000
_HANDLE: Final = re.compile(rf"{re.escape(HANDLE)}([A-Za-z0-9][A-Za-z0-9_-]{{0,63}})")
_NETWORK: Final = "network"
_ENGLISH: Final[Mapping[WideningCode, str]] = {
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


def rule(entry: RuleEntry, file: str) -> Widening:
    """Return what a rule would allow."""
    return _widening("rule", "rule", file, matcher=entry.matcher)


def server(entry: Server, file: str) -> Widening:
    """Return what a tool server would run or reach."""
    if isinstance(entry, StdioServer):
        return _widening("server", "server_starts", file, name=entry.name, **_started(entry.command, entry.env))
    return _widening("server", "server_reaches", file, name=entry.name, url=entry.url, secrets=_secrets(entry.headers))


def hook(entry: Hook, file: str) -> Widening:
    """Return what a hook would run."""
    tools = ", ".join(entry.tools)
    return _widening("hook", "hook_starts", file, name=entry.name, tools=tools, **_started(entry.command, entry.env))


def program(path: str, digest: str, what: Literal["server", "hook"], file: str) -> Widening:
    """Return that a file runs with the content that it has now."""
    return _widening(what, "program_runs", file, path=path, digest=digest[:12])


def permission_mode(mode: str, file: str) -> Widening:
    """Return the permission mode that turns would have by default."""
    return _widening("permission_mode", "permission_mode", file, mode=mode)


def limit(key: str, value: object, file: str) -> Widening:
    """Return what commands could use."""
    if key == _NETWORK:
        return _widening("shell", "network", file)
    return _widening("shell", "limit", file, key=key, value=str(value))


def agent_mode(name: str, mode: str, file: str) -> Widening:
    """Return the permission mode of an agent's file."""
    return _widening("agent", "agent_mode", file, name=name, mode=mode)


def _widening(
    what: Literal["rule", "server", "hook", "permission_mode", "shell", "agent"],
    code: WideningCode,
    file: str,
    **values: str,
) -> Widening:
    """An empty value is left out of the parameters."""
    shown = {key: display(value, _LONGEST) for key, value in values.items()}
    parameters = {key: value for key, value in shown.items() if value}
    return Widening(what=what, code=code, parameters=parameters, detail=_english(code, shown), file=file)


def _english(code: WideningCode, shown: Mapping[str, str]) -> str:
    said = _ENGLISH[code].format(**shown)
    if shown.get("environment"):
        said += f", with {shown['environment']}"
    if shown.get("secrets"):
        several = "s" if ", " in shown["secrets"] else ""
        said += f", and gives it the secret{several} {shown['secrets']}"
    return f"{said} (sha256 {shown['digest']})" if shown.get("digest") else said


def _started(command: Iterable[str], env: Mapping[str, str]) -> dict[str, str]:
    environment = ", ".join(f"{name}={value}" for name, value in sorted(env.items()))
    return {"command": " ".join(command), "environment": environment, "secrets": _secrets(env)}


def _secrets(values: Mapping[str, str]) -> str:
    return ", ".join(sorted({name for value in values.values() for name in _HANDLE.findall(value)}))
