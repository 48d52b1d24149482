"""What stands in for a fact whose payload was erased.

Its header and scope remain, so the shape of what happened remains: a turn is still a turn, a call still ends. Texts read as
erased and names as unknown. Where a row has no word for unknown, the careful reading stands in: an approval that offers
nothing, the highest risk. A fact that says nothing without its payload (a steer, the parts of an answer, a message and whom it
went to) is not shown.
"""

from __future__ import annotations

from typing import cast

import msgspec

from .content import BlobRef, Text
from .facts import (
    ActionExpired,
    ActionRequired,
    ActionResolved,
    ActionWithdrawn,
    AgentConnected,
    AgentDisconnected,
    AgentSlept,
    AgentWoke,
    ArtifactCreated,
    ArtifactDeleted,
    ArtifactFailed,
    ArtifactUpdated,
    ArtifactVersionCreated,
    Candidate,
    CompactionFailed,
    ContextResolved,
    ErasedFact,
    ErrorRaised,
    Fact,
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    MessageInterrupted,
    MessageText,
    ModelCompleted,
    ModelFailed,
    ModelInterrupted,
    ModelRequested,
    PermissionEvaluated,
    PlanUpdated,
    ProcessEnded,
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
    SubagentCancelled,
    SubagentClosed,
    SubagentCompleted,
    SubagentContinued,
    SubagentFailed,
    SubagentMerged,
    SubagentMergeRequested,
    SubagentQueued,
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
    ThreadOpened,
    ThreadPaused,
    ThreadResumed,
    ToolCancelled,
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
)
from .facts.action import Decision
from .facts.handoff import ReplyEnd
from .facts.permission import Verdict
from .facts.process import ProcessEnd
from .facts.sandbox import SandboxLevel
from .facts.turn import InterruptCause
from .payload import Payload
from .record import Record
from .team import Verdict as Judgement

ERASED = Text(erased=True)
UNKNOWN = "unknown"
#: Behind every other turn of a queue.
_LAST = 1 << 30

_STAND_INS: tuple[Fact, ...] = (
    SessionCreated(workspace_id="", folder="", title=""),
    ThreadOpened(agent_name=UNKNOWN, kind="main", definition="", definition_hash=""),
    ThreadPaused(cause="recovered"),
    ThreadResumed(),
    AgentConnected(provider_session_id="", name=UNKNOWN, card=ERASED),
    AgentDisconnected(provider_session_id=""),
    RemoteTaskChanged(remote_task_id="", state="unknown", message=ERASED),
    RemoteArtifact(remote_task_id="", remote_artifact_id=UNKNOWN),
    PlanUpdated(steps=()),
    AgentSlept(reason="ran", permission_mode="planning"),
    AgentWoke(reason="schedule"),
    TurnSubmitted(input=ERASED, mode="chat", permission_mode="ask"),
    TurnStarted(
        mode="chat",
        permission_mode="ask",
        max_iters=0,
        definition="",
        definition_hash="",
        workspace_sequence=0,
    ),
    TurnCompleted(iterations=0),
    TurnFailed(code=UNKNOWN, message=""),
    TurnInterruptRequested(),
    TurnInterrupted(cause=cast("InterruptCause", UNKNOWN)),
    QueueAdded(position=_LAST),
    QueuePromoted(),
    QueueEdited(input=ERASED),
    QueueRemoved(),
    RoutingResolved(candidates=(), chosen=Candidate(provider=UNKNOWN, model=UNKNOWN), reason=""),
    ModelRequested(provider=UNKNOWN, model=UNKNOWN, iteration=0, context_through=0),
    ModelCompleted(stop_reason="unknown"),
    ModelFailed(code=UNKNOWN, message=""),
    ModelInterrupted(),
    MessageText(content=ERASED),
    MessageInterrupted(content=ERASED),
    ReasoningCompleted(content=ERASED),
    ReasoningInterrupted(content=ERASED),
    ToolRequested(tool=UNKNOWN, arguments=ERASED),
    PermissionEvaluated(tool=UNKNOWN, verdict=cast("Verdict", UNKNOWN), risk="high", arguments_hash="", checks=()),
    SandboxApplied(level=cast("SandboxLevel", UNKNOWN), network=True),
    ToolStarted(tool=UNKNOWN),
    ToolCompleted(output=ERASED),
    ToolFailed(code=UNKNOWN, message="", output=ERASED),
    ToolRefused(code=UNKNOWN, message=""),
    ToolCancelled(started=True, output=ERASED),
    ToolLost(output=ERASED),
    ActionRequired(action_type="tool_approval", prompt="", decisions=(), scopes=(), risk="high", arguments=ERASED),
    ActionResolved(decision=cast("Decision", UNKNOWN)),
    ActionExpired(),
    ActionWithdrawn(),
    SubagentSpawned(role="custom", objective=ERASED, isolation="read_only"),
    SubagentQueued(queue_reason="parallel_budget", position=_LAST, group=""),
    SubagentStarted(role="custom"),
    SubagentContinued(),
    SubagentCompleted(result=ERASED),
    SubagentFailed(code=UNKNOWN, message="", result=ERASED),
    SubagentCancelled(result=ERASED),
    SubagentMergeRequested(),
    SubagentMerged(status="unknown"),
    SubagentClosed(),
    HandoffRequested(source=UNKNOWN, target=UNKNOWN, to_thread="", edge="report", payload=Payload(message="")),
    HandoffAccepted(source=UNKNOWN, target=UNKNOWN),
    HandoffRejected(source=UNKNOWN, target=UNKNOWN, to_thread=""),
    HandoffCompleted(source=UNKNOWN, target=UNKNOWN),
    ReplyEnded(end=cast("ReplyEnd", UNKNOWN), to_thread=""),
    ReviewRequested(reviewer=UNKNOWN, target=UNKNOWN, instructions=ERASED),
    ReviewVerdict(reviewer=UNKNOWN, target=UNKNOWN, verdict=cast("Judgement", UNKNOWN)),
    ReviewApplied(reviewer=UNKNOWN, target=UNKNOWN),
    TaskCreated(title=UNKNOWN, objective=ERASED),
    TaskStarted(assignee=UNKNOWN),
    TaskPaused(),
    TaskResumed(),
    TaskCancelRequested(),
    TaskCompleted(),
    TaskFailed(code=UNKNOWN, message=""),
    TaskCancelled(),
    ArtifactCreated(title=UNKNOWN, artifact_kind="binary"),
    ArtifactVersionCreated(version=0, content=BlobRef(hash="", size=0), version_origin="found"),
    ArtifactUpdated(title=UNKNOWN),
    ArtifactFailed(operation="save", code=UNKNOWN, message=""),
    ArtifactDeleted(),
    ContextResolved(),
    CompactionFailed(code=UNKNOWN, message=""),
    ToolServerConnected(server=UNKNOWN),
    ToolServerLost(server=UNKNOWN, code=UNKNOWN, message=""),
    QuotaReported(provider=UNKNOWN),
    ProcessStarted(command=ERASED),
    ProcessStopRequested(),
    ProcessEnded(status=cast("ProcessEnd", UNKNOWN), output=ERASED),
    WarningRaised(code="erased", message=""),
    ErrorRaised(code="erased", message=""),
)
_BY_TAG = {fact.type: fact for fact in _STAND_INS}


def readable(record: Record) -> Record:
    """The record with what stands in for an erased fact; any other record as it is."""
    if not isinstance(record.fact, ErasedFact):
        return record
    fact = _BY_TAG.get(record.header.type)
    return record if fact is None else msgspec.structs.replace(record, fact=fact)
