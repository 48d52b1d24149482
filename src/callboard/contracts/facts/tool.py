"""Facts of tools: calls, their sandbox, tool catalogs and tool servers."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..content import BlobRef, Text
from ..scope import ScopeKey
from .base import ERASED, UNKNOWN, ErasedForm, Fact
from .permission import HookOutcome

_CALL: tuple[ScopeKey, ...] = ("thread", "turn", "run", "step", "tool_call")


class FileChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A tool's change of a file.

    `path` is relative to the folder. `diff` is unified. `before` and `after` are the contents.
    """

    path: str
    kind: Literal["created", "modified", "deleted"]
    added: int = 0
    removed: int = 0
    diff: Text | None = None
    before: BlobRef | None = None
    after: BlobRef | None = None


class ToolRequested(Fact, frozen=True, kw_only=True):
    """The model requested a call.

    `provider_call_id` is the provider's id, never one of Callboard's. `signature` is opaque and is
    sent back to the provider. `hooked` is the result of hooks, if any.
    """

    type: ClassVar[str] = "tool.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    erased: ClassVar[ErasedForm] = {"tool": UNKNOWN, "arguments": ERASED}
    tool: str
    arguments: Text
    summary: str = ""
    provider_call_id: str = ""
    signature: str = ""
    hooked: HookOutcome | None = None

    @property
    def final(self) -> Text:
        """Return the arguments that the call runs with: the model's, or those of a hook."""
        rewritten = self.hooked.arguments if self.hooked is not None else None
        return self.arguments if rewritten is None else rewritten


class ToolStarted(Fact, frozen=True, kw_only=True):
    """The call passed the gate and runs. Without a terminal fact after it the outcome is unknown."""

    type: ClassVar[str] = "tool.started"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    erased: ClassVar[ErasedForm] = {"tool": UNKNOWN}
    tool: str


class ToolCompleted(Fact, frozen=True, kw_only=True):
    """The tool finished after `duration_ms` of wall time. `images` are part of the result."""

    type: ClassVar[str] = "tool.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    closes: ClassVar[ScopeKey | None] = "tool_call"
    erased: ClassVar[ErasedForm] = {"output": ERASED}
    output: Text
    duration_ms: int = 0
    exit_code: int | None = None
    changes: tuple[FileChange, ...] = ()
    images: tuple[BlobRef, ...] = ()


class ToolFailed(Fact, frozen=True, kw_only=True):
    """The tool ran and reported an error. `output` is its output before that."""

    type: ClassVar[str] = "tool.failed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    closes: ClassVar[ScopeKey | None] = "tool_call"
    erased: ClassVar[ErasedForm] = {"code": UNKNOWN, "message": "", "output": ERASED}
    code: str
    message: str
    output: Text = Text()
    duration_ms: int = 0
    exit_code: int | None = None
    changes: tuple[FileChange, ...] = ()


class ToolRefused(Fact, frozen=True, kw_only=True):
    """The gate or a person denied the call, which did not run."""

    type: ClassVar[str] = "tool.refused"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    closes: ClassVar[ScopeKey | None] = "tool_call"
    erased: ClassVar[ErasedForm] = {"code": UNKNOWN, "message": ""}
    code: str
    message: str


class ToolCancelled(Fact, frozen=True, kw_only=True):
    """The call was stopped, or not `started`, because its turn ended. `output` is the output so far."""

    type: ClassVar[str] = "tool.cancelled"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    closes: ClassVar[ScopeKey | None] = "tool_call"
    erased: ClassVar[ErasedForm] = {"started": True, "output": ERASED}
    started: bool
    output: Text = Text()
    duration_ms: int = 0
    changes: tuple[FileChange, ...] = ()


class ToolLost(Fact, frozen=True, kw_only=True):
    """The host died while the call ran. Its effect is unknown, and it never runs again automatically."""

    type: ClassVar[str] = "tool.lost"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    closes: ClassVar[ScopeKey | None] = "tool_call"
    erased: ClassVar[ErasedForm] = {"output": ERASED}
    output: Text = Text()


class ToolCatalogResolved(Fact, frozen=True, kw_only=True):
    """The agent's tools changed.

    `catalog` has each tool with its availability and reason, as JSON
    (`contracts.entities.tool_inventory.ToolInfo`). `added` are tools that the run's model found by
    searching.
    """

    type: ClassVar[str] = "tool.catalog.resolved"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    catalog: BlobRef
    loaded: int
    deferred: int = 0
    blocked: int = 0
    excluded: int = 0
    added: tuple[str, ...] = ()


class ToolServerConnected(Fact, frozen=True, kw_only=True):
    """A tool server connected.

    `server` is its name in the settings; `title` and `version` are its own. `tools` is the number
    of its tools, `refused` of them invalid.
    """

    type: ClassVar[str] = "tool.server.connected"
    is_diagnostic: ClassVar[bool] = True
    erased: ClassVar[ErasedForm] = {"server": UNKNOWN}
    server: str
    title: str = ""
    version: str = ""
    protocol: str = ""
    tools: int = 0
    refused: int = 0


class ToolServerLost(Fact, frozen=True, kw_only=True):
    """A tool server was unreachable, ended, or broke its protocol. Its tools are blocked until it reconnects."""

    type: ClassVar[str] = "tool.server.lost"
    erased: ClassVar[ErasedForm] = {"server": UNKNOWN, "code": UNKNOWN, "message": ""}
    server: str
    code: str
    message: str


SandboxLevel = Literal["none", "paths", "bubblewrap"]
LimitName = Literal["timeout", "memory", "processes", "file_size", "scratch"]
#: What enforces a limit: the guard, which watches all processes of a command and ends them; the
#: kernel, for each process; the size of a file system in memory; or nothing.
LimitKeeper = Literal["guard", "kernel", "tmpfs", "none"]


#: Limits of a command with all its processes, by what enforces them: seconds, MiB or a number.
#: `file_size` is per file.
ResourceLimits = dict[LimitKeeper, dict[LimitName, float]]


class SandboxApplied(Fact, frozen=True, kw_only=True):
    """The confinement of one call.

    The level `paths` is for file tools: they open paths from the folder's handle and follow no
    link. `limits` are the command's limits with what enforces them.
    """

    type: ClassVar[str] = "sandbox.applied"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "step", "tool_call")
    erased: ClassVar[ErasedForm] = {"level": UNKNOWN, "network": True}
    level: SandboxLevel
    network: bool = False
    writable: tuple[str, ...] = ()
    seccomp: bool = False
    detail: str = ""
    limits: ResourceLimits = msgspec.field(default_factory=dict[LimitKeeper, dict[LimitName, float]])


#: The ends of a call.
ToolEndFact = ToolCompleted | ToolFailed | ToolRefused | ToolCancelled | ToolLost
ToolFact = (
    ToolRequested
    | ToolStarted
    | ToolEndFact
    | SandboxApplied
    | ToolCatalogResolved
    | ToolServerConnected
    | ToolServerLost
)
