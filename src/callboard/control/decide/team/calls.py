"""Team tools of agents. They are decided, not run: a call and its result are one transaction."""

from __future__ import annotations

from typing import TypeVar

from callboard.contracts import casing
from callboard.contracts.commands.agent import AddEdgeArguments, DefineAgentArguments
from callboard.contracts.commands.base import Answer, TeamToolArguments
from callboard.contracts.commands.exchange.handoff import HandoffArguments, RespondArguments
from callboard.contracts.commands.exchange.message import MessageArguments
from callboard.contracts.commands.exchange.review import RequestReviewArguments, VerdictArguments
from callboard.contracts.commands.subagent import (
    ChildInputArguments,
    CloseArguments,
    MergeArguments,
    SpawnArguments,
    WaitArguments,
)
from callboard.contracts.commands.task import CreateTaskArguments, UpdateTaskArguments
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused, ToolStarted
from callboard.contracts.scope import Scope
from callboard.contracts.team_tools import TEAM_TOOLS

from ...batch import Batch
from ...state.session import Thread
from ...state.turn import OpenCall, OpenRun
from ..agent import define
from ..exchange import handoff, messages, review
from ..subagent import children, waits, worktree
from ..subagent.child_scope import list_children
from ..subagent.spawn import spawn_child
from ..task import board

T = TypeVar("T", bound=TeamToolArguments)


def run_team_call(batch: Batch, scope: Scope, tool: str, arguments: str) -> None:
    """Run a call of a team tool. A refusal is its result and leaves no other fact."""
    before = batch.mark()
    batch.add(ToolStarted(tool=tool), scope)
    try:
        output = _run_tool(batch, scope, tool, arguments)
    except Refusal as refusal:
        batch.roll_back(before)
        refuse(batch, scope, refusal)
        return
    if output is not None:
        batch.add(ToolCompleted(output=batch.store_text(output)), scope)


def refuse(batch: Batch, scope: Scope, refusal: Refusal) -> None:
    """End the call with this refusal, which names the next step."""
    batch.add(ToolRefused(code=refusal.code, message=refusal.text), scope)


def _run_tool(batch: Batch, scope: Scope, tool: str, arguments: str) -> str | None:
    thread = batch.get_thread(scope.thread)
    request = casing.decode(arguments, TEAM_TOOLS[tool].arguments)
    match tool:
        case "wait_subagents":
            run, call = _require_call(thread, scope)
            waits.begin_wait(batch, thread, run, call, _expect(request, WaitArguments))
            return None
        case "merge_subagent":
            worktree.require_mergeable(batch, thread, _expect(request, MergeArguments))
            return None
        case "list_subagents":
            return casing.encode([children.build_result(child) for child in list_children(batch.state, thread.thread)])
        case _:
            return casing.encode(_decide_tool(batch, thread, tool, request))


def _decide_tool(batch: Batch, thread: Thread, tool: str, request: TeamToolArguments) -> Answer:
    match tool:
        case "spawn_subagent":
            return spawn_child(batch, thread, _expect(request, SpawnArguments))
        case "send_subagent_input":
            return children.give_input(batch, thread, _expect(request, ChildInputArguments))
        case "close_subagent":
            return children.close_child(batch, thread, _expect(request, CloseArguments))
        case "cancel_subagent":
            return children.cancel_child(batch, thread, _expect(request, CloseArguments))
        case "send_handoff":
            return handoff.send_handoff(batch, thread, _expect(request, HandoffArguments))
        case "respond_handoff":
            return handoff.respond_handoff(batch, thread, _expect(request, RespondArguments))
        case "send_message":
            return messages.send_message(batch, thread, _expect(request, MessageArguments))
        case "request_review":
            return review.request_review(batch, thread, _expect(request, RequestReviewArguments))
        case "submit_verdict":
            return review.record_verdict(batch, thread, _expect(request, VerdictArguments))
        case "define_agent":
            return define.define_agent(batch, thread, _expect(request, DefineAgentArguments))
        case "add_edge":
            return define.add_edge(batch, thread, _expect(request, AddEdgeArguments))
        case "create_task":
            return board.create_task(batch, thread, _expect(request, CreateTaskArguments))
        case "update_task":
            return board.update_task(batch, thread, _expect(request, UpdateTaskArguments))
        case _:
            raise LookupError(f"{tool} is no tool of a team")


def _expect(request: TeamToolArguments, kind: type[T]) -> T:
    if not isinstance(request, kind):
        raise TypeError(f"{type(request).__name__} is not {kind.__name__}")
    return request


def _require_call(thread: Thread, scope: Scope) -> tuple[OpenRun, OpenCall]:
    run = thread.run
    call = run.find_call(scope.tool_call) if run is not None else None
    if run is None or call is None:
        raise LookupError(f"{scope.tool_call} is not open")
    return run, call
