"""Facts of the sandbox: what was really applied to a tool call, and "none" said as none."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..scope import ScopeKey
from .base import Fact

SandboxLevel = Literal["none", "paths", "bubblewrap"]
LimitName = Literal["timeout", "memory", "processes", "file_size", "scratch"]
#: What keeps to a limit: the guard that watches the whole tree and ends it, the kernel for each process of it, the size of a
#: file system in memory, or nothing.
LimitKeeper = Literal["guard", "kernel", "tmpfs", "none"]


class ResourceLimit(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a command may take at most, all that comes of it together; a file's size is that of each. `value` is in
    seconds, in MiB or a number."""

    name: LimitName
    value: float
    keeper: LimitKeeper


class SandboxApplied(Fact, frozen=True, kw_only=True):
    """The confinement of one call. `paths` is the directory-handle confinement of the file tools."""

    type: ClassVar[str] = "sandbox.applied"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "step", "tool_call")
    level: SandboxLevel
    network: bool
    writable: tuple[str, ...] = ()
    seccomp: bool = False
    detail: str = ""
    limits: tuple[ResourceLimit, ...] = ()


SandboxFact = SandboxApplied
