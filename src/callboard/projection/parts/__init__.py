"""The conversation within turns: one row per part, in the order in which the parts started."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.action import ActionExpired, ActionRequired, ActionResolved, ActionWithdrawn
from callboard.contracts.facts.agent import RemoteArtifact, RemoteTaskChanged
from callboard.contracts.facts.artifact import ArtifactVersionCreated
from callboard.contracts.facts.base import UnknownFact
from callboard.contracts.facts.context import CompactionCompleted, CompactionFailed, CompactionStarted, ContextResolved
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.facts.handoff import InboxReserved
from callboard.contracts.facts.message import (
    MessageInterrupted,
    MessageText,
    OutputFinal,
    PlanUpdated,
    ReasoningCompleted,
    ReasoningInterrupted,
)
from callboard.contracts.facts.model import ModelFailed, ModelRequested, QuotaReported
from callboard.contracts.facts.permission import PermissionEvaluated
from callboard.contracts.facts.queue import SteerAccepted, SteerRejected, SteerRequested
from callboard.contracts.facts.session import ErrorRaised, ThreadPaused, WarningRaised
from callboard.contracts.facts.subagent import SubagentMerged
from callboard.contracts.facts.tool import (
    SandboxApplied,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    ToolStarted,
)
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted, TurnStarted
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op

from . import action, artifact, context, notices, progress, text, tool
from .received import Waiting
from .run import OpenRun, PartPosition


class PartsPanel(msgspec.Struct):
    """The state of the conversation.

    Attributes:
        runs: The open runs, by turn.
        newest: The position of each thread's newest run, open or ended.
        waiting: The items from other agents that no turn has received.
    """

    runs: dict[str, OpenRun] = msgspec.field(default_factory=dict[str, OpenRun])
    newest: dict[str, PartPosition] = msgspec.field(default_factory=dict[str, PartPosition])
    waiting: Waiting = msgspec.field(default_factory=Waiting)

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the fact."""
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
                return [*progress.end_plan(run, record, state), *_within(run, record)]
            case _:
                return _within(run, record)

    def _outside(self, record: Record) -> list[Op]:
        match record.fact:
            case ThreadPaused() | WarningRaised() | ErrorRaised() | UnknownFact():
                return notices.add_notice_after(self.newest.get(record.scope.thread), record)
            case SubagentMerged():
                return notices.add_notice_after(self.newest.get(record.scope.parent_thread), record)
            case EvidenceExported():
                # Evidence of the whole session has no thread. It follows the newest run of the first agent.
                lead = next(iter(self.newest), "")
                return notices.add_notice_after(self.newest.get(record.scope.thread or lead), record)
            case _:
                return []


def _within(run: OpenRun, record: Record) -> list[Op]:
    match record.fact:
        case ModelRequested():
            run.asked_sequence, run.asked_at = record.sequence, record.header.at
            return []
        case MessageText() as fact:
            return text.add_text(run, record, fact.content, "final")
        case ReasoningCompleted() as fact:
            return text.add_reasoning(run, record, fact.content, "final")
        case MessageInterrupted() as fact:
            return text.add_text(run, record, fact.content, "interrupted")
        case ReasoningInterrupted() as fact:
            return text.add_reasoning(run, record, fact.content, "interrupted")
        case OutputFinal() as fact:
            return text.finish(run, record, fact.parts)
        case ToolRequested() as fact:
            return [*text.mark_commentary(run, record), *tool.request(run, record, fact)]
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
            return tool.change(run, record)
        case ActionRequired() as fact:
            return action.require(run, record, fact)
        case ActionResolved() | ActionExpired() | ActionWithdrawn():
            return action.settle(run, record)
        case _:
            return _beside(run, record)


def _beside(run: OpenRun, record: Record) -> list[Op]:
    """Return the parts outside of the model's text and calls."""
    match record.fact:
        case SteerRequested() as fact:
            return notices.add_steer(run, record, fact)
        case SteerAccepted() | SteerRejected() as fact:
            return notices.settle_steer(run, record, fact)
        case PlanUpdated() as fact:
            return progress.update_plan(run, record, fact)
        case ContextResolved() as fact:
            return context.resolve(run, record, fact)
        case CompactionStarted() | CompactionCompleted() | CompactionFailed() as fact:
            return context.compact(run, record, fact)
        case RemoteTaskChanged() as fact:
            return progress.change_task(run, record, fact)
        case RemoteArtifact() as fact:
            return progress.add_artifact(run, record, fact)
        case ArtifactVersionCreated() as fact:
            return artifact.add_version(run, record, fact)
        case (
            ModelFailed()
            | QuotaReported()
            | WarningRaised()
            | ErrorRaised()
            | TurnFailed()
            | ThreadPaused()
            | UnknownFact()
        ):
            return notices.add_notice(run, record)
        case _:
            return []
