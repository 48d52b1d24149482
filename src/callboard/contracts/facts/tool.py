"""Facts of tools: calls, the sandbox of a call, the catalog and the tool servers."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..content import BlobRef, Text
from ..scope import ScopeKey
from .base import ERASED, UNKNOWN, ErasedForm, Fact
from .permission import HookSaid

_CALL: tuple[ScopeKey, ...] = ("thread", "turn", "run", "step", "tool_call")


class FileChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a tool did to one file. `path` is relative to the folder; the diff is unified, in UTF-8."""

    path: str
    kind: Literal["created", "modified", "deleted"]
    added: int = 0
    removed: int = 0
    diff: Text | None = None
    before: BlobRef | None = None
    after: BlobRef | None = None


class ToolRequested(Fact, frozen=True, kw_only=True):
    """The model asked for a tool. `provider_call_id` is the model's name for the call and never an id of ours; `signature` is
    what the provider wants back with the call, opaque. `hooked` is there where hooks had something to say."""

    type: ClassVar[str] = "tool.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    erased: ClassVar[ErasedForm] = {"tool": UNKNOWN, "arguments": ERASED}
    tool: str
    arguments: Text
    summary: str = ""
    provider_call_id: str = ""
    signature: str = ""
    hooked: HookSaid | None = None

    @property
    def final(self) -> Text:
        """The arguments that everything after goes by: the model's, or those that a hook put in their place."""
        rewritten = self.hooked.arguments if self.hooked is not None else None
        return self.arguments if rewritten is None else rewritten


class ToolStarted(Fact, frozen=True, kw_only=True):
    """The call passed the gate and is being run. Without a terminal fact after it the outcome is unknown."""

    type: ClassVar[str] = "tool.started"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    erased: ClassVar[ErasedForm] = {"tool": UNKNOWN}
    tool: str


class ToolCompleted(Fact, frozen=True, kw_only=True):
    """The tool ran to its end. `duration_ms` is wall time; `images` are what it showed beside its words."""

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
    """The tool ran and reports an error; what it printed before is kept."""

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
    """The call was not run: the gate or a person said no. There is no effect and no result."""

    type: ClassVar[str] = "tool.refused"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    closes: ClassVar[ScopeKey | None] = "tool_call"
    erased: ClassVar[ErasedForm] = {"code": UNKNOWN, "message": ""}
    code: str
    message: str


class ToolCancelled(Fact, frozen=True, kw_only=True):
    """The call was stopped, or never begun, because its turn ended. `output` is what was there."""

    type: ClassVar[str] = "tool.cancelled"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    closes: ClassVar[ScopeKey | None] = "tool_call"
    erased: ClassVar[ErasedForm] = {"started": True, "output": ERASED}
    started: bool
    output: Text = Text()
    duration_ms: int = 0
    changes: tuple[FileChange, ...] = ()


class ToolLost(Fact, frozen=True, kw_only=True):
    """The call had begun when its host died: whether it took effect is unknown, and it is never run again by itself."""

    type: ClassVar[str] = "tool.lost"
    needs: ClassVar[tuple[ScopeKey, ...]] = _CALL
    closes: ClassVar[ScopeKey | None] = "tool_call"
    erased: ClassVar[ErasedForm] = {"output": ERASED}
    output: Text = Text()


class ToolCatalogResolved(Fact, frozen=True, kw_only=True):
    """Which tools an agent has from here on, where that differs from what it had. `catalog` holds each with its
    availability and reason, as JSON (`contracts.inventory.ToolInfo`). `added` are those that the run is told of beside what it
    began with, because it looked for them."""

    type: ClassVar[str] = "tool.catalog.resolved"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    catalog: BlobRef
    loaded: int
    deferred: int = 0
    blocked: int = 0
    excluded: int = 0
    added: tuple[str, ...] = ()


class ToolServerConnected(Fact, frozen=True, kw_only=True):
    """A server of tools answered. `server` is its name in the settings, `title` and `version` are its own words; so many tools
    it has, of which `refused` could not be taken."""

    type: ClassVar[str] = "tool.server.connected"
    erased: ClassVar[ErasedForm] = {"server": UNKNOWN}
    server: str
    title: str = ""
    version: str = ""
    protocol: str = ""
    tools: int = 0
    refused: int = 0


class ToolServerLost(Fact, frozen=True, kw_only=True):
    """A server of tools could not be reached, ended, or broke its protocol. Its tools are blocked until it is there again."""

    type: ClassVar[str] = "tool.server.lost"
    erased: ClassVar[ErasedForm] = {"server": UNKNOWN, "code": UNKNOWN, "message": ""}
    server: str
    code: str
    message: str


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
