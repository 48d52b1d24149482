"""A turn that plans ends with its plan: once that is accepted, the next turn carries it out in the mode that the person picked
(Agent UI specification, Human-in-the-loop taxonomy, plan_decision)."""

from __future__ import annotations

from callboard.contracts import casing
from callboard.contracts.commands import RespondAction
from callboard.contracts.commands.asking import ProposePlan
from callboard.contracts.commands.team_tools import PROPOSE_PLAN
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import QueueAdded, QueuePromoted, TurnSubmitted

from ..batch import Batch, thread_scope
from ..state import OpenCall, OpenRun, Thread
from .iterate import complete
from .turns import start_next


def must_fit(thread: Thread, run: OpenRun, call: OpenCall, request: RespondAction) -> None:
    """Raises `invalid_input` of a mode that goes with anything but the approval of a plan of a turn that only plans."""
    if request.permission_mode is not None and not _accepts(thread, run, call, request):
        raise Refusal(
            "invalid_input",
            "A mode goes with the approval of a plan that was made in permission mode planning.",
            field="permissionMode",
            hint="Leave it out: the agent goes on in the mode that it has.",
        )


def carry_out(batch: Batch, thread_id: str, call: OpenCall, request: RespondAction) -> bool:
    """The accepted plan is what the next turn is given, before all that waits: in the mode that the person picked, else in the
    default mode of the folder where that asks or edits, else in `ask`. True where that ends the turn that planned; one with
    other calls under way goes on until they are over."""
    thread = batch.thread(thread_id)
    run = thread.run
    if run is None or not _accepts(thread, run, call, request):
        return False
    permission_mode = request.permission_mode or ("edits" if batch.known.usual_mode == "edits" else "ask")
    turn = batch.known.ids.new("turn")
    plan = casing.decode(call.final.text, ProposePlan) if call.final.ref is None else None
    scope = thread_scope(thread, turn)
    batch.say(
        TurnSubmitted(input=batch.hold(_words(plan, request.reason)), mode=run.mode, permission_mode=permission_mode),
        scope,
    )
    batch.say(QueueAdded(position=len(thread.queue) + 1), scope)
    if thread.queue:
        batch.say(QueuePromoted(reason="the plan before it was accepted"), scope)
    if run.calls or run.stopping or run.model_step:
        return False
    complete(batch, thread_id)
    start_next(batch, thread_id)
    return True


def _accepts(thread: Thread, run: OpenRun, call: OpenCall, request: RespondAction) -> bool:
    """True for the approval of a plan by which a turn that only plans ends."""
    approves = call.tool == PROPOSE_PLAN and request.decision == "approve"
    return approves and run.permission_mode == "planning" and thread.child is None


def _words(plan: ProposePlan | None, reason: str) -> str:
    said = "I accept the plan. Carry it out."
    lines = [] if plan is None else [plan.summary, *(f"{n}. {step}" for n, step in enumerate(plan.steps, start=1))]
    return "\n\n".join(part for part in (said, "\n".join(lines), reason) if part)
