"""Compaction: a model summarises the older part of its thread, and the summary replaces it."""

from __future__ import annotations

from callboard.contracts.commands.context import CompactionAccepted, CompactThread
from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.context import CompactionCompleted, CompactionFailed, Quote
from callboard.contracts.facts.model import ModelFailed
from callboard.contracts.facts.turn import TurnCompleted, TurnSubmitted

from ..batch import Batch, build_run_scope, build_thread_scope
from ..outcomes import ModelAttemptFailed, ModelResponded
from ..state.context import BYTES_PER_TOKEN, MAX_SPOKEN_BYTES, OpenCompaction, count_tokens
from ..state.session import Thread
from ..state.turn import OpenRun, QueuedTurn
from .turn.context import KEPT_SHARE, ask_for_summary, count_older_tokens, find_older_part, record_context_change
from .turn.iterate import ask_model, fail_turn, record_model_end, reject_steers, repeat_request, require_run
from .turn.routing import find_fallbacks, record_quota, route_to_fallback
from .turn.start import require_thread, start_next, start_turn

#: Maximum share of the window for quoted texts, and minimum bytes of a truncated one.
_QUOTED_SHARE = 0.1
_MIN_QUOTE_BYTES = 400
_NO_SUMMARY = "The model returned no summary."
_TOO_LONG = "The model's summary is longer than the part that it replaces, and too long for its window."
_HINT = "Send the turn again, choose a model with a larger window, or start a new session."


def compact_thread(batch: Batch, request: CompactThread) -> CompactionAccepted:
    """Compact an idle thread in a separate turn.

    Raises:
        Refusal: `nothing_to_compact`, `thread_busy`, `unknown_thread`.
    """
    thread = require_thread(batch.state, request.thread_id)
    if thread.child is not None:
        raise _build_refusal("A child's thread is compacted automatically when its model's window fills.")
    if thread.run is not None or thread.queue:
        raise Refusal(
            "thread_busy",
            "A turn is running or waiting in this thread.",
            hint="Compact it after the turn. Callboard also compacts automatically when the model's window fills.",
        )
    last = thread.last
    if last is None or not find_older_part(thread, None, 0)[0]:
        raise _build_refusal("The thread has only its newest turn, which is never compacted.")
    turn = QueuedTurn(
        turn=batch.inputs.ids.new("turn"), mode="chat", permission_mode=last.permission_mode, compacts=True
    )
    batch.add(
        TurnSubmitted(
            input=batch.store_text(""), mode=turn.mode, permission_mode=turn.permission_mode, source="compaction"
        ),
        build_thread_scope(thread, turn.turn),
    )
    start_turn(batch, thread.thread, turn)
    run = batch.get_thread(thread.thread).run
    if run is None or run.compacting is None:
        raise _build_refusal("The model of this thread cannot summarise it.")
    return CompactionAccepted(
        session_id=batch.state.session,
        thread_id=thread.thread,
        turn_id=turn.turn,
        through=run.compacting.through,
        sequence=batch.state.sequence,
    )


