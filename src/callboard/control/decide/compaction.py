"""Compaction: a model summarises the older part of its thread, and the summary replaces it."""

from __future__ import annotations

from callboard.contracts.commands.context import CompactionBegun, CompactThread
from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    CompactionCompleted,
    CompactionFailed,
    ModelFailed,
    TurnCompleted,
    TurnSubmitted,
)
from callboard.contracts.facts.context import Said

from ..batch import Batch, run_scope, thread_scope
from ..outcomes import ModelAnswered, ModelAttemptFailed
from ..state.context import BYTES_PER_TOKEN, MAX_SPOKEN_BYTES, OpenCompaction, count_tokens
from ..state.session import OpenRun, QueuedTurn, Thread
from .turn.context import KEPT, ask_for_summary, count_older_tokens, find_older_part, record_context_change
from .turn.iterate import ask_model, fail_turn, record_model_end, reject_steers, repeat_request, require_run
from .turn.routing import find_fallbacks, record_quota, route_to_fallback
from .turn.start import require_thread, start_next, start_turn

#: Maximum share of the window for quoted texts, and minimum bytes of a truncated one.
_SAID = 0.1
_LEAST_SAID = 400
_NO_SUMMARY = "The model returned no summary."
_TOO_LONG = "The model's summary is longer than the part that it replaces, and too long for its window."
_HINT = "Send the turn again, choose a model with a larger window, or start a new session."


def compact_thread(batch: Batch, request: CompactThread) -> CompactionBegun:
    """Compact an idle thread in a turn of its own.

    Raises:
        Refusal: `nothing_to_compact`, `thread_busy`, `unknown_thread`.
    """
    thread = require_thread(batch.state, request.thread_id)
    if thread.child is not None:
        raise _nothing("A child's thread is compacted automatically when its model's window fills.")
    if thread.run is not None or thread.queue:
        raise Refusal(
            "thread_busy",
            "A turn is running or waiting in this thread.",
            hint="Compact it after the turn. Callboard also compacts automatically when the model's window fills.",
        )
    last = thread.last
    if last is None or not find_older_part(thread, None, 0)[0]:
        raise _nothing("The thread has only its newest turn, which is never compacted.")
    turn = QueuedTurn(
        turn=batch.inputs.ids.new("turn"), mode="chat", permission_mode=last.permission_mode, compacts=True
    )
    batch.add(
        TurnSubmitted(
            input=batch.store_text(""), mode=turn.mode, permission_mode=turn.permission_mode, source="compaction"
        ),
        thread_scope(thread, turn.turn),
    )
    start_turn(batch, thread.thread, turn)
    run = batch.thread(thread.thread).run
    if run is None or run.compacting is None:
        raise _nothing("The model of this thread cannot summarise it.")
    return CompactionBegun(
        session_id=batch.state.session,
        thread_id=thread.thread,
        turn_id=turn.turn,
        through=run.compacting.through,
        sequence=batch.state.sequence,
    )


