"""Input of threads: submitted turns, steers and pinned context."""

from __future__ import annotations

from callboard.contracts.commands.context import ContextChanged, SetContext
from callboard.contracts.commands.turn import SteerQueued, SteerTurn, SubmitTurn, TurnAccepted
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.context import ContextPinned
from callboard.contracts.facts.queue import QueueAdded, QueuePromoted, SteerRequested
from callboard.contracts.facts.session import ThreadResumed
from callboard.contracts.facts.turn import PermissionMode, TurnInterruptRequested, TurnSubmitted

from ...batch import Batch, build_run_scope, build_thread_scope
from ...decision_inputs import limit_carried_mode
from ...input_text import make_title
from ...resolved_context import merge_contexts
from ...state.session import Session, Thread
from ...state.turn import QueuedTurn
from ..agent.join import begin_session
from ..subagent.children import continue_child
from ..subagent.slots import start_or_wait
from ..turn.queue_eligibility import find_startable
from ..turn.routing import check_images, check_steered_images
from ..turn.start import require_thread, start_turn


def submit_turn(batch: Batch, request: SubmitTurn) -> TurnAccepted:
    """Accept input (Control plane specification, submit_turn).

    Raises:
        Refusal: `turn_id_used`, `thread_busy`, `unknown_thread`.
    """
    if batch.state.sequence == 0:
        mode = request.permission_mode or batch.inputs.default_mode
        begin_session(batch, make_title(request.text), request.mode, mode, request.thread_id)
    thread = require_thread(batch.state, request.thread_id)
    permission = request.permission_mode or _derive_default_mode(batch, thread)
    turn = request.turn_id or batch.inputs.ids.new("turn")
    if turn in batch.inputs.closed_ids or turn in _list_open_turns(batch.state):
        raise Refusal(
            "turn_id_used",
            f"The session already has a turn {turn}.",
            field="turnId",
            hint="Leave turnId out, or use a new id.",
        )
    if _is_busy(batch.state, thread) and not _can_resume_on_input(thread) and request.when_busy == "refuse":
        raise Refusal(
            "thread_busy",
            "A turn is running or waiting in this thread.",
            hint="Set whenBusy to queue or interrupt.",
        )
    if thread.child is not None:
        if thread.child.ending:
            raise Refusal(
                "thread_busy", f"{thread.agent} is stopping.", hint="Send the input again once it has stopped."
            )
        continue_child(batch, thread, thread.child, request.text)
        thread = batch.get_thread(thread.thread)
    check_images(batch, thread.definition, request.mode, permission)
    batch.add_blobs(*batch.inputs.resolved_context.blobs)
    batch.add(
        TurnSubmitted(
            input=batch.store_text(request.text),
            mode=request.mode,
            permission_mode=permission,
            given=batch.inputs.resolved_context.refs,
            missing=batch.inputs.resolved_context.missing,
        ),
        build_thread_scope(thread, turn),
    )
    if _can_resume_on_input(thread):
        batch.add(ThreadResumed(reason="new input with an empty queue"), build_thread_scope(thread))
        thread = batch.get_thread(thread.thread)
    if _is_busy(batch.state, thread):
        _enqueue(batch, thread.thread, turn, first=request.when_busy == "interrupt")
        if request.when_busy == "interrupt" and thread.run is not None and not thread.run.stopping:
            batch.add(
                TurnInterruptRequested(cause="replaced", reason="replaced by newer input"),
                build_run_scope(thread, thread.run),
            )
    elif thread.child is not None:
        _enqueue(batch, thread.thread, turn, first=False)
        start_or_wait(batch, thread.thread)
    else:
        start_turn(batch, thread.thread, QueuedTurn(turn=turn, mode=request.mode, permission_mode=permission))
    after = batch.get_thread(thread.thread)
    return TurnAccepted(
        session_id=batch.state.session,
        thread_id=thread.thread,
        turn_id=turn,
        status="started" if after.run is not None and after.run.turn == turn else "queued",
        sequence=batch.state.sequence,
    )


def steer_turn(batch: Batch, request: SteerTurn) -> SteerQueued:
    """Accept input for the running turn's next model call, once per steer id.

    Raises:
        Refusal: `nothing_running`, and `idempotency_conflict` for another text under that id.
    """
    thread = require_thread(batch.state, request.thread_id)
    run = thread.run
    if run is None or run.stopping:
        raise Refusal("nothing_running", "No turn is running in this thread.", hint="Submit the text as a turn.")
    steer_id = request.steer_id or batch.inputs.ids.new("steer")
    text = batch.store_text(request.text)
    waiting = next((steer for steer in run.steers if steer.steer == steer_id), None)
    if waiting is None:
        context = batch.inputs.resolved_context
        check_steered_images(batch, run)
        batch.add_blobs(*context.blobs)
        batch.add(
            SteerRequested(steer_id=steer_id, input=text, given=context.refs, missing=context.missing),
            build_run_scope(thread, run),
        )
    elif waiting.input != text:
        raise Refusal(
            "idempotency_conflict",
            f"The steer {steer_id} already has another text.",
            field="steerId",
            hint="Leave steerId out, or use a new id.",
        )
    return SteerQueued(
        session_id=batch.state.session, turn_id=run.turn, steer_id=steer_id, sequence=batch.state.sequence
    )


def pin_context(batch: Batch, request: SetContext) -> ContextChanged:
    """Set the context of every turn of the thread.

    Raises:
        Refusal: `unknown_thread`.
    """
    thread = require_thread(batch.state, request.thread_id)
    pinned = tuple(dict.fromkeys(request.pinned))
    context = merge_contexts(*(batch.inputs.resolve_pin(name) for name in pinned))
    if pinned != thread.pinned:
        batch.add(ContextPinned(pinned=pinned), build_thread_scope(thread))
    return ContextChanged(
        session_id=batch.state.session,
        thread_id=thread.thread,
        pinned=pinned,
        missing=context.missing,
        sequence=batch.state.sequence,
    )


def _derive_default_mode(batch: Batch, thread: Thread) -> PermissionMode:
    """Return the permission mode of input that names none: the one of the thread's newest turn, else
    the default."""
    newest = thread.queue[-1] if thread.queue else thread.last
    if newest is None:
        return batch.inputs.default_mode
    return limit_carried_mode(batch.inputs, newest.permission_mode)


def _enqueue(batch: Batch, thread_id: str, turn: str, *, first: bool) -> None:
    thread = batch.get_thread(thread_id)
    scope = build_thread_scope(thread, turn)
    batch.add(QueueAdded(position=len(thread.queue) + 1), scope)
    if first and thread.queue:
        batch.add(QueuePromoted(reason="interrupts the running turn"), scope)


def _can_resume_on_input(thread: Thread) -> bool:
    """Return True for a paused thread that new input resumes: nothing is queued before it."""
    return thread.paused is not None and thread.run is None and not thread.queue


def _is_busy(state: Session, thread: Thread) -> bool:
    return thread.run is not None or find_startable(state, thread) is not None or thread.paused is not None


def _list_open_turns(state: Session) -> set[str]:
    queued = {turn.turn for thread in state.threads.values() for turn in thread.queue}
    return queued | {thread.run.turn for thread in state.threads.values() if thread.run is not None}
