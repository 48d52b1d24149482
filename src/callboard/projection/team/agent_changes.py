"""Changes of an agent by the facts of its thread: turns, model and tool calls, actions, and its life as a child."""

from __future__ import annotations

from callboard.contracts.facts.action import ActionEndFact, ActionRequired
from callboard.contracts.facts.agent import (
    AgentConnected,
    AgentDisconnected,
    AgentModeChanged,
    AgentSlept,
    AgentWoke,
    RemoteArtifact,
    RemoteTaskChanged,
)
from callboard.contracts.facts.model import CostRecorded, ModelCompleted, ModelFailed, ModelInterrupted, ModelRequested
from callboard.contracts.facts.queue import QueueAdded, QueueRemoved
from callboard.contracts.facts.session import ThreadPaused, ThreadResumed
from callboard.contracts.facts.subagent import (
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
    WorkerNotification,
)
from callboard.contracts.facts.tool import ToolEndFact, ToolStarted
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted, TurnStarted
from callboard.contracts.record import Record
from callboard.contracts.rows.agent import AgentState, BackgroundWork

from ..reducer import Handlers, collect_handlers, on
from . import remote
from .agent import Member, shorten
from .background import Sleeper

#: Errors of an unreachable provider.
_UNREACHABLE = frozenset({"model_unavailable", "model_auth", "model_unconfigured", "unreachable", "remote_unavailable"})


@on
def queue_turn(member: Member, record: Record, fact: QueueAdded) -> None:
    member.queued.add(record.scope.turn)


@on
def unqueue_turn(member: Member, record: Record, fact: QueueRemoved) -> None:
    member.queued.discard(record.scope.turn)


@on
def start_turn(member: Member, record: Record, fact: TurnStarted) -> None:
    scope = record.scope
    member.queued.discard(scope.turn)
    member.latest_turn, member.latest_turn_status = scope.turn, "running"
    member.current_run, member.began = scope.run, record.header.at
    member.permission_mode = fact.permission_mode
    member.state, member.detail, member.stalled_since = "running", "submitted", 0


@on
def complete_turn(member: Member, record: Record, fact: TurnCompleted) -> None:
    _end_turn(member, record, "completed")
    member.state, member.detail = "idle", "completed"


@on
def fail_turn(member: Member, record: Record, fact: TurnFailed) -> None:
    _end_turn(member, record, "failed")
    member.state, member.detail = "failed", "failed"
    if fact.code in _UNREACHABLE:
        member.connection, member.unreached = "disconnected", True


@on
def interrupt_turn(member: Member, record: Record, fact: TurnInterrupted) -> None:
    _end_turn(member, record, "interrupted")
    member.state, member.detail = "waiting" if member.card.parent_thread_id else "idle", "interrupted"


def _end_turn(member: Member, record: Record, status: str) -> None:
    member.latest_turn_status = status
    member.duration_ms += max(record.header.at - member.began, 0) // 1000 if member.current_run else 0
    member.current_run = ""
    member.connection = "idle" if member.connection == "connected" else member.connection
    member.calls.clear()
    member.waits.clear()
    member.pending.clear()


@on
def pause(member: Member, record: Record, fact: ThreadPaused) -> None:
    member.stalled_since = record.header.at if fact.cause == "no_progress" else member.stalled_since
    member.paused = fact.cause
    if not member.current_run and (fact.cause != "failed" or member.state != "failed"):
        member.state, member.detail = "needs_input", "paused"


@on
def resume(member: Member, record: Record, fact: ThreadResumed) -> None:
    member.paused = None
    if not member.current_run:
        member.state, member.detail, member.stalled_since = "idle", "ready", 0


@on
def request_model(member: Member, record: Record, fact: ModelRequested) -> None:
    member.provider, member.model = fact.provider, fact.model
    # A disconnected remote agent is connected only when a fact of it arrives.
    if member.remote is None or member.connection != "disconnected":
        member.connection = "connected"
    member.detail = "asking_model"
    member.model_calls += 1


@on
def complete_model(member: Member, record: Record, fact: ModelCompleted) -> None:
    member.connection, member.detail = "idle", "answering"


@on
def fail_model(member: Member, record: Record, fact: ModelFailed) -> None:
    member.connection = "disconnected" if fact.code in _UNREACHABLE else "idle"
    member.unreached = fact.code in _UNREACHABLE
    member.detail = "waiting_retry" if fact.retry_in_ms is not None else member.detail


@on
def interrupt_model(member: Member, record: Record, fact: ModelInterrupted) -> None:
    member.connection = "idle"


@on
def add_usage(member: Member, record: Record, fact: CostRecorded) -> None:
    member.input_tokens += fact.input_tokens or 0
    member.output_tokens += fact.output_tokens or 0


