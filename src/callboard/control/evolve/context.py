"""Facts of context: pins, resolved refs and compactions, and the estimated size of the model's context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from msgspec.structs import replace

from callboard.contracts.content import Text
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.context import (
    CompactionCompleted,
    CompactionFailed,
    CompactionStarted,
    ContextFact,
    ContextPinned,
    ContextResolved,
)
from callboard.contracts.facts.exchange.inbox import InboxReserved
from callboard.contracts.facts.message import MessageInterrupted, MessageText, ReasoningCompleted
from callboard.contracts.facts.model import CostRecorded, ModelRequested
from callboard.contracts.facts.queue import SteerAccepted, SteerRequested
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed, ToolRefused, ToolRequested
from callboard.contracts.refs import ContextRef

from ..state.context import (
    BYTES_PER_TOKEN,
    ITEM_TOKENS,
    MAX_SPOKEN_BYTES,
    MAX_SPOKEN_TURNS,
    ContextUsage,
    OpenCompaction,
    Round,
    SpokenTurn,
    count_ref_tokens,
    count_result_tokens,
    count_tokens,
    measure_text,
)
from ..state.session import Session, Thread
from ..state.turn import OpenRun
from .fact_context import FactContext, change_run, change_thread, find_open_run, update_run, update_thread

#: Maximum number of rounds of a run. Beyond it, the oldest two are merged.
_MAX_ROUNDS = 100


def apply(state: Session, fact: ContextFact, context: FactContext) -> Session:
    match fact:
        case ContextPinned():
            return update_thread(state, context, pinned=fact.pinned)
        case ContextResolved():
            return _resolve_context(state, fact, context)
        case CompactionStarted():
            compaction = OpenCompaction(
                step=context.scope.step, through=fact.through, cause=fact.cause, tokens=fact.tokens or 0
            )
            return update_run(state, context, compacting=compaction)
        case CompactionCompleted():
            return _complete_compaction(state, fact, context)
        case CompactionFailed():
            return update_run(state, context, compacting=None, compaction_failed=True)
        case _:
            assert_never(fact)


def _resolve_context(state: Session, fact: ContextResolved, context: FactContext) -> Session:
    """Record the context and count its pinned refs. The refs of the input were counted with the input."""
    state = update_run(state, context, refs=fact.refs, missing=fact.missing, omitted=fact.omitted)
    tokens = count_ref_tokens(ref for ref in fact.refs if ref.source == "pinned")
    return _add_tokens(state, tokens, context) if tokens else state


def _complete_compaction(state: Session, fact: CompactionCompleted, context: FactContext) -> Session:
    """Replace the summarised facts by the summary. The input of the open turn stays in the context."""

    def compact(thread: Thread) -> Thread:
        run = thread.run
        summary = count_tokens(fact.summary) + sum(quote.size // BYTES_PER_TOKEN + 1 for quote in fact.said)
        marks = tuple(mark for mark in thread.marks[:-1] if mark.started > fact.through) + thread.marks[-1:]
        if marks and marks[-1].started <= fact.through:
            # The rest of this turn can be compacted like any other part of the conversation.
            marks = (*marks[:-1], replace(marks[-1], started=fact.through + 1))
        if run is not None:
            includes_input = bool(run.rounds) and run.rounds[0].sequence <= fact.through
            rounds = tuple(item for item in run.rounds if item.sequence > fact.through)
            run = replace(run, compacting=None, rounds=rounds)
            summary += run.input_tokens if includes_input else 0
        usage = ContextUsage(summary=summary, compacted=fact.through, at=context.sequence)
        return replace(thread, run=run, marks=marks, context_usage=usage)

    return change_thread(state, context, compact)


def build_spoken_turn(text: Text, context: FactContext) -> SpokenTurn:
    """Return the location of a person's input."""
    return SpokenTurn(sequence=context.sequence, size=measure_text(text), turn=context.scope.turn)


def add_spoken(thread: Thread, spoken: SpokenTurn | None, context: FactContext) -> Thread:
    """Add a person's text to the model's context, and drop the oldest beyond the limits."""
    if spoken is None or not spoken.size:
        return thread
    newest, size = [replace(spoken, at=context.sequence)], spoken.size
    for earlier in reversed(thread.spoken_turns[-MAX_SPOKEN_TURNS + 1 :]):
        size += earlier.size
        newest.insert(0, earlier)
        if size >= MAX_SPOKEN_BYTES:
            break
    return replace(thread, spoken_turns=tuple(newest))


def count_context(state: Session, fact: Fact, context: FactContext) -> Session:
    """Count what a fact of any entity adds to the model's context, in tokens."""
    count = _COUNTERS.get(type(fact))
    return state if count is None else count(state, fact, context)


