"""Past sessions of other products that worked in a workspace's folder: what there is, and taking one over to read it here."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ..facts.session import SessionSource
from .base import Answer, Command, command
from .turns import Id


class PastSessionList(Answer, frozen=True, kw_only=True):
    """The past sessions, newest first. `older` is how many transcripts nobody looked at or told of, because there are so
    many newer ones."""

    sessions: tuple[PastSessionFound, ...]
    unreadable: tuple[UnreadableTranscript, ...] = ()
    older: int = 0


@command("list_past_sessions", PastSessionList, serial="workspace", query=True)
class ListPastSessions(Command, frozen=True, kw_only=True):
    """List the past sessions of Claude Code and Codex in a workspace's folder.

    Sessions that a person imported and deleted are omitted. Sessions that a session of Callboard ran are omitted too,
    because their work is recorded here already.
    """

    workspace_id: Id


class PastSessionFound(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A past session, which `source` and `source_id` name. `changed` is when its transcript was last written (microseconds
    since the Unix epoch); one that is `unfinished` was a moment ago, and its newest turn comes with a later import.

    `session_id` is the session that it is here where it was `imported`, and will be where it was not. `importing` is how many
    of its turns were looked at so far by an import that is under way, absent where none is.
    """

    source: SessionSource
    product: str
    source_id: str
    folder: str
    title: str
    changed: int
    session_id: str = ""
    imported: bool = False
    unfinished: bool = False
    importing: int | None = None


class UnreadableTranscript(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A transcript that could not be read; `name` is its file's, without its folder, and `problem` says why in words. Whose
    folder it is of is known only of some, and of those only the ones of the folder that was asked for are told."""

    product: str
    name: str
    problem: str


class PastSessionImported(Answer, frozen=True, kw_only=True):
    """`added` turns are new, `known` ones were there already. An `unfinished` session's newest turn of each agent comes with a
    later import."""

    session_id: str
    added: int
    known: int
    unfinished: bool = False


@command("import_past_session", PastSessionImported, serial="workspace")
class ImportPastSession(Command, frozen=True, kw_only=True):
    """Import a past session of Claude Code or Codex, to read it here.

    The name is from `list_past_sessions`, which also reports progress. Importing again adds only new turns. The command
    answers when all turns are imported. If a turn is refused, the turns before it stay. Refused with `nothing_to_import`
    if no turn is finished, and with `session_driven` if a session of Callboard ran it.
    """

    workspace_id: Id
    source: SessionSource
    source_id: Annotated[str, Meta(min_length=1, max_length=200)]
