"""Limits of commands that this machine can enforce."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

from callboard.contracts.facts.tool import LimitName, ResourceLimits, SandboxApplied
from callboard.contracts.settings import Shell

#: Exit code after a file that is too large: 128 and SIGXFSZ.
FILE_TOO_LARGE = 128 + 25
#: Maximum size of a file system in memory, in MiB, and how many must fit into the memory limit.
_MAX_SCRATCH_MB, _SCRATCHES = 1024, 4

_EXCESS: dict[str, tuple[str, str]] = {
    "memory": ("used more than {value:,g} MiB of memory", "shell.memory"),
    "processes": ("had more than {value:,g} processes", "shell.processes"),
    "file_size": ("wrote a file of more than {value:,g} MiB", "shell.file_size"),
}


@cache
def can_watch_tree() -> bool:
    """Return True if the guard can see the whole process tree."""
    return Path(f"/proc/self/task/{threading.get_native_id()}/children").exists()


def to_limits(shell: Shell, *, scratch: bool) -> ResourceLimits:
    """Return the limits with their enforcers. `scratch`: the command has file systems in memory."""
    by_guard: dict[LimitName, float] = {"timeout": shell.timeout}
    by_checks: dict[LimitName, float] = {"memory": shell.memory, "processes": shell.processes}
    limits: ResourceLimits = {"guard": by_guard, "kernel": {"file_size": shell.file_size}}
    if can_watch_tree():
        by_guard |= by_checks
    else:
        limits["none"] = by_checks
    if scratch:
        limits["tmpfs"] = {"scratch": min(_MAX_SCRATCH_MB, shell.memory // _SCRATCHES)}
    return limits


def get_limit(applied: SandboxApplied, name: LimitName) -> float:
    """Return an enforced limit; 0 if unlimited."""
    return next(
        (values[name] for enforcer, values in applied.limits.items() if name in values and enforcer != "none"), 0
    )


def to_bounds(applied: SandboxApplied) -> dict[str, int]:
    """Return the bounds for the guard."""
    names: tuple[LimitName, ...] = ("memory", "processes", "file_size")
    return {name: int(get_limit(applied, name)) for name in names}


def describe_exceeded(applied: SandboxApplied, name: str) -> str:
    """Return the message for a command that exceeded a limit."""
    excess, setting = _EXCESS[name]
    limit = next((values[key] for values in applied.limits.values() for key in values if key == name), 0)
    return (
        f"The command was ended: it {excess.format(value=limit)}, the limit. "
        f"Reduce its use, or ask a person to raise {setting} in the settings."
    )
