"""What a decider needs to know of a session: its open entities. What is over is not here, so its size does not grow."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts import PromptRef
from callboard.contracts.facts.action import ApprovalScope, Binding, Decision
from callboard.contracts.facts.permission import Rule
from callboard.contracts.facts.task import Fix
from callboard.contracts.facts.thread import AgentKind, PauseCause
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.plan import PlanStep
from callboard.contracts.ports.agents import Definition
from callboard.contracts.team import (
    ChildStatus,
    Edge,
    Isolation,
    QueueReason,
    Ref,
    RemoteTaskState,
    Role,
    TaskEntity,
    TeamPhase,
    WorkUsage,
)

#: Snapshots of another schema are thrown away and folded anew.
STATE_SCHEMA = 7

#: The tool whose success ends a turn in `auto`.
FINALIZE = "Finalize"

CallPhase = Literal["requested", "waiting", "running"]


class OpenCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call without a terminal fact. `action` is the approval it waits for, `action_step` the step of that
    approval, and what follows is what its card offers. `awaits` are the children that a waiting call of a team is for, with
    `any_of` where one of them is enough, until `until` (0 for as long as it takes); `over` are those of them whose end
    was known before."""

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
    over: tuple[str, ...] = ()


class OpenSteer(msgspec.Struct, frozen=True, kw_only=True):
    """Input that no model call has included yet."""

    steer: str
    input: Text


class Streak(msgspec.Struct, frozen=True, kw_only=True):
    """Rounds of a run that came to the same, one after the other: what to, and the steps of their model calls."""

    key: str = ""
    steps: tuple[int, ...] = ()


class OpenPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run as it was told last, at the step where it first appeared."""

    step: int
    steps: tuple[PlanStep, ...]


class Delivered(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact of an agent elsewhere, as far as it is text."""

    artifact: str
    name: str
    text: Text


class OpenRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run under way. `epoch` is of the host that has it.

    `prompts` and `tools` are what it was told. `asked` is the step of its newest model call and `came` what that led to so
    far; `streak` are the rounds up to the one before.
    `model_step` is the step of the model call without an end, 0 when none is open.
    `answer_parts` are the text steps since the last tool call: the final answer, if no call follows. `finalised` is set once
    a Finalize call succeeded, `stopping` from the request of an interrupt on. `reserved` are the items of the inbox that the
    run was told and that are not consumed yet, `senders` the agents whose items it consumed, `delivered`
    what an agent elsewhere delivered in it; `woken` says that they alone began it, and `hops` how many agents passed on
    what led to it since a person said something.
    `started` is when (microseconds since the Unix epoch), `answer` the texts of `answer_parts`, `summary` what Finalize said.
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
    asked: int = 0
    came: tuple[str, ...] = ()
    streak: Streak = Streak()
    provider: str = ""
    model: str = ""
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
    delivered: tuple[Delivered, ...] = ()
    woken: bool = False
    hops: int = 0
    started: int = 0
    answer: tuple[Text, ...] = ()
    summary: str = ""
    plan: OpenPlan | None = None

    def call_of(self, call: str) -> OpenCall | None:
        """The open call of that id."""
        return next((one for one in self.calls if one.call == call), None)

    def waiting_on(self, action: str) -> OpenCall | None:
        """The call that waits for that action."""
        return next((one for one in self.calls if one.action == action), None)


class QueuedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that waits for its thread. `woken` says that its input is the inbox alone; `hops` counts the agents that passed on
    what led to it. `task` is the task that it works on, where it was begun for one."""

    turn: str
    mode: Mode
    permission_mode: PermissionMode
    woken: bool = False
    hops: int = 0
    sequence: int = 0
    task: str = ""


class TurnMark(msgspec.Struct, frozen=True, kw_only=True):
    """Where a turn of a thread lies in the log: from the first fact that its model is told of, over so many steps."""

    sequence: int
    steps: int = 0


class InboxItem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that waits for an agent's next turn. `handoff` names the envelope that it is, `worker` says that it tells of a
    child; `hops` counts the agents that passed on what led to it."""

    item: str
    source: str
    handoff: str = ""
    worker: bool = False
    hops: int = 0
    sequence: int = 0


class TurnEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent's newest turn ended. `text` is its answer; `code` that of a failure, or the cause of an interrupt; `hops`
    those of its run."""

    how: Literal["completed", "failed", "interrupted"]
    text: Text = Text()
    code: str = ""
    message: str = ""
    hops: int = 0


class TeamLoad(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a lead's team was at work when that was told last."""

    phase: TeamPhase
    active: int
    queued: int
    group: str = ""
    queue_reason: QueueReason | None = None


class Child(msgspec.Struct, frozen=True, kw_only=True):
    """What makes a thread a child: whose it is, and how it stands. `group` is the provider's whose slot it takes.

    `asked` is the permission mode that it was given, never wider than its parent's; `ending` what is to be said of it once
    its run has stopped: closed, or cancelled only. `merging` says that its worktree is being merged.
    """

    parent: str
    parent_run: str
    task: str
    role: Role
    status: ChildStatus
    isolation: Isolation = "shared"
    work_globs: tuple[str, ...] = ()
    worktree: str = ""
    branch: str = ""
    base: str = ""
    group: str = ""
    queue_reason: QueueReason | None = None
    review: bool = False
    ending: Literal["", "closed", "cancelled"] = ""
    reason: str = ""
    result: Text = Text()
    merging: bool = False


class ExternalLink(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation that an agent which is not of our loop holds for a thread, by its own name, and whether it is there.
    `task` is the task of one elsewhere that was not over when it told of it last, `told` the state of it."""

    provider_session: str
    connected: bool
    task: str = ""
    told: RemoteTaskState | None = None


class Called(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent that sleeps is to wake for: the first of `count` facts, by the id of its event, its type and its agent.
    `hops` counts the agents that passed on what led to them."""

    cause: str
    type: str
    agent: str = ""
    hops: int = 0
    count: int = 1


class Background(msgspec.Struct, frozen=True, kw_only=True):
    """What makes a thread one of an agent that sleeps and wakes. Times are in microseconds, 0 for none.

    `task` is the task that its runs are attempts of, `attempt` the newest one's number; `held` says that the task is paused or
    being cancelled, `over` that it has ended. It sleeps while `asleep`, since the fact of sequence `slept`, until `wake_at` or
    a fact of `wake_on`. `turn` is the one that it woke for last (empty while it sleeps), at `woke`; `hops` counts the agents
    that passed on what it woke for. `ran` is when its newest run ended, `failures` how many runs failed one after the other.
    No run that nobody asked for is under a wider mode than `permission_mode`.
    """

    task: str
    permission_mode: PermissionMode
    asleep: bool = False
    held: bool = False
    over: bool = False
    slept: int = 0
    schedule: str = ""
    wake_at: int = 0
    wake_on: tuple[str, ...] = ()
    turn: str = ""
    woke: int = 0
    hops: int = 0
    attempt: int = 0
    ran: int = 0
    failures: int = 0
    called: Called | None = None


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation of one agent, as far as it is open. `last` are the modes of its newest turn; `child` is set for an
    agent that another one gave its objective; `usage` is what its work took so far,
    `ended` how its newest turn did; `background` is set for an agent that sleeps and wakes by itself.

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
    inbox: tuple[InboxItem, ...] = ()
    child: Child | None = None
    usage: WorkUsage = WorkUsage()
    ended: TurnEnd | None = None
    team: TeamLoad | None = None
    opened: int = 0
    cut: int = 0
    marks: tuple[TurnMark, ...] = ()
    external: ExternalLink | None = None
    background: Background | None = None


class OpenHandoff(msgspec.Struct, frozen=True, kw_only=True):
    """A handoff that is not over. `sender` and `receiver` are threads; `told` says that the receiver was told of it, `turn` is
    the receiver's in which it was accepted."""

    handoff: str
    source: str
    target: str
    sender: str
    receiver: str
    confirm: bool = False
    ownership: bool = False
    accepted: bool = False
    told: bool = False
    resume_target: str = ""
    reply_by: int = 0
    turn: str = ""


class OpenTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task without an end. `attempt` counts its attempts from 1. `work` says whether the newest one is under way, or is over
    without success; `thread` works on it (empty for a person), `turn` is the turn in which (empty for a child, whose thread
    does nothing else), `run` the newest run of it, `ended` how that turn ended. `delegated` says that the agent gave parts of
    it to others, `implied` that it stands for a turn and nobody put it on the board.

    `met` are those of `depends_on` that are done. `cancelling` is set from the request on, for `reason`.
    """

    task: str
    title: str
    objective: Text = Text()
    acceptance: str = ""
    assignee: str = ""
    parent_task: str = ""
    depends_on: tuple[str, ...] = ()
    met: tuple[str, ...] = ()
    refs: tuple[Ref, ...] = ()
    entity: TaskEntity = "work_item"
    attempt: int = 0
    work: Literal["", "running", "over"] = ""
    thread: str = ""
    turn: str = ""
    run: str = ""
    ended: TurnEnd | None = None
    delegated: bool = False
    implied: bool = False
    paused: bool = False
    cancelling: bool = False
    reason: str = ""


class OpenReview(msgspec.Struct, frozen=True, kw_only=True):
    """A review that is not applied. `reviewer` and `target` are agents; `judged` says that its verdict is there."""

    review: str
    task: str
    reviewer: str
    target: str
    judged: bool = False
    fixes: tuple[Fix, ...] = ()
    summary: str = ""


class OpenChannel(msgspec.Struct, frozen=True, kw_only=True):
    """A channel between agents."""

    channel: str
    participants: tuple[str, ...]


class AddedEdge(msgspec.Struct, frozen=True, kw_only=True):
    """An edge that an agent made for this session, from the agent of that name."""

    source: str
    edge: Edge


class PassedOn(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that was given in this session for its whole workspace. `cause` is the id of the event that gave it."""

    rule: Rule
    cause: str


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session as deciders see it, at `sequence`. `at` is the time of its newest fact in microseconds.

    `source` is set where it was imported. `defined` and `edges` are the agents and edges that were made for it alone.
    `owner` is the thread that the person's words go to, the lead's unless a handoff
    moved it. `named` counts the agents made of each definition, `waiting` are the threads of the children that wait for a
    slot, in order, `sleepers` those of the agents that sleep and wake.
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
    passed_on: tuple[PassedOn, ...] = ()
    source: str = ""
    source_id: str = ""
    owner: str = ""
    named: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    waiting: tuple[str, ...] = ()
    sleepers: tuple[str, ...] = ()
    handoffs: dict[str, OpenHandoff] = msgspec.field(default_factory=dict[str, OpenHandoff])
    channels: dict[str, OpenChannel] = msgspec.field(default_factory=dict[str, OpenChannel])
    tasks: dict[str, OpenTask] = msgspec.field(default_factory=dict[str, OpenTask])
    reviews: dict[str, OpenReview] = msgspec.field(default_factory=dict[str, OpenReview])
    defined: tuple[Definition, ...] = ()
    edges: tuple[AddedEdge, ...] = ()


class ListedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a workspace's list. `scheduled` says that agents of it sleep until their times."""

    session: str
    title: str
    pinned: bool = False
    archived: bool = False
    scheduled: bool = False
    listed: int = 0


class Workspace(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace as deciders see it, at `sequence`. `given` are the ids of all its rules, those that were revoked included."""

    workspace: str
    path: str = ""
    name: str = ""
    sequence: int = 0
    at: int = 0
    sessions: dict[str, ListedSession] = msgspec.field(default_factory=dict[str, ListedSession])
    deleted: frozenset[str] = frozenset()
    rules: tuple[Rule, ...] = ()
    given: frozenset[str] = frozenset()
