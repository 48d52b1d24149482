"""The registry of facts: the union of the families, and each type by its wire tag."""

from __future__ import annotations

from typing import get_args

from .action import ActionExpired, ActionFact, ActionRequired, ActionResolved, ActionWithdrawn, Binding
from .agent import (
    AgentConnected,
    AgentDefined,
    AgentDisconnected,
    AgentFact,
    AgentModeChanged,
    AgentSlept,
    AgentWoke,
    EdgeAdded,
)
from .artifact import (
    ArtifactCreated,
    ArtifactDeleted,
    ArtifactExportCompleted,
    ArtifactExportProgressed,
    ArtifactExportStarted,
    ArtifactFact,
    ArtifactFailed,
    ArtifactSaveRequested,
    ArtifactUpdated,
    ArtifactVersionCreated,
)
from .base import ErasedFact, Fact, UnknownFact
from .catalog import CatalogFact, ToolCatalogResolved, ToolServerConnected, ToolServerLost
from .context import (
    CompactionCompleted,
    CompactionFailed,
    CompactionStarted,
    ContextFact,
    ContextPinned,
    ContextResolved,
)
from .cost import CostFact, CostRecorded
from .evidence import EvidenceExported, EvidenceFact
from .handoff import (
    ChannelClosed,
    ChannelMessage,
    ChannelOpened,
    HandoffAccepted,
    HandoffCompleted,
    HandoffFact,
    HandoffRejected,
    HandoffRequested,
    InboxConsumed,
    InboxReserved,
    ReplyEnded,
)
from .incident import ErrorRaised, IncidentFact, WarningRaised
from .job import JobCreated, JobFact, JobItemRetried
from .message import MessageFact, MessageInterrupted, MessageText
from .model import ModelCompleted, ModelFact, ModelFailed, ModelInterrupted, ModelRequested, QuotaReported
from .output import OutputFact, OutputFinal
from .permission import (
    Check,
    PermissionEvaluated,
    PermissionFact,
    PermissionRuleAdded,
    PermissionRuleRevoked,
    Rule,
)
from .plan import PlanFact, PlanUpdated
from .process import ProcessEnded, ProcessFact, ProcessInputGiven, ProcessStarted, ProcessStopRequested
from .queue import (
    QueueAdded,
    QueueEdited,
    QueueFact,
    QueuePromoted,
    QueueRemoved,
    SteerAccepted,
    SteerRejected,
    SteerRequested,
)
from .reasoning import ReasoningCompleted, ReasoningFact, ReasoningInterrupted
from .remote import RemoteArtifact, RemoteFact, RemotePart, RemoteTaskChanged
from .routing import Candidate, RoutingFact, RoutingResolved
from .sandbox import SandboxApplied, SandboxFact
from .session import SessionCreated, SessionFact, SessionTakenOver
from .subagent import (
    SubagentCancelled,
    SubagentClosed,
    SubagentCompleted,
    SubagentContinued,
    SubagentFact,
    SubagentFailed,
    SubagentIsolated,
    SubagentMerged,
    SubagentMergeRequested,
    SubagentQueued,
    SubagentsAwaited,
    SubagentSpawned,
    SubagentStarted,
    TeamChanged,
    WorkerNotification,
)
from .task import (
    Fix,
    ReviewApplied,
    ReviewFact,
    ReviewRequested,
    ReviewVerdict,
    SnapshotUpdated,
    TaskCancelled,
    TaskCancelRequested,
    TaskCompleted,
    TaskCreated,
    TaskFact,
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarted,
    TaskUpdated,
)
from .thread import ThreadFact, ThreadOpened, ThreadPaused, ThreadResumed
from .tool import (
    FileChange,
    ToolCancelled,
    ToolCompleted,
    ToolFact,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    ToolStarted,
)
from .turn import (
    PromptRef,
    TurnCompleted,
    TurnFact,
    TurnFailed,
    TurnInterrupted,
    TurnInterruptRequested,
    TurnStarted,
    TurnSubmitted,
)
from .workspace import (
    SessionArchived,
    SessionDeleted,
    SessionListed,
    SessionPinned,
    SessionScheduled,
    SessionTitled,
    SessionTrimmed,
    SettingsChanged,
    WorkspaceFact,
    WorkspaceOpened,
    WorkspaceTrusted,
    WorkspaceTrustRevoked,
)

#: Every fact that a session's stream may hold.
AnySessionFact = (
    SessionFact
    | ThreadFact
    | AgentFact
    | RemoteFact
    | TurnFact
    | QueueFact
    | MessageFact
    | ReasoningFact
    | PlanFact
    | ToolFact
    | PermissionFact
    | SandboxFact
    | ProcessFact
    | ActionFact
    | ModelFact
    | RoutingFact
    | CostFact
    | OutputFact
    | SubagentFact
    | HandoffFact
    | TaskFact
    | JobFact
    | ReviewFact
    | EvidenceFact
    | ArtifactFact
    | ContextFact
    | CatalogFact
    | IncidentFact
)
#: Every fact that a workspace's stream may hold.
AnyWorkspaceFact = WorkspaceFact | PermissionRuleAdded | PermissionRuleRevoked | IncidentFact

