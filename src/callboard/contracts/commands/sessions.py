"""Commands and reads of sessions and workspaces."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..rows import ActionRow, AnyPart, QueueRow, SessionCard, SessionRow, StatusRow, TurnRow, WorkspaceRow
from .base import Answer, Command, Sequence
from .turns import Id


class OpenWorkspace(Command, frozen=True, kw_only=True):
    """Open a folder as a workspace. Opening it again gives the same workspace.

    A home, a folder that holds one, and a folder of the system open only with `wide`: a person sets it after they have seen
    what it means.
    """

    path: Annotated[str, Meta(min_length=1, max_length=4096)]
    wide: bool = False


class WorkspaceIsOpen(Answer, frozen=True, kw_only=True):
    workspace_id: str
    path: str
    name: str
    sequence: int


class UpdateSession(Command, frozen=True, kw_only=True):
    """Change what a person calls a session and where it stands in the list. What is absent stays as it is."""

    session_id: Id
    title: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    pinned: bool | None = None
    archived: bool | None = None


class SessionUpdated(Answer, frozen=True, kw_only=True):
    session_id: str
    title: str
    pinned: bool
    archived: bool
    sequence: int


class DeleteSession(Command, frozen=True, kw_only=True):
    """Delete a session with everything in it and give the space back. `confirm` must repeat the session's id."""

    session_id: Id
    confirm: str


class SessionGone(Answer, frozen=True, kw_only=True):
    session_id: str
    last_sequence: int
    link: str


class ListWorkspaces(Command, frozen=True, kw_only=True):
    """The workspaces that were opened."""


class WorkspaceList(Answer, frozen=True, kw_only=True):
    workspaces: tuple[WorkspaceRow, ...]


class ListSessions(Command, frozen=True, kw_only=True):
    """The sessions of a workspace, newest first, or of all."""

    workspace_id: Id | None = None


class SessionList(Answer, frozen=True, kw_only=True):
    """`rebuilding` is True while rows are being made anew from the log and some sessions are not in the list yet; `missing`
    counts those. A session that cannot be read is in the list in the state `damaged`, with its `problem`. Without `rebuilding`
    the missing ones could not be opened for another reason, which is in `callboard.log`."""

    sessions: tuple[SessionCard, ...]
    rebuilding: bool = False
    missing: int = 0


class GetSession(Command, frozen=True, kw_only=True):
    """The shell of a session, its newest turns, its threads and the cursor to follow from. `wait_for` is a sequence that the
    answer must show."""

    session_id: Id
    turns: Annotated[int, Meta(ge=1, le=200)] = 20
    wait_for: Sequence = 0


class SessionRead(Answer, frozen=True, kw_only=True):
    """`cursor` is `sequence.n`, to be given as Last-Event-ID; `head` is the newest sequence of the log."""

    session: SessionRow
    threads: tuple[StatusRow, ...]
    turns: tuple[TurnRow, ...]
    cursor: str
    head: int


class GetThreadRead(Command, frozen=True, kw_only=True):
    """The present of one thread: status, pending requests, last outcome, incidents and queue."""

    session_id: Id
    thread_id: Id | None = None
    wait_for: Sequence = 0


class Incident(Answer, frozen=True, kw_only=True):
    """A warning or an error, newest last. `at` is in microseconds since the epoch."""

    sequence: int
    at: int
    code: str
    message: str


class ThreadRead(Answer, frozen=True, kw_only=True):
    status: StatusRow
    actions: tuple[ActionRow, ...]
    queue: tuple[QueueRow, ...]
    last_turn: TurnRow | None
    incidents: tuple[Incident, ...]
    head: int


class GetParts(Command, frozen=True, kw_only=True):
    """The parts of one turn, for a window that did not hold them."""

    session_id: Id
    turn_id: Id


class PartList(Answer, frozen=True, kw_only=True):
    """`parts` are rows of the panel `parts`."""

    parts: tuple[AnyPart, ...]


class GetTurns(Command, frozen=True, kw_only=True):
    """Older turns: those before an order, newest first in count, in their order; of one thread where it is named."""

    session_id: Id
    thread_id: Id | None = None
    before: Sequence | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 20


class TurnList(Answer, frozen=True, kw_only=True):
    turns: tuple[TurnRow, ...]
