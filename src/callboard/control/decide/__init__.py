"""The rules: `command` for what a surface asks, `outcome` for what the runtime reports. Both give the same facts for the
same state, request and `DecisionInputs`, always."""

from __future__ import annotations

from typing import assert_never

from callboard.contracts.commands import (
    EditQueuedTurn,
    ImportTurn,
    InterruptTurn,
    PromoteQueuedTurn,
    RemoveQueuedTurn,
    RespondAction,
    ResumeThread,
    SteerTurn,
    SubmitTurn,
)
from callboard.contracts.commands.base import Answer
from callboard.contracts.commands.context import CompactThread, SetContext
from callboard.contracts.commands.processes import TerminateProcess, WriteProcessStdin
from callboard.contracts.commands.trust import AddRule, RevokeRule

from ..batch import Batch, Decision
from ..decision_inputs import DecisionInputs
from ..outcomes import (
    ActionTimedOut,
    ClockStepped,
    ElicitationEnded,
    ElicitationStarted,
    ExternalCallReported,
    ExternalChanged,
    ExternalConnected,
    ExternalDisconnected,
    ExternalPlanReported,
    HostTakenOver,
    ModelAnswered,
    ModelAttemptFailed,
    Outcome,
    PartEnded,
    ProcessEndReported,
    ProcessStartReported,
    RemoteNeedEnded,
    RemoteReported,
    RunStopped,
    ToolEnded,
    WakeTimeReached,
    WorktreeLeft,
    WorktreeMade,
)
from ..state.artifact import ArtifactDone, ArtifactLooked, ArtifactRequested, ExportReported, ExportRequested
from ..state.session import Session
from . import compaction, evidence, import_session, model, permission, pins
from .artifact import dispatch
from .evidence import EvidenceMade
from .exchange import handoff
from .external_agent import program, remote
from .follow import follow
from .import_session import must_not_be_imported
from .subagent import worktree
from .subagent.worktree import MergeMade
from .team.commands import TeamCommand, answer
from .thread import queue, recovery, resume, stop, submit
from .tool import action_answer, calls, elicitation, processes
from .tool.processes import ProcessCommand

SessionCommand = (
    SubmitTurn
    | SteerTurn
    | InterruptTurn
    | ResumeThread
    | RespondAction
    | RemoveQueuedTurn
    | PromoteQueuedTurn
    | EditQueuedTurn
    | ImportTurn
    | SetContext
    | CompactThread
    | EvidenceMade
    | ArtifactRequested
    | ArtifactDone
    | ExportRequested
    | MergeMade
    | AddRule
    | RevokeRule
    | ProcessCommand
    | TeamCommand
)


def command(state: Session, request: SessionCommand, known: DecisionInputs) -> tuple[Decision, Answer]:
    """The facts and the answer of a command. Raises Refusal where it cannot be honoured."""
    if not isinstance(request, ImportTurn | EvidenceMade):
        must_not_be_imported(state)
    batch = Batch(state, known)
    given = _answer(batch, request)
    follow(batch)
    return batch.decision(), given


def outcome(state: Session, report: Outcome, known: DecisionInputs) -> Decision:
    """The facts of an outcome. One that no open entity waits for changes nothing."""
    batch = Batch(state, known)
    starts = True
    match report:
        case ModelAnswered():
            model.answered(batch, report)
        case ModelAttemptFailed():
            model.attempt_failed(batch, report)
        case ToolEnded():
            calls.ended(batch, report)
        case RunStopped():
            stop.stopped(batch, report)
            starts = report.cause != "shutdown"
        case ActionTimedOut():
            action_answer.timed_out(batch, report)
        case HostTakenOver():
            starts = not recovery.taken_over(batch, report)
        case WakeTimeReached() | ClockStepped():
            _take_time(batch, report)
        case WorktreeMade() | WorktreeLeft():
            worktree.take(batch, report)
        case (
            ExternalConnected()
            | ExternalChanged()
            | ExternalDisconnected()
            | PartEnded()
            | ExternalCallReported()
            | ExternalPlanReported()
        ):
            program.take(batch, report)
        case RemoteReported() | RemoteNeedEnded():
            remote.take(batch, report)
        case ElicitationStarted() | ElicitationEnded():
            elicitation.take(batch, report)
        case ProcessStartReported() | ProcessEndReported():
            processes.take(batch, report)
        case ArtifactLooked() | ExportReported():
            dispatch.take(batch, report)
        case _:
            assert_never(report)
    follow(batch, starts=starts)
    return batch.decision()


def _take_time(batch: Batch, report: WakeTimeReached | ClockStepped) -> None:
    if isinstance(report, WakeTimeReached):
        handoff.expire_due(batch)
    else:
        recovery.clock_stepped(batch, report)


def _answer(batch: Batch, request: SessionCommand) -> Answer:
    match request:
        case SubmitTurn():
            return submit.submit(batch, request)
        case SteerTurn():
            return submit.steer(batch, request)
        case InterruptTurn():
            return stop.interrupt(batch, request)
        case ResumeThread():
            return resume.resume(batch, request)
        case RespondAction():
            return action_answer.respond(batch, request)
        case ImportTurn():
            return import_session.take(batch, request)
        case RemoveQueuedTurn() | PromoteQueuedTurn() | EditQueuedTurn() | SetContext() | CompactThread():
            return _of_thread(batch, request)
        case WriteProcessStdin() | TerminateProcess():
            return processes.command(batch, request)
        case AddRule() | RevokeRule():
            return permission.take(batch, request)
        case MergeMade() | EvidenceMade() | ArtifactRequested() | ArtifactDone() | ExportRequested():
            return _made(batch, request)
        case _:
            return answer(batch, request)


def _made(
    batch: Batch, request: MergeMade | EvidenceMade | ArtifactRequested | ArtifactDone | ExportRequested
) -> Answer:
    """What the runtime made, or saw, for a person who asked for it."""
    match request:
        case MergeMade():
            return worktree.merged(batch, request)
        case EvidenceMade():
            return evidence.exported(batch, request)
        case ArtifactRequested() | ArtifactDone() | ExportRequested():
            return dispatch.answer(batch, request)


def _of_thread(
    batch: Batch, request: RemoveQueuedTurn | PromoteQueuedTurn | EditQueuedTurn | SetContext | CompactThread
) -> Answer:
    match request:
        case RemoveQueuedTurn():
            return queue.remove(batch, request)
        case PromoteQueuedTurn():
            return queue.promote(batch, request)
        case EditQueuedTurn():
            return queue.edit(batch, request)
        case SetContext():
            return pins.pin(batch, request)
        case CompactThread():
            return compaction.compact(batch, request)
