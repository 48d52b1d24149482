"""Facts of the sandbox: what was really applied to a tool call, and "none" said as none."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..scope import ScopeKey
from .base import Fact

SandboxLevel = Literal["none", "paths", "bubblewrap"]


class SandboxApplied(Fact, frozen=True, kw_only=True):
    """The confinement of one call. `paths` is the directory-handle confinement of the file tools."""

    type: ClassVar[str] = "sandbox.applied"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "step", "tool_call")
    level: SandboxLevel
    network: bool
    writable: tuple[str, ...] = ()
    seccomp: bool = False
    detail: str = ""


SandboxFact = SandboxApplied
