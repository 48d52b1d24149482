"""Entry points: `decide_command` for surfaces, `decide_outcome` for the runtime. The same state,
request and inputs always give the same facts."""

from __future__ import annotations

from typing import assert_never

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.base import Answer
from callboard.contracts.commands.context import CompactThread, SetContext
from callboard.contracts.commands.permission import AddRule, RevokeRule
from callboard.contracts.commands.process import TerminateProcess, WriteProcessStdin
from callboard.contracts.commands.queue import EditQueuedTurn, PromoteQueuedTurn, RemoveQueuedTurn
from callboard.contracts.commands.session_import import ImportTurn
from callboard.contracts.commands.turn import InterruptTurn, ResumeThread, SteerTurn, SubmitTurn

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
    ModelAttemptFailed,
    ModelResponded,
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
from ..state.artifact import (
    ArtifactChangeReported,
    ArtifactRequested,
    ExportReported,
    ExportRequested,
    InterruptedSaveReported,
)
from ..state.session import Session
from . import compaction, evidence, import_session, model, permission
from .artifact import exports, save
from .evidence import EvidencePackReported
from .exchange import handoff
from .external_agent import program, remote
from .follow import follow
from .import_session import refuse_imported
from .subagent import worktree
from .subagent.worktree import MergeReported
from .team.commands import TeamCommand, decide_team
from .thread import queue, recovery, resume, stop, submit
from .tool import action_approval, calls, elicitation, processes
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
    | EvidencePackReported
    | ArtifactRequested
    | ArtifactChangeReported
    | ExportRequested
    | MergeReported
    | AddRule
    | RevokeRule
    | ProcessCommand
    | TeamCommand
)


def decide_command(state: Session, request: SessionCommand, inputs: DecisionInputs) -> tuple[Decision, Answer]:
    """Return the facts and the answer of a command.

    Raises:
        Refusal: any code of the command.
    """
    if not isinstance(request, ImportTurn | EvidencePackReported):
        refuse_imported(state)
    batch = Batch(state, inputs)
    answer = _answer(batch, request)
    follow(batch)
    return batch.build_decision(), answer


def decide_outcome(state: Session, outcome: Outcome, inputs: DecisionInputs) -> Decision:
    """Return the facts of an outcome. An outcome that no open entity waits for has none."""
    batch = Batch(state, inputs)
    starts = True
    match outcome:
        case ModelResponded():
            model.record_response(batch, outcome)
        case ModelAttemptFailed():
            model.record_failed_attempt(batch, outcome)
        case ToolEnded():
            calls.end_call(batch, outcome)
        case RunStopped():
            stop.finish_stop(batch, outcome)
            starts = outcome.cause != "shutdown"
        case ActionTimedOut():
            action_approval.expire_action(batch, outcome)
        case HostTakenOver():
            starts = not recovery.take_over(batch, outcome)
        case WakeTimeReached() | ClockStepped():
            _record_time(batch, outcome)
        case WorktreeMade() | WorktreeLeft():
            worktree.record_worktree(batch, outcome)
        case (
            ExternalConnected()
            | ExternalChanged()
            | ExternalDisconnected()
            | PartEnded()
            | ExternalCallReported()
            | ExternalPlanReported()
        ):
            program.record_external(batch, outcome)
        case RemoteReported() | RemoteNeedEnded():
            remote.record_remote(batch, outcome)
        case ElicitationStarted() | ElicitationEnded():
            elicitation.record_elicitation(batch, outcome)
        case ProcessStartReported() | ProcessEndReported():
            processes.record_process(batch, outcome)
        case InterruptedSaveReported() | ExportReported():
            _record_artifact(batch, outcome)
        case _:
            assert_never(outcome)
    follow(batch, starts=starts)
    return batch.build_decision()


def _record_time(batch: Batch, outcome: WakeTimeReached | ClockStepped) -> None:
    if isinstance(outcome, WakeTimeReached):
        handoff.expire_due(batch)
    else:
        recovery.record_clock_step(batch, outcome)


def _record_artifact(batch: Batch, report: InterruptedSaveReported | ExportReported) -> None:
    if isinstance(report, InterruptedSaveReported):
        save.settle_interrupted_save(batch, report)
    else:
        exports.record_export_report(batch, report)


def _answer(batch: Batch, request: SessionCommand) -> Answer:
    match request:
        case SubmitTurn():
            return submit.submit_turn(batch, request)
        case SteerTurn():
            return submit.steer_turn(batch, request)
        case InterruptTurn():
            return stop.interrupt_turn(batch, request)
        case ResumeThread():
            return resume.resume_thread(batch, request)
        case RespondAction():
            return action_approval.respond_action(batch, request)
        case ImportTurn():
            return import_session.import_turn(batch, request)
        case RemoveQueuedTurn() | PromoteQueuedTurn() | EditQueuedTurn() | SetContext() | CompactThread():
            return _decide_thread(batch, request)
        case WriteProcessStdin() | TerminateProcess():
            return processes.change_process(batch, request)
        case AddRule() | RevokeRule():
            return permission.change_rules(batch, request)
        case (
            MergeReported()
            | EvidencePackReported()
            | ArtifactRequested()
            | ArtifactChangeReported()
            | ExportRequested()
        ):
            return _decide_reported(batch, request)
        case _:
            return decide_team(batch, request)


def _decide_reported(
    batch: Batch,
    request: MergeReported | EvidencePackReported | ArtifactRequested | ArtifactChangeReported | ExportRequested,
) -> Answer:
    """Decide a person's request from what the runtime did or read for it."""
    match request:
        case MergeReported():
            return worktree.finish_merge(batch, request)
        case EvidencePackReported():
            return evidence.record_export(batch, request)
        case ArtifactRequested():
            return save.change_artifact(batch, request)
        case ArtifactChangeReported():
            return save.finish_change(batch, request)
        case ExportRequested():
            return exports.begin_export(batch, request)


def _decide_thread(
    batch: Batch, request: RemoveQueuedTurn | PromoteQueuedTurn | EditQueuedTurn | SetContext | CompactThread
) -> Answer:
    match request:
        case RemoveQueuedTurn():
            return queue.remove_turn(batch, request)
        case PromoteQueuedTurn():
            return queue.promote_turn(batch, request)
        case EditQueuedTurn():
            return queue.edit_turn(batch, request)
        case SetContext():
            return submit.pin_context(batch, request)
        case CompactThread():
            return compaction.compact_thread(batch, request)
