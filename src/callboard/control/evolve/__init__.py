"""How a fact changes what deciders know. Every fact of a session has exactly one place here; the type checker proves it."""

from __future__ import annotations

from typing import assert_never, cast

import msgspec

from callboard.contracts.erased import readable
from callboard.contracts.facts import (
    ActionExpired,
    ActionRequired,
    ActionResolved,
    ActionWithdrawn,
    AgentConnected,
    AgentDefined,
    AgentDisconnected,
    AgentModeChanged,
    AgentSlept,
    AgentWoke,
    AnySessionFact,
    ArtifactCreated,
    ArtifactDeleted,
    ArtifactExportCompleted,
    ArtifactExportProgressed,
    ArtifactExportStarted,
    ArtifactFailed,
    ArtifactSaveRequested,
    ArtifactUpdated,
    ArtifactVersionCreated,
    ChannelClosed,
    ChannelMessage,
    ChannelOpened,
    CompactionCompleted,
    CompactionFailed,
    CompactionStarted,
    ContextPinned,
    ContextResolved,
    CostRecorded,
    EdgeAdded,
    ErrorRaised,
    EvidenceExported,
    Fact,
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    InboxConsumed,
    InboxReserved,
    JobCreated,
    JobItemRetried,
    MessageInterrupted,
    MessageText,
    ModelCompleted,
    ModelFailed,
    ModelInterrupted,
    ModelRequested,
    OutputFinal,
    PermissionEvaluated,
    PermissionRuleAdded,
    PermissionRuleRevoked,
    PlanUpdated,
    ProcessEnded,
    ProcessInputGiven,
    ProcessStarted,
    ProcessStopRequested,
    QueueAdded,
    QueueEdited,
    QueuePromoted,
    QueueRemoved,
    QuotaReported,
    ReasoningCompleted,
    ReasoningInterrupted,
    RemoteArtifact,
    RemoteTaskChanged,
    ReplyEnded,
    ReviewApplied,
    ReviewRequested,
    ReviewVerdict,
    RoutingResolved,
    SandboxApplied,
    SessionCreated,
    SessionTakenOver,
    SnapshotUpdated,
    SteerAccepted,
    SteerRejected,
    SteerRequested,
    SubagentCancelled,
    SubagentClosed,
    SubagentCompleted,
    SubagentContinued,
    SubagentFailed,
    SubagentIsolated,
    SubagentMerged,
    SubagentMergeRequested,
    SubagentQueued,
    SubagentsAwaited,
    SubagentSpawned,
    SubagentStarted,
    TaskCancelled,
    TaskCancelRequested,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarted,
    TaskUpdated,
    TeamChanged,
    ThreadOpened,
    ThreadPaused,
    ThreadResumed,
    ToolCancelled,
    ToolCatalogResolved,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    ToolServerConnected,
    ToolServerLost,
    ToolStarted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnInterruptRequested,
    TurnStarted,
    TurnSubmitted,
    WarningRaised,
    WorkerNotification,
)
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope

from ..state.session import Session
from . import (
    agent_definition,
    artifact,
    background_agent,
    context,
    external_agent,
    inbox,
    job,
    model,
    permission,
    plan,
    process,
    queue,
    session,
    subagent,
    task,
    tool,
    tool_catalog,
    turn,
)
from .fact_context import FactContext


def evolve(state: Session, record: Record) -> Session:
    """The state after a fact of the log. Of an erased fact the shape remains: what it ended stays ended."""
    record = readable(record)
    return apply(state, record.fact, record.scope, record.sequence, record.header.at, record.header.epoch)


def apply(state: Session, fact: Fact, scope: Scope, sequence: int, at: int, epoch: int) -> Session:
    """The state after a fact at its place. A fact that cannot be read changes nothing but the place."""
    place = FactContext(scope=scope, epoch=epoch, at=at, sequence=sequence)
    told = model.pictured(context.filled(state, fact, place), fact, place) if fact.readable else state
    changed = _change(told, cast("AnySessionFact", fact), place) if fact.readable else state
    if changed.sleepers and fact.readable:
        changed = background_agent.heard(changed, fact, place)
    return msgspec.structs.replace(changed, sequence=sequence, at=at, epoch=epoch)


