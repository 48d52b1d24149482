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

from ..state import Session
from . import (
    artifacts,
    background,
    calls,
    catalog,
    context,
    defining,
    external,
    inbox,
    jobs,
    models,
    plan,
    processes,
    queue,
    rules,
    session,
    tasks,
    team,
    turns,
)
from .place import Place


def evolve(state: Session, record: Record) -> Session:
    """The state after a fact of the log. Of an erased fact the shape remains: what it ended stays ended."""
    record = readable(record)
    return apply(state, record.fact, record.scope, record.sequence, record.header.at, record.header.epoch)


def apply(state: Session, fact: Fact, scope: Scope, sequence: int, at: int, epoch: int) -> Session:
    """The state after a fact at its place. A fact that cannot be read changes nothing but the place."""
    place = Place(scope=scope, epoch=epoch, at=at, sequence=sequence)
    told = models.pictured(context.filled(state, fact, place), fact, place) if fact.readable else state
    changed = _change(told, cast("AnySessionFact", fact), place) if fact.readable else state
    if changed.sleepers and fact.readable:
        changed = background.heard(changed, fact, place)
    return msgspec.structs.replace(changed, sequence=sequence, at=at, epoch=epoch)


def _change(state: Session, fact: AnySessionFact, place: Place) -> Session:
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
            return external.connected(state, fact, place)
        case AgentDisconnected():
            return external.disconnected(state, fact, place)
        case RemoteTaskChanged():
            return external.task(state, fact, place)
        case RemoteArtifact():
            return external.delivered(state, fact, place)
        case AgentSlept():
            return background.slept(state, fact, place)
        case AgentWoke():
            return background.woke(state, fact, place)
        case TurnSubmitted():
            return turns.submitted(state, fact, place)
        case TurnStarted():
            return turns.started(state, fact, place)
        case TurnInterruptRequested():
            return turns.stopping(state, fact, place)
        case TurnCompleted() | TurnFailed() | TurnInterrupted():
            return turns.ended(state, fact, place)
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
            return models.routed(state, fact, place)
        case ModelRequested():
            return models.requested(state, fact, place)
        case ModelCompleted():
            return models.answered(state, place)
        case QuotaReported():
            return models.quota(state, fact, place)
        case ModelInterrupted():
            return models.ended(state, place)
        case ModelFailed():
            return state if fact.retry_in_ms is not None else models.ended(state, place)
        case MessageText():
            return models.text(state, fact, place)
        case CostRecorded():
            return models.cost(state, fact, place)
        case ReasoningCompleted() | ReasoningInterrupted() | MessageInterrupted():
            return models.step_taken(state, place)
        case ToolRequested():
            return calls.requested(state, fact, place)
        case ToolStarted():
            return calls.started(state, place)
        case ToolCompleted():
            return calls.completed(state, fact, place)
        case ToolFailed() | ToolRefused() | ToolCancelled() | ToolLost():
            return calls.ended(state, fact, place)
        case PlanUpdated():
            return plan.updated(state, fact, place)
        case ActionRequired():
            return calls.waiting(state, fact, place)
        case ToolCatalogResolved():
            return catalog.resolved(state, fact, place)
        case ToolServerConnected() | ToolServerLost():
            return catalog.server(state, fact)
        case ActionResolved() | ActionExpired() | ActionWithdrawn():
            return calls.answered(state, fact, place)
        case AgentDefined():
            return defining.defined(state, fact)
        case EdgeAdded():
            return defining.edge_added(state, fact)
        case PermissionRuleAdded():
            return rules.added(state, fact)
        case PermissionRuleRevoked():
            return rules.revoked(state, fact)
        case SubagentSpawned():
            return team.spawned(state, fact, place)
        case SubagentQueued():
            return team.queued(state, fact, place)
        case SubagentIsolated():
            return team.isolated(state, fact, place)
        case SubagentStarted():
            return team.started(state, fact, place)
        case SubagentContinued():
            return team.continued(state, place)
        case SubagentCompleted():
            return team.ended(state, fact, "completed", place)
        case SubagentFailed():
            return team.ended(state, fact, "failed", place)
        case SubagentCancelled():
            return team.ended(state, fact, "cancelled", place)
        case SubagentMergeRequested():
            return team.merging(state, place, now=True)
        case SubagentMerged():
            return team.merging(state, place, now=False)
        case SubagentClosed():
            return team.closed(state, place)
        case SubagentsAwaited():
            return team.awaited(state, fact, place)
        case TeamChanged():
            return team.load(state, fact, place)
        case JobCreated():
            return jobs.created(state, fact, place)
        case JobItemRetried():
            return jobs.retried(state, place)
        case TaskCreated():
            return tasks.created(state, fact, place)
        case TaskStarted():
            return tasks.started(state, fact, place)
        case TaskUpdated():
            return tasks.updated(state, fact, place)
        case TaskPaused():
            return tasks.paused(state, place)
        case TaskResumed():
            return tasks.resumed(state, place)
        case TaskCancelRequested():
            return tasks.cancelling(state, fact, place)
        case TaskCompleted():
            return tasks.completed(state, place)
        case TaskFailed():
            return tasks.failed(state, place)
        case TaskCancelled():
            return tasks.over(state, place)
        case ReviewRequested():
            return inbox.review_asked(team.review_requested(state, fact, place), fact, place)
        case ReviewVerdict():
            return team.review_judged(state, fact, place)
        case ReviewApplied():
            return team.review_applied(state, place)
        case WorkerNotification():
            return inbox.notified(team.notified(state, fact, place), fact, place)
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
            return processes.started(state, place)
        case ProcessStopRequested():
            return processes.stopping(state, place)
        case ProcessEnded():
            return processes.ended(state, place)
        case ArtifactCreated():
            return artifacts.created(state, fact, place)
        case ArtifactVersionCreated():
            return artifacts.version(state, fact, place)
        case ArtifactUpdated():
            return artifacts.updated(state, fact, place)
        case ArtifactSaveRequested():
            return artifacts.save_requested(state, fact, place)
        case ArtifactFailed():
            return artifacts.failed(state, fact, place)
        case ArtifactExportStarted():
            return artifacts.export_started(state, fact, place)
        case ArtifactExportCompleted():
            return artifacts.export_completed(state, fact)
        case ArtifactDeleted():
            return artifacts.deleted(state, fact, place)
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
