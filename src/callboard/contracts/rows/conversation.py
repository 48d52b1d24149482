"""Rows of the conversation: one a turn, and one a part in the order in which the parts came."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..content import BlobRef, Text
from ..entities.plan import PlanStep
from ..entities.team import RemoteTaskState
from ..facts.action import ActionType, ApprovalScope, ContinuationMode, Decision
from ..facts.permission import Check, Reason, Risk
from ..facts.session import PauseCause
from ..facts.subagent import NotificationStatus
from ..facts.tool import FileChange, SandboxLevel
from ..facts.turn import InputSource, Mode, PermissionMode
from ..refs import ContextRef, MissingRef
from .base import Row

TurnState = Literal["queued", "running", "waiting", "completed", "failed", "interrupted", "removed"]
PartState = Literal["streaming", "final", "interrupted"]
#: The seven states of a tool call (Agent UI specification, Tool lifecycle).
ToolState = Literal[
    "input-streaming", "input-available", "running", "progress", "output-available", "output-error", "cancelled"
]


class TurnRow(Row, tag="turn", frozen=True, kw_only=True):
    """One turn. `order` is the sequence of its submission, and from its start on that of its start.

    `code` and `message` tell a failure or the cause of an interruption. Counts cover the whole run so far; tokens are absent
    where the provider told none. `waited_us` is how long the run stood still for a decision, in microseconds, waits that are
    over; `waiting_since` is when the present one began, 0 where there is none. `final_parts` are the keys of the parts that
    are the answer. `source` says who gave the input: a person, another agent, what was in the inbox, or a schedule. `given` is
    what came with it, `missing` what it names and is not there.
    """

    panel: ClassVar[str] = "turns"
    turn_id: str
    thread_id: str
    agent_id: str
    run_id: str = ""
    state: TurnState
    input: Text
    mode: Mode
    permission_mode: PermissionMode
    submitted_at: int
    started_at: int = 0
    ended_at: int = 0
    waited_us: int = 0
    waiting_since: int = 0
    iterations: int = 0
    tool_calls: int = 0
    files_changed: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    code: str = ""
    message: str = ""
    hint: str = ""
    final_parts: tuple[str, ...] = ()
    source: InputSource = "person"
    given: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()


def part_order(started: int, step: int) -> int:
    """The order of a part: the sequence of its run's `turn.started` and the step, within what JavaScript counts exactly."""
    return (started << 20) | step


class Part(Row, frozen=True, kw_only=True):
    """What every part has. `order` is `part_order` of the turn's start and the step: the order in which the
    parts began, known while they stream."""

    panel: ClassVar[str] = "parts"
    turn_id: str
    thread_id: str
    at: int


class TextPart(Part, tag="assistant_text", frozen=True, kw_only=True):
    """A piece of the assistant's text. `commentary` is text that a tool call followed: no answer, and it keeps its place.

    `revised` marks a final text that differs from what was streamed.
    """

    state: PartState
    content: Text
    commentary: bool = False
    revised: bool = False


class ReasoningPart(Part, tag="reasoning_summary", frozen=True, kw_only=True):
    state: PartState
    content: Text


class ToolPart(Part, tag="tool_call", frozen=True, kw_only=True):
    """One tool call through its states. `output` is a preview with a ref where it is large; the rest on demand.

    `code` tells why there is no good output: refused, failed, cancelled, lost. `done` of `total` is how far a call is that
    tells it; without `total` nobody knows of how much. `asked` are the model's own arguments where a hook put those that run in
    their place.
    """

    tool_call_id: str
    tool: str
    state: ToolState
    summary: str = ""
    arguments: Text = Text()
    asked: Text | None = None
    output: Text = Text()
    code: str = ""
    message: str = ""
    exit_code: int | None = None
    duration_ms: int = 0
    started_at: int = 0
    changes: tuple[FileChange, ...] = ()
    images: tuple[BlobRef, ...] = ()
    done: float | None = None
    total: float | None = None
    verdict: str = ""
    risk: Risk = "none"
    checks: tuple[Check, ...] = ()
    sandbox: str = ""
    network: bool = False
    action_id: str = ""


#: `unknown` where the fact that resolved the action was erased.
ActionOutcome = Literal["pending", "approved", "rejected", "answered", "expired", "withdrawn", "unknown"]


class ActionPart(Part, tag="action_required", frozen=True, kw_only=True):
    """The audit line of an action. `settled_at` is the time of its outcome, 0 while it is pending."""

    action_id: str
    action_type: ActionType
    tool: str
    prompt: str
    outcome: ActionOutcome
    answered_scope: ApprovalScope | None = None
    reason: str = ""
    answer: Text = Text()
    actor: str = ""
    settled_at: int = 0
    permission_mode: ContinuationMode | None = None
    """Mode in which the accepted plan is carried out, by the turn `next_turn_id`."""
    next_turn_id: str = ""


class SteerPart(Part, tag="user_text", frozen=True, kw_only=True):
    """Input that was steered into a running turn."""

    steer_id: str
    outcome: Literal["pending", "accepted", "rejected"]
    content: Text
    reason: str = ""
    given: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()


class NoticePart(Part, tag="runtime_status", frozen=True, kw_only=True):
    """A milestone worth a line of its own: a retry of the model, a pause, a warning; and what another agent, `agent_id`, sent
    that is neither a handoff nor a child's end (`agent_message`, `review_requested`). A model call that waits to be tried again
    has one notice, with the wait and the number of the next `attempt`."""

    code: str
    message: str
    hint: str = ""
    agent_id: str = ""
    retry_in_ms: int | None = None
    attempt: int = 0


