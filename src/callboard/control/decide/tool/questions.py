"""Questions of agents to a person: plans, reviews, answers and requests of remote agents (Agent UI
specification, Human-in-the-loop taxonomy). The answer is the call's result."""

from __future__ import annotations

from typing import Literal

from callboard.contracts import casing
from callboard.contracts.commands.action import AskPersonArguments, PersonAnswer, ProposePlanArguments, RespondAction
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.action import ActionType, Decision
from callboard.contracts.facts.tool import ToolCompleted, ToolStarted
from callboard.contracts.ports.external import REMOTE_AUTH, REMOTE_INPUT
from callboard.contracts.team_tools import ASK_PERSON, PROPOSE_PLAN

from ...batch import Batch, build_call_scope
from ...state.session import Thread
from ...state.turn import OpenCall, OpenRun
from ..artifact.versions import find_artifact, find_worktree
from ..turn.iterate import require_run
from ..turn.plan import propose_plan

_DECISIONS: dict[Decision, Literal["accepted", "rejected", "changes_wanted", "answered"]] = {
    "approve": "accepted",
    "reject": "rejected",
    "answer": "changes_wanted",
}


#: Kinds and decisions of a remote agent's requests, by the tool that represents them.
REMOTE_REQUESTS: dict[str, tuple[ActionType, tuple[Decision, ...]]] = {
    REMOTE_INPUT: ("clarification", ("answer", "reject")),
    REMOTE_AUTH: ("credential_request", ("approve", "reject")),
}


def classify_question(thread: Thread, tool: str, arguments: str) -> tuple[ActionType, tuple[Decision, ...]] | None:
    """Return the kind of question that this call asks, and its possible decisions; None for another
    call."""
    if tool in REMOTE_REQUESTS:
        return REMOTE_REQUESTS[tool]
    if tool == PROPOSE_PLAN:
        kind: ActionType = "plan_decision" if thread.child is None else "teammate_plan_decision"
        return kind, ("approve", "answer", "reject")
    if tool == ASK_PERSON:
        request = casing.decode(arguments, AskPersonArguments)
        if request.artifact:
            return "artifact_review", ("approve", "answer", "reject")
        return "structured_input" if request.options else "clarification", ("answer", "reject")
    return None


def resolve_reviewed_artifact(batch: Batch, thread: Thread, tool: str, arguments: str) -> tuple[str, int]:
    """Return the artifact that a person must review, and its newest version; empty for none.

    Raises:
        Refusal: `unknown_artifact`.
    """
    name = casing.decode(arguments, AskPersonArguments).artifact if tool == ASK_PERSON else ""
    if not name:
        return "", 0
    artifact = find_artifact(batch, name, find_worktree(thread))
    if not artifact:
        raise Refusal(
            "unknown_artifact",
            f"The session has no artifact {name}.",
            field="artifact",
            hint="Give the path of a file that you wrote, relative to the folder.",
        )
    return artifact, batch.state.artifacts.open[artifact].version


def record_proposal(batch: Batch, thread_id: str, tool: str, arguments: str) -> None:
    """Record a plan that waits for its decision as the plan of its run."""
    if tool != PROPOSE_PLAN:
        return
    thread, run = require_run(batch, thread_id)
    steps = casing.decode(arguments, ProposePlanArguments).steps
    propose_plan(batch, thread, run, run.next_step, tuple(PlanStep(step, "pending") for step in steps))


def settle_question(batch: Batch, thread: Thread, run: OpenRun, call: OpenCall, request: RespondAction) -> None:
    """End the call with the person's answer."""
    scope = build_call_scope(thread, run, call)
    answered = call.tool == ASK_PERSON and request.decision == "answer" and "approve" not in call.decisions
    answer = PersonAnswer(
        decision="answered" if answered else _DECISIONS[request.decision],
        answer=request.answer or "",
        reason=request.reason,
    )
    batch.add(ToolStarted(tool=call.tool), scope)
    batch.add(ToolCompleted(output=batch.store_text(casing.encode(answer))), scope)
