"""A model answered, or an attempt failed."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import (
    MessageInterrupted,
    MessageText,
    ModelFailed,
    ReasoningCompleted,
    ReasoningInterrupted,
    WarningRaised,
)

from ..batch import Batch, run_scope
from ..decision_inputs import EXTERNAL_PROVIDERS
from ..evolve.repetition import last_words
from ..outcomes import ModelAnswered, ModelAttemptFailed, Piece
from ..state.session import OpenRun, Thread
from .compaction import fail_compaction_attempt, finish_compaction
from .external_agent.remote import reply_to_senders
from .tool.calls import abandon_calls, request_calls
from .turn.context import begin_compaction
from .turn.inbox import consume_inbox
from .turn.iterate import ask_model, complete_turn, fail_turn, find_run, record_model_end, require_run
from .turn.routing import fall_back, find_fallbacks, record_quota
from .turn.start import start_next


def record_answer(batch: Batch, report: ModelAnswered) -> None:
    """The parts become facts in their order; then the calls pass on, or the turn goes on or ends.

    Without a call a `chat` turn is complete, unless a steer waits and the bound lets the model read it. An `auto` turn
    continues until it is finalized or reaches its bound, and that of a child or of a background agent ends with its second
    answer in plain text. The turn of an external agent ends when the agent says so.
    """
    found = _asked(batch, report)
    if found is None:
        return
    thread, run = found
    if run.compacting is not None:
        finish_compaction(batch, report, run, run.compacting)
        return
    for piece in report.pieces:
        _finished(batch, thread, run, piece)
    record_model_end(batch, report, run_scope(thread, run, report.step))
    record_quota(batch, thread, run, report.step, report.quota, refused=False)
    _warn(batch, thread, run, report)
    consume_inbox(batch, report.thread)
    # Open calls beside an answer are those of an agent that is a program of its own, and that went on without an answer.
    abandon_calls(batch, thread, run, reason="the agent went on without it", unseen=True, outcomes={})
    if report.calls:
        request_calls(batch, report.thread, report.calls)
    elif run.stopping:
        return
    elif _ends_in_text(thread, run):
        _end_in_text(batch, report.thread)
    elif (run.mode == "auto" and run.provider not in EXTERNAL_PROVIDERS) or (
        run.steers and run.iteration < run.max_iters
    ):
        ask_model(batch, report.thread)
    else:
        reply_to_senders(batch, report.thread)
        complete_turn(batch, report.thread)
        start_next(batch, report.thread)


def _ends_in_text(thread: Thread, run: OpenRun) -> bool:
    """True where an answer without a call ends the run, though it was to end with Finalize.

    Only a child and a background agent end so: a parent or a person judges the result. Prose never completes the objective of
    a main. The agent is reminded once.
    """
    works_for_others = thread.child is not None or thread.background is not None
    if run.mode != "auto" or run.provider in EXTERNAL_PROVIDERS or run.steers or not works_for_others:
        return False
    return run.reminded or run.iteration >= run.max_iters


def _end_in_text(batch: Batch, thread_id: str) -> None:
    """Ends the run with its newest text as the result; with none it fails."""
    _, run = require_run(batch, thread_id)
    if last_words(run):
        complete_turn(batch, thread_id, plain_text=True)
        start_next(batch, thread_id)
        return
    fail_turn(
        batch,
        thread_id,
        code="answer_empty",
        message="The agent answered with nothing and did not finalize.",
        hint="Send the turn again, or choose another model.",
        retryable=False,
    )


def record_failed_attempt(batch: Batch, report: ModelAttemptFailed) -> None:
    """A failure that is tried again leaves its fact. One that stands has the next model asked; the last one ends the turn and
    keeps what had come."""
    asked = _asked(batch, report)
    if asked is None:
        return
    thread, run = asked
    if run.compacting is not None:
        fail_compaction_attempt(batch, report, run, run.compacting)
        return
    found = () if report.retry_in_ms is not None or run.stopping else find_fallbacks(batch, thread, run, report.code)
    if report.retry_in_ms is None and not found:
        record_interrupted_parts(batch, thread, run, report.pieces)
    else:
        for piece in report.pieces:
            batch.drop_partial(piece.kind, run_scope(thread, run, piece.step))
    batch.add(
        ModelFailed(code=report.code, message=report.message, attempt=report.attempt, retry_in_ms=report.retry_in_ms),
        run_scope(thread, run, report.step),
    )
    record_quota(batch, thread, run, report.step, report.quota, refused=True)
    if found:
        fall_back(batch, report.thread, report, found)
    elif report.retry_in_ms is None and not run.stopping:
        if report.code == "model_context_full" and begin_compaction(batch, report.thread, "refused"):
            return
        abandon_calls(batch, thread, run, reason="the agent broke off", unseen=True, outcomes={})
        fail_turn(
            batch,
            report.thread,
            code=report.code,
            message=report.message,
            hint=_hint(run, report),
            retryable=report.retryable,
        )


def record_late_answer(batch: Batch, thread: Thread, run: OpenRun, report: ModelAnswered) -> None:
    """An answer of which all had come when its turn was stopped: its parts, and what it took. Its calls were passed on to
    nobody; what its provider wants back with them is left out as well. A summary that came so late is none."""
    if run.compacting is not None or not report.step or run.model_step != report.step:
        return
    for piece in report.pieces:
        _finished(batch, thread, run, msgspec.structs.replace(piece, signature=""))
    record_model_end(batch, report, run_scope(thread, run, report.step))
    record_quota(batch, thread, run, report.step, report.quota, refused=False)
    consume_inbox(batch, report.thread)


def record_interrupted_parts(batch: Batch, thread: Thread, run: OpenRun, pieces: tuple[Piece, ...]) -> None:
    """Parts that were cut short are kept as interrupted; half a tool call is dropped."""
    for piece in pieces:
        scope = run_scope(thread, run, piece.step)
        match piece.kind:
            case "text":
                batch.add(MessageInterrupted(content=batch.store_text(piece.text)), scope)
            case "reasoning":
                batch.add(ReasoningInterrupted(content=batch.store_text(piece.text)), scope)
            case "arguments":
                batch.drop_partial(piece.kind, scope)


def _asked(batch: Batch, report: ModelAnswered | ModelAttemptFailed) -> tuple[Thread, OpenRun] | None:
    """The run that waits for this model call's answer; None where it does no longer."""
    found = find_run(batch, report.thread, report.run)
    return found if found is not None and report.step and found[1].model_step == report.step else None


