"""What a decider needs to know of a session: its open entities. What is over is not here, so its size does not grow."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.entities.team import Edge, WorkUsage
from callboard.contracts.facts import PromptRef
from callboard.contracts.facts.action import ApprovalScope, Binding, Decision
from callboard.contracts.facts.permission import HookSaid, Rule
from callboard.contracts.facts.routing import Candidate
from callboard.contracts.facts.thread import AgentKind, PauseCause
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.ports.agents import Definition
from callboard.contracts.refs import ContextRef, MissingRef, Omission

from .artifact import Artifacts
from .context import ContextUsage, OpenCompaction, Round, SpokenTurn
from .team import (
    AddedEdge,
    Background,
    Child,
    ExternalLink,
    InboxItem,
    OpenChannel,
    OpenHandoff,
    OpenJob,
    OpenProcess,
    OpenReview,
    OpenTask,
    TeamLoad,
    TurnEnd,
    WakeTrigger,
)

#: The tool whose success ends a turn in `auto`.
FINALIZE = "Finalize"

CallPhase = Literal["requested", "waiting", "running"]


class OpenCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call without a terminal fact. `action` is the approval it waits for, `action_step` the step of that
    approval, and what follows is what its card offers; `hooked` is what hooks said of it. `awaits` are the children that
    a waiting call of a team is for, with `any_of` where one of them is enough, until `until` (0 for as long as it takes);
    `over` are those of them whose end was known before. `began` is the sequence of the fact that let it run, 0 before."""

    call: str
    step: int
    tool: str
    arguments: Text
    phase: CallPhase = "requested"
    action: str = ""
    action_step: int = 0
    expires_at: int = 0
    decisions: tuple[Decision, ...] = ()
    scopes: tuple[ApprovalScope, ...] = ()
    matchers: dict[ApprovalScope, str] = msgspec.field(default_factory=dict[ApprovalScope, str])
    binding: Binding | None = None
    awaits: tuple[str, ...] = ()
    any_of: bool = False
    until: int = 0
    already_ended: tuple[str, ...] = ()
    started_sequence: int = 0
    hooked: HookSaid | None = None

    @property
    def effective_arguments(self) -> Text:
        """The arguments that everything after goes by: the model's, or those that a hook put in their place."""
        rewritten = self.hooked.arguments if self.hooked is not None else None
        return self.arguments if rewritten is None else rewritten


class OpenSteer(msgspec.Struct, frozen=True, kw_only=True):
    """Input that no model call has included yet. `said` is where it stands."""

    steer: str
    input: Text
    spoken: SpokenTurn | None = None
    refs: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()


class Repetition(msgspec.Struct, frozen=True, kw_only=True):
    """Rounds of a run that came to the same, one after the other: what to, and the steps of their model calls."""

    key: str = ""
    steps: tuple[int, ...] = ()


class OpenPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run as it was told last, at the step where that revision of it first appeared."""

    step: int
    steps: tuple[PlanStep, ...]
    revision: int = 1


class RemoteDelivery(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact of an agent elsewhere, as far as it is text."""

    artifact: str
    name: str
    text: Text


class OpenRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run under way. `epoch` is of the host that has it.

    `prompts` and `tools` are what it was told. `asked` is the step of its newest model call and `came` what that led to so
    far; `streak` are the rounds up to the one before.
    `reminded` says that its newest model call follows an answer without a call, which is reminded once of how the work ends.
    `model_step` is the step of the model call without an end, 0 when none is open.
    `answer_parts` are the text steps since the last tool call: the final answer, if no call follows. `finalised` is set once
    a Finalize call succeeded, `stopping` from the request of an interrupt on. `reserved` are the items of the inbox that the
    run was told and that are not consumed yet, `senders` the agents whose items it consumed, `delivered`
    what an agent elsewhere delivered in it; `woken` says that they alone began it, and `hops` how many agents passed on
    what led to it since a person said something.
    `started` is when (microseconds since the Unix epoch), `answer` the texts of `answer_parts`, `summary` what Finalize said.
    `plan_accepted` says that the next turn carries out its plan, so that it ends once no call is open.
    `input` is what its input takes in tokens, `rounds` what each of its model calls brought, the first with the input;
    `compacting` is the summary in the making, and `uncompacted` says that one failed. `only_compacts` is set where the turn is
    there for nothing else; `refs`, `missing` and `omitted` are what was told of what it is given. `fallbacks` of the
    `candidates` are asked in their order where its model fails for good, and `fell` says that one was;
    `scarce` are the limits of its provider that were told to be nearly used up.
    """

    run: str
    turn: str
    mode: Mode
    permission_mode: PermissionMode
    max_iters: int
    definition: str
    definition_hash: str
    epoch: int
    prompts: tuple[PromptRef, ...] = ()
    tools: tuple[str, ...] = ()
    newest_model_step: int = 0
    round_results: tuple[str, ...] = ()
    streak: Repetition = Repetition()
    reminded: bool = False
    provider: str = ""
    model: str = ""
    candidates: tuple[Candidate, ...] = ()
    fallbacks: tuple[Candidate, ...] = ()
    has_fallen_back: bool = False
    low_limits: tuple[str, ...] = ()
    iteration: int = 0
    next_step: int = 1
    model_step: int = 0
    calls: tuple[OpenCall, ...] = ()
    answer_parts: tuple[int, ...] = ()
    steers: tuple[OpenSteer, ...] = ()
    finalised: bool = False
    stopping: bool = False
    reserved: tuple[str, ...] = ()
    senders: tuple[str, ...] = ()
    deliveries: tuple[RemoteDelivery, ...] = ()
    woken: bool = False
    hops: int = 0
    started: int = 0
    answer: tuple[Text, ...] = ()
    summary: str = ""
    plan: OpenPlan | None = None
    plan_accepted: bool = False
    input_tokens: int = 0
    rounds: tuple[Round, ...] = ()
    compacting: OpenCompaction | None = None
    compaction_failed: bool = False
    only_compacts: bool = False
    omitted: tuple[Omission, ...] = ()
    refs: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()

    def find_call(self, call: str) -> OpenCall | None:
        """The open call of that id."""
        return next((one for one in self.calls if one.call == call), None)

    def find_call_for_action(self, action: str) -> OpenCall | None:
        """The call that waits for that action."""
        return next((one for one in self.calls if one.action == action), None)


class QueuedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that waits for its thread. `woken` says that its input is the inbox alone; `hops` counts the agents that passed on
    what led to it. `task` is the task that it works on, where it was begun for one. `given` and `missing` are as its submission
    has them, and `tokens` what its input takes with them; `said` is where that stands, where it is a person's."""

    turn: str
    mode: Mode
    permission_mode: PermissionMode
    woken: bool = False
    hops: int = 0
    sequence: int = 0
    task: str = ""
    refs: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()
    tokens: int = 0
    compacts: bool = False
    spoken: SpokenTurn | None = None


class TurnMark(msgspec.Struct, frozen=True, kw_only=True):
    """Where a turn of a thread lies in the log: from the first fact that its model is told of, over so many steps. It started
    at `started`, or was summarised up to there, and takes so many tokens."""

    sequence: int
    steps: int = 0
    started: int = 0
    tokens: int = 0


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation of one agent, as far as it is open. `last` are the modes of its newest turn,
    `working_mode` the permission mode in force in its newest turn that was not planning; `child` is set for an
    agent that another one gave its objective; `usage` is what its work took so far,
    `ended` how its newest turn did; `background` is set for an agent that sleeps and wakes by itself.

    `pinned` is what every turn of it is given, `filling` how full its model's window is, `pictured` the sequence of the newest
    image in it; `said` is what persons said last in it, as far as a summary may leave it as it was said.
    `catalog` is the hash of the tools that it was told to have last.
    `opened` is the sequence at which it was opened, `cut` that up to which its facts are left out of what its model is told,
    `marks` where its newest turns lie.
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
    cut: int = 0
    marks: tuple[TurnMark, ...] = ()
    external: ExternalLink | None = None
    catalog: str = ""
    pinned: tuple[str, ...] = ()
    context_usage: ContextUsage = ContextUsage()
    newest_image: int = 0
    spoken_turns: tuple[SpokenTurn, ...] = ()
    background: Background | None = None


class ForwardedRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that was given in this session for its whole workspace. `cause` is the id of the event that gave it."""

    rule: Rule
    cause: str


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session as deciders see it, at `sequence`. `at` is the time of its newest fact in microseconds.

    `source` is set where it was imported. `defined` and `edges` are the agents and edges that were made for it alone.
    `owner` is the thread that the person's words go to, the lead's unless a handoff
    moved it. `named` counts the agents made of each definition, `waiting` are the threads of the children that wait for a
    slot, in order, `sleepers` those of the agents that sleep and wake. `servers` is what was told last of each server of tools.
    """

    session: str
    workspace: str = ""
    folder: str = ""
    title: str = ""
    sequence: int = 0
    at: int = 0
    epoch: int = 0
    lead: str = ""
    threads: dict[str, Thread] = msgspec.field(default_factory=dict[str, Thread])
    rules: tuple[Rule, ...] = ()
    forwarded_rules: tuple[ForwardedRule, ...] = ()
    source: str = ""
    source_id: str = ""
    owner: str = ""
    name_counts: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    waiting: tuple[str, ...] = ()
    sleepers: tuple[str, ...] = ()
    handoffs: dict[str, OpenHandoff] = msgspec.field(default_factory=dict[str, OpenHandoff])
    channels: dict[str, OpenChannel] = msgspec.field(default_factory=dict[str, OpenChannel])
    tasks: dict[str, OpenTask] = msgspec.field(default_factory=dict[str, OpenTask])
    jobs: dict[str, OpenJob] = msgspec.field(default_factory=dict[str, OpenJob])
    reviews: dict[str, OpenReview] = msgspec.field(default_factory=dict[str, OpenReview])
    defined_agents: tuple[Definition, ...] = ()
    edges: tuple[AddedEdge, ...] = ()
    artifacts: Artifacts = Artifacts()
    processes: dict[str, OpenProcess] = msgspec.field(default_factory=dict[str, OpenProcess])
    servers: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class ListedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a workspace's list. `scheduled` says that agents of it sleep until their times."""

    session: str
    title: str
    pinned: bool = False
    archived: bool = False
    scheduled: bool = False
    listed: int = 0


class Workspace(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace as deciders see it, at `sequence`. `given` are the ids of all its rules, those that were revoked included;
    `trusted` is the digest of what its folder's own files may widen, empty where nothing; `wide` is True if a person approved
    that the folder is broad."""

    workspace: str
    path: str = ""
    name: str = ""
    sequence: int = 0
    at: int = 0
    sessions: dict[str, ListedSession] = msgspec.field(default_factory=dict[str, ListedSession])
    deleted: frozenset[str] = frozenset()
    rules: tuple[Rule, ...] = ()
    rule_ids: frozenset[str] = frozenset()
    trusted: str = ""
    wide: bool = False


__all__ = [
    "FINALIZE",
    "AddedEdge",
    "Background",
    "CallPhase",
    "Child",
    "ExternalLink",
    "ForwardedRule",
    "InboxItem",
    "ListedSession",
    "OpenCall",
    "OpenChannel",
    "OpenHandoff",
    "OpenJob",
    "OpenPlan",
    "OpenProcess",
    "OpenReview",
    "OpenRun",
    "OpenSteer",
    "OpenTask",
    "QueuedTurn",
    "RemoteDelivery",
    "Repetition",
    "Session",
    "TeamLoad",
    "Thread",
    "TurnEnd",
    "TurnMark",
    "WakeTrigger",
    "Workspace",
]