def _change(state: Session, fact: AnySessionFact, place: FactContext) -> Session:
    match fact:
        case SessionCreated():
            return session.created(state, fact)
        case SessionTakenOver():
            return session.taken_over(state, fact)
        case ThreadOpened():
            return session.thread_opened(state, fact, place)
        case ThreadPaused():
            return session.thread_paused(state, fact, place)
        case ThreadResumed():
            return session.thread_resumed(state, place)
        case AgentConnected():
            return external_agent.connected(state, fact, place)
        case AgentDisconnected():
            return external_agent.disconnected(state, fact, place)
        case RemoteTaskChanged():
            return external_agent.task(state, fact, place)
        case RemoteArtifact():
            return external_agent.delivered(state, fact, place)
        case AgentSlept():
            return background_agent.slept(state, fact, place)
        case AgentWoke():
            return background_agent.woke(state, fact, place)
        case TurnSubmitted():
            return turn.submitted(state, fact, place)
        case TurnStarted():
            return turn.started(state, fact, place)
        case TurnInterruptRequested():
            return turn.stopping(state, fact, place)
        case TurnCompleted() | TurnFailed() | TurnInterrupted():
            return turn.ended(state, fact, place)
        case QueueAdded():
            return queue.added(state, place)
        case QueuePromoted():
            return queue.promoted(state, place)
        case QueueRemoved():
            return queue.removed(state, place)
        case SteerRequested():
            return queue.steer_requested(state, fact, place)
        case SteerAccepted() | SteerRejected():
            return queue.steer_settled(state, fact.steer_id, place)
        case RoutingResolved():
            return model.routed(state, fact, place)
        case ModelRequested():
            return model.requested(state, fact, place)
        case ModelCompleted():
            return model.answered(state, place)
        case QuotaReported():
            return model.quota(state, fact, place)
        case ModelInterrupted():
            return model.ended(state, place)
        case ModelFailed():
            return state if fact.retry_in_ms is not None else model.ended(state, place)
        case MessageText():
            return model.text(state, fact, place)
        case CostRecorded():
            return model.cost(state, fact, place)
        case ReasoningCompleted() | ReasoningInterrupted() | MessageInterrupted():
            return model.step_taken(state, place)
        case ToolRequested():
            return tool.requested(state, fact, place)
        case ToolStarted():
            return tool.started(state, place)
        case ToolCompleted():
            return tool.completed(state, fact, place)
        case ToolFailed() | ToolRefused() | ToolCancelled() | ToolLost():
            return tool.ended(state, fact, place)
        case PlanUpdated():
            return plan.updated(state, fact, place)
        case ActionRequired():
            return tool.waiting(state, fact, place)
        case ToolCatalogResolved():
            return tool_catalog.resolved(state, fact, place)
        case ToolServerConnected() | ToolServerLost():
            return tool_catalog.server(state, fact)
        case ActionResolved() | ActionExpired() | ActionWithdrawn():
            return tool.answered(state, fact, place)
        case AgentDefined():
            return agent_definition.defined(state, fact)
        case EdgeAdded():
            return agent_definition.edge_added(state, fact)
        case PermissionRuleAdded():
            return permission.added(state, fact)
        case PermissionRuleRevoked():
            return permission.revoked(state, fact)
        case SubagentSpawned():
            return subagent.spawned(state, fact, place)
        case SubagentQueued():
            return subagent.queued(state, fact, place)
        case SubagentIsolated():
            return subagent.isolated(state, fact, place)
        case SubagentStarted():
            return subagent.started(state, fact, place)
        case SubagentContinued():
            return subagent.continued(state, place)
        case SubagentCompleted():
            return subagent.ended(state, fact, "completed", place)
        case SubagentFailed():
            return subagent.ended(state, fact, "failed", place)
        case SubagentCancelled():
            return subagent.ended(state, fact, "cancelled", place)
        case SubagentMergeRequested():
            return subagent.merging(state, place, now=True)
        case SubagentMerged():
            return subagent.merging(state, place, now=False)
        case SubagentClosed():
            return subagent.closed(state, place)
        case SubagentsAwaited():
            return subagent.awaited(state, fact, place)
        case TeamChanged():
            return subagent.load(state, fact, place)
        case JobCreated():
            return job.created(state, fact, place)
        case JobItemRetried():
            return job.retried(state, place)
        case TaskCreated():
            return task.created(state, fact, place)
        case TaskStarted():
            return task.started(state, fact, place)
        case TaskUpdated():
            return task.updated(state, fact, place)
        case TaskPaused():
            return task.paused(state, place)
        case TaskResumed():
            return task.resumed(state, place)
        case TaskCancelRequested():
            return task.cancelling(state, fact, place)
        case TaskCompleted():
            return task.completed(state, place)
        case TaskFailed():
            return task.failed(state, place)
        case TaskCancelled():
            return task.over(state, place)
        case ReviewRequested():
            return inbox.review_asked(subagent.review_requested(state, fact, place), fact, place)
        case ReviewVerdict():
            return subagent.review_judged(state, fact, place)
        case ReviewApplied():
            return subagent.review_applied(state, place)
        case WorkerNotification():
            return inbox.notified(subagent.notified(state, fact, place), fact, place)
        case HandoffRequested():
            return inbox.requested(state, fact, place)
        case HandoffAccepted():
            return inbox.accepted(state, fact, place)
        case HandoffRejected():
            return inbox.rejected(state, fact, place)
        case HandoffCompleted():
            return inbox.completed(state, fact, place)
        case ReplyEnded():
            return inbox.reply_ended(state, fact, place)
        case ChannelOpened():
            return inbox.channel_opened(state, fact, place)
        case ChannelMessage():
            return inbox.said(state, fact)
        case ChannelClosed():
            return inbox.channel_closed(state, place)
        case InboxReserved():
            return inbox.reserved(state, fact, place)
        case InboxConsumed():
            return inbox.consumed(state, fact, place)
        case ProcessStarted():
            return process.started(state, place)
        case ProcessStopRequested():
            return process.stopping(state, place)
        case ProcessEnded():
            return process.ended(state, place)
        case ArtifactCreated():
            return artifact.created(state, fact, place)
        case ArtifactVersionCreated():
            return artifact.version(state, fact, place)
        case ArtifactUpdated():
            return artifact.updated(state, fact, place)
        case ArtifactSaveRequested():
            return artifact.save_requested(state, fact, place)
        case ArtifactFailed():
            return artifact.failed(state, fact, place)
        case ArtifactExportStarted():
            return artifact.export_started(state, fact, place)
        case ArtifactExportCompleted():
            return artifact.export_completed(state, fact)
        case ArtifactDeleted():
            return artifact.deleted(state, fact, place)
        case QueueEdited():
            return queue.edited(state, fact, place)
        case ContextPinned():
            return context.pinned(state, fact, place)
        case ContextResolved():
            return context.resolved(state, fact, place)
        case CompactionStarted():
            return context.compacting(state, fact, place)
        case CompactionCompleted():
            return context.compacted(state, fact, place)
        case CompactionFailed():
            return context.not_compacted(state, place)
        case (
            AgentModeChanged()
            | PermissionEvaluated()
            | SandboxApplied()
            | ProcessInputGiven()
            | SnapshotUpdated()
            | OutputFinal()
            | EvidenceExported()
            | ArtifactExportProgressed()
            | WarningRaised()
            | ErrorRaised()
        ):
            return state
        case _:
            assert_never(fact)
