"""Approval of plans: the next turn carries out an accepted plan in the mode that the person chose
(Agent UI specification, Human-in-the-loop taxonomy, plan_decision)."""

from __future__ import annotations

from callboard.contracts import casing
from callboard.contracts.commands.action import ProposePlanArguments, RespondAction
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.action import ContinuationMode
from callboard.contracts.facts.queue import QueueAdded, QueuePromoted
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.team_tools import PROPOSE_PLAN

from ...batch import Batch, build_thread_scope
from ...decision_inputs import limit_carried_mode, narrow_mode
from ...state.session import Thread
from ...state.turn import OpenCall, OpenRun

_OFFERED: tuple[ContinuationMode, ...] = ("ask", "edits")
#: `full` is offered only if it was the mode before planning.
_OFFERED_AFTER_FULL: tuple[ContinuationMode, ...] = ("ask", "edits", "full")


def list_continuation_modes(batch: Batch, thread: Thread, run: OpenRun, tool: str) -> tuple[ContinuationMode, ...]:
    """Return the modes in which a plan of this call can be carried out, the default first; none if
    its turn continues.

    No mode is wider than the folder and the agent allow. The default is the mode before planning,
    else the folder's default mode if that is `edits`, else `ask`.
    """
    if tool != PROPOSE_PLAN or run.permission_mode != "planning" or thread.child is not None:
        return ()
    inputs = batch.inputs
    before = None if thread.working_mode is None else limit_carried_mode(inputs, thread.working_mode)
    widest = inputs.limit_mode(thread.definition, "full")
    offered = _OFFERED_AFTER_FULL if before == "full" else _OFFERED
    modes: tuple[ContinuationMode, ...] = tuple(mode for mode in offered if narrow_mode(mode, widest) == mode)
    default = narrow_mode(before or ("edits" if inputs.default_mode == "edits" else "ask"), widest)
    return tuple(sorted(modes, key=lambda mode: mode != default))


def find_accepted_mode(
    batch: Batch, thread: Thread, run: OpenRun, call: OpenCall, request: RespondAction
) -> ContinuationMode | None:
    """Return the mode in which the approved plan is carried out; None if the request approves no
    such plan.

    Raises:
        Refusal: `invalid_input` for a mode that is not offered.
    """
    modes = list_continuation_modes(batch, thread, run, call.tool) if request.decision == "approve" else ()
    if request.permission_mode is None:
        return modes[0] if modes else None
    if request.permission_mode in modes:
        return request.permission_mode
    if not modes:
        raise Refusal(
            "invalid_input",
            "permissionMode is only for the approval of a plan made in permission mode planning.",
            field="permissionMode",
            hint="Leave it out: the agent keeps its mode.",
        )
    raise Refusal(
        "invalid_input",
        f"The plan cannot be carried out in {request.permission_mode}. Accepted: {', '.join(modes)}.",
        field="permissionMode",
        hint="Pick one of these modes, or change what the folder allows.",
    )


def queue_plan_turn(
    batch: Batch, thread_id: str, turn: str, permission_mode: ContinuationMode, call: OpenCall, reason: str
) -> None:
    """Queue a turn that carries out the accepted plan, before all other turns. It starts once the
    run has no open call."""
    thread = batch.get_thread(thread_id)
    mode = "chat" if thread.run is None else thread.run.mode
    plan = (
        casing.decode(call.effective_arguments.text, ProposePlanArguments)
        if call.effective_arguments.ref is None
        else None
    )
    scope = build_thread_scope(thread, turn)
    batch.add(
        TurnSubmitted(
            input=batch.store_text(_write_acceptance(plan, reason)), mode=mode, permission_mode=permission_mode
        ),
        scope,
    )
    batch.add(QueueAdded(position=len(thread.queue) + 1), scope)
    if thread.queue:
        batch.add(QueuePromoted(reason="the accepted plan comes first"), scope)


def _write_acceptance(plan: ProposePlanArguments | None, reason: str) -> str:
    acceptance = "I accept the plan. Carry it out."
    lines = (
        []
        if plan is None
        else [plan.summary, *(f"{number}. {step}" for number, step in enumerate(plan.steps, start=1))]
    )
    return "\n\n".join(part for part in (acceptance, "\n".join(lines), reason) if part)
