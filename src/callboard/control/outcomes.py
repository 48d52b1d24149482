"""Outcomes: what the runtime reports. They are decided like commands, and no surface can send them."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.entities.tool_inventory import ServerState
from callboard.contracts.errors import Code
from callboard.contracts.facts.model import StopReason
from callboard.contracts.facts.process import ProcessEnd
from callboard.contracts.facts.tool import FileChange
from callboard.contracts.facts.turn import InterruptCause
from callboard.contracts.live import Partial
from callboard.contracts.ports.external import AgentSettings, ArtifactReported, TaskReported
from callboard.contracts.ports.model import Quota, Usage
from callboard.contracts.ports.tools import Evaluation, Question, ToolOutcome
from callboard.contracts.scope import Scope

from .decision_inputs import ToolCatalog
from .state.artifact import ExportReported, InterruptedSaveReported


class Piece(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A part of a model's response, complete or interrupted, at the step under which it streamed.
    `arguments` belong to an incomplete call and leave no fact."""

    kind: Literal["text", "reasoning", "arguments"]
    step: int
    text: str
    signature: str = ""


class RequestedCall(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A tool call in a model's response, with the gate's evaluation."""

    call: str
    step: int
    tool: str
    arguments: str
    provider_call_id: str
    evaluation: Evaluation
    signature: str = ""


class ModelResponded(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The response to the model call at `step` is complete. `pieces` and `calls` are in the order
    of the response."""

    thread: str
    run: str
    step: int
    pieces: tuple[Piece, ...]
    calls: tuple[RequestedCall, ...]
    stop_reason: StopReason
    provider_reason: str = ""
    usage: Usage
    first_ms: int
    duration_ms: int
    response_id: str = ""
    quota: Quota | None = None


class ModelAttemptFailed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An attempt failed after `pieces`. Without `retry_in_ms` it was the last attempt, and the
    pieces are stored."""

    thread: str
    run: str
    step: int
    attempt: int
    code: Code
    message: str
    retryable: bool
    retry_in_ms: int | None = None
    pieces: tuple[Piece, ...] = ()
    quota: Quota | None = None


class ToolEnded(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A running tool call ended.

    `merged_changes` are the files of a merge, by another agent; the outcome's blobs have their
    contents. `is_self_reported`: an external agent reported the changes, so the former contents are
    unknown. `catalog` is the agent's new tool catalog if the call changed it. `servers` are the
    states of tool servers if the call used one.
    """

    thread: str
    run: str
    call: str
    outcome: ToolOutcome
    merged_changes: tuple[FileChange, ...] = ()
    is_self_reported: bool = False
    catalog: ToolCatalog | None = None
    servers: tuple[ServerState, ...] = ()


class RunStopped(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Everything that a run had in progress has stopped. `pieces` are the interrupted parts,
    `outcomes` the results of interrupted calls. `response` is one that had arrived whole
    while the gate still evaluated its calls; the calls are left out."""

    thread: str
    run: str
    cause: InterruptCause
    reason: str = ""
    pieces: tuple[Piece, ...] = ()
    outcomes: dict[str, ToolOutcome] = {}
    response: ModelResponded | None = None


class ActionTimedOut(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An action reached its expiry time."""

    thread: str
    action: str


class HostTakenOver(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """This epoch took over a session from a dead one. `partials` are the parts that were streaming."""

    partials: tuple[Partial, ...]


class ClockStepped(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The machine's clock was set by `by` microseconds while this process runs."""

    by: int


class WakeTimeReached(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A time that a call, a handoff or an agent waited for has come."""

    at: int


class WorktreeMade(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A child's worktree is ready at the absolute `path`. With `code` git could not make it."""

    thread: str
    path: str = ""
    branch: str = ""
    base: str = ""
    code: Code | None = None
    message: str = ""


class WorktreeLeft(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The worktree of a closed child was kept, with the reason. `parent` is the thread of its
    parent."""

    agent: str
    parent: str
    path: str
    branch: str
    reason: str


class ExternalConnected(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An external or remote agent was started or reached, and has a conversation for the thread.
    `card` is a remote agent's Agent Card as JSON; `settings` are a program's mode and model."""

    thread: str
    provider_session: str
    name: str
    version: str
    resumed: bool
    card: str = ""
    settings: AgentSettings = AgentSettings()


class ExternalChanged(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The thread's external agent changed its mode or model. `allowed` is False for a mode wider
    than the permission mode."""

    thread: str
    settings: AgentSettings
    allowed: bool = True


class ExternalDisconnected(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The thread's external agent ended."""

    thread: str
    reason: str


class PartEnded(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A part of an external agent's response is complete, while its prompt (the model call at that
    step) continues."""

    thread: str
    run: str
    prompt: int
    piece: Piece


class ExternalCallReported(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An external agent began a call, or asks for permission for one. `is_underway`: the agent
    reported that it runs the call."""

    thread: str
    run: str
    prompt: int
    call: RequestedCall
    is_underway: bool = False


class ExternalPlanReported(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An external agent sent its whole plan. `step` is where the plan first appeared in the run."""

    thread: str
    run: str
    prompt: int
    step: int
    steps: tuple[PlanStep, ...]


class RemoteReported(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A remote agent reported a state of its task or delivered an artifact, during the prompt at
    that step."""

    thread: str
    run: str
    prompt: int
    report: TaskReported | ArtifactReported


class ElicitationStarted(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A running call asks a person a question and keeps running."""

    thread: str
    run: str
    call: str
    question: Question


class ElicitationEnded(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The tool server no longer waits for the answer to a call's question."""

    thread: str
    run: str
    call: str


class RemoteNeedEnded(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A remote agent continues without the answer that it requested with that call."""

    thread: str
    run: str
    call: str
    reason: str


class ProcessStartReported(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The command of a call continues in the background. The scope is the call's, with the
    process id."""

    scope: Scope
    command: str
    summary: str = ""


class ProcessEndReported(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A background process of this host and its children ended. `output` is its head and tail."""

    process: str
    status: ProcessEnd
    output: str
    exit_code: int | None = None
    duration_ms: int = 0
    code: str = ""
    message: str = ""


Outcome = (
    InterruptedSaveReported
    | ExportReported
    | ModelResponded
    | ModelAttemptFailed
    | ToolEnded
    | RunStopped
    | ActionTimedOut
    | HostTakenOver
    | ClockStepped
    | WakeTimeReached
    | WorktreeMade
    | WorktreeLeft
    | ExternalConnected
    | ExternalChanged
    | ExternalDisconnected
    | PartEnded
    | ExternalCallReported
    | ExternalPlanReported
    | RemoteReported
    | RemoteNeedEnded
    | ElicitationStarted
    | ElicitationEnded
    | ProcessStartReported
    | ProcessEndReported
)