def _count_request(state: Session, fact: ModelRequested, context: FactContext) -> Session:
    if fact.purpose != "answer":
        return state
    return change_run(state, context, lambda run: _begin_round(run, context))


def _count_text(
    state: Session, fact: MessageText | MessageInterrupted | ReasoningCompleted, context: FactContext
) -> Session:
    return _add_tokens(state, count_tokens(fact.content), context)


def _count_call(state: Session, fact: ToolRequested, context: FactContext) -> Session:
    changed = 0 if fact.final is fact.arguments else count_tokens(fact.final)
    return _add_tokens(state, count_tokens(fact.arguments) + changed + 10, context)


def _count_result(state: Session, fact: ToolCompleted, context: FactContext) -> Session:
    if fact.images:
        state = update_thread(state, context, newest_image=context.sequence)
    return _add_tokens(state, count_result_tokens(fact.output, len(fact.images)), context)


def _count_failure(state: Session, fact: ToolFailed, context: FactContext) -> Session:
    return _add_tokens(state, count_result_tokens(fact.output) + 20, context)


def _count_refusal(state: Session, fact: ToolRefused, context: FactContext) -> Session:
    return _add_tokens(state, 20, context)


def _count_items(state: Session, fact: InboxReserved, context: FactContext) -> Session:
    return _add_tokens(state, ITEM_TOKENS * len(fact.items), context)


def _note_resolved_image(state: Session, fact: ContextResolved, context: FactContext) -> Session:
    return _note_image(state, fact.refs, context)


def _note_steered_image(state: Session, fact: SteerRequested, context: FactContext) -> Session:
    return _note_image(state, fact.given, context)


def _note_image(state: Session, refs: tuple[ContextRef, ...], context: FactContext) -> Session:
    has_image = any(ref.kind == "image" for ref in refs)
    return update_thread(state, context, newest_image=context.sequence) if has_image else state


def _count_steer(state: Session, fact: SteerAccepted, context: FactContext) -> Session:
    run = find_open_run(state, context)
    steer = next((steer for steer in run.steers if steer.steer == fact.steer_id), None) if run is not None else None
    if steer is None:
        return state
    state = change_thread(state, context, lambda thread: add_spoken(thread, steer.spoken, context))
    return _add_tokens(state, count_tokens(steer.input) + count_ref_tokens(steer.refs), context)


def _add_tokens(state: Session, tokens: int, context: FactContext) -> Session:
    def add(thread: Thread) -> Thread:
        run = thread.run
        if run is None or run.run != context.scope.run or not run.rounds:
            return thread
        newest = replace(run.rounds[-1], tokens=run.rounds[-1].tokens + tokens)
        usage = replace(thread.context_usage, since=thread.context_usage.since + tokens)
        return replace(thread, run=replace(run, rounds=(*run.rounds[:-1], newest)), context_usage=usage)

    return change_thread(state, context, add)


def _begin_round(run: OpenRun, context: FactContext) -> OpenRun:
    """Begin a round. The first model call belongs to the round of the input."""
    if run.iteration == 0 and run.rounds:
        return run
    rounds = (*run.rounds, Round(sequence=context.sequence))
    if len(rounds) > _MAX_ROUNDS:
        first, second = rounds[:2]
        rounds = (Round(sequence=first.sequence, tokens=first.tokens + second.tokens), *rounds[2:])
    return replace(run, rounds=rounds)


def _record_usage(state: Session, fact: CostRecorded, context: FactContext) -> Session:
    """Record the provider's count of the context, except for the call that writes a summary."""
    run = find_open_run(state, context)
    if run is None or run.compacting is not None or not fact.input_tokens:
        return state
    reported = fact.input_tokens + (fact.output_tokens or 0)
    return change_thread(
        state,
        context,
        lambda thread: replace(thread, context_usage=replace(thread.context_usage, reported=reported, since=0)),
    )


#: The function that counts each type of fact. A lookup takes less time than a match.
_COUNTERS: dict[type[Fact], Callable[[Session, Any, FactContext], Session]] = {
    ModelRequested: _count_request,
    MessageText: _count_text,
    MessageInterrupted: _count_text,
    ReasoningCompleted: _count_text,
    ToolRequested: _count_call,
    ToolCompleted: _count_result,
    ToolFailed: _count_failure,
    ToolRefused: _count_refusal,
    InboxReserved: _count_items,
    ContextResolved: _note_resolved_image,
    SteerRequested: _note_steered_image,
    SteerAccepted: _count_steer,
    CostRecorded: _record_usage,
}
