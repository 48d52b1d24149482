"""What facts make of an agent: its turns, its model and tool calls, its actions, and its life as a child."""

from __future__ import annotations

from collections.abc import Callable

from callboard.contracts.facts import (
    ActionExpired,
    ActionRequired,
    ActionResolved,
    ActionWithdrawn,
    AgentConnected,
    AgentDisconnected,
    AgentModeChanged,
    AgentSlept,
    AgentWoke,
    CostRecorded,
    Fact,
    ModelCompleted,
    ModelFailed,
    ModelInterrupted,
    ModelRequested,
    QueueAdded,
    QueueRemoved,
    RemoteArtifact,
    RemoteTaskChanged,
    SubagentCancelled,
    SubagentClosed,
    SubagentCompleted,
    SubagentContinued,
    SubagentFailed,
    SubagentIsolated,
    SubagentMerged,
    SubagentQueued,
    SubagentsAwaited,
    SubagentSpawned,
    SubagentStarted,
    ThreadPaused,
    ThreadResumed,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolStarted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    WorkerNotification,
)
from callboard.contracts.record import Record

from . import remote
from .agent import Member, glance
from .background import OF_TASKS, asleep

#: Failures that say that the provider cannot be reached.
_GONE = frozenset({"model_unavailable", "model_auth", "model_unconfigured", "unreachable", "remote_unavailable"})


def turn(member: Member, record: Record) -> None:
    """A turn of its thread waits, begins or ends."""
    scope, at = record.scope, record.header.at
    match record.fact:
        case QueueAdded():
            member.queued.add(scope.turn)
        case QueueRemoved():
            member.queued.discard(scope.turn)
        case TurnStarted() as fact:
            member.queued.discard(scope.turn)
            member.latest_turn, member.latest_turn_status = scope.turn, "running"
            member.current_run, member.began = scope.run, at
            member.permission_mode = fact.permission_mode
            member.state, member.detail, member.stalled_since = "running", "submitted", 0
        case TurnCompleted():
            _over(member, at, "completed")
            member.state, member.detail = "idle", "completed"
        case TurnFailed() as fact:
            _over(member, at, "failed")
            member.state, member.detail = "failed", "failed"
            if fact.code in _GONE:
                member.connection, member.unreached = "disconnected", True
        case TurnInterrupted():
            _over(member, at, "interrupted")
            member.state, member.detail = "waiting" if member.card.parent_thread_id else "idle", "interrupted"
        case ThreadPaused() as fact:
            member.stalled_since = at if fact.cause == "no_progress" else member.stalled_since
            member.paused = fact.cause
            if not member.current_run and (fact.cause != "failed" or member.state != "failed"):
                member.state, member.detail = "needs_input", "paused"
        case ThreadResumed():
            member.paused = None
            if not member.current_run:
                member.state, member.detail, member.stalled_since = "idle", "ready", 0
        case _:
            pass
    if member.sleeper is not None:
        member.sleeper.take(record)


def _over(member: Member, at: int, status: str) -> None:
    member.latest_turn_status = status
    member.duration_ms += max(at - member.began, 0) // 1000 if member.current_run else 0
    member.current_run = ""
    member.connection = "idle" if member.connection == "connected" else member.connection
    member.calls.clear()
    member.waits.clear()
    member.pending.clear()


def model(member: Member, record: Record) -> None:
    """Its model is asked, answers, or cannot be reached."""
    match record.fact:
        case ModelRequested() as fact:
            member.provider, member.model = fact.provider, fact.model
            # One elsewhere that is gone is there again when it says so.
            if member.remote is None or member.connection != "disconnected":
                member.connection = "connected"
            member.detail = "asking_model"
            member.model_calls += 1
        case ModelCompleted():
            member.connection, member.detail = "idle", "answering"
        case ModelFailed() as fact:
            member.connection = "disconnected" if fact.code in _GONE else "idle"
            member.unreached = fact.code in _GONE
            member.detail = "waiting_retry" if fact.retry_in_ms is not None else member.detail
        case ModelInterrupted():
            member.connection = "idle"
        case CostRecorded() as fact:
            member.input_tokens += fact.input_tokens or 0
            member.output_tokens += fact.output_tokens or 0
        case _:
            pass


def link(member: Member, record: Record) -> None:
    """The program that it is, or the agent elsewhere, was reached, tells of its task, or is gone."""
    match record.fact:
        case AgentConnected() as fact:
            member.connection = "connected" if member.current_run else "idle"
            member.unreached = False
            member.change(
                provider_session_id=fact.provider_session_id, provider_mode=fact.mode, provider_model=fact.model
            )
            if member.remote is not None:
                member.remote = remote.connected(member.remote, fact)
        case AgentModeChanged() as fact:
            member.change(provider_mode=fact.mode, provider_model=fact.model)
        case AgentDisconnected():
            member.connection = "disconnected"
        case RemoteTaskChanged() as fact if member.remote is not None:
            member.remote = remote.told(member.remote, record, fact)
            member.connection = "connected" if member.current_run else "idle"
            member.unreached = False
        case RemoteArtifact() as fact if member.remote is not None:
            member.remote = remote.delivered(member.remote, record, fact)
        case _:
            pass