def finish_compaction(batch: Batch, outcome: ModelResponded, run: OpenRun, compaction: OpenCompaction) -> None:
    """Record the summary. It is not an answer and no surface shows it as one (UI-25)."""
    thread = batch.get_thread(outcome.thread)
    scope = build_run_scope(thread, run, outcome.step)
    record_model_end(batch, outcome, scope)
    record_quota(batch, thread, run, outcome.step, outcome.quota, refused=False)
    summary = "\n\n".join(piece.text.strip() for piece in outcome.pieces if piece.kind == "text").strip()
    saved = count_older_tokens(batch.get_thread(outcome.thread), run, compaction.through)
    problem = _check_summary(batch, run, summary, saved)
    if problem:
        batch.add(CompactionFailed(code="model_garbled", message=problem), scope)
    else:
        stored = batch.store_text(summary)
        quotes = _select_quotes(batch, thread, run, compaction)
        new_tokens = count_tokens(stored) + sum(quote.size // BYTES_PER_TOKEN + 1 for quote in quotes)
        batch.add(
            CompactionCompleted(
                summary=stored,
                through=compaction.through,
                tokens_before=compaction.tokens,
                tokens_after=max(compaction.tokens - saved, 0) + new_tokens,
                said=quotes,
            ),
            scope,
        )
    _continue_turn(batch, outcome.thread, compaction, ("model_garbled", problem) if problem else None)


def fail_compaction_attempt(
    batch: Batch, outcome: ModelAttemptFailed, run: OpenRun, compaction: OpenCompaction
) -> None:
    """Record a failed attempt, then ask the next model for the summary. Without another model the
    turn continues uncompacted; it fails if its request was too long."""
    thread = batch.get_thread(outcome.thread)
    scope = build_run_scope(thread, run, outcome.step)
    batch.add(
        ModelFailed(
            code=outcome.code, message=outcome.message, attempt=outcome.attempt, retry_in_ms=outcome.retry_in_ms
        ),
        scope,
    )
    record_quota(batch, thread, run, outcome.step, outcome.quota, refused=True)
    if outcome.retry_in_ms is not None:
        return
    fallbacks = () if run.stopping else find_fallbacks(batch, thread, run, outcome.code)
    if fallbacks:
        route_to_fallback(batch, outcome.thread, outcome, fallbacks)
        ask_for_summary(batch, outcome.thread, compaction.through)
        return
    batch.add(CompactionFailed(code=outcome.code, message=outcome.message), scope)
    _continue_turn(batch, outcome.thread, compaction, (outcome.code, outcome.message))


def abandon_compaction(batch: Batch, thread: Thread, run: OpenRun, code: str, message: str) -> None:
    """Record that a run ended during its compaction."""
    if run.compacting is not None:
        batch.add(CompactionFailed(code=code, message=message), build_run_scope(thread, run, run.compacting.step))


def _select_quotes(batch: Batch, thread: Thread, run: OpenRun, compaction: OpenCompaction) -> tuple[Quote, ...]:
    """Return the newest texts of persons in the summarised part that stay verbatim, within a share
    of the window. The present turn's input is always in the context."""
    window = batch.inputs.find_capabilities(run.provider, run.model).window or compaction.tokens
    left, quotes = min(MAX_SPOKEN_BYTES, int(window * _QUOTED_SHARE * BYTES_PER_TOKEN)), list[Quote]()
    for spoken in reversed(thread.spoken_turns):
        if (
            spoken.at > compaction.through
            or spoken.turn == run.turn
            or thread.context_usage.compacted < spoken.at <= thread.context_after
        ):
            continue
        size = min(spoken.size, left)
        if size < min(spoken.size, _MIN_QUOTE_BYTES):
            break
        quotes.append(Quote(sequence=spoken.sequence, size=size))
        left -= size
    return tuple(reversed(quotes))


def _check_summary(batch: Batch, run: OpenRun, summary: str, saved: int) -> str:
    """Return why the summary cannot replace the older part; empty if it can."""
    if not summary:
        return _NO_SUMMARY
    window = batch.inputs.find_capabilities(run.provider, run.model).window
    tokens = count_tokens(Text(text=summary))
    return _TOO_LONG if window is not None and tokens > max(saved, int(window * KEPT_SHARE)) else ""


def _continue_turn(batch: Batch, thread_id: str, compaction: OpenCompaction, failure: tuple[str, str] | None) -> None:
    thread, run = require_run(batch, thread_id)
    if run.stopping:
        return
    if failure is not None and (compaction.cause == "refused" or run.only_compacts):
        code, message = failure
        if compaction.cause == "refused":
            code, message = (
                "model_context_full",
                f"The request is too long for the model, and compaction failed: {message}",
            )
        fail_turn(batch, thread_id, code=code, message=message, hint=_HINT, retryable=True)
    elif run.only_compacts:
        reject_steers(batch, thread, run, "turn_completed")
        batch.add(TurnCompleted(iterations=run.iteration), build_run_scope(thread, run))
        start_next(batch, thread_id)
    elif compaction.cause == "refused":
        # Repeat the refused request in the same iteration.
        repeat_request(batch, thread_id)
        record_context_change(batch, thread_id)
    else:
        ask_model(batch, thread_id)


def _build_refusal(message: str) -> Refusal:
    return Refusal("nothing_to_compact", message, field="threadId", hint="No action is needed.")
