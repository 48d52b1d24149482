"""What a command may take: the limits of the settings as they can be kept to on this machine, and said so."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

from callboard.contracts.facts.sandbox import LimitName, ResourceLimits, SandboxApplied
from callboard.contracts.settings import Shell

#: The exit code of what the kernel ended because a file became too large: 128 and SIGXFSZ.
FILE_TOO_LARGE = 128 + 25
#: How large each of the sandbox's own file systems is at most, in MiB; and how many of them together fit into the memory.
_LARGEST_SCRATCH, _SCRATCHES = 1024, 4

_WORDS: dict[str, tuple[str, str]] = {
    "memory": ("took more than {value:,g} MiB of memory", "shell.memory"),
    "processes": ("had more than {value:,g} processes", "shell.processes"),
    "file_size": ("wrote a file of more than {value:,g} MiB", "shell.file_size"),
}


@cache
def watched() -> bool:
    """True where the guard can look at a command's whole tree."""
    return Path(f"/proc/self/task/{threading.get_native_id()}/children").exists()


def of(shell: Shell, *, scratch: bool) -> ResourceLimits:
    """The limits that will be kept to. With `scratch` the command has file systems of its own in memory."""
    by_guard: dict[LimitName, float] = {"timeout": shell.timeout}
    by_look: dict[LimitName, float] = {"memory": shell.memory, "processes": shell.processes}
    found: ResourceLimits = {"guard": by_guard, "kernel": {"file_size": shell.file_size}}
    if watched():
        by_guard |= by_look
    else:
        found["none"] = by_look
    if scratch:
        found["tmpfs"] = {"scratch": min(_LARGEST_SCRATCH, shell.memory // _SCRATCHES)}
    return found


def value(applied: SandboxApplied, name: LimitName) -> float:
    """A limit that is kept to; 0 for none."""
    return next((told[name] for keeper, told in applied.limits.items() if name in told and keeper != "none"), 0)


def bounds(applied: SandboxApplied) -> dict[str, int]:
    """What the guard is to keep to."""
    names: tuple[LimitName, ...] = ("memory", "processes", "file_size")
    return {name: int(value(applied, name)) for name in names}


def said(applied: SandboxApplied, name: str) -> str:
    """What a command is told that went over a limit."""
    what, setting = _WORDS[name]
    most = next((told[one] for told in applied.limits.values() for one in told if one == name), 0)
    return (
        f"The command was ended: it {what.format(value=most)}, which is the limit. "
        f"Let it take less, or have the person raise {setting} in the settings."
    )
