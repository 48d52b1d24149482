"""Queries and bodies of the routes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from callboard.contracts.commands.base import Id, Prompt, Reason
from callboard.contracts.facts.turn import Mode, PermissionMode

from ..feeds import Position

Root = Annotated[str, Meta(min_length=1, max_length=4096)]


class QueryParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters in the casing of the Multi-agent runtime specification.

    `project_root` is the folder of an open workspace. It can be omitted if only one is open.
    """


class RunsQuery(QueryParameters, frozen=True, kw_only=True):
    """Without `session_id` the answer has the runs of all sessions of the folder."""

    project_root: Root | None = None
    session_id: Id | None = None


class ChildrenQuery(QueryParameters, frozen=True, kw_only=True):
    run_id: Id


class ContextQuery(QueryParameters, frozen=True, kw_only=True):
    """`after` is a sequence and `limit` a number of facts. Both apply to pages of the raw view."""

    run_id: Id
    view: Literal["summary", "raw"] = "summary"
    after: Position = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 500


class CancelBody(QueryParameters, frozen=True, kw_only=True):
    run_id: Id
    reason: Reason = ""


class ChatBody(QueryParameters, frozen=True, kw_only=True):
    """A message to an agent of a session. The default agent is the lead; without `session_id` a new session starts.

    The default `permission_mode` is the mode of the agent's last turn; for its first turn, the folder's mode.
    """

    message: Prompt
    project_root: Root | None = None
    session_id: Id | None = None
    agent_id: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    mode: Mode = "chat"
    permission_mode: PermissionMode | None = None


class EventsQuery(QueryParameters, frozen=True, kw_only=True):
    """`after` is a `seq`. The header Last-Event-ID takes precedence over it."""

    project_root: Root | None = None
    after: Position | None = None


class SettingsQuery(QueryParameters, frozen=True, kw_only=True):
    project_root: Root | None = None


class SettingsBody(msgspec.Struct, frozen=True, kw_only=True):
    """Any settings by name."""

    project_root: Root | None = None


class TreeQuery(QueryParameters, frozen=True, kw_only=True):
    """`path` is a folder within `project_root`; `depth` is the number of listed levels below it."""

    project_root: Root | None = None
    path: Annotated[str, Meta(max_length=4096)] = ""
    depth: Annotated[int, Meta(ge=1, le=8)] = 3


class InterruptBody(QueryParameters, frozen=True, kw_only=True, rename="camel"):
    """The interrupt of the Communication specification. `queued` keeps or clears the queued messages."""

    queued: Literal["keep", "clear"] = "keep"
    cascade: bool = False
    reason: Reason = ""


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a message. `status` is `started` or `queued`."""

    session_id: str
    agent_id: str
    thread_id: str
    turn_id: str
    status: str


Json = dict[str, Any]
