"""A turn that plans ends with its plan: once that is accepted, the next turn carries it out in the mode that the person picked
(Agent UI specification, Human-in-the-loop taxonomy, plan_decision)."""

from __future__ import annotations

from callboard.contracts import casing
from callboard.contracts.commands import RespondAction
from callboard.contracts.commands.asking import ProposePlan
from callboard.contracts.commands.team_tools import PROPOSE_PLAN
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import QueueAdded, QueuePromoted, TurnSubmitted
from callboard.contracts.facts.action import ContinuationMode

from ...batch import Batch, thread_scope
from ...decision_inputs import limit_carried_mode, narrow_mode
from ...state.session import OpenCall, OpenRun, Thread

_OFFERED: tuple[ContinuationMode, ...] = ("ask", "edits")
#: `full` is offered only where it was in force before the plan.
_OFFERED_AFTER_FULL: tuple[ContinuationMode, ...] = ("ask", "edits", "full")


def continuation_modes(batch: Batch, thread: Thread, run: OpenRun, tool: str) -> tuple[ContinuationMode, ...]:
    """Return the modes in which a plan of this call can be carried out, the default first; none where its turn goes on.

    No mode is wider than the folder and the agent allow. The default is the mode in force before the planning, else the
    folder's default mode where that is `edits`, else `ask`.
    """
    if tool != PROPOSE_PLAN or run.permission_mode != "planning" or thread.child is not None:
        return ()
    known = batch.inputs
    before = None if thread.working_mode is None else limit_carried_mode(known, thread.working_mode)
    widest = known.limit_mode(thread.definition, "full")
    offered = _OFFERED_AFTER_FULL if before == "full" else _OFFERED
    modes: tuple[ContinuationMode, ...] = tuple(mode for mode in offered if narrow_mode(mode, widest) == mode)
    default = narrow_mode(before or ("edits" if known.default_mode == "edits" else "ask"), widest)
    return tuple(sorted(modes, key=lambda mode: mode != default))


def accepted_mode(
    batch: Batch, thread: Thread, run: OpenRun, call: OpenCall, request: RespondAction
) -> ContinuationMode | None:
    """Return the mode in which the plan that this approves is carried out; None where it approves no such plan.

    Raises:
        Refusal: `invalid_input` of a mode that is not offered now.
    """
    modes = continuation_modes(batch, thread, run, call.tool) if request.decision == "approve" else ()
    if request.permission_mode is None:
        return modes[0] if modes else None
    if request.permission_mode in modes:
        return request.permission_mode
    if not modes:
        raise Refusal(
            "invalid_input",
            "permissionMode goes with the approval of a plan that was made in permission mode planning.",
            field="permissionMode",
            hint="Leave it out: the agent goes on in the mode that it has.",
        )
    raise Refusal(
        "invalid_input",
        f"The plan cannot be carried out in {request.permission_mode}. Accepted: {', '.join(modes)}.",
        field="permissionMode",
        hint="Pick one of these modes, or change what the folder allows.",
    )


def carry_out(
    batch: Batch, thread_id: str, turn: str, permission_mode: ContinuationMode, call: OpenCall, reason: str
) -> None:
    """Queue the turn that carries out the accepted plan before all that waits. It starts once no call of the run is open."""
    thread = batch.thread(thread_id)
    mode = "chat" if thread.run is None else thread.run.mode
    plan = casing.decode(call.effective_arguments.text, ProposePlan) if call.effective_arguments.ref is None else None
    scope = thread_scope(thread, turn)
    batch.add(
        TurnSubmitted(input=batch.store_text(_words(plan, reason)), mode=mode, permission_mode=permission_mode),
        scope,
    )
    batch.add(QueueAdded(position=len(thread.queue) + 1), scope)
    if thread.queue:
        batch.add(QueuePromoted(reason="the plan before it was accepted"), scope)


def _words(plan: ProposePlan | None, reason: str) -> str:
    said = "I accept the plan. Carry it out."
    lines = [] if plan is None else [plan.summary, *(f"{n}. {step}" for n, step in enumerate(plan.steps, start=1))]
    return "\n\n".join(part for part in (said, "\n".join(lines), reason) if part)
