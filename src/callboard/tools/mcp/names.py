"""Names of servers' tools: `mcp__server__tool`, unique and valid for every provider."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

PREFIX = "mcp__"
#: Maximum length that every provider accepts.
MAX_NAME_CHARS = 64
_MAX_SERVER_CHARS = 24
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def is_server_tool(name: str) -> bool:
    """Return True for the name of a server's tool."""
    return name.startswith(PREFIX)


def map_servers(names: Iterable[str]) -> dict[str, str]:
    """Return each server's part of tool names.

    It has no `__` and no `_` or `-` at its ends, so `mcp__server__*` matches no other server's tools.
    """
    parts: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"_{2,}", "_", _FOREIGN.sub("_", name)).strip("_-") or "server"
        if len(plain) > _MAX_SERVER_CHARS or plain.lower() in {part.lower() for part in parts.values()}:
            plain = f"{plain[: _MAX_SERVER_CHARS - 7]}".rstrip("_-") + f"-{_digest(name)}"
        parts[name] = plain
    return parts


def build_tool_name(server: str, name: str, used: Iterable[str]) -> str:
    """Return a unique name for a tool. `used` are existing names."""
    prefix = f"{PREFIX}{server}__"
    plain = _FOREIGN.sub("_", name)
    if len(prefix) + len(plain) > MAX_NAME_CHARS or prefix + plain in used:
        plain = f"{plain[: MAX_NAME_CHARS - len(prefix) - 7]}-{_digest(name)}"
    return prefix + plain


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:6]
