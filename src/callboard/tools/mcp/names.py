"""What a server's tools are called here: `mcp__server__tool`, unique, of characters and a length that every provider takes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

PREFIX = "mcp__"
#: The longest name that every provider takes.
LONGEST = 64
_LONGEST_SERVER = 24
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def is_brought(name: str) -> bool:
    """True for the name of a tool that a server brings."""
    return name.startswith(PREFIX)


def servers(names: Iterable[str]) -> dict[str, str]:
    """The part that stands for each server in the names of its tools. It holds no `__` and begins and ends with none, so that
    `mcp__server__*` never speaks of another server's tools."""
    found: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"_{2,}", "_", _FOREIGN.sub("_", name)).strip("_-") or "server"
        if len(plain) > _LONGEST_SERVER or plain.lower() in {one.lower() for one in found.values()}:
            plain = f"{plain[: _LONGEST_SERVER - 7]}".rstrip("_-") + f"-{_mark(name)}"
        found[name] = plain
    return found


def tool(server: str, name: str, taken: Iterable[str]) -> str:
    """The name of a tool. `server` is its server's part, `taken` are the names that its tools have already."""
    before = f"{PREFIX}{server}__"
    plain = _FOREIGN.sub("_", name)
    if len(before) + len(plain) > LONGEST or before + plain in taken:
        plain = f"{plain[: LONGEST - len(before) - 7]}-{_mark(name)}"
    return before + plain


def _mark(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:6]