def finish_compaction(batch: Batch, report: ModelAnswered, run: OpenRun, making: OpenCompaction) -> None:
    """Record the summary. It is not an answer and no surface shows it as one (UI-25)."""
    thread = batch.thread(report.thread)
    scope = run_scope(thread, run, report.step)
    record_model_end(batch, report, scope)
    record_quota(batch, thread, run, report.step, report.quota, refused=False)
    summary = "\n\n".join(piece.text.strip() for piece in report.pieces if piece.kind == "text").strip()
    saved = count_older_tokens(batch.thread(report.thread), run, making.through)
    why_not = _why_not(batch, run, summary, saved)
    if why_not:
        batch.add(CompactionFailed(code="model_garbled", message=why_not), scope)
    else:
        held = batch.store_text(summary)
        said = _said(batch, thread, run, making)
        takes = count_tokens(held) + sum(one.size // BYTES_PER_TOKEN + 1 for one in said)
        batch.add(
            CompactionCompleted(
                summary=held,
                through=making.through,
                tokens_before=making.tokens,
                tokens_after=max(making.tokens - saved, 0) + takes,
                said=said,
            ),
            scope,
        )
    _go_on(batch, report.thread, making, ("model_garbled", why_not) if why_not else None)


def fail_compaction_attempt(batch: Batch, report: ModelAttemptFailed, run: OpenRun, making: OpenCompaction) -> None:
    """Record a failed attempt, then ask the next model for the summary. Without another model the
    turn continues uncompacted; it fails if its request was too long."""
    thread = batch.thread(report.thread)
    scope = run_scope(thread, run, report.step)
    batch.add(
        ModelFailed(code=report.code, message=report.message, attempt=report.attempt, retry_in_ms=report.retry_in_ms),
        scope,
    )
    record_quota(batch, thread, run, report.step, report.quota, refused=True)
    if report.retry_in_ms is not None:
        return
    found = () if run.stopping else find_fallbacks(batch, thread, run, report.code)
    if found:
        route_to_fallback(batch, report.thread, report, found)
        ask_for_summary(batch, report.thread, making.through)
        return
    batch.add(CompactionFailed(code=report.code, message=report.message), scope)
    _go_on(batch, report.thread, making, (report.code, report.message))


def abandon_compaction(batch: Batch, thread: Thread, run: OpenRun, code: str, message: str) -> None:
    """Record that a run ended during its compaction."""
    if run.compacting is not None:
        batch.add(CompactionFailed(code=code, message=message), run_scope(thread, run, run.compacting.step))


def _said(batch: Batch, thread: Thread, run: OpenRun, making: OpenCompaction) -> tuple[Said, ...]:
    """Return the newest texts of persons in the summarised part that stay verbatim, within a share
    of the window. The present turn's input is always in the context."""
    window = batch.inputs.find_capabilities(run.provider, run.model).window or making.tokens
    left, found = min(MAX_SPOKEN_BYTES, int(window * _SAID * BYTES_PER_TOKEN)), list[Said]()
    for one in reversed(thread.spoken_turns):
        if one.at > making.through or one.turn == run.turn or thread.context_usage.compacted < one.at <= thread.cut:
            continue
        size = min(one.size, left)
        if size < min(one.size, _LEAST_SAID):
            break
        found.append(Said(sequence=one.sequence, size=size))
        left -= size
    return tuple(reversed(found))


def _why_not(batch: Batch, run: OpenRun, summary: str, saved: int) -> str:
    """Return why the summary cannot replace the older part; empty if it can."""
    if not summary:
        return _NO_SUMMARY
    window = batch.inputs.find_capabilities(run.provider, run.model).window
    takes = count_tokens(Text(text=summary))
    return _TOO_LONG if window is not None and takes > max(saved, int(window * KEPT)) else ""


def _go_on(batch: Batch, thread_id: str, making: OpenCompaction, failure: tuple[str, str] | None) -> None:
    thread, run = require_run(batch, thread_id)
    if run.stopping:
        return
    if failure is not None and (making.cause == "refused" or run.only_compacts):
        code, message = failure
        if making.cause == "refused":
            code, message = (
                "model_context_full",
                f"The request is too long for the model, and compaction failed: {message}",
            )
        fail_turn(batch, thread_id, code=code, message=message, hint=_HINT, retryable=True)
    elif run.only_compacts:
        reject_steers(batch, thread, run, "turn_completed")
        batch.add(TurnCompleted(iterations=run.iteration), run_scope(thread, run))
        start_next(batch, thread_id)
    elif making.cause == "refused":
        # Repeat the refused request in the same iteration.
        repeat_request(batch, thread_id)
        record_context_change(batch, thread_id)
    else:
        ask_model(batch, thread_id)


def _nothing(message: str) -> Refusal:
    return Refusal("nothing_to_compact", message, field="threadId", hint="No action is needed.")
