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
    report: ExternalConnected
    | ExternalChanged
    | ExternalDisconnected
    | PartEnded
    | ExternalCallReported
    | ExternalPlanReported,
) -> None:
    """Record a report of an external agent."""
    match report:
        case ExternalConnected():
            record_connected(batch, report)
        case ExternalChanged():
            record_settings(batch, report)
        case ExternalDisconnected():
            record_disconnected(batch, report)
        case PartEnded():
            record_part(batch, report)
        case ExternalCallReported():
            record_call(batch, report)
        case ExternalPlanReported():
            record_reported_plan(batch, report)


def record_connected(batch: Batch, report: ExternalConnected) -> None:
    """Record that the agent has a conversation for this thread."""
    thread = batch.state.threads.get(report.thread)
    if thread is None:
        return
    batch.add(
        AgentConnected(
            provider_session_id=report.provider_session,
            name=report.name,
            version=report.version,
            resumed=report.resumed,
            card=batch.store_text(report.card),
            mode=report.settings.mode,
            model=report.settings.model,
        ),
        build_thread_scope(thread),
    )


def record_settings(batch: Batch, report: ExternalChanged) -> None:
    """Record the mode and the model that apply from now on."""
    thread = batch.state.threads.get(report.thread)
    if thread is not None:
        settings = report.settings
        fact = AgentModeChanged(mode=settings.mode, model=settings.model, allowed=report.allowed)
        batch.add(fact, build_thread_scope(thread))


def record_disconnected(batch: Batch, report: ExternalDisconnected) -> None:
    """Record that the agent ended."""
    thread = batch.state.threads.get(report.thread)
    if thread is not None:
        disconnect(batch, thread, report.reason)


def disconnect(batch: Batch, thread: Thread, reason: str) -> None:
    """Record once that a connected agent ended."""
    link = thread.external
    if link is not None and link.connected:
        batch.add(
            AgentDisconnected(provider_session_id=link.provider_session, reason=reason),
            Scope(agent=thread.agent, thread=thread.thread),
        )


def record_part(batch: Batch, report: PartEnded) -> None:
    """Record a complete part of the response. The first part consumes the inbox items of the
    prompt."""
    prompted = _find_prompted_run(batch, report)
    if prompted is None:
        return
    thread, run = prompted
    piece = report.piece
    scope = build_run_scope(thread, run, piece.step)
    if piece.kind == "text":
        batch.add(MessageText(content=batch.store_text(piece.text)), scope)
    else:
        batch.add(ReasoningCompleted(content=batch.store_text(piece.text)), scope)
    consume_inbox(batch, report.thread)


def record_call(batch: Batch, report: ExternalCallReported) -> None:
    """Record a call that the agent began or asks permission for, with the gate's evaluation."""
    prompted = _find_prompted_run(batch, report)
    if prompted is None:
        return
    thread, run = prompted
    call, evaluation = report.call, report.call.evaluation
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
        started = report.is_underway or (before is not None and before.phase == "running")
        batch.add(ToolCancelled(started=started), scope)
    elif evaluation.verdict == "deny":
        batch.add(ToolRefused(code=evaluation.code or "policy_denied", message=evaluation.message), scope)
    elif evaluation.verdict == "ask":
        ask_approval(batch, scope, call.tool, evaluation, call.step + 1)
    elif before is None or before.phase != "running":
        start_call(batch, scope, call.tool, evaluation)
    if call.tool not in (START_AGENT, CONNECT_AGENT):
        consume_inbox(batch, report.thread)


def record_reported_plan(batch: Batch, report: ExternalPlanReported) -> None:
    """Record the agent's plan."""
    prompted = _find_prompted_run(batch, report)
    if prompted is not None:
        record_plan(batch, *prompted, report.step, report.steps)
        consume_inbox(batch, report.thread)


def _find_prompted_run(
    batch: Batch, report: PartEnded | ExternalCallReported | ExternalPlanReported
) -> tuple[Thread, OpenRun] | None:
    """Return the run with this open prompt; None if it ended."""
    open_run = find_run(batch, report.thread, report.run)
    return open_run if open_run is not None and open_run[1].model_step == report.prompt else None
