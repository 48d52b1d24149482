"""Where the worktree of a child stands: beside its repository, under a name that says of which one it is."""

from __future__ import annotations

from typing import Final

#: How much of a session's id such a name has.
_NUMBER: Final = 6


def number(session: str) -> str:
    """What tells the worktrees of a session, and their branches, from those of others."""
    return session[-_NUMBER:].lower()


def name(repository: str, session: str, agent: str) -> str:
    """What the folder is called, for the name of its repository's."""
    return f".{repository}-{number(session)}-{agent}"


def within(path: str, folder: str) -> str:
    """The rest of an absolute path below a folder's place in a worktree of its repository; empty where it is in none. Both
    are text: no file is looked at, so one that is called like a worktree counts as one."""
    ways, parts = folder.rstrip("/").split("/"), path.split("/")
    apart = next((at for at, (one, other) in enumerate(zip(ways, parts, strict=False)) if one != other), 0)
    if not apart or parts[apart + 1 : len(ways)] != ways[apart + 1 :]:
        return ""
    begun = f".{ways[apart]}-"
    session, dash, agent = parts[apart].removeprefix(begun).partition("-")
    named = parts[apart].startswith(begun) and len(session) == _NUMBER and session.isalnum() and dash and agent
    return "/".join(parts[len(ways) :]) if named else ""
