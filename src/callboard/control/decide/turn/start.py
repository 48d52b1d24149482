"""Starts of turns: the run is configured, gets its context, and asks its model."""

from __future__ import annotations

from callboard.contracts.commands.turn import ThreadChanged
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.turn import TurnStarted
from callboard.contracts.scope import Scope

from ...batch import Batch, build_thread_scope
from ...state.session import Session, Thread
from ...state.turn import QueuedTurn
from .context import record_context
from .inbox import reserve_inbox
from .iterate import ask_model
from .queue_eligibility import find_startable
from .routing import route, warn_of_images
from .sleep import begin_attempt
from .tool_catalog import record_catalog, record_servers


def start_turn(batch: Batch, thread_id: str, turn: QueuedTurn) -> None:
    """Start a run of the turn and ask its model. Raises what `DecisionInputs.configure_run` raises,
    before any fact."""
    thread = batch.get_thread(thread_id)
    config = batch.inputs.configure_run(thread.definition, turn.mode, turn.permission_mode)
    run = batch.inputs.ids.new("run")
    scope = Scope(agent=thread.agent, thread=thread.thread, turn=turn.turn, run=run)
    if not turn.compacts:
        begin_attempt(batch, thread, turn, run)
    batch.add_blobs(*config.prompt_blobs, *config.instructions.blobs)
    batch.add(
        TurnStarted(
            mode=turn.mode,
            permission_mode=config.permission_mode or turn.permission_mode,
            max_iters=config.max_iters,
            definition=config.definition,
            definition_hash=config.definition_hash,
            workspace_sequence=config.workspace_sequence,
            prompts=config.prompts,
            tools=config.tools,
        ),
        scope,
    )
    record_servers(batch, config.servers, scope)
    record_catalog(batch, thread_id, config.catalog, scope)
    route(batch, thread, turn, config, scope)
    record_context(batch, thread, config, scope)
    warn_of_images(batch, batch.get_thread(thread_id), scope)
    if not turn.compacts:
        reserve_inbox(batch, thread_id)
    ask_model(batch, thread_id)


def start_next(batch: Batch, thread_id: str) -> None:
    """Start the first eligible turn of the queue after a run ended. A turn that cannot start pauses
    the thread; resuming it reports the cause."""
    thread = batch.get_thread(thread_id)
    first = find_startable(batch.state, thread)
    if first is None:
        return
    try:
        start_turn(batch, thread_id, first)
    except Refusal as refusal:
        batch.add(ThreadPaused(cause="failed", reason=refusal.code), build_thread_scope(thread))


def require_thread(state: Session, thread_id: str | None) -> Thread:
    """Return the thread with that id; without an id, the owner's thread.

    Raises:
        Refusal: `unknown_thread`.
    """
    thread = state.threads.get(thread_id or state.owner or state.lead)
    if thread is None:
        raise Refusal(
            "unknown_thread",
            f"The session has no thread {thread_id}.",
            field="threadId",
            hint="get_session lists the threads.",
        )
    return thread


def build_thread_answer(batch: Batch, thread_id: str) -> ThreadChanged:
    """Return the answer with the running turn."""
    run = batch.get_thread(thread_id).run
    return ThreadChanged(
        session_id=batch.state.session,
        thread_id=thread_id,
        turn_id=run.turn if run is not None else "",
        sequence=batch.state.sequence,
    )
