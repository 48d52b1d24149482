"""Limits of a command, as this machine can enforce them."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

from callboard.contracts.facts.tool import LimitName, ResourceLimits, SandboxApplied
from callboard.contracts.settings import Shell

#: Exit code of a process that the kernel ended for its file size: 128 and SIGXFSZ.
FILE_TOO_LARGE = 128 + 25
#: Maximum size of each file system in memory, in MiB, and how many of them must fit into the memory
#: limit.
_LARGEST_SCRATCH, _SCRATCHES = 1024, 4

_WORDS: dict[str, tuple[str, str]] = {
    "memory": ("took more than {value:,g} MiB of memory", "shell.memory"),
    "processes": ("had more than {value:,g} processes", "shell.processes"),
    "file_size": ("wrote a file of more than {value:,g} MiB", "shell.file_size"),
}


@cache
def can_watch_tree() -> bool:
    """Return True if the guard can see a command's whole tree."""
    return Path(f"/proc/self/task/{threading.get_native_id()}/children").exists()


def to_limits(shell: Shell, *, scratch: bool) -> ResourceLimits:
    """Return the limits that will be enforced. With `scratch` the command has file systems in memory."""
    by_guard: dict[LimitName, float] = {"timeout": shell.timeout}
    by_look: dict[LimitName, float] = {"memory": shell.memory, "processes": shell.processes}
    found: ResourceLimits = {"guard": by_guard, "kernel": {"file_size": shell.file_size}}
    if can_watch_tree():
        by_guard |= by_look
    else:
        found["none"] = by_look
    if scratch:
        found["tmpfs"] = {"scratch": min(_LARGEST_SCRATCH, shell.memory // _SCRATCHES)}
    return found


def get_limit(applied: SandboxApplied, name: LimitName) -> float:
    """Return an enforced limit; 0 for none."""
    return next((told[name] for keeper, told in applied.limits.items() if name in told and keeper != "none"), 0)


def to_bounds(applied: SandboxApplied) -> dict[str, int]:
    """Return the bounds for the guard."""
    names: tuple[LimitName, ...] = ("memory", "processes", "file_size")
    return {name: int(get_limit(applied, name)) for name in names}


def describe_exceeded(applied: SandboxApplied, name: str) -> str:
    """Return the text for a command that exceeded a limit."""
    what, setting = _WORDS[name]
    most = next((told[one] for told in applied.limits.values() for one in told if one == name), 0)
    return (
        f"The command was ended: it {what.format(value=most)}, which is the limit. "
        f"Let it take less, or have the person raise {setting} in the settings."
    )
