"""Responses and failed attempts of models."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.message import MessageInterrupted, MessageText, ReasoningCompleted, ReasoningInterrupted
from callboard.contracts.facts.model import ModelFailed
from callboard.contracts.facts.session import WarningRaised

from ..batch import Batch, build_run_scope
from ..decision_inputs import EXTERNAL_PROVIDERS
from ..outcomes import ModelAttemptFailed, ModelResponded, Piece
from ..state.repetition import list_final_texts
from ..state.session import Thread
from ..state.turn import OpenRun
from .compaction import fail_compaction_attempt, finish_compaction
from .external_agent.remote import reply_to_senders
from .tool.calls import abandon_calls, request_calls
from .turn.context import begin_compaction
from .turn.inbox import consume_inbox
from .turn.iterate import ask_model, complete_turn, fail_turn, find_run, record_model_end, require_run
from .turn.routing import fall_back, find_fallbacks, record_quota
from .turn.start import start_next


def record_response(batch: Batch, outcome: ModelResponded) -> None:
    """Record the parts of a response, then start its calls, continue the turn or end it.

    Without a call a `chat` turn is complete, unless a steer waits and the limit allows another
    model call. An `auto` turn continues until it is finalized or reaches its limit. The turn of a
    child or a background agent ends with its second response in plain text. The turn of an external
    agent ends when the agent reports that.
    """
    waiting = _find_waiting_run(batch, outcome)
    if waiting is None:
        return
    thread, run = waiting
    if run.compacting is not None:
        finish_compaction(batch, outcome, run, run.compacting)
        return
    for piece in outcome.pieces:
        _record_part(batch, thread, run, piece)
    record_model_end(batch, outcome, build_run_scope(thread, run, outcome.step))
    record_quota(batch, thread, run, outcome.step, outcome.quota, refused=False)
    _warn(batch, thread, run, outcome)
    consume_inbox(batch, outcome.thread)
    # Calls that are still open belong to an external agent, which continued without their results.
    abandon_calls(batch, thread, run, reason="the agent continued without it", unseen=True, outcomes={})
    if outcome.calls:
        request_calls(batch, outcome.thread, outcome.calls)
    elif run.stopping:
        return
    elif _can_end_in_text(thread, run):
        _end_in_text(batch, outcome.thread)
    elif (run.mode == "auto" and run.provider not in EXTERNAL_PROVIDERS) or (
        run.steers and run.iteration < run.max_iters
    ):
        ask_model(batch, outcome.thread)
    else:
        reply_to_senders(batch, outcome.thread)
        complete_turn(batch, outcome.thread)
        start_next(batch, outcome.thread)


def _can_end_in_text(thread: Thread, run: OpenRun) -> bool:
    """Return True if a response without a call ends the run, although the run should end with
    Finalize.

    This applies to children and background agents, after one reminder: a parent or a person judges
    the result. Text never completes the objective of a main agent.
    """
    works_for_others = thread.child is not None or thread.background is not None
    if run.mode != "auto" or run.provider in EXTERNAL_PROVIDERS or run.steers or not works_for_others:
        return False
    return run.reminded or run.iteration >= run.max_iters


def _end_in_text(batch: Batch, thread_id: str) -> None:
    """Complete the run with its newest text. Without a text it fails."""
    _, run = require_run(batch, thread_id)
    if list_final_texts(run):
        complete_turn(batch, thread_id, plain_text=True)
        start_next(batch, thread_id)
        return
    fail_turn(
        batch,
        thread_id,
        code="answer_empty",
        message="The agent gave an empty response and did not finalize.",
        hint="Send the turn again, or choose another model.",
        retryable=False,
    )


def record_failed_attempt(batch: Batch, outcome: ModelAttemptFailed) -> None:
    """Record a failed attempt. After the last one, ask a fallback model, or end the turn and store
    the partial response."""
    waiting = _find_waiting_run(batch, outcome)
    if waiting is None:
        return
    thread, run = waiting
    if run.compacting is not None:
        fail_compaction_attempt(batch, outcome, run, run.compacting)
        return
    fallbacks = (
        () if outcome.retry_in_ms is not None or run.stopping else find_fallbacks(batch, thread, run, outcome.code)
    )
    if outcome.retry_in_ms is None and not fallbacks:
        record_interrupted_parts(batch, thread, run, outcome.pieces)
    else:
        for piece in outcome.pieces:
            batch.drop_partial(piece.kind, build_run_scope(thread, run, piece.step))
    batch.add(
        ModelFailed(
            code=outcome.code, message=outcome.message, attempt=outcome.attempt, retry_in_ms=outcome.retry_in_ms
        ),
        build_run_scope(thread, run, outcome.step),
    )
    record_quota(batch, thread, run, outcome.step, outcome.quota, refused=True)
    if fallbacks:
        fall_back(batch, outcome.thread, outcome, fallbacks)
    elif outcome.retry_in_ms is None and not run.stopping:
        if outcome.code == "model_context_full" and begin_compaction(batch, outcome.thread, "refused"):
            return
        abandon_calls(batch, thread, run, reason="the agent's response failed", unseen=True, outcomes={})
        fail_turn(
            batch,
            outcome.thread,
            code=outcome.code,
            message=outcome.message,
            hint=_find_hint(run, outcome),
            retryable=outcome.retryable,
        )


def record_late_response(batch: Batch, thread: Thread, run: OpenRun, outcome: ModelResponded) -> None:
    """Record a response that arrived whole while its turn was stopped: its parts and usage. Drop
    its calls and their signatures. Ignore it if it is a summary."""
    if run.compacting is not None or not outcome.step or run.model_step != outcome.step:
        return
    for piece in outcome.pieces:
        _record_part(batch, thread, run, msgspec.structs.replace(piece, signature=""))
    record_model_end(batch, outcome, build_run_scope(thread, run, outcome.step))
    record_quota(batch, thread, run, outcome.step, outcome.quota, refused=False)
    consume_inbox(batch, outcome.thread)


def record_interrupted_parts(batch: Batch, thread: Thread, run: OpenRun, pieces: tuple[Piece, ...]) -> None:
    """Record interrupted parts, and drop an incomplete tool call."""
    for piece in pieces:
        scope = build_run_scope(thread, run, piece.step)
        match piece.kind:
            case "text":
                batch.add(MessageInterrupted(content=batch.store_text(piece.text)), scope)
            case "reasoning":
                batch.add(ReasoningInterrupted(content=batch.store_text(piece.text)), scope)
            case "arguments":
                batch.drop_partial(piece.kind, scope)


def _find_waiting_run(batch: Batch, outcome: ModelResponded | ModelAttemptFailed) -> tuple[Thread, OpenRun] | None:
    """Return the run that waits for this model call, with its thread; None if none does."""
    open_run = find_run(batch, outcome.thread, outcome.run)
    return open_run if open_run is not None and outcome.step and open_run[1].model_step == outcome.step else None


def _record_part(batch: Batch, thread: Thread, run: OpenRun, piece: Piece) -> None:
    scope = build_run_scope(thread, run, piece.step)
    match piece.kind:
        case "text":
            batch.add(MessageText(content=batch.store_text(piece.text)), scope)
        case "reasoning":
            batch.add(ReasoningCompleted(content=batch.store_text(piece.text), signature=piece.signature), scope)
        case "arguments":
            batch.drop_partial(piece.kind, scope)


def _warn(batch: Batch, thread: Thread, run: OpenRun, outcome: ModelResponded) -> None:
    scope = build_run_scope(thread, run, outcome.step)
    if outcome.stop_reason == "length":
        batch.add(
            WarningRaised(
                code="answer_cut", message="The model stopped at its output limit.", hint="Ask it to continue."
            ),
            scope,
        )
    elif outcome.stop_reason == "content_filter":
        batch.add(
            WarningRaised(code="answer_filtered", message="The provider's content filter ended the response."), scope
        )
    elif outcome.stop_reason == "unknown" and outcome.provider_reason:
        reason = outcome.provider_reason
        batch.add(
            WarningRaised(
                code="answer_end_unknown",
                message=f"The model stopped for a reason that Callboard does not know: {reason}",
                hint="The response may be incomplete. Ask it to continue.",
            ),
            scope,
        )
    elif (
        not outcome.calls
        and not run.round_results
        and not any(piece.kind == "text" and piece.text.strip() for piece in outcome.pieces)
    ):
        batch.add(WarningRaised(code="answer_empty", message="The model gave an empty response."), scope)


def _find_hint(run: OpenRun, outcome: ModelAttemptFailed) -> str:
    hints = _EXTERNAL_HINTS if run.provider in EXTERNAL_PROVIDERS else HINTS
    hint = hints.get(outcome.code, "Send the turn again.")
    return f"The models before it also failed. {hint}" if run.has_fallen_back else hint


_EXTERNAL_HINTS = {
    "model_unconfigured": "Install what is missing, then send the turn again.",
    "model_auth": "Run the agent in a terminal and log in, then send the turn again.",
    "model_unavailable": "Check the command in the agent's definition, then send the turn again.",
    "model_refused_request": "Read the agent's message. Rephrase the input, check the agent's login, or use another agent.",
    "person_denied": "Send the turn again to get a new approval request.",
    "policy_denied": "Ask the owner of that policy, or send the turn to another agent.",
    "nobody_there": "Send the turn again while you can respond, or add a rule that allows it.",
    "approval_expired": "Send the turn again to get a new approval request.",
    "not_installed": "Run that command, restart Callboard, then send the turn again.",
    "agent_mode_unavailable": "Set `agent_mode` in its definition to a mode in which it asks, choose another permission mode,"
    " or set `agent_mode: own` to use the agent's settings.",
    "unknown_model": "Set `model` in its definition to one of its models, or remove it.",
    "remote_unavailable": "Send the turn again once the agent can be reached. An open task continues.",
    "remote_refused": "Read its message, then rephrase the input or send it to another agent.",
}
_RESTORE = "`callboard check` lists the damage. Restore a backup with `callboard restore FILE --replace`."
#: Hints after a model's failure, by code.
HINTS: dict[str, str] = {
    "model_unconfigured": "Configure a model, then send the turn again.",
    "model_auth": "Check the key of this provider.",
    "model_rate_limited": "Wait, or choose another model.",
    "model_quota": "Check the account at this provider, or choose another model.",
    "unknown_model": "Check the model's name in the settings; `callboard models --test` tests it.",
    "secret_missing": "Set that secret again, then send the turn again.",
    "bad_recording": "Send the recorded input, or choose another model.",
    "model_unavailable": "Check that the provider can be reached, then send the turn again.",
    "model_context_full": "Start a new session, or send a shorter input.",
    "model_refused_request": "Check the model's name and the settings of this provider.",
    "blob_damaged": _RESTORE,
    "chain_broken": _RESTORE,
}
