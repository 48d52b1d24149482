"""Tool calls: request, evaluation, start and end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.action import ActionRequired, ActionWithdrawn
from callboard.contracts.facts.permission import CHECK_NAMES, Check, HookOutcome, PermissionEvaluated
from callboard.contracts.facts.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    ToolStarted,
)
from callboard.contracts.ports.tools import Evaluation, HookResult, ToolOutcome
from callboard.contracts.scope import Scope
from callboard.contracts.team_tools import QUESTIONS, TEAM_TOOLS

from ...batch import Batch, build_action_scope, build_call_scope, build_run_scope
from ...outcomes import RequestedCall, ToolEnded
from ...state.session import Thread
from ...state.turn import OpenRun
from ..agent.definition_cards import MAKING, render_card
from ..artifact.versions import record_changes
from ..team.calls import refuse, run_team_call
from ..turn.iterate import ask_model, complete_turn, find_run, require_run
from ..turn.start import start_next
from ..turn.tool_catalog import record_catalog, record_servers
from .plan_approval import list_continuation_modes
from .questions import classify_question, record_proposal, resolve_reviewed_artifact

#: The outcome of an interrupted call without output.
NOTHING_SEEN = ToolOutcome(output="")
ONE_CALL = (
    "In chat mode a response can have one tool call, or several read-only ones. Repeat this call if you still need it."
)


def request_calls(batch: Batch, thread_id: str, requested: Sequence[RequestedCall]) -> None:
    """Record the calls of one response, and start the calls that can run now.

    Read-only calls run in parallel. In `auto` every other call waits for the calls before it, and
    they wait for it. In `chat` a response may have one call, or several read-only ones: the gate
    denies each further call with a code. The steps of actions come after all steps of the
    response's parts.
    """
    first_action_step = max(call.step for call in requested) + 1
    serial: set[str] = set()
    reads_only = True
    for index, call in enumerate(requested):
        thread, run = require_run(batch, thread_id)
        scope = build_call_scope(thread, run, call)
        evaluation = call.evaluation
        alone = not evaluation.read_only or any(open_call.call in serial for open_call in run.calls)
        batch.evaluations[call.call] = evaluation
        batch.add(
            ToolRequested(
                tool=call.tool,
                arguments=batch.store_text(get_original_arguments(call)),
                summary=evaluation.summary,
                provider_call_id=call.provider_call_id,
                signature=call.signature,
                hooked=build_hook_outcome(batch, evaluation.hook_result),
            ),
            scope,
        )
        reads_only = reads_only and _is_read_only(call.tool, evaluation)
        if run.mode == "chat" and index > 0 and not reads_only and evaluation.verdict != "deny":
            _evaluate(batch, scope, call.tool, _deny_extra_call(evaluation), first_action_step)
        elif run.stopping:
            _record_evaluation(batch, scope, call.tool, evaluation)
            batch.add(ToolCancelled(started=False), scope)
        elif not ((alone and run.calls) or any(open_call.phase == "requested" for open_call in run.calls)):
            _evaluate(batch, scope, call.tool, evaluation, first_action_step)
            if not evaluation.read_only:
                serial.add(call.call)
    proceed(batch, thread_id)


def _is_read_only(tool: str, evaluation: Evaluation) -> bool:
    """Return True for a call that needs no person and has no effect on the team."""
    return evaluation.read_only and evaluation.verdict != "ask" and tool not in TEAM_TOOLS


def _deny_extra_call(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation of a call beyond the limit in `chat`: the station `mode` denies it."""
    before = CHECK_NAMES[: CHECK_NAMES.index("mode")]
    checks = (
        *(check for check in evaluation.checks if check.name in before),
        Check(name="mode", verdict="deny", detail=ONE_CALL),
    )
    return msgspec.structs.replace(
        evaluation, verdict="deny", checks=checks, code="one_call_at_a_time", message=ONE_CALL
    )


def build_hook_outcome(batch: Batch, result: HookResult | None) -> HookOutcome | None:
    """Return the result of hooks as its fact stores it."""
    if result is None:
        return None
    rewritten = None if result.arguments is None else batch.store_text(result.arguments)
    return HookOutcome(
        verdict=result.verdict,
        detail=result.detail,
        code=result.code or "",
        arguments=rewritten,
        by=result.rewritten_by,
        reasons=result.reasons,
    )