@on
def connect(member: Member, record: Record, fact: AgentConnected) -> None:
    member.connection = "connected" if member.current_run else "idle"
    member.unreached = False
    member.change(provider_session_id=fact.provider_session_id, provider_mode=fact.mode, provider_model=fact.model)
    if member.remote is not None:
        member.remote = remote.connect(member.remote, fact)


@on
def change_mode(member: Member, record: Record, fact: AgentModeChanged) -> None:
    member.change(provider_mode=fact.mode, provider_model=fact.model)


@on
def disconnect(member: Member, record: Record, fact: AgentDisconnected) -> None:
    member.connection = "disconnected"


@on
def change_remote_task(member: Member, record: Record, fact: RemoteTaskChanged) -> None:
    if member.remote is not None:
        member.remote = remote.change_task(member.remote, record, fact)
        member.connection = "connected" if member.current_run else "idle"
        member.unreached = False


@on
def add_remote_artifact(member: Member, record: Record, fact: RemoteArtifact) -> None:
    if member.remote is not None:
        member.remote = remote.add_artifact(member.remote, record, fact)


@on
def sleep(member: Member, record: Record, fact: AgentSlept | AgentWoke) -> None:
    if member.sleeper is None:
        member.sleeper = Sleeper(BackgroundWork(state="unknown", task_id=record.scope.task))


@on
def start_call(member: Member, record: Record, fact: ToolStarted) -> None:
    member.tool_calls += 1
    member.calls[record.scope.tool_call] = fact.tool


@on
def await_subagents(member: Member, record: Record, fact: SubagentsAwaited) -> None:
    member.waits.add(record.scope.tool_call)


@on
def end_call(member: Member, record: Record, fact: ToolEndFact) -> None:
    member.calls.pop(record.scope.tool_call, None)
    member.waits.discard(record.scope.tool_call)


@on
def require_action(member: Member, record: Record, fact: ActionRequired) -> None:
    member.pending[record.scope.action] = fact.action_type


@on
def end_action(member: Member, record: Record, fact: ActionEndFact) -> None:
    member.pending.pop(record.scope.action, None)


@on
def spawn(member: Member, record: Record, fact: SubagentSpawned) -> None:
    member.state = "spawning"
    member.change(
        role=fact.role,
        objective=shorten(fact.objective),
        isolation=fact.isolation,
        work_globs=fact.work_globs,
        spawn_reason=fact.reason,
    )


@on
def queue(member: Member, record: Record, fact: SubagentQueued) -> None:
    member.state = "waiting"
    member.change(queue_reason=fact.queue_reason, queue_position=fact.position)


@on
def isolate(member: Member, record: Record, fact: SubagentIsolated) -> None:
    member.change(worktree=fact.path, branch=fact.branch, unmerged=True)


@on
def merge(member: Member, record: Record, fact: SubagentMerged) -> None:
    if fact.status in ("merged", "nothing_to_merge"):
        member.change(unmerged=False)


@on
def start(member: Member, record: Record, fact: SubagentStarted) -> None:
    member.state = "running"
    member.change(queue_reason=None, queue_position=0, unmerged=bool(member.card.worktree))


@on
def continue_task(member: Member, record: Record, fact: SubagentContinued) -> None:
    member.state = "waiting"
    member.input_tokens = member.output_tokens = member.duration_ms = 0
    member.model_calls = member.tool_calls = 0
    member.change(task_id=record.scope.task, parent_run_id=record.scope.parent_run, plain_text=False)


@on
def complete(member: Member, record: Record, fact: SubagentCompleted) -> None:
    _end(member, "completed")
    member.change(result=shorten(fact.result), plain_text=fact.plain_text)


@on
def fail(member: Member, record: Record, fact: SubagentFailed) -> None:
    _end(member, "failed")
    member.change(result=shorten(fact.result), plain_text=False)


@on
def cancel(member: Member, record: Record, fact: SubagentCancelled) -> None:
    _end(member, "killed")
    member.change(result=shorten(fact.result), plain_text=False)


@on
def close(member: Member, record: Record, fact: SubagentClosed) -> None:
    _end(member, "closed")
    member.change(unmerged=False)


@on
def notify(member: Member, record: Record, fact: WorkerNotification) -> None:
    match fact.status:
        case "needs_input":
            member.state = "needs_input"
        case "interrupted" | "ready_for_review":
            member.state = "waiting"
        case _:
            pass


def _end(member: Member, state: AgentState) -> None:
    member.state = state
    member.queued.clear()
    member.change(queue_reason=None, queue_position=0)


#: The change of an agent, by the fact of its thread.
CHANGES: Handlers = collect_handlers(globals())
