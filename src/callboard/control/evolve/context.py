"""What a thread's model is told: what is pinned, how much it takes, and what was summarised."""

from __future__ import annotations

from typing import assert_never

import msgspec

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
from callboard.contracts.facts.handoff import InboxReserved
from callboard.contracts.facts.message import MessageInterrupted, MessageText, ReasoningCompleted
from callboard.contracts.facts.model import CostRecorded, ModelRequested
from callboard.contracts.facts.queue import SteerAccepted
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed, ToolRefused, ToolRequested

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
    text_size,
)
from ..state.session import Session, Thread
from ..state.turn import OpenRun
from .fact_context import FactContext, change_run, change_thread

#: How many rounds of a run are told apart; of more, the oldest are one.
MOST_ROUNDS = 100


def apply(state: Session, fact: ContextFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case ContextPinned():
            return pinned(state, fact, place)
        case ContextResolved():
            return resolved(state, fact, place)
        case CompactionStarted():
            return compacting(state, fact, place)
        case CompactionCompleted():
            return compacted(state, fact, place)
        case CompactionFailed():
            return not_compacted(state, place)
        case _:
            assert_never(fact)


def pinned(state: Session, fact: ContextPinned, place: FactContext) -> Session:
    return change_thread(state, place, lambda thread: msgspec.structs.replace(thread, pinned=fact.pinned))


def resolved(state: Session, fact: ContextResolved, place: FactContext) -> Session:
    """What a turn names is counted with its input; what it is given beside that is counted here."""
    more = count_ref_tokens(ref for ref in fact.refs if ref.source == "pinned")
    told = {"refs": fact.refs, "missing": fact.missing, "omitted": fact.omitted}
    state = change_run(state, place, lambda run: msgspec.structs.replace(run, **told))
    return _more(state, more, place) if more else state


def compacting(state: Session, fact: CompactionStarted, place: FactContext) -> Session:
    begun = OpenCompaction(step=place.scope.step, through=fact.through, cause=fact.cause, tokens=fact.tokens or 0)
    return change_run(state, place, lambda run: msgspec.structs.replace(run, compacting=begun))


def compacted(state: Session, fact: CompactionCompleted, place: FactContext) -> Session:
    """What was summarised is no longer told; the input of the turn under way is, in any case."""

    def take(thread: Thread) -> Thread:
        run = thread.run
        summary = count_tokens(fact.summary) + sum(one.size // BYTES_PER_TOKEN + 1 for one in fact.said)
        marks = tuple(one for one in thread.marks[:-1] if one.started > fact.through) + thread.marks[-1:]
        if marks and marks[-1].started <= fact.through:
            # What comes of this turn from here on is a part of the conversation like any other.
            marks = (*marks[:-1], msgspec.structs.replace(marks[-1], started=fact.through + 1))
        if run is not None:
            within = bool(run.rounds) and run.rounds[0].sequence <= fact.through
            rounds = tuple(one for one in run.rounds if one.sequence > fact.through)
            run = msgspec.structs.replace(run, compacting=None, rounds=rounds)
            summary += run.input_tokens if within else 0
        filling = ContextUsage(summary=summary, compacted=fact.through, at=place.sequence)
        return msgspec.structs.replace(thread, run=run, marks=marks, context_usage=filling)

    return change_thread(state, place, take)


def not_compacted(state: Session, place: FactContext) -> Session:
    return change_run(state, place, lambda run: msgspec.structs.replace(run, compacting=None, compaction_failed=True))


def asked(text: Text, place: FactContext) -> SpokenTurn:
    """What a person asks of a turn."""
    return SpokenTurn(sequence=place.sequence, size=text_size(text), turn=place.scope.turn)


def spoken(thread: Thread, said: SpokenTurn | None, place: FactContext) -> Thread:
    """The thread whose model is told from here on what a person said, of which the newest is remembered."""
    if said is None or not said.size:
        return thread
    kept, size = [msgspec.structs.replace(said, at=place.sequence)], said.size
    for one in reversed(thread.spoken_turns[-MAX_SPOKEN_TURNS + 1 :]):
        size += one.size
        kept.insert(0, one)
        if size >= MAX_SPOKEN_BYTES:
            break
    return msgspec.structs.replace(thread, spoken_turns=tuple(kept))


def filled(state: Session, fact: Fact, place: FactContext) -> Session:
    """The state with what the fact adds to what the model is told."""
    match fact:
        case ModelRequested(purpose="answer"):
            return change_run(state, place, lambda run: _next_round(run, place))
        case MessageText(content=text) | MessageInterrupted(content=text) | ReasoningCompleted(content=text):
            return _more(state, count_tokens(text), place)
        case ToolRequested(arguments=arguments) as fact:
            told = 0 if fact.final is arguments else count_tokens(fact.final)
            return _more(state, count_tokens(arguments) + told + 10, place)
        case ToolCompleted(output=output, images=images):
            return _more(state, count_result_tokens(output, len(images)), place)
        case ToolFailed(output=output):
            return _more(state, count_result_tokens(output) + 20, place)
        case ToolRefused():
            return _more(state, 20, place)
        case InboxReserved(items=items):
            return _more(state, ITEM_TOKENS * len(items), place)
        case SteerAccepted(steer_id=steer):
            run = _run(state, place)
            waits = next((one for one in run.steers if one.steer == steer), None) if run is not None else None
            if waits is None:
                return state
            state = change_thread(state, place, lambda thread: spoken(thread, waits.spoken, place))
            return _more(state, count_tokens(waits.input) + count_ref_tokens(waits.refs), place)
        case CostRecorded():
            return _told(state, fact, place)
        case _:
            return state


def _more(state: Session, tokens: int, place: FactContext) -> Session:
    def add(thread: Thread) -> Thread:
        run = thread.run
        if run is None or run.run != place.scope.run or not run.rounds:
            return thread
        last = run.rounds[-1]
        grown = msgspec.structs.replace(last, tokens=last.tokens + tokens)
        filling = msgspec.structs.replace(thread.context_usage, since=thread.context_usage.since + tokens)
        run = msgspec.structs.replace(run, rounds=(*run.rounds[:-1], grown))
        return msgspec.structs.replace(thread, run=run, context_usage=filling)

    return change_thread(state, place, add)


def _next_round(run: OpenRun, place: FactContext) -> OpenRun:
    """The first model call goes on with the round of the input."""
    if run.iteration == 0 and run.rounds:
        return run
    rounds = (*run.rounds, Round(sequence=place.sequence))
    if len(rounds) > MOST_ROUNDS:
        first, second = rounds[:2]
        rounds = (Round(sequence=first.sequence, tokens=first.tokens + second.tokens), *rounds[2:])
    return msgspec.structs.replace(run, rounds=rounds)


def _told(state: Session, fact: CostRecorded, place: FactContext) -> Session:
    """The provider told what its model was told. What a summary takes to make says nothing of that."""
    run = _run(state, place)
    if run is None or run.compacting is not None or not fact.input_tokens:
        return state
    told = fact.input_tokens + (fact.output_tokens or 0)

    def take(thread: Thread) -> Thread:
        return msgspec.structs.replace(
            thread, context_usage=msgspec.structs.replace(thread.context_usage, reported=told, since=0)
        )

    return change_thread(state, place, take)


def _run(state: Session, place: FactContext) -> OpenRun | None:
    thread = state.threads.get(place.scope.thread)
    run = thread.run if thread is not None else None
    return run if run is not None and run.run == place.scope.run else None
