"""What the runtime reports back. Outcomes are commands of the runtime: decided like any other, never sent by a surface."""

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


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A finished or cut part of a model's answer, at the step under which it was streamed.

    `arguments` are those of a call that was never complete: they leave no fact.
    """

    kind: Literal["text", "reasoning", "arguments"]
    step: int
    text: str
    signature: str = ""


class RequestedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call of a model's answer with the gate's verdict on it."""

    call: str
    step: int
    tool: str
    arguments: str
    provider_call_id: str
    evaluation: Evaluation
    signature: str = ""


class ModelAnswered(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to the model call at `step` is complete. `pieces` and `calls` are in the order in which they came."""

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


class ModelAttemptFailed(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt failed; `pieces` are what had come. Without `retry_in_ms` it was the last, and they are kept."""

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


class ToolEnded(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that had started is over. `brought` are the files that came with a merge: the work of somebody else, whose
    contents are among the outcome's blobs. `heard` says that an agent of its own told what became of the files, and nobody here
    saw what they were before. `catalog` is which tools its agent has now, where the call changed that; `servers` how those
    stand that bring tools, where it went to one."""

    thread: str
    run: str
    call: str
    outcome: ToolOutcome
    merged_changes: tuple[FileChange, ...] = ()
    is_self_reported: bool = False
    catalog: ToolCatalog | None = None
    servers: tuple[ServerState, ...] = ()


class RunStopped(msgspec.Struct, frozen=True, kw_only=True):
    """All that a run had under way has been stopped. `pieces` are the cut parts; `outcomes` what there was of cut calls.
    `answered` is an answer of which all had come, while its calls, which are left out, were still being looked at."""

    thread: str
    run: str
    cause: InterruptCause
    reason: str = ""
    pieces: tuple[Piece, ...] = ()
    outcomes: dict[str, ToolOutcome] = msgspec.field(default_factory=dict[str, ToolOutcome])
    answered: ModelAnswered | None = None


class ActionTimedOut(msgspec.Struct, frozen=True, kw_only=True):
    """Nobody answered in time."""

    thread: str
    action: str


class HostTakenOver(msgspec.Struct, frozen=True, kw_only=True):
    """This epoch took over a session from a dead one. `partials` are the parts that were being made."""

    partials: tuple[Partial, ...]


class ClockStepped(msgspec.Struct, frozen=True, kw_only=True):
    """The machine's clock was set while this process lives, by that many microseconds."""

    by: int


class WakeTimeReached(msgspec.Struct, frozen=True, kw_only=True):
    """A time that a call or a handoff waited for has come."""

    at: int


class WorktreeMade(msgspec.Struct, frozen=True, kw_only=True):
    """A child's worktree is there: `path` is absolute. With `code` it could not be made, and the child has failed."""

    thread: str
    path: str = ""
    branch: str = ""
    base: str = ""
    code: Code | None = None
    message: str = ""


class WorktreeLeft(msgspec.Struct, frozen=True, kw_only=True):
    """A closed child's worktree was not removed, and why. `parent` is its parent's thread."""

    agent: str
    parent: str
    path: str
    branch: str
    reason: str


class ExternalConnected(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that is not of our loop was started or reached for the thread and holds a conversation for it. `card` is the
    Agent Card of one elsewhere, as JSON; `settings` are those of a program that are in force."""

    thread: str
    provider_session: str
    name: str
    version: str
    resumed: bool
    card: str = ""
    settings: AgentSettings = AgentSettings()


class ExternalChanged(msgspec.Struct, frozen=True, kw_only=True):
    """The thread's program changed its mode or its model; `allowed` is False for a mode wider than its permission mode."""

    thread: str
    settings: AgentSettings
    allowed: bool = True


class ExternalDisconnected(msgspec.Struct, frozen=True, kw_only=True):
    """The thread's agent was ended, or ended."""

    thread: str
    reason: str


class PartEnded(msgspec.Struct, frozen=True, kw_only=True):
    """A part of what such an agent says is finished, while its prompt (the model call at that step) goes on."""

    thread: str
    run: str
    prompt: int
    piece: Piece


class ExternalCallReported(msgspec.Struct, frozen=True, kw_only=True):
    """Such an agent began a call, or asks whether one that it began may go on. `is_underway`: the agent reported that it
    runs the call."""

    thread: str
    run: str
    prompt: int
    call: RequestedCall
    is_underway: bool = False


class ExternalPlanReported(msgspec.Struct, frozen=True, kw_only=True):
    """Such an agent tells its plan, whole. `step` is where it first appeared in the run."""

    thread: str
    run: str
    prompt: int
    step: int
    steps: tuple[PlanStep, ...]


class RemoteReported(msgspec.Struct, frozen=True, kw_only=True):
    """An agent elsewhere told a state of its task, or delivered an artifact, in the prompt that is the model call at that
    step."""

    thread: str
    run: str
    prompt: int
    report: TaskReported | ArtifactReported


class ElicitationStarted(msgspec.Struct, frozen=True, kw_only=True):
    """A call that runs asks a person something, and waits for it while it goes on running."""

    thread: str
    run: str
    call: str
    question: Question


class ElicitationEnded(msgspec.Struct, frozen=True, kw_only=True):
    """Nobody waits any more for the answer to what a call asked."""

    thread: str
    run: str
    call: str


class RemoteNeedEnded(msgspec.Struct, frozen=True, kw_only=True):
    """An agent elsewhere goes on without what it asked for with that call."""

    thread: str
    run: str
    call: str
    reason: str


class ProcessStartReported(msgspec.Struct, frozen=True, kw_only=True):
    """The command of a call runs on in the background; the scope is the call's, with the id of the process."""

    scope: Scope
    command: str
    summary: str = ""


class ProcessEndReported(msgspec.Struct, frozen=True, kw_only=True):
    """A process of this host and all that came of it are over. `output` is its head and tail."""

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
    | ModelAnswered
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