def sleep(member: Member, record: Record) -> None:
    """It sleeps or wakes, or something became of the task that its runs are attempts of."""
    if member.sleeper is not None:
        member.sleeper.take(record)
    elif isinstance(record.fact, AgentSlept | AgentWoke):
        member.sleeper = asleep(record)


def call(member: Member, record: Record) -> None:
    """One of its calls runs, waits for children, or is over."""
    match record.fact:
        case ToolStarted() as fact:
            member.tool_calls += 1
            member.calls[record.scope.tool_call] = fact.tool
        case SubagentsAwaited():
            member.waits.add(record.scope.tool_call)
        case _:
            member.calls.pop(record.scope.tool_call, None)
            if member.waits:
                member.waits.discard(record.scope.tool_call)


def action(member: Member, record: Record) -> None:
    """A decision is needed for it, or given."""
    match record.fact:
        case ActionRequired() as fact:
            member.pending[record.scope.action] = fact.action_type
        case _:
            member.pending.pop(record.scope.action, None)


def child(member: Member, record: Record) -> None:
    """Its life as a child, from its spawn on."""
    match record.fact:
        case SubagentSpawned() as fact:
            member.state = "spawning"
            member.change(
                role=fact.role,
                objective=glance(fact.objective),
                isolation=fact.isolation,
                work_globs=fact.work_globs,
                spawn_reason=fact.reason,
            )
        case SubagentQueued() as fact:
            member.state = "waiting"
            member.change(queue_reason=fact.queue_reason, queue_position=fact.position)
        case SubagentIsolated() as fact:
            member.change(worktree=fact.path, branch=fact.branch, unmerged=True)
        case SubagentMerged(status="merged" | "nothing_to_merge"):
            member.change(unmerged=False)
        case SubagentStarted():
            member.state = "running"
            member.change(queue_reason=None, queue_position=0, unmerged=bool(member.card.worktree))
        case SubagentContinued():
            member.state = "waiting"
            member.input_tokens = member.output_tokens = member.duration_ms = 0
            member.model_calls = member.tool_calls = 0
            member.change(task_id=record.scope.task, parent_run_id=record.scope.parent_run, plain_text=False)
        case SubagentCompleted() as fact:
            _ended(member, "completed")
            member.change(result=glance(fact.result), plain_text=fact.plain_text)
        case SubagentFailed() as fact:
            _ended(member, "failed")
            member.change(result=glance(fact.result), plain_text=False)
        case SubagentCancelled() as fact:
            _ended(member, "killed")
            member.change(result=glance(fact.result), plain_text=False)
        case SubagentClosed():
            _ended(member, "closed")
            member.change(unmerged=False)
        case WorkerNotification(status="needs_input"):
            member.state = "needs_input"
        case WorkerNotification(status="interrupted" | "ready_for_review"):
            member.state = "waiting"
        case _:
            pass


def _ended(member: Member, state: str) -> None:
    match state:
        case "completed" | "failed" | "killed" | "closed":
            member.state = state
        case _:
            pass
    member.queued.clear()
    member.change(queue_reason=None, queue_position=0)


#: Which of the above a fact is for.
TAKES: dict[type[Fact], Callable[[Member, Record], None]] = {
    **dict.fromkeys(
        (
            QueueAdded,
            QueueRemoved,
            TurnStarted,
            TurnCompleted,
            TurnFailed,
            TurnInterrupted,
            ThreadPaused,
            ThreadResumed,
        ),
        turn,
    ),
    **dict.fromkeys((ModelRequested, ModelCompleted, ModelFailed, ModelInterrupted, CostRecorded), model),
    **dict.fromkeys(
        (ToolStarted, SubagentsAwaited, ToolCompleted, ToolFailed, ToolRefused, ToolCancelled, ToolLost), call
    ),
    **dict.fromkeys((AgentConnected, AgentModeChanged, AgentDisconnected, RemoteTaskChanged, RemoteArtifact), link),
    **dict.fromkeys((AgentSlept, AgentWoke, *OF_TASKS), sleep),
    **dict.fromkeys((ActionRequired, ActionResolved, ActionExpired, ActionWithdrawn), action),
    **dict.fromkeys(
        (
            SubagentSpawned,
            SubagentQueued,
            SubagentIsolated,
            SubagentMerged,
            SubagentStarted,
            SubagentContinued,
            SubagentCompleted,
            SubagentFailed,
            SubagentCancelled,
            SubagentClosed,
            WorkerNotification,
        ),
        child,
    ),
}
