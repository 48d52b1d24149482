"""Rows of the conversation: one per turn, and one per part in order."""

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
    """A turn. `order` is the sequence of its submission, later of its start.

    - `code`, `message`: a failure, or the cause of an interrupt. `source`: origin of the input.
    - Counts are of the whole run so far. Tokens are absent if the provider reports none.
    - `waited_us`: microseconds of past waits for decisions. `waiting_since`: start of the present
      wait, 0 for none.
    - `final_parts`: keys of the parts of the answer. `given`: context of the input. `missing`:
      names in it that could not be resolved.
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


def compute_part_order(started: int, step: int) -> int:
    """Return the order of a part: an integer that JavaScript represents exactly.

    It combines the sequence of the turn's `turn.started` with the step of the part.
    """
    return (started << 20) | step


class Part(Row, frozen=True, kw_only=True):
    """Base class of parts. `order` is `compute_part_order`: the order in which the parts began, known while they stream."""

    panel: ClassVar[str] = "parts"
    turn_id: str
    thread_id: str
    at: int


class TextPart(Part, tag="assistant_text", frozen=True, kw_only=True):
    """A text part of the assistant.

    A `commentary` was followed by a tool call, so it is not the answer. `revised`: the final text
    differs from the streamed one.
    """

    state: PartState
    content: Text
    commentary: bool = False
    revised: bool = False


class ReasoningPart(Part, tag="reasoning_summary", frozen=True, kw_only=True):
    """Reasoning of a model, or its summary."""

    state: PartState
    content: Text


class ToolPart(Part, tag="tool_call", frozen=True, kw_only=True):
    """A tool call. A large `output` is a preview with a ref.

    `code` says why there is no output: refused, failed, cancelled or lost. `done` of `total` is its
    progress; without `total` the amount is unknown. `asked` are the model's arguments, if a hook
    replaced them.
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


#: `unknown` if the fact of the outcome was erased.
ActionOutcome = Literal["pending", "approved", "rejected", "answered", "expired", "withdrawn", "unknown"]


class ActionPart(Part, tag="action_required", frozen=True, kw_only=True):
    """The audit line of an action.

    `settled_at` is the time of its outcome, 0 while it is pending. An accepted plan is carried out
    in `permission_mode` by the turn `next_turn_id`.
    """

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
    next_turn_id: str = ""


class SteerPart(Part, tag="user_text", frozen=True, kw_only=True):
    """Input steered into a running turn."""

    steer_id: str
    outcome: Literal["pending", "accepted", "rejected"]
    content: Text
    reason: str = ""
    given: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()


class NoticePart(Part, tag="runtime_status", frozen=True, kw_only=True):
    """A milestone, such as a retry of the model, a pause or a warning.

    It is also a message (`agent_message`) or a review request (`review_requested`) of the agent
    `agent_id`. A waiting model call has one notice, with the wait and the number of the next
    `attempt`.
    """

    code: str
    message: str
    hint: str = ""
    agent_id: str = ""
    retry_in_ms: int | None = None
    attempt: int = 0


class PlanPart(Part, tag="plan", frozen=True, kw_only=True):
    """The present plan of a run, at the position of its first.

    A rejected plan that was proposed again is a new `revision`; `former` and `later` are the keys
    of its neighbours.
    """

    state: PartState
    steps: tuple[PlanStep, ...]
    revision: int = 1
    former: str = ""
    later: str = ""


class NotificationPart(Part, tag="worker_notification", frozen=True, kw_only=True):
    """A child's result that the turn received.

    `transcript` is the child's thread. With `plain_text` the child answered in plain text and did
    not finalize.
    """

    agent_id: str
    task_id: str
    status: NotificationStatus
    summary: str
    transcript: str = ""
    plain_text: bool = False


HandoffNews = Literal["requested", "accepted", "rejected", "returned", "expired"]


class HandoffPart(Part, tag="agent_handoff", frozen=True, kw_only=True):
    """A handoff that the turn received, or `news` of one.

    News are that another actor accepted it for the agent, or that the sender's handoff was rejected,
    returned or expired. `message` is limited to 400 characters; the handoff lane has all of it.
    """

    handoff_id: str
    source: str
    target: str
    message: str
    ownership: bool = False
    news: HandoffNews = "requested"


class RemoteStatusPart(Part, tag="remote_agent_status", frozen=True, kw_only=True):
    """The newest state of a remote agent's task for this turn, and the names of its artifacts."""

    agent_id: str
    remote_task_id: str
    task_state: RemoteTaskState
    message: Text = Text()
    artifacts: tuple[str, ...] = ()


class ErrorPart(Part, tag="error", frozen=True, kw_only=True):
    """The failure that ended the turn."""

    code: str
    message: str
    hint: str = ""
    retryable: bool = False


class RequestedChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The requested change of a file.

    `differs` is False if the file would stay equal. It and the line counts are absent if the
    preview is incomplete, the counts also for binary content.
    """

    path: str
    creates: bool = False
    differs: bool | None = None
    added: int | None = None
    removed: int | None = None


class ActionRow(Row, tag="action", frozen=True, kw_only=True):
    """A pending action.

    It leaves the panel once it is resolved; the conversation keeps an audit line.

    - `agent_name`: the requesting agent. `parent_agent_id`: its parent, for a child.
    - `prompt`: the question in English. A client can format its own from `tool`, `change`, `policy`
      (the run's permission mode), `reasons` and `hook_reasons`, which are absent in older sessions.
    - `expires_at`: microseconds since the epoch, 0 for never. `matchers`: rules that the wider
      scopes would add.
    - `sandbox`, `network`: confinement of the call; None if unknown. `commands`: number of simple
      commands in a shell text, 0 for none or an unreadable text.
    - `artifact_version` of `artifact_id`: the version to review.
    - `hooked`: results of hooks. `asked`: the model's arguments, if a hook replaced them.
    - `modes`: permission modes for an accepted plan, the default first.
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
    change: RequestedChange | None = None
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
    asked: Text | None = None
    commands: int = 0
    modes: tuple[ContinuationMode, ...] = ()
    reasons: tuple[Reason, ...] | None = None


class QueueRow(Row, tag="queued_turn", frozen=True, kw_only=True):
    """A queued turn. `order` is its position."""

    panel: ClassVar[str] = "queue"
    turn_id: str
    thread_id: str
    input: Text
    mode: Mode
    submitted_at: int


RuntimeStatus = Literal[
    "idle", "accepted", "routing", "preparing", "streaming", "blocked", "retrying", "failed", "done"
]
#: Phases of a status. Clients localise them.
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
    """The status line of a thread at the fact `sequence`.

    `since` is that fact's time in microseconds.

    A running status is valid while `epoch` is alive; afterwards readers show `lost`.
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
