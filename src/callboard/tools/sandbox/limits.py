"""What a command may take: the limits of the settings as they can be kept to on this machine, and said so."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

from callboard.contracts.facts.sandbox import LimitName, ResourceLimit, SandboxApplied
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


def of(shell: Shell, *, scratch: bool) -> tuple[ResourceLimit, ...]:
    """The limits that will be kept to. With `scratch` the command has file systems of its own in memory."""
    guard = "guard" if watched() else "none"
    found = [
        ResourceLimit(name="timeout", value=shell.timeout, keeper="guard"),
        ResourceLimit(name="memory", value=shell.memory, keeper=guard),
        ResourceLimit(name="processes", value=shell.processes, keeper=guard),
        ResourceLimit(name="file_size", value=shell.file_size, keeper="kernel"),
    ]
    if scratch:
        size = min(_LARGEST_SCRATCH, shell.memory // _SCRATCHES)
        found.append(ResourceLimit(name="scratch", value=size, keeper="tmpfs"))
    return tuple(found)


def value(applied: SandboxApplied, name: LimitName) -> float:
    """A limit that is kept to; 0 for none."""
    return next((one.value for one in applied.limits if one.name == name and one.keeper != "none"), 0)


def bounds(applied: SandboxApplied) -> dict[str, int]:
    """What the guard is to keep to."""
    names: tuple[LimitName, ...] = ("memory", "processes", "file_size")
    return {name: int(value(applied, name)) for name in names}


def said(applied: SandboxApplied, name: str) -> str:
    """What a command is told that went over a limit."""
    what, setting = _WORDS[name]
    most = next((one.value for one in applied.limits if one.name == name), 0)
    return (
        f"The command was ended: it {what.format(value=most)}, which is the limit. "
        f"Let it take less, or have the person raise {setting} in the settings."
    )
