"""A pending action is answered once, by a person or by time."""

from __future__ import annotations

from callboard.contracts.commands import ActionAnswered, RespondAction
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    ActionExpired,
    ActionResolved,
    PermissionRuleAdded,
    Rule,
    ToolRefused,
)

from ..batch import Batch, action_scope, call_scope
from ..outcomes import ActionTimedOut
from ..state import OpenCall, OpenRun, Session, Thread
from .calls import let_through, proceed

FILE_CHANGED = "What the approval was asked for is no longer so: the file, the arguments or the definition changed."


def respond(batch: Batch, request: RespondAction) -> ActionAnswered:
    """Resolves an action. Raises `unknown_action`, `decision_not_offered`, `scope_not_offered`.

    Approval holds for what it was asked for: where the gate's fresh look (`Known.evaluation`) finds another binding, or no
    longer lets the call pass, the call is refused.
    """
    found = waiting(batch.state, request.action_id)
    if found is None:
        raise Refusal(
            "unknown_action",
            f"No action {request.action_id} is pending in this session.",
            field="actionId",
            hint="get_thread_read names the pending ones.",
        )
    thread, run, call = found
    if request.decision == "answer":
        raise Refusal("decision_not_offered", "This action takes approve or reject.", field="decision")
    evaluation = batch.known.evaluation
    if request.scope != "once" and (evaluation is None or request.scope not in evaluation.scopes):
        raise Refusal(
            "scope_not_offered",
            f"This action cannot be approved for the {request.scope}.",
            field="scope",
            hint="The action names the scopes that it offers.",
        )
    batch.say(
        ActionResolved(decision=request.decision, scope=request.scope, reason=request.reason),
        action_scope(thread, run, call),
    )
    if request.decision == "reject":
        message = "The person said no." if not request.reason else f"The person said no: {request.reason}"
        batch.say(ToolRefused(code="person_denied", message=message), call_scope(thread, run, call))
    elif evaluation is None or evaluation.binding != call.binding:
        batch.say(ToolRefused(code="file_changed", message=FILE_CHANGED), call_scope(thread, run, call))
    elif evaluation.verdict == "deny":
        code = evaluation.code or "policy_denied"
        batch.say(ToolRefused(code=code, message=evaluation.message), call_scope(thread, run, call))
    else:
        if request.scope != "once":
            rule = Rule(
                rule_id=batch.known.ids.new("rule"),
                matcher=evaluation.matchers[request.scope],
                verdict="allow",
                scope=request.scope,
            )
            batch.say(PermissionRuleAdded(rule=rule), action_scope(thread, run, call))
        let_through(batch, call_scope(thread, run, call), call.tool, evaluation.sandbox)
    proceed(batch, thread.thread)
    return ActionAnswered(
        session_id=batch.state.session,
        action_id=request.action_id,
        outcome="approved" if request.decision == "approve" else "rejected",
        first=True,
        sequence=batch.state.sequence,
    )


def timed_out(batch: Batch, report: ActionTimedOut) -> None:
    """Nobody answered, which is a denial."""
    found = waiting(batch.state, report.action)
    if found is None:
        return
    thread, run, call = found
    if call.expires_at == 0 or batch.known.now < call.expires_at:
        return
    batch.say(ActionExpired(), action_scope(thread, run, call))
    batch.say(
        ToolRefused(code="approval_expired", message="Nobody answered the approval in time."),
        call_scope(thread, run, call),
    )
    proceed(batch, thread.thread)


def waiting(state: Session, action: str) -> tuple[Thread, OpenRun, OpenCall] | None:
    """The call that waits for this action, with its run and thread."""
    for thread in state.threads.values():
        call = thread.run.waiting_on(action) if thread.run is not None else None
        if thread.run is not None and call is not None:
            return thread, thread.run, call
    return None
