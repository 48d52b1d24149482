"""Rows of tool calls."""

from __future__ import annotations

from typing import Literal

from ..content import BlobRef, Text
from ..facts.permission import Check, Risk
from ..facts.tool import FileChange
from .part import Part

#: The seven states of a tool call (Agent UI specification, Tool lifecycle).
ToolState = Literal[
    "input-streaming", "input-available", "running", "progress", "output-available", "output-error", "cancelled"
]


class ToolPart(Part, tag="tool_call", frozen=True, kw_only=True):
    """A tool call. A large `output` is a preview with a ref.

    `code` explains why there is no output: refused, failed, cancelled or lost. `done` of `total` is its
    progress; without `total` the amount is unknown. `asked` are the model's arguments, if a hook
    replaced them.
    """

    tool_call_id: str
    tool: str
    state: ToolState
    summary: str = ""
    arguments: Text = Text()
    asked: Text | None = None
    output: Text = Text()
    code: str = ""
    message: str = ""
    exit_code: int | None = None
    duration_ms: int = 0
    started_at: int = 0
    changes: tuple[FileChange, ...] = ()
    images: tuple[BlobRef, ...] = ()
    done: float | None = None
    total: float | None = None
    verdict: str = ""
    risk: Risk = "none"
    checks: tuple[Check, ...] = ()
    sandbox: str = ""
    network: bool = False
    action_id: str = ""
