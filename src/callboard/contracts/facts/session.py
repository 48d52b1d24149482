"""Facts of a session, its threads, and the warnings and errors raised in it."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..entities.team import Edge, Policy, Role
from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact

#: Product of an imported session.
SessionSource = Literal["claude_code", "codex"]


class SessionCreated(Fact, frozen=True, kw_only=True):
    """The first fact of a session.

    `folder` is the absolute path in which its agents work. An imported session has a `source` and
    is read-only; its facts have the times of the source.
    """

    type: ClassVar[str] = "session.created"
    erased: ClassVar[ErasedForm] = {"workspace_id": "", "folder": "", "title": ""}
    workspace_id: str
    folder: str
    title: str
    source: SessionSource | None = None
    source_id: str = ""


class SessionTakenOver(Fact, frozen=True, kw_only=True):
    """A new epoch took over a session whose process ended without closing it."""

    type: ClassVar[str] = "session.taken_over"
    previous_epoch: int
    epoch: int


AgentKind = Literal["main", "subagent", "remote", "background", "human"]
#: Why a thread waits for a person: its host died, its last turn failed, it made no progress, or
#: nothing starts it although it has unread input or a queued turn.
PauseCause = Literal["recovered", "failed", "no_progress", "unread"]


class ThreadOpened(Fact, frozen=True, kw_only=True):
    """An agent joined the session with a new thread; `agent_name` is its id.

    `definition_hash` is the hash of its definition, `policy` its permissions. A child has its
    parent in the scope. `url` is the address of a remote agent's card.
    """

    type: ClassVar[str] = "thread.opened"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("agent", "thread")
    erased: ClassVar[ErasedForm] = {"agent_name": UNKNOWN, "kind": "main", "definition": "", "definition_hash": ""}
    agent_name: str
    kind: AgentKind
    definition: str
    definition_hash: str
    description: str = ""
    role: Role = "custom"
    aliases: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()
    color: str = ""
    policy: tuple[Policy, ...] = ()
    url: str = ""


class ThreadPaused(Fact, frozen=True, kw_only=True):
    """The thread starts no turn until it is resumed; its queue stays.

    `evidence` are the ids of the steps that show why.
    """

    type: ClassVar[str] = "thread.paused"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread",)
    erased: ClassVar[ErasedForm] = {"cause": "recovered"}
    cause: PauseCause
    reason: str = ""
    evidence: tuple[str, ...] = ()


class ThreadResumed(Fact, frozen=True, kw_only=True):
    """The thread continues with its queue."""

    type: ClassVar[str] = "thread.resumed"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread",)
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class WarningRaised(Fact, frozen=True, kw_only=True):
    """Something requires attention; nothing was lost."""

    type: ClassVar[str] = "warning.raised"
    erased: ClassVar[ErasedForm] = {"code": "erased", "message": ""}
    code: str
    message: str
    hint: str = ""


class ErrorRaised(Fact, frozen=True, kw_only=True):
    """Something failed that no other fact records."""

    type: ClassVar[str] = "error.raised"
    erased: ClassVar[ErasedForm] = {"code": "erased", "message": ""}
    code: str
    message: str
    hint: str = ""


SessionFact = (
    SessionCreated | SessionTakenOver | ThreadOpened | ThreadPaused | ThreadResumed | WarningRaised | ErrorRaised
)
