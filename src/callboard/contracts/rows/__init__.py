"""Panels and their rows. The rows table, the browser and the terminal apply the same operations."""

from __future__ import annotations

import msgspec

from .action import ActionPart, ActionRow
from .agent import AgentRow, RemoteStatusPart
from .artifact import ArtifactPart, ArtifactRow, ArtifactVersionRow
from .base import AppendText, Op, Remove, Upsert
from .context import ContextPart, ContextRow
from .exchange.handoff import HandoffPart, HandoffRow
from .exchange.review import ReviewRow
from .message import MessageRow, ReasoningPart, TextPart
from .part import ErrorPart, NoticePart
from .plan import PlanPart
from .process import ProcessRow
from .queue import QueueRow, SteerPart
from .run import RunRow
from .session import SessionCard, SessionRow, WorkspaceRow
from .status import StatusRow
from .subagent import NotificationPart, NotificationRow
from .task import TaskRow
from .team import TEAM_PANELS, EdgeRow, TeamRow
from .tool import ToolPart
from .turn import TurnRow

AnyPart = (
    TextPart
    | ReasoningPart
    | ToolPart
    | ActionPart
    | SteerPart
    | NoticePart
    | PlanPart
    | NotificationPart
    | HandoffPart
    | RemoteStatusPart
    | ContextPart
    | ArtifactPart
    | ErrorPart
)
AnyRow = (
    SessionRow
    | SessionCard
    | WorkspaceRow
    | TurnRow
    | AnyPart
    | ActionRow
    | QueueRow
    | StatusRow
    | ArtifactRow
    | ArtifactVersionRow
    | ContextRow
    | ProcessRow
    | TeamRow
    | AgentRow
    | EdgeRow
    | TaskRow
    | HandoffRow
    | NotificationRow
    | ReviewRow
    | MessageRow
    | RunRow
)


class _Upsert(msgspec.Struct, frozen=True, tag_field="op", tag="upsert", gc=False):
    """An upsert from outside, with the class of its row by kind."""

    panel: str
    row: AnyRow


_decoder = msgspec.json.Decoder(AnyRow)
_ops_decoder = msgspec.json.Decoder(tuple[_Upsert | Remove | AppendText, ...])


def decode_row(data: bytes) -> AnyRow:
    """Return the row of stored bytes.

    Raises:
        msgspec.ValidationError: The bytes are not a row of this version.
    """
    return _decoder.decode(data)


def decode_ops(data: bytes) -> tuple[Op, ...]:
    """Return the operations of a JSON list.

    Raises:
        msgspec.ValidationError: The list is not one of operations of this version.
    """
    return tuple(
        Upsert(panel=op.panel, row=op.row) if isinstance(op, _Upsert) else op for op in _ops_decoder.decode(data)
    )


#: Panels of a session, in loading order.
SESSION_PANELS = (
    "session",
    "status",
    "turns",
    "parts",
    "queue",
    "actions",
    "artifacts",
    "context",
    "processes",
    *TEAM_PANELS,
)
#: Panels of a workspace.
WORKSPACE_PANELS = ("workspaces", "sessions")
