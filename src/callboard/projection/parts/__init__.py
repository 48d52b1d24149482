"""The conversation within turns: one row a part, in the order in which the parts began.

run      what is kept of an open run, and where its parts stand
text     the assistant's text and reasoning
tool     tool calls
action   requests for a decision, and what came of them
aside    steers, notices and errors
told     what other agents sent, in the turn that was told of it
progress plans, and how the tasks of agents elsewhere stand
artifact versions of artifacts that steps made
"""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import (
    ActionExpired,
    ActionRequired,
    ActionResolved,
    ActionWithdrawn,
    ArtifactVersionCreated,
    CompactionCompleted,
    CompactionFailed,
    CompactionStarted,
    ContextResolved,
    ErrorRaised,
    EvidenceExported,
    InboxReserved,
    MessageInterrupted,
    MessageText,
    ModelFailed,
    ModelRequested,
    OutputFinal,
    PermissionEvaluated,
    PlanUpdated,
    QuotaReported,
    ReasoningCompleted,
    ReasoningInterrupted,
    RemoteArtifact,
    RemoteTaskChanged,
    SandboxApplied,
    SteerAccepted,
    SteerRejected,
    SteerRequested,
    SubagentMerged,
    ThreadPaused,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    ToolStarted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    UnknownFact,
    WarningRaised,
)
from callboard.contracts.record import Record
from callboard.contracts.rows import Op

from . import action, artifact, context, notices, progress, text, tool
from .received import Waiting
from .run import OpenRun, PartPosition


class PartsPanel(msgspec.Struct):
    """`runs` are the open runs by turn; `newest` is where the newest run of each thread stands, open or over; `waiting` what
    agents sent each other and no turn was told yet."""

    runs: dict[str, OpenRun] = msgspec.field(default_factory=dict[str, OpenRun])
    newest: dict[str, PartPosition] = msgspec.field(default_factory=dict[str, PartPosition])
    waiting: Waiting = msgspec.field(default_factory=Waiting)

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to."""
        scope = record.scope
        if isinstance(record.fact, TurnStarted):
            place = PartPosition(turn=scope.turn, thread=scope.thread, run=scope.run, started=record.sequence)
            self.runs[scope.turn] = OpenRun(place=place)
            self.newest[scope.thread] = place
            return []
        if type(record.fact) in Waiting.HANDLERS:
            self.waiting.handle(record)
            return []
        run = self.runs.get(scope.turn)
        if run is None or (scope.run and scope.run != run.place.run):
            return self._outside(record)
        run.step = max(run.step, scope.step)
        match record.fact:
            case InboxReserved() as fact:
                return self.waiting.receive(run, record, fact)
            case TurnCompleted() | TurnFailed() | TurnInterrupted() as fact:
                del self.runs[scope.turn]
                state = "final" if isinstance(fact, TurnCompleted) else "interrupted"
                return [*progress.plan_ended(run, record, state), *_within(run, record)]
            case _:
                return _within(run, record)

    def _outside(self, record: Record) -> list[Op]:
        match record.fact:
            case ThreadPaused() | WarningRaised() | ErrorRaised() | UnknownFact():
                return notices.noted_after(self.newest.get(record.scope.thread), record)
            case SubagentMerged():
                return notices.noted_after(self.newest.get(record.scope.parent_thread), record)
            case EvidenceExported():
                # One of the whole session is nobody's: it stands where the agent that began it has its newest run.
                lead = next(iter(self.newest), "")
                return notices.noted_after(self.newest.get(record.scope.thread or lead), record)
            case _:
                return []


def _within(run: OpenRun, record: Record) -> list[Op]:
    match record.fact:
        case ModelRequested():
            run.asked_sequence, run.asked_at = record.sequence, record.header.at
            return []
        case MessageText() as fact:
            return text.said(run, record, fact.content, "final")
        case ReasoningCompleted() as fact:
            return text.reasoned(run, record, fact.content, "final")
        case MessageInterrupted() as fact:
            return text.said(run, record, fact.content, "interrupted")
        case ReasoningInterrupted() as fact:
            return text.reasoned(run, record, fact.content, "interrupted")
        case OutputFinal() as fact:
            return text.final(run, record, fact.parts)
        case ToolRequested() as fact:
            return [*text.followed_by_call(run, record), *tool.requested(run, record, fact)]
        case (
            PermissionEvaluated()
            | SandboxApplied()
            | ToolStarted()
            | ToolCompleted()
            | ToolFailed()
            | ToolRefused()
            | ToolCancelled()
            | ToolLost()
        ):
            return tool.changed(run, record)
        case ActionRequired() as fact:
            return action.required(run, record, fact)
        case ActionResolved() | ActionExpired() | ActionWithdrawn():
            return action.settled(run, record)
        case _:
            return _beside(run, record)


def _beside(run: OpenRun, record: Record) -> list[Op]:
    """What is neither said nor done by the model of the run."""
    match record.fact:
        case SteerRequested() as fact:
            return notices.steered(run, record, fact)
        case SteerAccepted() | SteerRejected() as fact:
            return notices.steer_settled(run, record, fact)
        case PlanUpdated() as fact:
            return progress.planned(run, record, fact)
        case ContextResolved() as fact:
            return context.resolved(run, record, fact)
        case CompactionStarted() | CompactionCompleted() | CompactionFailed() as fact:
            return context.compaction(run, record, fact)
        case RemoteTaskChanged() as fact:
            return progress.told(run, record, fact)
        case RemoteArtifact() as fact:
            return progress.delivered(run, record, fact)
        case ArtifactVersionCreated() as fact:
            return artifact.made(run, record, fact)
        case (
            ModelFailed()
            | QuotaReported()
            | WarningRaised()
            | ErrorRaised()
            | TurnFailed()
            | ThreadPaused()
            | UnknownFact()
        ):
            return notices.noted(run, record)
        case _:
            return []


__all__ = ["OpenRun", "PartPosition", "PartsPanel"]
