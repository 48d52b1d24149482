"""Facts of the sandbox: what was really applied to a tool call, and "none" said as none."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact

SandboxLevel = Literal["none", "paths", "bubblewrap"]
LimitName = Literal["timeout", "memory", "processes", "file_size", "scratch"]
#: What keeps to a limit: the guard that watches the whole tree and ends it, the kernel for each process of it, the size of a
#: file system in memory, or nothing.
LimitKeeper = Literal["guard", "kernel", "tmpfs", "none"]


#: What a command may take at most, all that comes of it together, by what keeps it to that: in seconds, in MiB or a number. A
#: file's size is that of each.
ResourceLimits = dict[LimitKeeper, dict[LimitName, float]]


class SandboxApplied(Fact, frozen=True, kw_only=True):
    """The confinement of one call. `paths` is that of the file tools: what they touch is opened from the folder's own handle,
    through no link. `limits` name what a command may take and what keeps it to that."""

    type: ClassVar[str] = "sandbox.applied"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "step", "tool_call")
    erased: ClassVar[ErasedForm] = {"level": UNKNOWN, "network": True}
    level: SandboxLevel
    network: bool = False
    writable: tuple[str, ...] = ()
    seccomp: bool = False
    detail: str = ""
    limits: ResourceLimits = msgspec.field(default_factory=dict[LimitKeeper, dict[LimitName, float]])


SandboxFact = SandboxApplied