def get_original_arguments(call: RequestedCall) -> str:
    """Return the model's arguments as the gate reads them, or as the model wrote them if a hook
    replaced them."""
    hooked = call.evaluation.hook_result
    rewritten = hooked is not None and hooked.arguments is not None
    return call.arguments if rewritten else call.evaluation.arguments or call.arguments


def _evaluate(batch: Batch, scope: Scope, tool: str, evaluation: Evaluation, past: int) -> None:
    """Evaluate the call whose turn it is, and follow the verdict."""
    _record_evaluation(batch, scope, tool, evaluation)
    if evaluation.verdict == "deny":
        batch.add(ToolRefused(code=evaluation.code or "policy_denied", message=evaluation.message), scope)
    elif tool in MAKING:
        _ask_for_definition(batch, scope, tool, evaluation, past)
    elif evaluation.verdict == "allow":
        start_call(batch, scope, tool, evaluation)
    else:
        ask_approval(batch, scope, tool, evaluation, past)


def _record_evaluation(batch: Batch, scope: Scope, tool: str, evaluation: Evaluation) -> None:
    batch.add(
        PermissionEvaluated(
            tool=tool,
            verdict=evaluation.verdict,
            risk=evaluation.risk,
            arguments_hash=evaluation.arguments_hash,
            checks=evaluation.checks,
            secrets=evaluation.secrets,
        ),
        scope,
    )


def _begin_next(batch: Batch, thread_id: str) -> None:
    """Start the calls that waited for the ended ones: read-only calls up to the first other call,
    or that one. The gate evaluated them again, since earlier calls can change what they read."""
    while True:
        thread, run = require_run(batch, thread_id)
        if run.stopping or not run.calls or any(call.phase != "requested" for call in run.calls):
            return
        for index, call in enumerate(run.calls):
            evaluation = batch.evaluations[call.call]
            if index and not evaluation.read_only:
                break
            _evaluate(batch, build_call_scope(thread, run, call), call.tool, evaluation, 0)
            if not evaluation.read_only:
                break


def is_blocking(tool: str, evaluation: Evaluation) -> bool:
    """Return True for a call that will be in progress once it starts, so that no later call starts
    in the same decision."""
    return (
        not evaluation.read_only and evaluation.verdict != "deny" and tool not in TEAM_TOOLS and tool not in QUESTIONS
    )


def end_call(batch: Batch, report: ToolEnded) -> None:
    """Record the end of a running call. The model gets the result when no other call is open."""
    open_run = find_run(batch, report.thread, report.run)
    if open_run is None:
        return
    thread, run = open_run
    call = run.find_call(report.call)
    if call is None or call.phase != "running":
        return
    outcome = report.outcome
    batch.add_blobs(*outcome.blobs)
    scope = build_call_scope(thread, run, call)
    record_changes(batch, scope, outcome.changes, has_read_former=not report.is_self_reported)
    record_changes(batch, scope, report.merged_changes, "merge")
    if outcome.code is None:
        batch.add(
            ToolCompleted(
                output=batch.store_text(outcome.output),
                duration_ms=outcome.duration_ms,
                exit_code=outcome.exit_code,
                changes=outcome.changes,
                images=outcome.images,
            ),
            scope,
        )
    else:
        batch.add(
            ToolFailed(
                code=outcome.code,
                message=outcome.message,
                output=batch.store_text(outcome.output),
                duration_ms=outcome.duration_ms,
                exit_code=outcome.exit_code,
                changes=outcome.changes,
            ),
            scope,
        )
    record_servers(batch, report.servers, build_run_scope(thread, run))
    record_catalog(batch, report.thread, report.catalog, build_run_scope(thread, run), outcome.loaded_tools)
    proceed(batch, report.thread)


def start_call(batch: Batch, scope: Scope, tool: str, evaluation: Evaluation) -> None:
    """Start the call in that scope, in its sandbox. A team tool is carried out here."""
    if tool in TEAM_TOOLS:
        run_team_call(batch, scope, tool, evaluation.arguments)
        return
    if evaluation.sandbox is not None:
        batch.add(evaluation.sandbox, scope)
    batch.add(ToolStarted(tool=tool), scope)


