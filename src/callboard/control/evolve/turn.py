"""Turns: submitted, started, asked to stop, ended."""

from __future__ import annotations

from typing import assert_never

import msgspec

from callboard.contracts.content import LARGEST_INLINE, Text
from callboard.contracts.facts.turn import (
    TurnCompleted,
    TurnFact,
    TurnFailed,
    TurnInterrupted,
    TurnInterruptRequested,
    TurnStarted,
    TurnSubmitted,
)

from ..state.context import Round, count_ref_tokens, count_tokens
from ..state.repetition import last_words
from ..state.session import Session, Thread
from ..state.team import TurnEnd
from ..state.turn import OpenRun, QueuedTurn, TurnMark
from .context import asked, spoken
from .fact_context import FactContext, change_run, change_thread
from .task import goes_on, run_started, turn_ended

#: How many turns back a model is told of at most.
MOST_MARKS = 200


def apply(state: Session, fact: TurnFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case TurnSubmitted():
            return submitted(state, fact, place)
        case TurnStarted():
            return started(state, fact, place)
        case TurnInterruptRequested():
            return stopping(state, fact, place)
        case TurnCompleted() | TurnFailed() | TurnInterrupted():
            return ended(state, fact, place)
        case _:
            assert_never(fact)


def submitted(state: Session, fact: TurnSubmitted, place: FactContext) -> Session:
    """What an agent gives its child goes on counting where the agent's own run stands, what a fact began where its doer did."""
    thread = state.threads.get(place.scope.thread)
    child = thread.child if thread is not None else None
    parent = state.threads.get(child.parent) if child is not None and fact.source == "agent" else None
    hops = parent.run.hops + 1 if parent is not None and parent.run is not None else 0
    if fact.source == "schedule" and thread is not None and thread.background is not None:
        hops = thread.background.hops
    turn = QueuedTurn(
        turn=place.scope.turn,
        mode=fact.mode,
        permission_mode=fact.permission_mode,
        sequence=place.sequence,
        woken=fact.source == "inbox",
        hops=hops,
        task=place.scope.task,
        refs=fact.given,
        missing=fact.missing,
        tokens=count_tokens(fact.input) + count_ref_tokens(fact.given),
        compacts=fact.source == "compaction",
        spoken=None if fact.source != "person" else asked(fact.input, place),
    )
    changed = change_thread(state, place, lambda thread: msgspec.structs.replace(thread, submitted=turn))
    return goes_on(changed, place) if turn.task else changed


def started(state: Session, fact: TurnStarted, place: FactContext) -> Session:
    run = OpenRun(
        run=place.scope.run,
        turn=place.scope.turn,
        mode=fact.mode,
        permission_mode=fact.permission_mode,
        max_iters=fact.max_iters,
        definition=fact.definition,
        definition_hash=fact.definition_hash,
        epoch=place.epoch,
        started=place.at,
        prompts=fact.prompts,
        tools=fact.tools,
    )

    def begin(thread: Thread) -> Thread:
        queue = tuple(turn for turn in thread.queue if turn.turn != run.turn)
        waited = (one for one in (*thread.queue, thread.submitted) if one is not None and one.turn == run.turn)
        last = next(waited, QueuedTurn(turn=run.turn, mode=run.mode, permission_mode=run.permission_mode))
        begun = msgspec.structs.replace(
            run,
            woken=last.woken,
            hops=last.hops,
            input_tokens=last.tokens,
            rounds=(Round(sequence=place.sequence, tokens=last.tokens),),
            only_compacts=last.compacts,
        )
        first = min((last.sequence or place.sequence, *(one.sequence for one in thread.inbox)))
        marks = (*thread.marks, TurnMark(sequence=first, started=place.sequence))[-MOST_MARKS:]
        # What the turn was given stands in its submission, and is needed no longer.
        filling = msgspec.structs.replace(thread.context_usage, since=thread.context_usage.since + last.tokens)
        thread = spoken(thread, last.spoken, place)
        working_mode = thread.working_mode if run.permission_mode == "planning" else run.permission_mode
        last = msgspec.structs.replace(last, refs=(), missing=(), tokens=0, spoken=None)
        return msgspec.structs.replace(
            thread,
            run=begun,
            queue=queue,
            submitted=None,
            last=last,
            working_mode=working_mode,
            ended=None,
            marks=marks,
            context_usage=filling,
        )

    changed = change_thread(state, place, begin)
    return run_started(changed, place) if changed.tasks else changed


def stopping(state: Session, fact: TurnInterruptRequested, place: FactContext) -> Session:
    state = change_run(state, place, lambda run: msgspec.structs.replace(run, stopping=True))
    cause = fact.cause
    if cause not in ("cancelled", "closed"):
        return state

    def end(thread: Thread) -> Thread:
        if thread.child is None:
            return thread
        child = msgspec.structs.replace(thread.child, ending=cause, reason=fact.reason)
        return msgspec.structs.replace(thread, child=child)

    return change_thread(state, place, end)


def ended(state: Session, fact: TurnCompleted | TurnFailed | TurnInterrupted, place: FactContext) -> Session:
    def end(thread: Thread) -> Thread:
        run = thread.run
        plain = isinstance(fact, TurnCompleted) and fact.plain_text
        text = _answer(run, plain=plain) if run is not None else Text()
        hops = run.hops if run is not None else 0
        match fact:
            case TurnCompleted():
                how = TurnEnd(how="completed", text=text, hops=hops, plain_text=plain)
            case TurnFailed():
                how = TurnEnd(how="failed", text=text, code=fact.code, message=fact.message, hops=hops)
            case TurnInterrupted():
                how = TurnEnd(how="interrupted", text=text, code=fact.cause, message=fact.reason, hops=hops)
        took = 0 if run is None or thread.child is None else max(0, place.at - run.started) // 1000
        usage = msgspec.structs.replace(thread.usage, duration_ms=thread.usage.duration_ms + took)
        marks = thread.marks
        if run is not None and run.only_compacts:
            # It says nothing, so that the newest turn is the one before.
            marks = marks[:-1]
        elif run is not None and marks:
            took_in = sum(one.tokens for one in run.rounds)
            marks = (*marks[:-1], msgspec.structs.replace(marks[-1], steps=run.next_step, tokens=took_in))
        return msgspec.structs.replace(thread, run=None, ended=how, usage=usage, marks=marks)

    changed = change_thread(state, place, end)
    thread = changed.threads.get(place.scope.thread)
    if thread is None or thread.ended is None or not changed.tasks:
        return changed
    return turn_ended(changed, thread.ended, place)


def _answer(run: OpenRun, *, plain: bool = False) -> Text:
    """What the run answered: what Finalize was told, else its last texts, of which one in `plain` text has the newest alone.
    One that is held elsewhere stays a ref."""
    if run.summary:
        return Text(text=run.summary)
    answer = tuple(text for _, text in last_words(run)) if plain else run.answer
    if len(answer) == 1:
        return answer[0]
    joined = "\n\n".join(one.text for one in answer)
    return Text(text=joined[: LARGEST_INLINE // 4])
