"""Facts of a session as a whole."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import ErasedForm, Fact

#: Where a past session came from.
SessionSource = Literal["claude_code", "codex"]


class SessionCreated(Fact, frozen=True, kw_only=True):
    """The first fact of a session's stream. `folder` is the absolute path its agents work in. One that was imported names its
    `source`, and is for reading; its facts bear the times of what they tell."""

    type: ClassVar[str] = "session.created"
    erased: ClassVar[ErasedForm] = {"workspace_id": "", "folder": "", "title": ""}
    workspace_id: str
    folder: str
    title: str
    source: SessionSource | None = None
    source_id: str = ""


class SessionTakenOver(Fact, frozen=True, kw_only=True):
    """A new epoch took the session over from one that had ended without closing what it ran."""

    type: ClassVar[str] = "session.taken_over"
    previous_epoch: int
    epoch: int


SessionFact = SessionCreated | SessionTakenOver
