"""Imported sessions: past turns of another product become facts of a read-only session."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.session_import import (
    ImportedAgent,
    ImportedCall,
    ImportedPart,
    ImportTurn,
    TurnImported,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.context import CompactionCompleted, CompactionStarted
from callboard.contracts.facts.message import MessageText, OutputFinal, ReasoningCompleted
from callboard.contracts.facts.model import CostRecorded, ModelCompleted, ModelRequested
from callboard.contracts.facts.session import SessionCreated, ThreadOpened
from callboard.contracts.facts.tool import (
    FileChange,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    ToolStarted,
)
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted, TurnStarted, TurnSubmitted
from callboard.contracts.scope import Scope

from ..batch import Batch, build_run_scope
from ..state.session import Session, Thread
from .turn.iterate import require_run


def refuse_imported(state: Session) -> None:
    """Refuse a command in an imported session, which is read-only.

    Raises:
        Refusal: `session_imported`.
    """
    if state.source:
        raise Refusal(
            "session_imported",
            "This session was imported and is read-only.",
            hint="Start a new session in its folder.",
        )


def import_turn(batch: Batch, request: ImportTurn) -> TurnImported:
    """Record a past turn once.

    Raises:
        Refusal: `conflict` if the session belongs to another source.
    """
    state = batch.state
    if state.sequence and (state.source, state.source_id) != (request.source, request.source_id):
        raise Refusal(
            "conflict",
            "The session belongs to another source.",
            field="sourceId",
            hint="Use another session id for this source.",
        )
    if request.turn_id not in batch.inputs.closed_ids:
        if state.sequence == 0:
            batch.add(
                SessionCreated(
                    workspace_id=batch.inputs.workspace,
                    folder=batch.inputs.folder,
                    title=request.title,
                    source=request.source,
                    source_id=request.source_id,
                ),
                Scope(),
            )
        _add_turn(batch, _find_or_open_thread(batch, request), request)
        return _build_answer(batch, request, added=True)
    return _build_answer(batch, request, added=False)


def _find_or_open_thread(batch: Batch, request: ImportTurn) -> Thread:
    name = request.agent or request.source
    existing = next((other for other in batch.state.threads.values() if other.agent == name), None)
    if existing is not None:
        return existing
    thread = batch.inputs.ids.new("thread")
    subagent = request.subagent or ImportedAgent(parent="")
    batch.add(
        ThreadOpened(
            agent_name=name,
            kind="subagent" if request.agent else "main",
            definition=subagent.definition or request.source,
            definition_hash="",
            description=subagent.description,
        ),
        Scope(agent=name, thread=thread, parent_thread=_find_parent(batch.state, request, subagent)),
    )
    return batch.get_thread(thread)


def _find_parent(state: Session, request: ImportTurn, subagent: ImportedAgent) -> str:
    """Return the thread of the agent that started this one; empty where the source does not prove it."""
    if not request.agent or subagent.parent is None:
        return ""
    if not subagent.parent:
        return state.lead
    return next((thread.thread for thread in state.threads.values() if thread.agent == subagent.parent), "")


def _add_turn(batch: Batch, thread: Thread, request: ImportTurn) -> None:
    turn = Scope(agent=thread.agent, thread=thread.thread, turn=request.turn_id)
    run = Scope(agent=thread.agent, thread=thread.thread, turn=request.turn_id, run=batch.inputs.ids.new("run"))
    batch.add(
        TurnSubmitted(
            input=batch.store_text(request.input), mode="chat", permission_mode="ask", source=request.input_source
        ),
        turn,
    )
    batch.add(
        TurnStarted(
            mode="chat",
            permission_mode="ask",
            max_iters=max(1, len(request.calls)),
            definition=request.source,
            definition_hash="",
            workspace_sequence=0,
        ),
        run,
    )
    for number, call in enumerate(request.calls, start=1):
        if any(part.kind == "compaction" for part in call.parts):
            _add_compaction(batch, thread.thread, call)
        else:
            _add_call(batch, thread.thread, request, call, number)
    _, opened = require_run(batch, thread.thread)
    match request.ended:
        case "completed":
            batch.add(OutputFinal(parts=opened.answer_parts), run)
            batch.add(TurnCompleted(iterations=opened.iteration), run)
        case "failed":
            batch.add(
                TurnFailed(code="unknown", message="The turn failed in its product.", iterations=opened.iteration), run
            )
        case "interrupted":
            batch.add(TurnInterrupted(cause="person", iterations=opened.iteration), run)


def _add_compaction(batch: Batch, thread_id: str, call: ImportedCall) -> None:
    """Record that a summary replaced the older conversation. The source names no model call for it."""
    for part in call.parts:
        thread, run = require_run(batch, thread_id)
        scope, through = build_run_scope(thread, run, run.next_step), batch.state.sequence
        batch.add(CompactionStarted(cause=part.cause, through=through, tokens=part.tokens_before), scope)
        batch.add(
            CompactionCompleted(
                summary=batch.store_text(part.text),
                through=through,
                tokens_before=part.tokens_before,
                tokens_after=part.tokens_after,
            ),
            scope,
        )


def _add_call(batch: Batch, thread_id: str, request: ImportTurn, call: ImportedCall, number: int) -> None:
    thread, run = require_run(batch, thread_id)
    step = build_run_scope(thread, run, run.next_step)
    batch.add(
        ModelRequested(
            provider=request.source,
            model=call.model,
            iteration=number,
            context_through=batch.state.sequence,
        ),
        step,
    )
    tools: list[tuple[Scope, ImportedPart]] = []
    for offset, part in enumerate(call.parts, start=1):
        scope = build_run_scope(thread, run, step.step + offset)
        match part.kind:
            case "text":
                batch.add(MessageText(content=batch.store_text(part.text)), scope)
            case "reasoning":
                batch.add(ReasoningCompleted(content=batch.store_text(part.text)), scope)
            case "tool":
                tools.append((scope, part))
            case "compaction":
                pass
    batch.add(ModelCompleted(stop_reason=call.stop_reason), step)
    batch.add(
        CostRecorded(
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            cached_tokens=call.cached_tokens,
            reasoning_tokens=call.reasoning_tokens,
        ),
        step,
    )
    for scope, part in tools:
        _add_tool_call(batch, scope, part)


def _add_tool_call(batch: Batch, part_scope: Scope, part: ImportedPart) -> None:
    scope = msgspec.structs.replace(part_scope, tool_call=batch.inputs.ids.new("call"))
    batch.add(
        ToolRequested(
            tool=part.tool,
            arguments=batch.store_text(part.text),
            summary=part.summary,
            provider_call_id=part.call_id,
        ),
        scope,
    )
    output = batch.store_text(part.output)
    changes = tuple(
        FileChange(
            path=change.path,
            kind=change.kind,
            added=change.added,
            removed=change.removed,
            diff=batch.store_text(change.diff) if change.diff else None,
        )
        for change in part.changes
    )
    match part.ended:
        case "completed":
            batch.add(ToolStarted(tool=part.tool), scope)
            batch.add(
                ToolCompleted(output=output, duration_ms=part.duration_ms, exit_code=part.exit_code, changes=changes),
                scope,
            )
        case "failed":
            batch.add(ToolStarted(tool=part.tool), scope)
            batch.add(
                ToolFailed(
                    code="tool_failed",
                    message=part.output[:200],
                    output=output,
                    duration_ms=part.duration_ms,
                    exit_code=part.exit_code,
                ),
                scope,
            )
        case "refused":
            batch.add(ToolRefused(code="person_denied", message=part.output[:2000]), scope)
        case None:
            batch.add(ToolStarted(tool=part.tool), scope)
            batch.add(ToolLost(output=output), scope)


def _build_answer(batch: Batch, request: ImportTurn, *, added: bool) -> TurnImported:
    return TurnImported(
        session_id=batch.state.session, turn_id=request.turn_id, added=added, sequence=batch.state.sequence
    )