_known: set[type[Fact]] = set(get_args(AnySessionFact)) | set(get_args(AnyWorkspaceFact))

#: Each fact type by its wire tag, in the order of the tags.
FACTS: dict[str, type[Fact]] = {fact.type: fact for fact in sorted(_known, key=lambda fact: fact.type)}

__all__ = [
    "FACTS",
    "ActionExpired",
    "ActionFact",
    "ActionRequired",
    "ActionResolved",
    "ActionWithdrawn",
    "AgentConnected",
    "AgentDefined",
    "AgentDisconnected",
    "AgentFact",
    "AgentModeChanged",
    "AgentSlept",
    "AgentWoke",
    "AnySessionFact",
    "AnyWorkspaceFact",
    "ArtifactCreated",
    "ArtifactDeleted",
    "ArtifactExportCompleted",
    "ArtifactExportProgressed",
    "ArtifactExportStarted",
    "ArtifactFact",
    "ArtifactFailed",
    "ArtifactSaveRequested",
    "ArtifactUpdated",
    "ArtifactVersionCreated",
    "Binding",
    "Candidate",
    "CatalogFact",
    "ChannelClosed",
    "ChannelMessage",
    "ChannelOpened",
    "Check",
    "CompactionCompleted",
    "CompactionFailed",
    "CompactionStarted",
    "ContextFact",
    "ContextPinned",
    "ContextResolved",
    "CostFact",
    "CostRecorded",
    "EdgeAdded",
    "ErasedFact",
    "ErrorRaised",
    "EvidenceExported",
    "EvidenceFact",
    "Fact",
    "FileChange",
    "Fix",
    "HandoffAccepted",
    "HandoffCompleted",
    "HandoffFact",
    "HandoffRejected",
    "HandoffRequested",
    "InboxConsumed",
    "InboxReserved",
    "IncidentFact",
    "JobCreated",
    "JobFact",
    "JobItemRetried",
    "MessageFact",
    "MessageInterrupted",
    "MessageText",
    "ModelCompleted",
    "ModelFact",
    "ModelFailed",
    "ModelInterrupted",
    "ModelRequested",
    "OutputFact",
    "OutputFinal",
    "PermissionEvaluated",
    "PermissionFact",
    "PermissionRuleAdded",
    "PermissionRuleRevoked",
    "PlanFact",
    "PlanUpdated",
    "ProcessEnded",
    "ProcessFact",
    "ProcessInputGiven",
    "ProcessStarted",
    "ProcessStopRequested",
    "PromptRef",
    "QueueAdded",
    "QueueEdited",
    "QueueFact",
    "QueuePromoted",
    "QueueRemoved",
    "QuotaReported",
    "ReasoningCompleted",
    "ReasoningFact",
    "ReasoningInterrupted",
    "RemoteArtifact",
    "RemoteFact",
    "RemotePart",
    "RemoteTaskChanged",
    "ReplyEnded",
    "ReviewApplied",
    "ReviewFact",
    "ReviewRequested",
    "ReviewVerdict",
    "RoutingFact",
    "RoutingResolved",
    "Rule",
    "SandboxApplied",
    "SandboxFact",
    "SessionArchived",
    "SessionCreated",
    "SessionDeleted",
    "SessionFact",
    "SessionListed",
    "SessionPinned",
    "SessionScheduled",
    "SessionTakenOver",
    "SessionTitled",
    "SessionTrimmed",
    "SettingsChanged",
    "SnapshotUpdated",
    "SteerAccepted",
    "SteerRejected",
    "SteerRequested",
    "SubagentCancelled",
    "SubagentClosed",
    "SubagentCompleted",
    "SubagentContinued",
    "SubagentFact",
    "SubagentFailed",
    "SubagentIsolated",
    "SubagentMergeRequested",
    "SubagentMerged",
    "SubagentQueued",
    "SubagentSpawned",
    "SubagentStarted",
    "SubagentsAwaited",
    "TaskCancelRequested",
    "TaskCancelled",
    "TaskCompleted",
    "TaskCreated",
    "TaskFact",
    "TaskFailed",
    "TaskPaused",
    "TaskResumed",
    "TaskStarted",
    "TaskUpdated",
    "TeamChanged",
    "ThreadFact",
    "ThreadOpened",
    "ThreadPaused",
    "ThreadResumed",
    "ToolCancelled",
    "ToolCatalogResolved",
    "ToolCompleted",
    "ToolFact",
    "ToolFailed",
    "ToolLost",
    "ToolRefused",
    "ToolRequested",
    "ToolServerConnected",
    "ToolServerLost",
    "ToolStarted",
    "TurnCompleted",
    "TurnFact",
    "TurnFailed",
    "TurnInterruptRequested",
    "TurnInterrupted",
    "TurnStarted",
    "TurnSubmitted",
    "UnknownFact",
    "WarningRaised",
    "WorkerNotification",
    "WorkspaceFact",
    "WorkspaceOpened",
    "WorkspaceTrustRevoked",
    "WorkspaceTrusted",
]
