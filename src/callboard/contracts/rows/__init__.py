"""The panels and their rows. A view is its rows; the same operations fill the rows table, the browser and the terminal."""

from __future__ import annotations

import msgspec

from .base import AppendText, Op, Remove, Row, Upsert
from .conversation import (
    ActionPart,
    ActionRow,
    ErrorPart,
    NoticePart,
    Part,
    QueueRow,
    ReasoningPart,
    StatusRow,
    SteerPart,
    TextPart,
    ToolPart,
    TurnRow,
)
from .session import SessionCard, SessionRow, WorkspaceRow

AnyPart = TextPart | ReasoningPart | ToolPart | ActionPart | SteerPart | NoticePart | ErrorPart
AnyRow = SessionRow | SessionCard | WorkspaceRow | TurnRow | AnyPart | ActionRow | QueueRow | StatusRow

_decoder = msgspec.json.Decoder(AnyRow)


def decode_row(data: bytes) -> AnyRow:
    """The row of stored bytes, by its kind. Raises msgspec.ValidationError where they are no row of this version."""
    return _decoder.decode(data)


#: The panels of a session, in the order in which a client wants them first.
SESSION_PANELS = ("session", "status", "turns", "parts", "queue", "actions")
#: The panels of a workspace.
WORKSPACE_PANELS = ("workspaces", "sessions")

__all__ = [
    "SESSION_PANELS",
    "WORKSPACE_PANELS",
    "ActionPart",
    "ActionRow",
    "AnyPart",
    "AnyRow",
    "AppendText",
    "ErrorPart",
    "NoticePart",
    "Op",
    "Part",
    "QueueRow",
    "ReasoningPart",
    "Remove",
    "Row",
    "SessionCard",
    "SessionRow",
    "StatusRow",
    "SteerPart",
    "TextPart",
    "ToolPart",
    "TurnRow",
    "Upsert",
    "WorkspaceRow",
    "decode_row",
]
