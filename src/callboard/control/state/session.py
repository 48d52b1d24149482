"""State that deciders read: the open entities of a session. Ended entities are removed, so its size
is bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

import msgspec

from callboard.contracts.entities.team import Edge, WorkUsage
from callboard.contracts.facts.permission import Rule
from callboard.contracts.facts.session import AgentKind, PauseCause
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.ports.agents import Definition

from .artifact import Artifacts
from .background_agent import Background
from .context import ContextUsage, SpokenTurn
from .handoff import OpenHandoff
from .inbox import InboxItem, OpenChannel
from .job import OpenJob
from .process import OpenProcess
from .review import OpenReview
from .subagent import Child
from .task import OpenTask
from .team import AddedEdge, ExternalLink, TeamLoad
from .turn import (
    OpenRun,
    QueuedTurn,
    TurnEnd,
    TurnMark,
)


class Thread(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The open state of one agent's conversation.

    - `last`: modes of the newest turn. `working_mode`: permission mode of the newest turn that was
      not planning. `ended`: how the newest turn ended. `usage`: usage of all its work.
    - `child`: set for a child of another agent. `background`: set for an agent that sleeps and
      wakes.
    - `pinned`: context of every turn. `context_usage`: fill of the model's window. `newest_image`:
      sequence of the newest image. `spoken_turns`: a person's newest texts, which a compaction can
      quote. `catalog`: hash of the newest tool catalog.
    - `opened_sequence`: sequence of its first fact. `context_after`: facts up to it are left out of the
      model's context. `marks`: positions of the newest turns.
    """

    thread: str
    agent: str
    definition: str
    kind: AgentKind = "main"
    aliases: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()
    queue: tuple[QueuedTurn, ...] = ()
    run: OpenRun | None = None
    submitted: QueuedTurn | None = None
    paused: PauseCause | None = None
    last: QueuedTurn | None = None
    working_mode: PermissionMode | None = None
    inbox: tuple[InboxItem, ...] = ()
    child: Child | None = None
    usage: WorkUsage = WorkUsage()
    ended: TurnEnd | None = None
    team: TeamLoad | None = None
    opened_sequence: int = 0
    context_after: int = 0
    marks: tuple[TurnMark, ...] = ()
    external: ExternalLink | None = None
    catalog: str = ""
    pinned: tuple[str, ...] = ()
    context_usage: ContextUsage = ContextUsage()
    newest_image: int = 0
    spoken_turns: tuple[SpokenTurn, ...] = ()
    background: Background | None = None


class ForwardedRule(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A rule of this session for its whole workspace. `cause` is the id of the event that added it."""

    rule: Rule
    cause: str


class Session(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The state of a session at `sequence`. `at` is the time of its newest fact in microseconds.

    - `source`: the product that it was imported from. `defined_agents` and `edges`: made for this
      session.
    - `owner`: thread that receives the person's input, the lead unless a handoff moved it.
    - `name_counts`: number of agents created from each definition. `waiting`: threads of children that
      wait for a slot, in order. `sleepers`: threads of background agents. `servers`: the newest
      recorded state of each tool server.
    """

    session: str
    workspace: str = ""
    folder: str = ""
    title: str = ""
    sequence: int = 0
    at: int = 0
    epoch: int = 0
    lead: str = ""
    threads: dict[str, Thread] = {}
    rules: tuple[Rule, ...] = ()
    forwarded_rules: tuple[ForwardedRule, ...] = ()
    source: str = ""
    source_id: str = ""
    owner: str = ""
    name_counts: dict[str, int] = {}
    waiting: tuple[str, ...] = ()
    sleepers: tuple[str, ...] = ()
    handoffs: dict[str, OpenHandoff] = {}
    channels: dict[str, OpenChannel] = {}
    tasks: dict[str, OpenTask] = {}
    jobs: dict[str, OpenJob] = {}
    reviews: dict[str, OpenReview] = {}
    defined_agents: tuple[Definition, ...] = ()
    edges: tuple[AddedEdge, ...] = ()
    artifacts: Artifacts = Artifacts()
    processes: dict[str, OpenProcess] = {}
    servers: dict[str, str] = {}


class ListedSession(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A session in the list of a workspace. `scheduled`: agents of it have a schedule."""

    session: str
    title: str
    pinned: bool = False
    archived: bool = False
    scheduled: bool = False
    listed: int = 0


class SessionList(Mapping[str, ListedSession]):
    """The sessions of a workspace by id, immutable.

    They are grouped by the last character of their ids, which is random. A changed list shares all
    groups but one with the list before it, so that a new session does not copy thousands of others.
    """

    __slots__ = ("_groups",)

    def __init__(self, sessions: Iterable[ListedSession] = ()) -> None:
        self._groups: dict[str, dict[str, ListedSession]] = {}
        for listed in sessions:
            self._groups.setdefault(listed.session[-1:], {})[listed.session] = listed

    def with_session(self, listed: ListedSession) -> SessionList:
        """Return the list with this session added or replaced."""
        return self._with_group(listed.session, {**self._find_group(listed.session), listed.session: listed})

    def without_session(self, session: str) -> SessionList:
        """Return the list without this session."""
        group = {key: listed for key, listed in self._find_group(session).items() if key != session}
        return self._with_group(session, group)

    def _find_group(self, session: str) -> dict[str, ListedSession]:
        return self._groups.get(session[-1:], {})

    def _with_group(self, session: str, group: dict[str, ListedSession]) -> SessionList:
        changed = SessionList()
        changed._groups = {**self._groups, session[-1:]: group}
        return changed

    def __getitem__(self, session: str) -> ListedSession:
        return self._find_group(session)[session]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._groups.values())

    def __len__(self) -> int:
        return sum(map(len, self._groups.values()))


class Workspace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The state of a workspace at `sequence`. `rule_ids` are the ids of all rules, revoked ones
    included. `trusted` is the digest of the permissions that the folder's files may grant, empty
    for none. `wide` is True if a person approved a broad folder."""

    workspace: str
    path: str = ""
    name: str = ""
    sequence: int = 0
    at: int = 0
    sessions: SessionList = SessionList()
    deleted: frozenset[str] = frozenset()
    rules: tuple[Rule, ...] = ()
    rule_ids: frozenset[str] = frozenset()
    trusted: str = ""
    wide: bool = False
