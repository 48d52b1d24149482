"""Facts of turns: submitted, started, interrupted, ended."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from callboard.contracts.content import MAX_INLINE_BYTES, Text
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
from ..state.repetition import list_final_texts
from ..state.session import Session, Thread
from ..state.turn import MAX_MARKS, OpenRun, QueuedTurn, TurnEnd, TurnMark
from .context import add_spoken, build_spoken_turn
from .fact_context import FactContext, change_thread, update_run, update_thread
from .task import continue_attempt, end_task_turn, start_task_run


def apply(state: Session, fact: TurnFact, context: FactContext) -> Session:
    match fact:
        case TurnSubmitted():
            return _submit_turn(state, fact, context)
        case TurnStarted():
            return _start_turn(state, fact, context)
        case TurnInterruptRequested():
            return _request_interrupt(state, fact, context)
        case TurnCompleted() | TurnFailed() | TurnInterrupted():
            return _end_turn(state, fact, context)
        case _:
            assert_never(fact)


def _submit_turn(state: Session, fact: TurnSubmitted, context: FactContext) -> Session:
    """Add a turn. A child's turn continues the chain of its parent's run, and a turn that a fact
    triggered continues the chain of that fact."""
    thread = state.threads.get(context.scope.thread)
    child = thread.child if thread is not None else None
    parent = state.threads.get(child.parent) if child is not None and fact.source == "agent" else None
    hops = parent.run.hops + 1 if parent is not None and parent.run is not None else 0
    if fact.source == "schedule" and thread is not None and thread.background is not None:
        hops = thread.background.hops
    turn = QueuedTurn(
        turn=context.scope.turn,
        mode=fact.mode,
        permission_mode=fact.permission_mode,
        sequence=context.sequence,
        woken=fact.source == "inbox",
        hops=hops,
        task=context.scope.task,
        refs=fact.given,
        missing=fact.missing,
        tokens=count_tokens(fact.input) + count_ref_tokens(fact.given),
        compacts=fact.source == "compaction",
        spoken=None if fact.source != "person" else build_spoken_turn(fact.input, context),
    )
    changed = update_thread(state, context, submitted=turn)
    return continue_attempt(changed, context) if turn.task else changed


def _start_turn(state: Session, fact: TurnStarted, context: FactContext) -> Session:
    turn_id = context.scope.turn

    def start(thread: Thread) -> Thread:
        submitted = (turn for turn in (*thread.queue, thread.submitted) if turn is not None and turn.turn == turn_id)
        default = QueuedTurn(turn=turn_id, mode=fact.mode, permission_mode=fact.permission_mode)
        turn = next(submitted, default)
        run = OpenRun(
            run=context.scope.run,
            turn=turn_id,
            mode=fact.mode,
            permission_mode=fact.permission_mode,
            max_iters=fact.max_iters,
            definition=fact.definition,
            definition_hash=fact.definition_hash,
            epoch=context.epoch,
            started=context.at,
            prompts=fact.prompts,
            tools=fact.tools,
            woken=turn.woken,
            hops=turn.hops,
            input_tokens=turn.tokens,
            rounds=(Round(sequence=context.sequence, tokens=turn.tokens),),
            only_compacts=turn.compacts,
        )
        first = min((turn.sequence or context.sequence, *(item.sequence for item in thread.inbox)))
        marks = (*thread.marks, TurnMark(sequence=first, started=context.sequence))[-MAX_MARKS:]
        usage = replace(thread.context_usage, since=thread.context_usage.since + turn.tokens)
        return replace(
            add_spoken(thread, turn.spoken, context),
            run=run,
            queue=tuple(other for other in thread.queue if other.turn != turn_id),
            submitted=None,
            # The input and its context are in the log: only the modes are needed from here on.
            last=replace(turn, refs=(), missing=(), tokens=0, spoken=None),
            working_mode=thread.working_mode if fact.permission_mode == "planning" else fact.permission_mode,
            ended=None,
            marks=marks,
            context_usage=usage,
        )

    changed = change_thread(state, context, start)
    return start_task_run(changed, context) if changed.tasks else changed


def _request_interrupt(state: Session, fact: TurnInterruptRequested, context: FactContext) -> Session:
    state, cause = update_run(state, context, stopping=True), fact.cause
    if cause not in ("cancelled", "closed"):
        return state

    def end(thread: Thread) -> Thread:
        if thread.child is None:
            return thread
        return replace(thread, child=replace(thread.child, ending=cause, reason=fact.reason))

    return change_thread(state, context, end)


def _end_turn(state: Session, fact: TurnCompleted | TurnFailed | TurnInterrupted, context: FactContext) -> Session:
    def end(thread: Thread) -> Thread:
        run, marks = thread.run, thread.marks
        duration = 0 if run is None or thread.child is None else max(0, context.at - run.started) // 1000
        usage = replace(thread.usage, duration_ms=thread.usage.duration_ms + duration)
        if run is not None and run.only_compacts:
            # A compaction adds no message, so the turn before it stays the newest.
            marks = marks[:-1]
        elif run is not None and marks:
            tokens = sum(item.tokens for item in run.rounds)
            marks = (*marks[:-1], replace(marks[-1], steps=run.next_step, tokens=tokens))
        return replace(thread, run=None, ended=_build_turn_end(fact, run), usage=usage, marks=marks)

    changed = change_thread(state, context, end)
    thread = changed.threads.get(context.scope.thread)
    if thread is None or thread.ended is None or not changed.tasks:
        return changed
    return end_task_turn(changed, thread.ended, context)


def _build_turn_end(fact: TurnCompleted | TurnFailed | TurnInterrupted, run: OpenRun | None) -> TurnEnd:
    is_plain = isinstance(fact, TurnCompleted) and fact.plain_text
    text = _find_answer(run, is_plain=is_plain) if run is not None else Text()
    hops = run.hops if run is not None else 0
    match fact:
        case TurnCompleted():
            return TurnEnd(how="completed", text=text, hops=hops, plain_text=is_plain)
        case TurnFailed():
            return TurnEnd(how="failed", text=text, code=fact.code, message=fact.message, hops=hops)
        case TurnInterrupted():
            return TurnEnd(how="interrupted", text=text, code=fact.cause, message=fact.reason, hops=hops)


def _find_answer(run: OpenRun, *, is_plain: bool) -> Text:
    """Return the run's answer: the summary of Finalize, else its final texts; in plain text only the newest.
    A single text in a blob stays a ref."""
    if run.summary:
        return Text(text=run.summary)
    answer = tuple(text for _, text in list_final_texts(run)) if is_plain else run.answer
    if len(answer) == 1:
        return answer[0]
    return Text(text="\n\n".join(text.text for text in answer)[: MAX_INLINE_BYTES // 4])
