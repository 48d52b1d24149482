"""Rows of a session, and of the list of sessions."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..facts.session import SessionSource
from .base import Row

#: What a person must know of a session without opening it. It ranks above running.
Attention = Literal["none", "needs_input", "failed"]
#: State of a session, in the order of `projection.session_state`. `damaged`: it cannot be read.
#: `lost` replaces `running`.
SessionState = Literal["idle", "queued", "running", "waiting", "interrupted", "failed", "lost", "paused", "damaged"]


class SessionRow(Row, tag="session", frozen=True, kw_only=True):
    """The header of a session, the only row of its panel.

    Times are in microseconds since the epoch. A session with a `source` was imported from that
    product and is read-only. `state` and `attention` are those of its card; a running state reads
    `lost` once `epoch` is dead. With `has_unknown_facts` a newer version wrote facts that this one
    cannot read: the session is read-only until Callboard is updated.
    """

    panel: ClassVar[str] = "session"
    session_id: str
    workspace_id: str
    folder: str
    title: str
    created_at: int
    updated_at: int
    archived: bool = False
    source: SessionSource | None = None
    state: SessionState = "idle"
    attention: Attention = "none"
    epoch: int = 0
    has_unknown_facts: bool = False


class SessionCard(Row, tag="session_card", frozen=True, kw_only=True):
    """A session in the list.

    `order` is the time of its newest turn. A running state reads `lost` once `epoch` is dead.
    `driven` are the conversations of its external agents, by their own ids. `problem` and
    `problem_code` explain the state `damaged`.
    """

    panel: ClassVar[str] = "sessions"
    session_id: str
    workspace_id: str
    title: str
    state: SessionState
    attention: Attention = "none"
    pending_actions: int = 0
    queued: int = 0
    turns: int = 0
    updated_at: int = 0
    pinned: bool = False
    archived: bool = False
    last_text: str = ""
    epoch: int = 0
    driven: tuple[str, ...] = ()
    problem: str = ""
    problem_code: str = ""


class WorkspaceRow(Row, tag="workspace", frozen=True, kw_only=True):
    """A workspace.

    `trusted` is the digest of the granted permissions of its folder's files, empty for none;
    `get_trust` reports whether the files request others now. `sequence` is the newest fact of
    trust, rules or settings. `rebuilding` is the number of sessions that are missing in the list
    while their rows are rebuilt.
    """

    panel: ClassVar[str] = "workspaces"
    workspace_id: str
    path: str
    name: str
    trusted: str = ""
    rebuilding: int = 0
