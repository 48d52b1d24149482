"""Questions of tool servers during a running call (Agent UI specification, Human-in-the-loop
taxonomy)."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.action import ActionRequired, ActionWithdrawn
from callboard.contracts.ports.tools import Question

from ...batch import Batch, build_action_scope, build_call_scope
from ...outcomes import ElicitationEnded, ElicitationStarted
from ..turn.iterate import find_run


def record_elicitation(batch: Batch, outcome: ElicitationStarted | ElicitationEnded) -> None:
    """Record that a call asks a question, or no longer waits for the answer."""
    if isinstance(outcome, ElicitationStarted):
        begin_elicitation(batch, outcome)
    else:
        withdraw_elicitation(batch, outcome)


def begin_elicitation(batch: Batch, outcome: ElicitationStarted) -> None:
    """Record the question of a running call. A call with a pending question, or in a stopping turn,
    asks none."""
    open_run = find_run(batch, outcome.thread, outcome.run)
    call = open_run[1].find_call(outcome.call) if open_run is not None else None
    if open_run is None or call is None or call.phase != "running" or call.action or open_run[1].stopping:
        return
    thread, run = open_run
    question = outcome.question
    expiry = batch.inputs.approval_expiry_us
    batch.add(
        ActionRequired(
            action_type="clarification" if question.url else "structured_input",
            prompt=_format_prompt(question),
            decisions=("answer", "reject"),
            scopes=("once",),
            risk="medium" if question.url else "low",
            tool=call.tool,
            arguments=batch.store_text(_build_form_arguments(question)),
            expires_at=batch.inputs.now + expiry if expiry else 0,
            policy=run.permission_mode,
        ),
        msgspec.structs.replace(
            build_call_scope(thread, run, call), step=run.next_step, action=batch.inputs.ids.new("action")
        ),
    )


def withdraw_elicitation(batch: Batch, outcome: ElicitationEnded) -> None:
    """Withdraw the question that the server no longer waits for."""
    open_run = find_run(batch, outcome.thread, outcome.run)
    call = open_run[1].find_call(outcome.call) if open_run is not None else None
    if open_run is None or call is None or call.phase != "running" or not call.action:
        return
    batch.add(ActionWithdrawn(reason="the server withdrew the question"), build_action_scope(*open_run, call))


def _format_prompt(question: Question) -> str:
    prompt = f"The server {question.server} asks:\n\n{question.message}"
    if not question.url:
        return prompt
    return f"{prompt}\n\nOpen this address yourself if you trust it, then respond:\n{question.url}"


def _build_form_arguments(question: Question) -> str:
    """Return the question as the data of a form."""
    form: dict[str, object] = {"server": question.server, "message": question.message}
    if question.schema is not None:
        form["schema"] = question.schema
    if question.url:
        form["url"] = question.url
    return msgspec.json.encode(form).decode()
