"""Rows of a session's shell, and of the list of sessions."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..facts.session import SessionSource
from .base import Row

#: What a person should know of a session without opening it. Attention rises above running; nothing else shouts.
Attention = Literal["none", "needs_input", "failed"]
#: The state of a session, by the order of `projection.session_state`.
#: `damaged` is that of a session that cannot be read; `lost` is laid over `running`.
SessionState = Literal["idle", "queued", "running", "waiting", "interrupted", "failed", "lost", "paused", "damaged"]


class SessionRow(Row, tag="session", frozen=True, kw_only=True):
    """The shell of one session; the panel has this one row.

    Times are in microseconds since the epoch. A session with a `source` was imported from that product and is read-only.
    `state` and `attention` are those of its card; a running state reads `lost` where `epoch` is dead. `has_unknown_facts` is
    True if a newer version wrote facts that this one cannot read: the session is read-only until Callboard is updated.
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
    """One session in the list; `order` is the time of its newest turn. Where `epoch` is dead a running state reads `lost`.
    `driven` are the conversations of external agents that it held, by their own ids. `problem` is why the session cannot be
    read, in the state `damaged`."""

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
    """The code of that refusal, for a client to word; empty where nothing is wrong."""


class WorkspaceRow(Row, tag="workspace", frozen=True, kw_only=True):
    """A workspace. `trusted` is the digest of what its folder's own files may widen, empty for nothing; whether they ask for
    something else by now, `get_trust` tells. Its `sequence` is that of the newest fact of trust, rules or settings.
    `rebuilding` counts the sessions that are not in the list yet, because their rows are being made anew from the log."""

    panel: ClassVar[str] = "workspaces"
    workspace_id: str
    path: str
    name: str
    trusted: str = ""
    rebuilding: int = 0