def proceed(batch: Batch, thread_id: str) -> None:
    """Ask the model again once no call of the run is open.

    A turn with an accepted plan is complete, and so is a finalized `auto` turn. While a model call
    is open the calls belong to an external agent, which continues without this.
    """
    _, run = require_run(batch, thread_id)
    if run.model_step:
        return
    _begin_next(batch, thread_id)
    _, run = require_run(batch, thread_id)
    if run.calls or run.stopping:
        return
    if run.plan_accepted or (run.mode == "auto" and run.finalised):
        complete_turn(batch, thread_id)
        start_next(batch, thread_id)
    else:
        ask_model(batch, thread_id)


def abandon_calls(
    batch: Batch, thread: Thread, run: OpenRun, *, reason: str, unseen: bool, outcomes: Mapping[str, ToolOutcome]
) -> None:
    """End every open call of the run: cancelled, or lost if it ran and its result is unknown."""
    for call in run.calls:
        scope = build_call_scope(thread, run, call)
        outcome = outcomes.get(call.call, NOTHING_SEEN)
        output = batch.store_text(outcome.output)
        if call.action:
            batch.add(ActionWithdrawn(reason=reason), build_action_scope(thread, run, call))
        if call.phase == "running" and unseen and not call.awaits:
            batch.add(ToolLost(output=output), scope)
        else:
            batch.add_blobs(*outcome.blobs)
            record_changes(batch, scope, outcome.changes, has_read_former=True)
            batch.add(
                ToolCancelled(
                    started=call.phase == "running",
                    output=output,
                    duration_ms=outcome.duration_ms,
                    changes=outcome.changes,
                ),
                scope,
            )


def _ask_for_definition(batch: Batch, scope: Scope, tool: str, evaluation: Evaluation, past: int) -> None:
    """Ask a person once whether the call may define an agent or add an edge, with a preview. Refuse
    a call that could do neither."""
    try:
        preview = render_card(batch, scope, tool, evaluation.arguments)
    except Refusal as refusal:
        refuse(batch, scope, refusal)
        return
    ask_approval(
        batch, scope, tool, msgspec.structs.replace(evaluation, preview=preview, scopes=("once",), matchers={}), past
    )


def ask_approval(batch: Batch, scope: Scope, tool: str, evaluation: Evaluation, past: int) -> None:
    """Let the call wait for a person. The step of the action is at least `past`."""
    thread, run = require_run(batch, scope.thread)
    try:
        artifact, version = resolve_reviewed_artifact(batch, thread, tool, evaluation.arguments)
    except Refusal as refusal:
        refuse(batch, scope, refusal)
        return
    expiry, call = batch.inputs.approval_expiry_us, run.find_call(scope.tool_call)
    # A rule applies in every folder of the session, so an approval in a worktree is for once only.
    apart = thread.child is not None and bool(thread.child.worktree)
    approval = "tool_approval" if thread.child is None else "delegated_permission"
    question = classify_question(thread, tool, evaluation.arguments)
    action_type, decisions = question or (approval, ("approve", "reject"))
    batch.add(
        ActionRequired(
            action_type=action_type,
            prompt=evaluation.prompt,
            decisions=decisions,
            scopes=("once",) if apart else evaluation.scopes or ("once",),
            risk=evaluation.risk,
            tool=tool,
            arguments=batch.store_text(evaluation.arguments),
            preview=batch.store_text(evaluation.preview) if evaluation.preview else None,
            matchers={} if apart else evaluation.matchers,
            binding=evaluation.binding,
            expires_at=batch.inputs.now + expiry if expiry else 0,
            policy=run.permission_mode,
            sandbox=evaluation.sandbox.level if evaluation.sandbox is not None else None,
            network=evaluation.sandbox is not None and evaluation.sandbox.network,
            artifact_id=artifact,
            artifact_version=version,
            hooked=evaluation.hook_result.detail if evaluation.hook_result is not None else "",
            hook_reasons=evaluation.hook_result.reasons if evaluation.hook_result is not None else (),
            asked=call.arguments if call is not None and call.effective_arguments is not call.arguments else None,
            commands=evaluation.commands,
            modes=list_continuation_modes(batch, thread, run, tool),
            reasons=evaluation.reasons,
        ),
        msgspec.structs.replace(scope, step=max(run.next_step, past), action=batch.inputs.ids.new("action")),
    )
    record_proposal(batch, scope.thread, tool, evaluation.arguments)