class PlanPart(Part, tag="plan", frozen=True, kw_only=True):
    """What the agent says that it is going to do, as it is now; there is one of each run, at the place of its first. A plan
    that was sent back and proposed anew is a `revision` of its own; `former` and `later` are the keys of those beside it."""

    state: PartState
    steps: tuple[PlanStep, ...]
    revision: int = 1
    former: str = ""
    later: str = ""


class NotificationPart(Part, tag="worker_notification", frozen=True, kw_only=True):
    """What the turn was told of a child. `transcript` is the child's thread. With `plain_text` the child answered in plain text
    and did not finalize."""

    agent_id: str
    task_id: str
    status: NotificationStatus
    summary: str
    transcript: str = ""
    plain_text: bool = False


HandoffNews = Literal["requested", "accepted", "rejected", "returned", "expired"]


class HandoffPart(Part, tag="agent_handoff", frozen=True, kw_only=True):
    """A handoff that the turn was told of; all of it is in its lane. `news` is what of it: that it was sent, that somebody
    accepted it for the agent, or, to its sender, that it was rejected, is back, or was not answered in time. `message` is what
    was said with that, cut at 400 characters."""

    handoff_id: str
    source: str
    target: str
    message: str
    ownership: bool = False
    news: HandoffNews = "requested"


class RemoteStatusPart(Part, tag="remote_agent_status", frozen=True, kw_only=True):
    """What an agent elsewhere told of its task for this turn: its newest state, and the names of what it delivered."""

    agent_id: str
    remote_task_id: str
    task_state: RemoteTaskState
    message: Text = Text()
    artifacts: tuple[str, ...] = ()


class ErrorPart(Part, tag="error", frozen=True, kw_only=True):
    """What ended the turn."""

    code: str
    message: str
    hint: str = ""
    retryable: bool = False


class AskedChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The change to a file that is asked for. `differs` is false where the file would stay as it is; it and the line counts
    are absent where the preview does not hold the whole diff, the counts also where the content is no text."""

    path: str
    creates: bool = False
    differs: bool | None = None
    added: int | None = None
    removed: int | None = None


class ActionRow(Row, tag="action", frozen=True, kw_only=True):
    """A pending action; it leaves the panel when it is resolved and stays as an audit line in the conversation.

    `agent_name` is who asks, and `parent_agent_id` for whom it works, where it is a child.
    `prompt` is the question in English. What words it anew has `tool`, `change` and `policy` (the permission mode of the run).
    `expires_at` is in microseconds since the epoch, 0 for never. `matchers` shows the rule that each wider scope would make.
    `sandbox` is what would hold the call in, None where nobody knows, and `network` whether it would have one.
    `artifact_version` of `artifact_id` is what a review is asked of. `hooked` is what hooks said of the call, and `asked` are
    the model's own arguments where one of them put those that would run in their place.
    """

    panel: ClassVar[str] = "actions"
    action_id: str
    action_type: ActionType
    turn_id: str
    thread_id: str
    agent_id: str
    agent_name: str = ""
    parent_agent_id: str = ""
    tool_call_id: str = ""
    tool: str = ""
    prompt: str
    arguments: Text = Text()
    preview: Text | None = None
    change: AskedChange | None = None
    risk: Risk = "none"
    decisions: tuple[Decision, ...]
    scopes: tuple[ApprovalScope, ...] = ()
    matchers: dict[ApprovalScope, str] = msgspec.field(default_factory=dict[ApprovalScope, str])
    policy: str = ""
    sandbox: SandboxLevel | None = None
    network: bool = False
    required_at: int
    expires_at: int = 0
    artifact_id: str = ""
    artifact_version: int = 0
    hooked: str = ""
    hook_reasons: tuple[Reason, ...] = ()
    """The same as `hooked`, for a client to word. Empty where only `hooked` says it."""
    asked: Text | None = None
    commands: int = 0
    """Simple commands of the shell text that would run; 0 for a call without one, and for a text that cannot be read."""
    modes: tuple[ContinuationMode, ...] = ()
    """Permission modes in which an accepted plan can be carried out, the default first; empty for any other action."""
    reasons: tuple[Reason, ...] | None = None
    """Why a person is asked, beside `policy` and `hooked`. None where only `prompt` says it."""


class QueueRow(Row, tag="queued_turn", frozen=True, kw_only=True):
    """A turn that waits. `order` is its place."""

    panel: ClassVar[str] = "queue"
    turn_id: str
    thread_id: str
    input: Text
    mode: Mode
    submitted_at: int


RuntimeStatus = Literal[
    "idle", "accepted", "routing", "preparing", "streaming", "blocked", "retrying", "failed", "done"
]
#: The closed list of phase names behind a status, localised where they are shown.
StatusDetail = Literal[
    "ready",
    "submitted",
    "asking_model",
    "reasoning",
    "answering",
    "calling_tool",
    "running_tool",
    "waiting_approval",
    "waiting_retry",
    "stopping",
    "paused",
    "completed",
    "failed",
    "interrupted",
    "lost",
]


class StatusRow(Row, tag="status", frozen=True, kw_only=True):
    """The status line of one thread, tied to the fact named by `sequence`. `since` is that fact's time in microseconds.

    A status that says that something runs holds only while `epoch` is alive; otherwise the reading edge says `lost`.
    """

    panel: ClassVar[str] = "status"
    thread_id: str
    agent_id: str
    agent_name: str
    status: RuntimeStatus
    detail: StatusDetail
    since: int
    turn_id: str = ""
    run_id: str = ""
    tool: str = ""
    provider: str = ""
    model: str = ""
    iteration: int = 0
    max_iters: int = 0
    paused: PauseCause | None = None
    epoch: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
