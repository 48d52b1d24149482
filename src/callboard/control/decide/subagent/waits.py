"""Calls that wait for children. They end when enough children ended, one failed, or the time is
over."""

from __future__ import annotations

from callboard.contracts import casing
from callboard.contracts.commands.subagent import ChildResult, ChildResults, WaitArguments
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.exchange.inbox import InboxConsumed
from callboard.contracts.facts.subagent import SubagentsAwaited
from callboard.contracts.facts.tool import ToolCompleted

from ...batch import Batch, build_call_scope, build_run_scope
from ...state.session import Thread
from ...state.turn import OpenCall, OpenRun
from ..agent.addressing import require_child
from .child_scope import list_children
from .children import build_result

_OPEN = ("queued", "running")


def begin_wait(batch: Batch, thread: Thread, run: OpenRun, call: OpenCall, request: WaitArguments) -> None:
    """Let the call wait.

    Raises:
        Refusal: `unknown_agent`, `not_your_child`; `nothing_running` without a child to wait for.
    """
    named = [require_child(batch.state, name, thread)[0] for name in request.agents]
    own_children = [
        other for other in list_children(batch.state, thread.thread) if other.child is not None and not other.child.job
    ]
    unread = {item.source for item in thread.inbox if item.worker}
    awaited = named or [other for other in own_children if is_open(other) or other.agent in unread] or own_children
    if not awaited:
        raise Refusal("nothing_running", "You have no child to wait for.", hint="Make one with spawn_subagent.")
    until = batch.inputs.now + request.timeout_s * 1_000_000 if request.timeout_s is not None else 0
    batch.add(
        SubagentsAwaited(agents=tuple(child.agent for child in awaited), mode=request.mode, until=until),
        build_call_scope(thread, run, call),
    )


def is_open(thread: Thread) -> bool:
    """Return True while the child can continue without a person. A child under review or
    interrupted is not open."""
    return thread.child is not None and thread.child.status in _OPEN


def settle_waits(batch: Batch) -> list[str]:
    """End the calls whose wait is over, and return their threads."""
    resumed: list[str] = []
    for thread in list(batch.state.threads.values()):
        run = thread.run
        for call in run.calls if run is not None else ():
            if call.awaits and run is not None and _is_over(batch, call):
                scope = build_call_scope(thread, run, call)
                output = casing.encode(_build_result(batch, call))
                batch.add(ToolCompleted(output=batch.store_text(output)), scope)
                _consume_reports(batch, thread, run, call)
                resumed.append(thread.thread)
    return resumed


def _consume_reports(batch: Batch, thread: Thread, run: OpenRun, call: OpenCall) -> None:
    """Consume the inbox items of children whose result the call returns."""
    open_ones = {other.agent for other in batch.state.threads.values() if is_open(other)}
    items = tuple(
        item.item
        for item in thread.inbox
        if item.worker and item.source in call.awaits and item.source not in open_ones
    )
    if items:
        batch.add(InboxConsumed(items=items), build_run_scope(thread, run))


def _is_over(batch: Batch, call: OpenCall) -> bool:
    if call.until and batch.inputs.now >= call.until:
        return True
    awaited = frozenset(call.awaits)
    threads = [thread for thread in batch.state.threads.values() if thread.agent in awaited]
    ended = [thread for thread in threads if not is_open(thread)]
    failed = any(
        child.child is not None and child.child.status == "failed"
        for child in ended
        if child.agent not in call.already_ended
    )
    is_closed = len(threads) < len(call.awaits)
    return failed or len(ended) == len(threads) or (call.any_of and (is_closed or bool(ended)))


def _build_result(batch: Batch, call: OpenCall) -> ChildResults:
    children = {other.agent: other for other in batch.state.threads.values() if other.child is not None}
    ended: list[ChildResult] = []
    pending: list[ChildResult] = []
    for agent in call.awaits:
        thread = children.get(agent)
        if thread is None:
            ended.append(ChildResult(agent_id=agent, thread_id="", task_id="", status="closed"))
        else:
            (pending if is_open(thread) else ended).append(build_result(thread))
    return ChildResults(
        session_id=batch.state.session,
        ended=tuple(ended),
        pending=tuple(pending),
        timed_out=bool(pending) and bool(call.until) and batch.inputs.now >= call.until,
        sequence=batch.state.sequence,
    )
