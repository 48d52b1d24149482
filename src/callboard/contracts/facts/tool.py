"""Facts of a tool call, from the model's request to its one terminal fact."""

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


ToolFact = ToolRequested | ToolStarted | ToolCompleted | ToolFailed | ToolRefused | ToolCancelled | ToolLost
