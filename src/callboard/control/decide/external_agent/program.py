"""External agents: what they report while one model call, their prompt, is open.

Their parts and calls become facts beside the open model call. The end of a call does not cause
another model call. The end of the prompt is reported like a model's response.
"""

from __future__ import annotations

from callboard.contracts.facts.agent import AgentConnected, AgentDisconnected, AgentModeChanged
from callboard.contracts.facts.message import MessageText, ReasoningCompleted
from callboard.contracts.facts.permission import PermissionEvaluated
from callboard.contracts.facts.tool import ToolCancelled, ToolRefused, ToolRequested
from callboard.contracts.ports.external import CONNECT_AGENT, START_AGENT
from callboard.contracts.scope import Scope

from ...batch import Batch, build_call_scope, build_run_scope, build_thread_scope
from ...outcomes import (
    ExternalCallReported,
    ExternalChanged,
    ExternalConnected,
    ExternalDisconnected,
    ExternalPlanReported,
    PartEnded,
)
from ...state.session import Thread
from ...state.turn import OpenRun
from ..tool.calls import ask_approval, build_hook_outcome, get_original_arguments, start_call
from ..turn.inbox import consume_inbox
from ..turn.iterate import find_run
from ..turn.plan import record_plan


def record_external(
    batch: Batch,
    outcome: ExternalConnected
    | ExternalChanged
    | ExternalDisconnected
    | PartEnded
    | ExternalCallReported
    | ExternalPlanReported,
) -> None:
    """Record a report of an external agent."""
    match outcome:
        case ExternalConnected():
            record_connected(batch, outcome)
        case ExternalChanged():
            record_settings(batch, outcome)
        case ExternalDisconnected():
            record_disconnected(batch, outcome)
        case PartEnded():
            record_part(batch, outcome)
        case ExternalCallReported():
            record_call(batch, outcome)
        case ExternalPlanReported():
            record_reported_plan(batch, outcome)


def record_connected(batch: Batch, outcome: ExternalConnected) -> None:
    """Record that the agent has a conversation for this thread."""
    thread = batch.state.threads.get(outcome.thread)
    if thread is None:
        return
    batch.add(
        AgentConnected(
            provider_session_id=outcome.provider_session,
            name=outcome.name,
            version=outcome.version,
            resumed=outcome.resumed,
            card=batch.store_text(outcome.card),
            mode=outcome.settings.mode,
            model=outcome.settings.model,
        ),
        build_thread_scope(thread),
    )


def record_settings(batch: Batch, outcome: ExternalChanged) -> None:
    """Record the mode and the model that apply from now on."""
    thread = batch.state.threads.get(outcome.thread)
    if thread is not None:
        settings = outcome.settings
        fact = AgentModeChanged(mode=settings.mode, model=settings.model, allowed=outcome.allowed)
        batch.add(fact, build_thread_scope(thread))


def record_disconnected(batch: Batch, outcome: ExternalDisconnected) -> None:
    """Record that the agent ended."""
    thread = batch.state.threads.get(outcome.thread)
    if thread is not None:
        disconnect(batch, thread, outcome.reason)


def disconnect(batch: Batch, thread: Thread, reason: str) -> None:
    """Record once that a connected agent ended."""
    link = thread.external
    if link is not None and link.connected:
        batch.add(
            AgentDisconnected(provider_session_id=link.provider_session, reason=reason),
            Scope(agent=thread.agent, thread=thread.thread),
        )


def record_part(batch: Batch, outcome: PartEnded) -> None:
    """Record a complete part of the response. The first part consumes the inbox items of the
    prompt."""
    prompted = _find_prompted_run(batch, outcome)
    if prompted is None:
        return
    thread, run = prompted
    piece = outcome.piece
    scope = build_run_scope(thread, run, piece.step)
    if piece.kind == "text":
        batch.add(MessageText(content=batch.store_text(piece.text)), scope)
    else:
        batch.add(ReasoningCompleted(content=batch.store_text(piece.text)), scope)
    consume_inbox(batch, outcome.thread)


def record_call(batch: Batch, outcome: ExternalCallReported) -> None:
    """Record a call that the agent began or asks permission for, with the gate's evaluation."""
    prompted = _find_prompted_run(batch, outcome)
    if prompted is None:
        return
    thread, run = prompted
    call, evaluation = outcome.call, outcome.call.evaluation
    scope = build_call_scope(thread, run, call)
    before = run.find_call(call.call)
    if before is None:
        batch.add(
            ToolRequested(
                tool=call.tool,
                arguments=batch.store_text(get_original_arguments(call)),
                summary=evaluation.summary,
                provider_call_id=call.provider_call_id,
                hooked=build_hook_outcome(batch, evaluation.hook_result),
            ),
            scope,
        )
    batch.add(
        PermissionEvaluated(
            tool=call.tool,
            verdict=evaluation.verdict,
            risk=evaluation.risk,
            arguments_hash=evaluation.arguments_hash,
            checks=evaluation.checks,
        ),
        scope,
    )
    if run.stopping:
        started = outcome.is_underway or (before is not None and before.phase == "running")
        batch.add(ToolCancelled(started=started), scope)
    elif evaluation.verdict == "deny":
        batch.add(ToolRefused(code=evaluation.code or "policy_denied", message=evaluation.message), scope)
    elif evaluation.verdict == "ask":
        ask_approval(batch, scope, call.tool, evaluation, call.step + 1)
    elif before is None or before.phase != "running":
        start_call(batch, scope, call.tool, evaluation)
    if call.tool not in (START_AGENT, CONNECT_AGENT):
        consume_inbox(batch, outcome.thread)


def record_reported_plan(batch: Batch, outcome: ExternalPlanReported) -> None:
    """Record the agent's plan."""
    prompted = _find_prompted_run(batch, outcome)
    if prompted is not None:
        record_plan(batch, *prompted, outcome.step, outcome.steps)
        consume_inbox(batch, outcome.thread)


def _find_prompted_run(
    batch: Batch, outcome: PartEnded | ExternalCallReported | ExternalPlanReported
) -> tuple[Thread, OpenRun] | None:
    """Return the run with this open prompt; None if it ended."""
    open_run = find_run(batch, outcome.thread, outcome.run)
    return open_run if open_run is not None and open_run[1].model_step == outcome.prompt else None
