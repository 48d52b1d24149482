"""Names of children's worktrees, beside their repository."""

from __future__ import annotations

from typing import Final

#: Characters of a session's id in such a name.
_NUMBER: Final = 6


def get_session_suffix(session: str) -> str:
    """Return the part of a session's id in the names of its worktrees and branches."""
    return session[-_NUMBER:].lower()


def build_worktree_name(repository: str, session: str, agent: str) -> str:
    """Return the name of the worktree folder, from the name of the repository's folder."""
    return f".{repository}-{get_session_suffix(session)}-{agent}"


def locate_in_worktree(path: str, folder: str) -> str:
    """Return the path below a folder's counterpart in a worktree of its repository; empty if it is in none.

    Only the text is compared: any folder named like a worktree counts as one.
    """
    ways, parts = folder.rstrip("/").split("/"), path.split("/")
    apart = next((at for at, (part, other) in enumerate(zip(ways, parts, strict=False)) if part != other), 0)
    if not apart or parts[apart + 1 : len(ways)] != ways[apart + 1 :]:
        return ""
    begun = f".{ways[apart]}-"
    session, dash, agent = parts[apart].removeprefix(begun).partition("-")
    named = parts[apart].startswith(begun) and len(session) == _NUMBER and session.isalnum() and dash and agent
    return "/".join(parts[len(ways) :]) if named else ""
