"""Tool calls and the approvals they wait for."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from callboard.contracts.facts import (
    ActionExpired,
    ActionRequired,
    ActionResolved,
    ActionWithdrawn,
    ToolCompleted,
    ToolRequested,
)

from ..state.session import FINALIZE, OpenCall, OpenRun, Session, Thread
from .fact_context import FactContext, change_run, change_thread, past
from .repetition import ToolEnd, did


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
    return _change(
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


def waiting(state: Session, fact: ActionRequired, place: FactContext) -> Session:
    changed = _change(
        state,
        place,
        lambda call: msgspec.structs.replace(
            call,
            # What is asked in the middle of a call lets it run; one that asks whether it may go on waits.
            phase="running" if call.phase == "running" and "answer" in fact.decisions else "waiting",
            action=place.scope.action,
            action_step=place.scope.step,
            expires_at=fact.expires_at,
            decisions=fact.decisions,
            scopes=fact.scopes,
            matchers=fact.matchers,
            binding=fact.binding,
        ),
    )
    return change_run(changed, place, lambda run: msgspec.structs.replace(run, next_step=past(run, place.scope.step)))


def answered(state: Session, fact: ActionResolved | ActionExpired | ActionWithdrawn, place: FactContext) -> Session:
    plan_accepted = isinstance(fact, ActionResolved) and fact.permission_mode is not None

    def answer(run: OpenRun) -> OpenRun:
        return msgspec.structs.replace(
            run,
            plan_accepted=run.plan_accepted or plan_accepted,
            calls=tuple(
                msgspec.structs.replace(
                    call,
                    phase="running" if call.phase == "running" else "requested",
                    action="",
                    action_step=0,
                    expires_at=0,
                )
                if call.action == place.scope.action
                else call
                for call in run.calls
            ),
        )

    return change_run(state, place, answer)


def _change(state: Session, place: FactContext, change: Callable[[OpenCall], OpenCall]) -> Session:
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
