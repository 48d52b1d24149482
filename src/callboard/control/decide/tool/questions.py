"""Questions of agents to a person: plans, reviews, answers and requests of remote agents (Agent UI
specification, Human-in-the-loop taxonomy). The response is the call's result."""

from __future__ import annotations

from typing import Literal

from callboard.contracts import casing
from callboard.contracts.commands import RespondAction
from callboard.contracts.commands.asking import AskPerson, PersonSaid, ProposePlan
from callboard.contracts.commands.team_tools import ASK_PERSON, PROPOSE_PLAN
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ToolCompleted, ToolStarted
from callboard.contracts.facts.action import ActionType, Decision

from ...batch import Batch, call_scope
from ...state.session import OpenCall, OpenRun, Thread
from ..artifact.versions import find_artifact, worktree_of
from ..turn.iterate import require_run
from ..turn.plan import propose_plan

_SAID: dict[Decision, Literal["accepted", "rejected", "changes_wanted", "answered"]] = {
    "approve": "accepted",
    "reject": "rejected",
    "answer": "changes_wanted",
}


def classify_question(thread: Thread, tool: str, arguments: str) -> tuple[ActionType, tuple[Decision, ...]] | None:
    """Return the kind of question that this call asks, and its possible decisions; None for another
    call."""
    if tool == PROPOSE_PLAN:
        whose: ActionType = "plan_decision" if thread.child is None else "teammate_plan_decision"
        return whose, ("approve", "answer", "reject")
    if tool == ASK_PERSON:
        asked = casing.decode(arguments, AskPerson)
        if asked.artifact:
            return "artifact_review", ("approve", "answer", "reject")
        return "structured_input" if asked.options else "clarification", ("answer", "reject")
    return None


def resolve_reviewed_artifact(batch: Batch, thread: Thread, tool: str, arguments: str) -> tuple[str, int]:
    """Return the artifact that a person must review, and its newest version; empty for none.

    Raises:
        Refusal: `unknown_artifact`.
    """
    named = casing.decode(arguments, AskPerson).artifact if tool == ASK_PERSON else ""
    if not named:
        return "", 0
    found = find_artifact(batch, named, worktree_of(thread))
    if not found:
        raise Refusal(
            "unknown_artifact",
            f"The session has no artifact {named}.",
            field="artifact",
            hint="Give the path of a file that you wrote, relative to the folder.",
        )
    return found, batch.state.artifacts.open[found].version


def record_proposal(batch: Batch, thread_id: str, tool: str, arguments: str) -> None:
    """Record a plan that waits for its decision as the plan of its run."""
    if tool != PROPOSE_PLAN:
        return
    thread, run = require_run(batch, thread_id)
    steps = casing.decode(arguments, ProposePlan).steps
    propose_plan(batch, thread, run, run.next_step, tuple(PlanStep(one, "pending") for one in steps))


def settle_question(batch: Batch, thread: Thread, run: OpenRun, call: OpenCall, request: RespondAction) -> None:
    """End the call with the person's response."""
    scope = call_scope(thread, run, call)
    answered = call.tool == ASK_PERSON and request.decision == "answer" and "approve" not in call.decisions
    said = PersonSaid(
        decision="answered" if answered else _SAID[request.decision],
        answer=request.answer or "",
        reason=request.reason,
    )
    batch.add(ToolStarted(tool=call.tool), scope)
    batch.add(ToolCompleted(output=batch.store_text(casing.encode(said))), scope)
