"""Facts of a workspace: the folder, and the list of its sessions."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Fact


class WorkspaceOpened(Fact, frozen=True, kw_only=True):
    """A folder was opened for the first time, or a person approved a broad folder (`wide`).

    `path` is absolute, with symbolic links resolved.
    """

    type: ClassVar[str] = "workspace.opened"
    path: str
    name: str
    wide: bool = False


class SessionListed(Fact, frozen=True, kw_only=True):
    """A session of this workspace was created. Its own stream has the rest."""

    type: ClassVar[str] = "workspace.session.listed"
    session_id: str
    title: str


class SessionTitled(Fact, frozen=True, kw_only=True):
    """The title of a session changed."""

    type: ClassVar[str] = "workspace.session.titled"
    session_id: str
    title: str


class SessionPinned(Fact, frozen=True, kw_only=True):
    """A session was pinned or unpinned."""

    type: ClassVar[str] = "workspace.session.pinned"
    session_id: str
    pinned: bool


class SessionArchived(Fact, frozen=True, kw_only=True):
    """A session was archived or restored."""

    type: ClassVar[str] = "workspace.session.archived"
    session_id: str
    archived: bool


class SessionScheduled(Fact, frozen=True, kw_only=True):
    """Agents of a session got a schedule, or lost their last one.

    A scheduled session opens when the process starts, so that it misses no time.
    """

    type: ClassVar[str] = "workspace.session.scheduled"
    session_id: str
    scheduled: bool


class SessionTrimmed(Fact, frozen=True, kw_only=True):
    """Retention is about to delete large contents of an archived session.

    It deletes `blobs` blobs of `size` bytes in total. The facts stay, with the head and tail of
    each content.
    """

    type: ClassVar[str] = "workspace.session.trimmed"
    session_id: str
    blobs: int
    size: int


class SessionDeleted(Fact, frozen=True, kw_only=True):
    """A session was deleted with its whole stream. `last_sequence` and `link` are the end of its chain."""

    type: ClassVar[str] = "workspace.session.deleted"
    session_id: str
    last_sequence: int
    link: str


class WorkspaceTrusted(Fact, frozen=True, kw_only=True):
    """A person granted the permissions that the folder's files request.

    `digest` is the SHA-256 in hex of exactly what was shown; the trust ends when the files request
    something else. `allowed` is the same as text.
    """

    type: ClassVar[str] = "workspace.trusted"
    digest: str
    allowed: tuple[str, ...] = ()
    reason: str = ""


class WorkspaceTrustRevoked(Fact, frozen=True, kw_only=True):
    """The trust was revoked: the folder's files grant no more permissions."""

    type: ClassVar[str] = "workspace.trust.revoked"
    reason: str = ""


class SettingsChanged(Fact, frozen=True, kw_only=True):
    """A person changed settings here.

    `keys` are the changed keys, `digest` the SHA-256 in hex of the written file. Values are private
    and not in the log.
    """

    type: ClassVar[str] = "workspace.settings.changed"
    place: Literal["user", "folder"]
    keys: tuple[str, ...]
    digest: str


WorkspaceFact = (
    WorkspaceOpened
    | SessionListed
    | SessionTitled
    | SessionPinned
    | SessionArchived
    | SessionScheduled
    | SessionTrimmed
    | SessionDeleted
    | WorkspaceTrusted
    | WorkspaceTrustRevoked
    | SettingsChanged
)
