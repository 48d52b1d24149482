"""What a decider needs to know of a session: its open entities. What is over is not here, so its size does not grow."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts import PromptRef
from callboard.contracts.facts.action import ApprovalScope, Binding
from callboard.contracts.facts.permission import Rule
from callboard.contracts.facts.thread import PauseCause
from callboard.contracts.facts.turn import Mode, PermissionMode

#: Snapshots of another schema are thrown away and folded anew.
STATE_SCHEMA = 4

#: The tool whose success ends a turn in `auto`.
FINALIZE = "Finalize"

CallPhase = Literal["requested", "waiting", "running"]


class OpenCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call without a terminal fact. `action` is the approval it waits for, `action_step` the step of that
    approval, and what follows is what its card offers."""

    call: str
    step: int
    tool: str
    arguments: Text
    phase: CallPhase = "requested"
    action: str = ""
    action_step: int = 0
    expires_at: int = 0
    scopes: tuple[ApprovalScope, ...] = ()
    matchers: dict[ApprovalScope, str] = msgspec.field(default_factory=dict[ApprovalScope, str])
    binding: Binding | None = None


class OpenSteer(msgspec.Struct, frozen=True, kw_only=True):
    """Input that no model call has included yet."""

    steer: str
    input: Text


class Streak(msgspec.Struct, frozen=True, kw_only=True):
    """Rounds of a run that came to the same, one after the other: what to, and the steps of their model calls."""

    key: str = ""
    steps: tuple[int, ...] = ()


class OpenRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run under way. `epoch` is of the host that has it.

    `prompts` and `tools` are what it was told. `asked` is the step of its newest model call and `came` what that led to so
    far; `streak` are the rounds up to the one before.
    `model_step` is the step of the model call without an end, 0 when none is open.
    `answer_parts` are the text steps since the last tool call: the final answer, if no call follows. `finalised` is set once
    a Finalize call succeeded, `stopping` from the request of an interrupt on.
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

    def call_of(self, call: str) -> OpenCall | None:
        """The open call of that id."""
        return next((one for one in self.calls if one.call == call), None)

    def waiting_on(self, action: str) -> OpenCall | None:
        """The call that waits for that action."""
        return next((one for one in self.calls if one.action == action), None)


class QueuedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that waits for its thread."""

    turn: str
    mode: Mode
    permission_mode: PermissionMode


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation of one agent, as far as it is open."""

    thread: str
    agent: str
    definition: str
    queue: tuple[QueuedTurn, ...] = ()
    run: OpenRun | None = None
    submitted: QueuedTurn | None = None
    paused: PauseCause | None = None


class PassedOn(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that was given in this session for its whole workspace. `cause` is the id of the event that gave it."""

    rule: Rule
    cause: str


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session as deciders see it, at `sequence`. `at` is the time of its newest fact in microseconds."""

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


class ListedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a workspace's list."""

    session: str
    title: str
    pinned: bool = False
    archived: bool = False
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