def _finished(batch: Batch, thread: Thread, run: OpenRun, piece: Piece) -> None:
    scope = run_scope(thread, run, piece.step)
    match piece.kind:
        case "text":
            batch.add(MessageText(content=batch.store_text(piece.text)), scope)
        case "reasoning":
            batch.add(ReasoningCompleted(content=batch.store_text(piece.text), signature=piece.signature), scope)
        case "arguments":
            batch.drop_partial(piece.kind, scope)


def _warn(batch: Batch, thread: Thread, run: OpenRun, report: ModelAnswered) -> None:
    scope = run_scope(thread, run, report.step)
    if report.stop_reason == "length":
        batch.add(
            WarningRaised(code="answer_cut", message="The model stopped at its output limit.", hint="Ask it to go on."),
            scope,
        )
    elif report.stop_reason == "content_filter":
        batch.add(WarningRaised(code="answer_filtered", message="The provider's filter ended the answer."), scope)
    elif report.stop_reason == "unknown" and report.provider_reason:
        word = report.provider_reason
        batch.add(
            WarningRaised(
                code="answer_end_unknown",
                message=f"The model stopped for a reason that Callboard does not know: {word}",
                hint="The answer may be incomplete. Ask it to continue.",
            ),
            scope,
        )
    elif (
        not report.calls
        and not run.round_results
        and not any(piece.kind == "text" and piece.text.strip() for piece in report.pieces)
    ):
        batch.add(WarningRaised(code="answer_empty", message="The model answered with nothing."), scope)


def _hint(run: OpenRun, report: ModelAttemptFailed) -> str:
    known = _EXTERNAL_HINTS if run.provider in EXTERNAL_PROVIDERS else HINTS
    hint = known.get(report.code, "Send the turn again.")
    return f"The models before it failed as well. {hint}" if run.has_fallen_back else hint


_EXTERNAL_HINTS = {
    "model_unconfigured": "Install what is missing, then send the turn again.",
    "model_auth": "Start the agent once by hand and log in, then send the turn again.",
    "model_unavailable": "Look at the command in the agent's definition, then send the turn again.",
    "model_refused_request": "Say it differently, or give it to another agent.",
    "person_denied": "Send the turn again to be asked again.",
    "policy_denied": "Ask whoever keeps that policy, or give it to another agent.",
    "nobody_there": "Send the turn again where you can be asked, or give a rule that lets it through.",
    "approval_expired": "Send the turn again to be asked again.",
    "not_installed": "Run that command, start Callboard again, then send the turn again.",
    "agent_mode_unavailable": "Name a mode in which it asks as `agent_mode` in its definition, choose another permission mode,"
    " or write `agent_mode: own` to leave it to the agent's own settings.",
    "unknown_model": "Name one of its own models as `model` in its definition, or none.",
    "remote_unavailable": "Send the turn again once it can be reached: a task that it still has is taken up again.",
    "remote_refused": "Read what it said, then say it differently or give it to another agent.",
}
_RESTORE = "`callboard check` lists what is damaged. Restore a backup with `callboard restore FILE --replace`."
#: What a person can do about a model that failed, by the code.
HINTS: dict[str, str] = {
    "model_unconfigured": "Send the turn again: it goes to a model that is configured now.",
    "model_auth": "Check the key of this provider.",
    "model_rate_limited": "Wait, or choose another model.",
    "model_quota": "Look at the account of this provider, or choose another model.",
    "unknown_model": "Look at the model's name in the settings; `callboard models --test` tries it.",
    "secret_missing": "Set that secret again, then send the turn again.",
    "bad_recording": "Ask what was asked then, or choose another model.",
    "model_unavailable": "Check that the provider can be reached, then send the turn again.",
    "model_context_full": "Start a new session, or send less.",
    "model_refused_request": "Check the model's name and the settings of this provider.",
    "blob_damaged": _RESTORE,
    "chain_broken": _RESTORE,
}
