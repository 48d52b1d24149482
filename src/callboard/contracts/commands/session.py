"""Commands and queries of sessions and workspaces."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ..rows import AnyPart
from ..rows.action import ActionRow
from ..rows.queue import QueueRow
from ..rows.session import SessionCard, SessionRow, WorkspaceRow
from ..rows.status import StatusRow
from ..rows.turn import TurnRow
from .base import Answer, Command, Id, Sequence, command
from .turn import TurnAccepted


class OpenedWorkspace(Answer, frozen=True, kw_only=True):
    """The workspace of the folder."""

    workspace_id: str
    path: str
    name: str
    sequence: int


@command("open_workspace", OpenedWorkspace, serial="store")
class OpenWorkspace(Command, frozen=True, kw_only=True):
    """Open a folder as a workspace.

    Opening it again returns the same workspace. A home folder, a folder that contains one, and a system folder open only
    with `wide`, which a person sets after reading what it means.
    """

    path: Annotated[str, Meta(min_length=1, max_length=4096)]
    wide: bool = False


class SessionUpdated(Answer, frozen=True, kw_only=True):
    """The session with its new properties."""

    session_id: str
    title: str
    pinned: bool
    archived: bool
    sequence: int


@command("update_session", SessionUpdated, serial="workspace")
class UpdateSession(Command, frozen=True, kw_only=True):
    """Rename, pin or archive a session.

    An absent field stays unchanged.
    """

    session_id: Id
    title: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    pinned: bool | None = None
    archived: bool | None = None


class DeletedSession(Answer, frozen=True, kw_only=True):
    """The end of the deleted session's chain: its last sequence and link in hex."""

    session_id: str
    last_sequence: int
    link: str


@command("delete_session", DeletedSession, serial="workspace")
class DeleteSession(Command, frozen=True, kw_only=True):
    """Delete a session with all its content; the workspace keeps the end of its chain.

    `confirm` repeats the session's id.
    """

    session_id: Id
    confirm: str


class WorkspaceList(Answer, frozen=True, kw_only=True):
    """The workspaces."""

    workspaces: tuple[WorkspaceRow, ...]


@command("list_workspaces", WorkspaceList, serial="store", authority="anyone", query=True)
class ListWorkspaces(Command, frozen=True, kw_only=True):
    """List the opened workspaces."""


class SessionList(Answer, frozen=True, kw_only=True):
    """The sessions.

    With `rebuilding` some rows are being rebuilt from the log, and `missing` sessions are not in
    the list yet. Without it the missing sessions cannot be opened; `callboard.log` has the reason.
    An unreadable session is listed in the state `damaged` with its `problem`.
    """

    sessions: tuple[SessionCard, ...]
    rebuilding: bool = False
    missing: int = 0


@command("list_sessions", SessionList, serial="workspace", authority="anyone", query=True)
class ListSessions(Command, frozen=True, kw_only=True):
    """List the sessions of a workspace, or of all workspaces, newest first."""

    workspace_id: Id | None = None


class SessionRead(Answer, frozen=True, kw_only=True):
    """The session.

    `cursor` is `sequence.n`, to send as Last-Event-ID. `head` is the newest sequence of the log.
    """

    session: SessionRow
    threads: tuple[StatusRow, ...]
    turns: tuple[TurnRow, ...]
    cursor: str
    head: int


@command("get_session", SessionRead, authority="anyone", query=True)
class GetSession(Command, frozen=True, kw_only=True):
    """Read the header of a session, its newest turns, its threads, and the cursor to follow it from.

    `wait_for` is a sequence that the answer must include.
    """

    session_id: Id
    turns: Annotated[int, Meta(ge=1, le=200)] = 20
    wait_for: Sequence = 0


class ThreadRead(Answer, frozen=True, kw_only=True):
    """The state of a thread. `head` is the newest sequence of the log."""

    status: StatusRow
    actions: tuple[ActionRow, ...]
    queue: tuple[QueueRow, ...]
    last_turn: TurnRow | None
    incidents: tuple[Incident, ...]
    head: int


@command("get_thread_read", ThreadRead, authority="anyone", query=True)
class GetThreadRead(Command, frozen=True, kw_only=True):
    """Read a thread's status, pending actions, last outcome, incidents and queue."""

    session_id: Id
    thread_id: Id | None = None
    wait_for: Sequence = 0


class Incident(Answer, frozen=True, kw_only=True):
    """A warning or an error, newest last. `at` is in microseconds since the epoch."""

    sequence: int
    at: int
    code: str
    message: str


class PartList(Answer, frozen=True, kw_only=True):
    """Rows of the panel `parts`."""

    parts: tuple[AnyPart, ...]


@command("get_parts", PartList, authority="anyone", query=True)
class GetParts(Command, frozen=True, kw_only=True):
    """Read the parts of one turn."""

    session_id: Id
    turn_id: Id


class TurnList(Answer, frozen=True, kw_only=True):
    """The turns, in ascending order."""

    turns: tuple[TurnRow, ...]


@command("get_turns", TurnList, authority="anyone", query=True)
class GetTurns(Command, frozen=True, kw_only=True):
    """Read older turns of a session or of one thread.

    The answer holds the newest turns before the given order, in ascending order.
    """

    session_id: Id
    thread_id: Id | None = None
    before: Sequence | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 20


@command("start_demo", TurnAccepted, serial="store")
class StartDemo(Command, frozen=True, kw_only=True):
    """Play a demo: a real run in a new folder, with a script in place of the model.

    The folder becomes a workspace. The team receives the demo's objective in a new session.
    """

    name: Annotated[str, Meta(min_length=1, max_length=64, description="Name of the demo, from the server's `demos`.")]


class SizeList(Answer, frozen=True, kw_only=True):
    """The sizes of all sessions."""

    sizes: tuple[SessionSize, ...]


@command("list_sizes", SizeList, serial="store", authority="anyone", query=True)
class ListSizes(Command, frozen=True, kw_only=True):
    """List the disk space that each session uses."""


class SessionSize(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Bytes of a session's facts, and bytes (`contents`) and number (`blobs`) of its blobs.

    Blobs of several sessions count for each.
    """

    session_id: str
    facts: int
    blobs: int
    contents: int
