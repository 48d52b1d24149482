"""A pending action is answered once, by a person or by time."""

from __future__ import annotations

from callboard.contracts.commands import ActionAnswered, RespondAction
from callboard.contracts.commands.team_tools import QUESTIONS
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ActionExpired, ActionResolved, PermissionRuleAdded, Rule, ToolRefused, ToolStarted
from callboard.contracts.facts.action import Decision
from callboard.contracts.ports.tools import Evaluation
from callboard.contracts.scope import Actor

from ...batch import Batch, action_scope, call_scope
from ...outcomes import ActionTimedOut
from ...state.session import OpenCall, OpenRun, Session, Thread
from .calls import proceed, start_call
from .plan_approval import accepted_mode, carry_out
from .questions import settle_question

_OUTCOMES: dict[Decision, str] = {"approve": "approved", "reject": "rejected", "answer": "answered"}
NOBODY_THERE = "Nobody could be asked, so it was not run. Where somebody is there, it can be asked for again."
FILE_CHANGED = "What the approval was asked for is no longer so: the file, the arguments or the definition changed."


def respond_action(batch: Batch, request: RespondAction) -> ActionAnswered:
    """Resolves an action. Raises `unknown_action`, `nothing_running`, `decision_not_offered`, `scope_not_offered`, and
    `invalid_input` of an answer without a text, or a text without an answer.

    Approval holds for what it was asked for: where the gate's fresh look (`Known.evaluation`) no longer lets the call pass, or
    finds another binding, the call is refused. A wider scope makes the rule that the card showed.
    """
    found = find_waiting_call(batch.state, request.action_id)
    if found is None:
        raise Refusal(
            "unknown_action",
            f"No action {request.action_id} is pending in this session.",
            field="actionId",
            hint="get_thread_read names the pending ones.",
        )
    thread, run, call = found
    if run.stopping:
        raise Refusal("nothing_running", "The turn is being stopped, and its requests with it.", field="actionId")
    if request.decision not in call.decisions:
        raise Refusal("decision_not_offered", f"This action takes {' or '.join(call.decisions)}.", field="decision")
    answer = request.answer or ""
    if (request.decision == "answer") is not bool(answer.strip()):
        wanted = "An answer needs a text." if request.decision == "answer" else "Only an answer has a text."
        raise Refusal("invalid_input", wanted, field="answer", hint="`answer` goes with the decision answer.")
    if request.scope not in call.scopes or (request.decision == "reject" and request.scope != "once"):
        raise Refusal(
            "scope_not_offered",
            f"This action does not offer to {request.decision} with the scope {request.scope}.",
            field="scope",
            hint="A rejection is for once; for an approval the action names the scopes that it offers.",
        )
    if request.expires_at and (request.scope == "once" or request.expires_at <= batch.inputs.now):
        raise Refusal(
            "invalid_input",
            "What is given for once has no end, and what is given for longer ends later than now.",
            field="expiresAt",
            hint="It is in microseconds since the epoch, and goes with the scopes session and workspace.",
        )
    if request.unattended and request.decision != "reject":
        raise Refusal(
            "invalid_input",
            "Where nobody was there to be asked, nothing but a rejection is given.",
            field="unattended",
            hint="It goes with the decision reject.",
        )
    permission_mode = accepted_mode(batch, thread, run, call, request)
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
        action_scope(thread, run, call),
    )
    if call.phase == "running":
        # What a server asked in the middle of a call: the call goes on, and takes the answer from this fact.
        pass
    elif request.unattended:
        batch.add(ToolRefused(code="nobody_there", message=NOBODY_THERE), call_scope(thread, run, call))
    elif call.tool in QUESTIONS:
        settle_question(batch, thread, run, call, request)
    elif request.decision == "approve":
        _approved(batch, thread, run, call, request)
    elif request.decision == "answer":
        # Who asked takes the answer with the fact that lets the call go on.
        batch.add(ToolStarted(tool=call.tool), call_scope(thread, run, call))
    else:
        batch.add(_denied(batch.inputs.actor, request.reason), call_scope(thread, run, call))
    if permission_mode is not None:
        carry_out(batch, thread.thread, next_turn, permission_mode, call, request.reason)
    proceed(batch, thread.thread)
    return ActionAnswered(
        session_id=batch.state.session,
        action_id=request.action_id,
        outcome=_OUTCOMES[request.decision],
        first=True,
        sequence=batch.state.sequence,
    )


def expire_action(batch: Batch, report: ActionTimedOut) -> None:
    """Nobody answered, which is a denial."""
    found = find_waiting_call(batch.state, report.action)
    if found is None:
        return
    thread, run, call = found
    if call.expires_at == 0 or batch.inputs.now < call.expires_at:
        return
    batch.add(ActionExpired(), action_scope(thread, run, call))
    if call.phase == "running":
        return
    batch.add(
        ToolRefused(code="approval_expired", message="Nobody answered the approval in time."),
        call_scope(thread, run, call),
    )
    proceed(batch, thread.thread)


def find_waiting_call(state: Session, action: str) -> tuple[Thread, OpenRun, OpenCall] | None:
    """The call that waits for this action, with its run and thread."""
    for thread in state.threads.values():
        call = thread.run.find_call_for_action(action) if thread.run is not None else None
        if thread.run is not None and call is not None:
            return thread, thread.run, call
    return None


def _denied(actor: Actor, reason: str) -> ToolRefused:
    """Whose no it was, as the fact of the answer has it."""
    policy = actor.kind == "policy"
    who = f"The policy {actor.id}" if policy else "The person"
    message = f"{who} said no: {reason}" if reason else f"{who} said no."
    return ToolRefused(code="policy_denied" if policy else "person_denied", message=message)


def _approved(batch: Batch, thread: Thread, run: OpenRun, call: OpenCall, request: RespondAction) -> None:
    evaluation = batch.inputs.evaluation
    of_call = call_scope(thread, run, call)
    if evaluation is not None and evaluation.verdict == "deny":
        code = evaluation.code or "policy_denied"
        batch.add(ToolRefused(code=code, message=evaluation.message), of_call)
        return
    if evaluation is None or not _holds(evaluation, call):
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
        batch.add(PermissionRuleAdded(rule=rule), action_scope(thread, run, call))
    start_call(batch, of_call, call.tool, evaluation)


def _holds(evaluation: Evaluation, call: OpenCall) -> bool:
    """True where the approval is still of what it was asked for. A call that by now passes without one has no binding."""
    return evaluation.binding == call.binding or (evaluation.verdict == "allow" and evaluation.binding is None)
