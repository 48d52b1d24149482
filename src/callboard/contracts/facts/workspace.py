"""Facts of a workspace: the folder, and the list of its sessions."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Fact


class WorkspaceOpened(Fact, frozen=True, kw_only=True):
    """A folder was opened for the first time, or a person approved that it is broad. `path` is absolute with symlinks resolved,
    `wide` is True if a person approved a folder that holds far more than one project."""

    type: ClassVar[str] = "workspace.opened"
    path: str
    name: str
    wide: bool = False


class SessionListed(Fact, frozen=True, kw_only=True):
    """A session of this workspace was created; its own stream holds the rest."""

    type: ClassVar[str] = "workspace.session.listed"
    session_id: str
    title: str


class SessionTitled(Fact, frozen=True, kw_only=True):
    """A session got another title."""

    type: ClassVar[str] = "workspace.session.titled"
    session_id: str
    title: str


class SessionPinned(Fact, frozen=True, kw_only=True):
    """A session was pinned or unpinned."""

    type: ClassVar[str] = "workspace.session.pinned"
    session_id: str
    pinned: bool


class SessionArchived(Fact, frozen=True, kw_only=True):
    """A session was closed, or opened again."""

    type: ClassVar[str] = "workspace.session.archived"
    session_id: str
    archived: bool


class SessionScheduled(Fact, frozen=True, kw_only=True):
    """Agents of that session sleep until their times (`scheduled`), or no longer: it is opened when the process starts, so that
    no time passes it by."""

    type: ClassVar[str] = "workspace.session.scheduled"
    session_id: str
    scheduled: bool


class SessionTrimmed(Fact, frozen=True, kw_only=True):
    """The large contents of an archived session go, as the user's settings ask: so many blobs, of so many bytes together. Its
    facts stay, with the beginning and the end of what they referred to."""

    type: ClassVar[str] = "workspace.session.trimmed"
    session_id: str
    blobs: int
    size: int


class SessionDeleted(Fact, frozen=True, kw_only=True):
    """A session's stream was deleted with everything in it. `last_sequence` and `link` are what the chain ended with."""

    type: ClassVar[str] = "workspace.session.deleted"
    session_id: str
    last_sequence: int
    link: str


class WorkspaceTrusted(Fact, frozen=True, kw_only=True):
    """A person lets the folder's own files widen what holds in it. `digest` is the SHA-256, in hex, of exactly what they were
    shown; when the files say something else, the trust holds for it no more. `allowed` is that in words."""

    type: ClassVar[str] = "workspace.trusted"
    digest: str
    allowed: tuple[str, ...] = ()
    reason: str = ""


class WorkspaceTrustRevoked(Fact, frozen=True, kw_only=True):
    """The folder's own files widen nothing any more."""

    type: ClassVar[str] = "workspace.trust.revoked"
    reason: str = ""


class SettingsChanged(Fact, frozen=True, kw_only=True):
    """A person changed the settings here; `keys` names what changed and `digest` is the SHA-256 of the file as it was written,
    in hex. Values are not in the log: some are nobody's business."""

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
