"""Past sessions of other products that worked in a workspace's folder: what there is, and taking one over to read it here."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ..facts.session import SessionSource
from .base import Answer, Command, Declaration
from .turns import Id


class ListPastSessions(Command, frozen=True, kw_only=True):
    """The past sessions of other products in a workspace's folder. Left out are those that a person imported and deleted, and
    those that are the work of a session here, which started the product and holds all of it already."""

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


class PastSessionList(Answer, frozen=True, kw_only=True):
    """The past sessions, newest first. `older` is how many transcripts nobody looked at or told of, because there are so
    many newer ones."""

    sessions: tuple[PastSessionFound, ...]
    unreadable: tuple[UnreadableTranscript, ...] = ()
    older: int = 0


class ImportPastSession(Command, frozen=True, kw_only=True):
    """Take over a past session of another product, as `list_past_sessions` names it. Again it adds only what is new.

    The answer comes when all of it is there, and `list_past_sessions` tells meanwhile how far it is. Each turn is taken over
    like one of `import_turn`: where one is refused, those before it stay. Refused with `nothing_to_import` where the
    transcript has no turn that is finished, and with `session_driven` where a session here did its work.
    """

    workspace_id: Id
    source: SessionSource
    source_id: Annotated[str, Meta(min_length=1, max_length=200)]


class PastSessionImported(Answer, frozen=True, kw_only=True):
    """`added` turns are new, `known` ones were there already. An `unfinished` session's newest turn of each agent comes with a
    later import."""

    session_id: str
    added: int
    known: int
    unfinished: bool = False


PAST_TABLE: tuple[Declaration, ...] = (
    Declaration(
        name="list_past_sessions",
        command=ListPastSessions,
        answer=PastSessionList,
        serial="workspace",
        query=True,
        summary="The past sessions of Claude Code and Codex that worked in a workspace's folder.",
    ),
    Declaration(
        name="import_past_session",
        command=ImportPastSession,
        answer=PastSessionImported,
        serial="workspace",
        summary="Take over a past session of Claude Code or Codex, to read it here; again adds only what is new.",
    ),
)
