"""Tool calls and the approvals they wait for."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

import msgspec

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

from ..state.repetition import ToolEnd, did
from ..state.session import Session, Thread
from ..state.turn import FINALIZE, OpenCall, OpenRun
from .fact_context import FactContext, change_run, change_thread, past


def apply(state: Session, fact: ToolFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case ToolRequested():
            return requested(state, fact, place)
        case ToolStarted():
            return started(state, place)
        case ToolCompleted():
            return completed(state, fact, place)
        case ToolFailed() | ToolRefused() | ToolCancelled() | ToolLost():
            return ended(state, fact, place)
        case ToolCatalogResolved():
            return resolved(state, fact, place)
        case ToolServerConnected() | ToolServerLost():
            return server(state, fact)
        case SandboxApplied():
            return state
        case _:
            assert_never(fact)


def requested(state: Session, fact: ToolRequested, place: FactContext) -> Session:
    call = OpenCall(
        call=place.scope.tool_call,
        step=place.scope.step,
        tool=fact.tool,
        arguments=fact.arguments,
        hooked=fact.hooked,
    )

    def count(thread: Thread) -> Thread:
        if thread.child is None:
            return thread
        usage = msgspec.structs.replace(thread.usage, tool_calls=thread.usage.tool_calls + 1)
        return msgspec.structs.replace(thread, usage=usage)

    return change_run(
        change_thread(state, place, count),
        place,
        lambda run: msgspec.structs.replace(
            run, calls=(*run.calls, call), answer_parts=(), answer=(), next_step=past(run, call.step)
        ),
    )


def started(state: Session, place: FactContext) -> Session:
    return change_call(
        state, place, lambda call: msgspec.structs.replace(call, phase="running", started_sequence=place.sequence)
    )


def completed(state: Session, fact: ToolCompleted, place: FactContext) -> Session:
    def finalise(run: OpenRun) -> OpenRun:
        call = run.find_call(place.scope.tool_call)
        if call is None or call.tool != FINALIZE:
            return run
        return msgspec.structs.replace(run, finalised=True, summary=_summary(call))

    return ended(change_run(state, place, finalise), fact, place)


def ended(state: Session, fact: ToolEnd, place: FactContext) -> Session:
    def end(run: OpenRun) -> OpenRun:
        call = run.find_call(place.scope.tool_call)
        run = did(run, call, fact) if call is not None else run
        return msgspec.structs.replace(
            run, calls=tuple(call for call in run.calls if call.call != place.scope.tool_call)
        )

    return change_run(state, place, end)


def change_call(state: Session, place: FactContext, change: Callable[[OpenCall], OpenCall]) -> Session:
    def change_in(run: OpenRun) -> OpenRun:
        return msgspec.structs.replace(
            run, calls=tuple(change(call) if call.call == place.scope.tool_call else call for call in run.calls)
        )

    return change_run(state, place, change_in)


def _summary(call: OpenCall) -> str:
    """What Finalize was told; nothing where its arguments are too large to stand in a fact."""
    try:
        return msgspec.json.decode(call.effective_arguments.text, type=_FinalizeResult).summary
    except msgspec.DecodeError:
        return ""


class _FinalizeResult(msgspec.Struct):
    summary: str = ""


def resolved(state: Session, fact: ToolCatalogResolved, place: FactContext) -> Session:
    def grow(run: OpenRun) -> OpenRun:
        return msgspec.structs.replace(run, tools=tuple(dict.fromkeys((*run.tools, *fact.added))))

    told = change_thread(state, place, lambda thread: msgspec.structs.replace(thread, catalog=fact.catalog.hash))
    return change_run(told, place, grow) if fact.added else told


def server(state: Session, fact: ToolServerConnected | ToolServerLost) -> Session:
    return msgspec.structs.replace(state, servers={**state.servers, fact.server: seen(fact)})


def seen(fact: ToolServerConnected | ToolServerLost) -> str:
    """What was told of a server, in one text: the same for the same."""
    return msgspec.json.encode((fact.type, fact)).decode()
