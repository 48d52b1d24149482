"""The start as root, and what it means."""

from __future__ import annotations

import os
from typing import Final

AS_ROOT: Final = (
    "Hooks, tool servers, external agents and every command outside of the sandbox then run with all rights. "
    "Use an ordinary user, or a container that you can lose."
)


def is_root() -> bool:
    """Return True where this process has the rights of root."""
    return os.geteuid() == 0
