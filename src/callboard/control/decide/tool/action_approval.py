"""Facts stored when a pending action is approved, rejected, answered or expires."""

from __future__ import annotations

from callboard.contracts.commands.action import ActionAnswered, RespondAction
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.action import ActionExpired, ActionResolved, Decision
from callboard.contracts.facts.permission import PermissionRuleAdded, Rule
from callboard.contracts.facts.tool import ToolRefused, ToolStarted
from callboard.contracts.ports.tools import Evaluation
from callboard.contracts.scope import Actor
from callboard.contracts.team_tools import QUESTIONS

from ...batch import Batch, build_action_scope, build_call_scope
from ...outcomes import ActionTimedOut
from ...state.session import Session, Thread
from ...state.turn import OpenCall, OpenRun
from .calls import proceed, start_call
from .plan_approval import find_accepted_mode, queue_plan_turn
from .questions import settle_question

_OUTCOMES: dict[Decision, str] = {"approve": "approved", "reject": "rejected", "answer": "answered"}
UNATTENDED = (
    "No person was present to answer, so the call did not run. "
    "Continue without it, or request it again when a person is present."
)
FILE_CHANGED = (
    "The file, the arguments or the definition changed after the approval was requested. The call did not run."
)


def respond_action(batch: Batch, request: RespondAction) -> ActionAnswered:
    """Resolve an action once.

    An approval applies to the call as it was shown. If the gate now denies the call
    (`DecisionInputs.evaluation`), or finds another binding, the call is refused. A wider scope adds
    the rule that the card showed.

    Raises:
        Refusal: `unknown_action`, `nothing_running`, `decision_not_offered`, `scope_not_offered`;
            `invalid_input` for an answer without a text, or a text without an answer.
    """
    waiting = find_waiting_call(batch.state, request.action_id)
    if waiting is None:
        raise Refusal(
            "unknown_action",
            f"No action {request.action_id} is pending in this session.",
            field="actionId",
            hint="get_thread_read lists the pending actions.",
        )
    thread, run, call = waiting
    if run.stopping:
        raise Refusal(
            "nothing_running",
            "The turn is stopping, and its actions with it.",
            field="actionId",
            hint="Send a new turn once it has stopped.",
        )
    if request.decision not in call.decisions:
        raise Refusal(
            "decision_not_offered",
            f"This action does not offer the decision {request.decision}.",
            field="decision",
            hint=f"Use {' or '.join(call.decisions)}.",
        )
    answer = request.answer or ""
    if (request.decision == "answer") is not bool(answer.strip()):
        problem = "An answer needs a text." if request.decision == "answer" else "Only an answer can have a text."
        raise Refusal("invalid_input", problem, field="answer", hint="Set `answer` with the decision answer only.")
    if request.scope not in call.scopes or (request.decision == "reject" and request.scope != "once"):
        raise Refusal(
            "scope_not_offered",
            f"This action does not offer the scope {request.scope} for {request.decision}.",
            field="scope",
            hint="Reject with the scope once, or approve with a scope that the action offers.",
        )
    if request.expires_at and (request.scope == "once" or request.expires_at <= batch.inputs.now):
        raise Refusal(
            "invalid_input",
            "expiresAt needs the scope session or workspace, and a time in the future.",
            field="expiresAt",
            hint="Give microseconds since the epoch, or leave it out.",
        )
    if request.unattended and request.decision != "reject":
        raise Refusal(
            "invalid_input",
            "Only a rejection can be unattended.",
            field="unattended",
            hint="Set it with the decision reject only.",
        )
    permission_mode = find_accepted_mode(batch, thread, run, call, request)
    next_turn = batch.inputs.ids.new("turn") if permission_mode is not None else ""
    batch.add(
        ActionResolved(
            decision=request.decision,
            scope=request.scope,
            reason=request.reason,
            answer=batch.store_text(answer),
            permission_mode=permission_mode,
            next_turn=next_turn,
        ),
        build_action_scope(thread, run, call),
    )
    if call.phase == "running":
        # A running call that asked a question reads the answer from this fact.
        pass
    elif request.unattended:
        batch.add(ToolRefused(code="nobody_there", message=UNATTENDED), build_call_scope(thread, run, call))
    elif call.tool in QUESTIONS:
        settle_question(batch, thread, run, call, request)
    elif request.decision == "approve":
        _start_approved(batch, thread, run, call, request)
    elif request.decision == "answer":
        # The remote agent gets the answer when its call starts.
        batch.add(ToolStarted(tool=call.tool), build_call_scope(thread, run, call))
    else:
        batch.add(_build_rejection(batch.inputs.actor, request.reason), build_call_scope(thread, run, call))
    if permission_mode is not None:
        queue_plan_turn(batch, thread.thread, next_turn, permission_mode, call, request.reason)
    proceed(batch, thread.thread)
    return ActionAnswered(
        session_id=batch.state.session,
        action_id=request.action_id,
        outcome=_OUTCOMES[request.decision],
        first=True,
        sequence=batch.state.sequence,
    )


def expire_action(batch: Batch, outcome: ActionTimedOut) -> None:
    """Deny an action that reached its expiry time."""
    waiting = find_waiting_call(batch.state, outcome.action)
    if waiting is None:
        return
    thread, run, call = waiting
    if call.expires_at == 0 or batch.inputs.now < call.expires_at:
        return
    batch.add(ActionExpired(), build_action_scope(thread, run, call))
    if call.phase == "running":
        return
    batch.add(
        ToolRefused(code="approval_expired", message="No person answered the approval in time."),
        build_call_scope(thread, run, call),
    )
    proceed(batch, thread.thread)


def find_waiting_call(state: Session, action: str) -> tuple[Thread, OpenRun, OpenCall] | None:
    """Return the call that waits for this action, with its run and thread."""
    for thread in state.threads.values():
        call = thread.run.find_call_for_action(action) if thread.run is not None else None
        if thread.run is not None and call is not None:
            return thread, thread.run, call
    return None


def _build_rejection(actor: Actor, reason: str) -> ToolRefused:
    """Return the refusal of a rejected call, with who rejected it."""
    policy = actor.kind == "policy"
    who = f"The policy {actor.id}" if policy else "The person"
    message = f"{who} rejected the call: {reason}" if reason else f"{who} rejected the call."
    return ToolRefused(code="policy_denied" if policy else "person_denied", message=message)


def _start_approved(batch: Batch, thread: Thread, run: OpenRun, call: OpenCall, request: RespondAction) -> None:
    evaluation = batch.inputs.evaluation
    of_call = build_call_scope(thread, run, call)
    if evaluation is not None and evaluation.verdict == "deny":
        code = evaluation.code or "policy_denied"
        batch.add(ToolRefused(code=code, message=evaluation.message), of_call)
        return
    if evaluation is None or not _is_still_valid(evaluation, call):
        batch.add(ToolRefused(code="file_changed", message=FILE_CHANGED), of_call)
        return
    if request.scope != "once":
        rule = Rule(
            rule_id=batch.inputs.ids.new("rule"),
            matcher=call.matchers[request.scope],
            verdict="allow",
            scope=request.scope,
            expires_at=request.expires_at,
            declared=call.binding.declared if call.binding is not None else "",
        )
        batch.add(PermissionRuleAdded(rule=rule), build_action_scope(thread, run, call))
    start_call(batch, of_call, call.tool, evaluation)


def _is_still_valid(evaluation: Evaluation, call: OpenCall) -> bool:
    """Return True if the approval still applies to the call. A call that no longer needs an
    approval has no binding."""
    return evaluation.binding == call.binding or (evaluation.verdict == "allow" and evaluation.binding is None)
