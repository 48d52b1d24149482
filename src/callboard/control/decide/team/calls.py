"""The tools by which agents ask things of their team. They are decided here and not run anywhere: what a call asked for and
its result are one transaction."""

from __future__ import annotations

from typing import TypeVar

from callboard.contracts import casing
from callboard.contracts.commands.base import Answer
from callboard.contracts.commands.defining import AddEdge, DefineAgent
from callboard.contracts.commands.team import (
    Asked,
    AskReview,
    Await,
    ChangeTask,
    Close,
    GiveInput,
    Handoff,
    Judge,
    MakeTask,
    Merge,
    Message,
    Respond,
    Spawn,
)
from callboard.contracts.commands.team_tools import TEAM_TOOLS
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ToolCompleted, ToolRefused, ToolStarted
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.session import OpenCall, OpenRun, Thread
from ..agent import define
from ..exchange import handoff, messages, review
from ..subagent import children, waits, worktree
from ..subagent.child_scope import children as children_of
from ..subagent.spawn import spawn
from ..task import board

T = TypeVar("T", bound=Asked)


def carry_out(batch: Batch, scope: Scope, tool: str, arguments: str) -> None:
    """Does what the call asks for; a refusal is its result, and leaves nothing else."""
    before = batch.mark()
    batch.say(ToolStarted(tool=tool), scope)
    try:
        output = _answer(batch, scope, tool, arguments)
    except Refusal as refusal:
        batch.back_to(before)
        refuse(batch, scope, refusal)
        return
    if output is not None:
        batch.say(ToolCompleted(output=batch.hold(output)), scope)


def refuse(batch: Batch, scope: Scope, refusal: Refusal) -> None:
    """The call comes to this refusal, which says what to do."""
    problem = refusal.problem
    message = " ".join(part for part in (problem.message, problem.hint) if part)
    batch.say(ToolRefused(code=problem.code, message=message), scope)


def _answer(batch: Batch, scope: Scope, tool: str, arguments: str) -> str | None:
    thread = batch.thread(scope.thread)
    asked = casing.decode(arguments, TEAM_TOOLS[tool].arguments)
    match tool:
        case "wait_subagents":
            run, call = _open(thread, scope)
            waits.begin(batch, thread, run, call, _as(asked, Await))
            return None
        case "merge_subagent":
            worktree.may_merge(batch, thread, _as(asked, Merge))
            return None
        case "list_subagents":
            return casing.encode([children.result_of(one) for one in children_of(batch.state, thread.thread)])
        case _:
            return casing.encode(_done(batch, thread, tool, asked))


def _done(batch: Batch, thread: Thread, tool: str, asked: Asked) -> Answer:
    match tool:
        case "spawn_subagent":
            return spawn(batch, thread, _as(asked, Spawn))
        case "send_subagent_input":
            return children.give_input(batch, thread, _as(asked, GiveInput))
        case "close_subagent":
            return children.close(batch, thread, _as(asked, Close))
        case "cancel_subagent":
            return children.cancel(batch, thread, _as(asked, Close))
        case "send_handoff":
            return handoff.send(batch, thread, _as(asked, Handoff))
        case "respond_handoff":
            return handoff.respond(batch, thread, _as(asked, Respond))
        case "send_message":
            return messages.send(batch, thread, _as(asked, Message))
        case "request_review":
            return review.request(batch, thread, _as(asked, AskReview))
        case "submit_verdict":
            return review.judge(batch, thread, _as(asked, Judge))
        case "define_agent":
            return define.define(batch, thread, _as(asked, DefineAgent))
        case "add_edge":
            return define.add_edge(batch, thread, _as(asked, AddEdge))
        case "create_task":
            return board.create(batch, thread, _as(asked, MakeTask))
        case "update_task":
            return board.update(batch, thread, _as(asked, ChangeTask))
        case _:
            raise LookupError(f"{tool} is no tool of a team")


def _as(asked: Asked, kind: type[T]) -> T:
    if not isinstance(asked, kind):
        raise TypeError(f"{type(asked).__name__} is not {kind.__name__}")
    return asked


def _open(thread: Thread, scope: Scope) -> tuple[OpenRun, OpenCall]:
    run = thread.run
    call = run.call_of(scope.tool_call) if run is not None else None
    if run is None or call is None:
        raise LookupError(f"{scope.tool_call} is not open")
    return run, call
