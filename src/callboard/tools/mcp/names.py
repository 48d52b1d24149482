"""Names of servers' tools: `mcp__server__tool`, unique and valid for every provider."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

PREFIX = "mcp__"
#: Maximum length that every provider accepts.
LONGEST = 64
_LONGEST_SERVER = 24
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def is_server_tool(name: str) -> bool:
    """Return True for the name of a server's tool."""
    return name.startswith(PREFIX)


def map_servers(names: Iterable[str]) -> dict[str, str]:
    """Return the part of tool names that stands for each server.

    It has no `__` and no `_` or `-` at its ends, so `mcp__server__*` never matches another server's
    tools.
    """
    found: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"_{2,}", "_", _FOREIGN.sub("_", name)).strip("_-") or "server"
        if len(plain) > _LONGEST_SERVER or plain.lower() in {one.lower() for one in found.values()}:
            plain = f"{plain[: _LONGEST_SERVER - 7]}".rstrip("_-") + f"-{_mark(name)}"
        found[name] = plain
    return found


def tool_name(server: str, name: str, taken: Iterable[str]) -> str:
    """Return the name of a tool. `taken` are the names in use."""
    before = f"{PREFIX}{server}__"
    plain = _FOREIGN.sub("_", name)
    if len(before) + len(plain) > LONGEST or before + plain in taken:
        plain = f"{plain[: LONGEST - len(before) - 7]}-{_mark(name)}"
    return before + plain


def _mark(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:6]
