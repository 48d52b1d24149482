"""Facts of tool calls, tool catalogs and tool servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

import msgspec
from msgspec.structs import replace

from callboard.contracts.facts.tool import (
    SandboxApplied,
    ToolCancelled,
    ToolCatalogResolved,
    ToolCompleted,
    ToolFact,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    ToolServerConnected,
    ToolServerLost,
    ToolStarted,
)

from ..state.repetition import ToolEnd, record_call
from ..state.session import Session, Thread
from ..state.turn import FINALIZE, OpenCall, OpenRun
from .fact_context import FactContext, change_run, change_thread, compute_next_step, update_thread


def apply(state: Session, fact: ToolFact, context: FactContext) -> Session:
    match fact:
        case ToolRequested():
            return _request_call(state, fact, context)
        case ToolStarted():
            started = context.sequence
            return change_call(state, context, lambda call: replace(call, phase="running", started_sequence=started))
        case ToolCompleted() | ToolFailed() | ToolRefused() | ToolCancelled() | ToolLost():
            return change_run(state, context, lambda run: _end_call(run, fact, context))
        case ToolCatalogResolved():
            return _record_catalog(state, fact, context)
        case ToolServerConnected() | ToolServerLost():
            return replace(state, servers={**state.servers, fact.server: encode_server_state(fact)})
        case SandboxApplied():
            return state
        case _:
            assert_never(fact)


def _request_call(state: Session, fact: ToolRequested, context: FactContext) -> Session:
    call = OpenCall(
        call=context.scope.tool_call,
        step=context.scope.step,
        tool=fact.tool,
        arguments=fact.arguments,
        hooked=fact.hooked,
    )

    def count(thread: Thread) -> Thread:
        if thread.child is None:
            return thread
        return replace(thread, usage=replace(thread.usage, tool_calls=thread.usage.tool_calls + 1))

    def add(run: OpenRun) -> OpenRun:
        return replace(
            run, calls=(*run.calls, call), answer_parts=(), answer=(), next_step=compute_next_step(run, context)
        )

    return change_run(change_thread(state, context, count), context, add)


def _end_call(run: OpenRun, fact: ToolEnd, context: FactContext) -> OpenRun:
    call = run.find_call(context.scope.tool_call)
    if call is not None:
        if isinstance(fact, ToolCompleted) and call.tool == FINALIZE:
            run = replace(run, finalised=True, summary=_parse_summary(call))
        run = record_call(run, call, fact)
    return replace(run, calls=tuple(other for other in run.calls if other.call != context.scope.tool_call))


def change_call(state: Session, context: FactContext, change: Callable[[OpenCall], OpenCall]) -> Session:
    def change_calls(run: OpenRun) -> OpenRun:
        calls = tuple(change(call) if call.call == context.scope.tool_call else call for call in run.calls)
        return replace(run, calls=calls)

    return change_run(state, context, change_calls)


def _parse_summary(call: OpenCall) -> str:
    """Return the summary that Finalize received; empty for arguments too large for a fact."""
    try:
        return msgspec.json.decode(call.effective_arguments.text, type=_FinalizeArguments).summary
    except msgspec.DecodeError:
        return ""


class _FinalizeArguments(msgspec.Struct):
    summary: str = ""


def _record_catalog(state: Session, fact: ToolCatalogResolved, context: FactContext) -> Session:
    state = update_thread(state, context, catalog=fact.catalog.hash)
    if not fact.added:
        return state
    return change_run(state, context, lambda run: replace(run, tools=tuple(dict.fromkeys((*run.tools, *fact.added)))))


def encode_server_state(fact: ToolServerConnected | ToolServerLost) -> str:
    """Return the recorded state of a tool server as one comparable text."""
    return msgspec.json.encode((fact.type, fact)).decode()
