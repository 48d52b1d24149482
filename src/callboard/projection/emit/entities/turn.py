"""Translations of facts about turns, their queue, routing and output."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.message import OutputFinal
from callboard.contracts.facts.model import RoutingResolved
from callboard.contracts.facts.plan import PlanUpdated
from callboard.contracts.facts.queue import (
    QueueAdded,
    QueueEdited,
    QueuePromoted,
    QueueRemoved,
    SteerAccepted,
    SteerRejected,
    SteerRequested,
)
from callboard.contracts.facts.turn import (
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnInterruptRequested,
    TurnStarted,
    TurnSubmitted,
)
from callboard.contracts.vocabulary import Control, EventClass, Phase

from ...run_end import derive_status
from ..agentui_emission import Emission, Emissions, emit_queue, emit_run
from ..run_emission import (
    RunEmission,
    RunTranslation,
    Translation,
    collect_fields,
    emit_agent_status,
    send_text,
    show_phase,
    update_queue,
    update_state,
)

#: The fields of `TurnStarted` that its event shows.
_STARTED_FIELDS = ("mode", "permission_mode", "max_iters", "definition", "tools")


def _emit_queued(fact: Fact) -> Emissions:
    count = {"queuedTurnCount": fact.position} if isinstance(fact, QueueAdded) else {}
    (queued,) = emit_queue("queued", "queue")
    return (msgspec.structs.replace(queued, adds={**queued.adds, **count}),)


def _emit_steer(phase: Phase, status: str, control: Control | None = None) -> Emissions:
    adds = {"steer": status}
    return (Emission("queue.changed", "runtime", "turn", phase, "composer", "snapshot", control, adds),)


def _emit_interrupted(fact: Fact) -> Emissions:
    by_person = isinstance(fact, TurnInterrupted) and fact.cause in ("person", "replaced")
    return emit_run("run.finished", "cancelled" if by_person else "interrupted", "done")


def _emit_plan(fact: Fact) -> Emissions:
    final = isinstance(fact, PlanUpdated) and fact.final
    kind: EventClass = "plan.final" if final else "plan.delta"
    return (Emission(kind, "model", "part", "planning", "inline_process", "transcript"),)


def _send_input(fact: Fact) -> tuple[RunEmission, ...]:
    source = getattr(fact, "source", "person")
    # The messages in an inbox have their own events. The turn that they wake has no text.
    return () if source == "inbox" else send_text("input", "user" if source == "person" else "agent").emit(fact)


def _accept_steer(fact: Fact) -> tuple[RunEmission, ...]:
    data = {"change": "steer_accepted"}
    return (("QueueUpdated", {**data, "steer_id": fact.steer_id} if isinstance(fact, SteerAccepted) else data),)


def _start_run(fact: Fact) -> tuple[RunEmission, ...]:
    fields = collect_fields(fact)
    data = {"change": "run_started", "status": "running", **{name: fields[name] for name in _STARTED_FIELDS}}
    return ("StateUpdated", data), emit_agent_status("begun")


def _end_run(end: str) -> RunTranslation:
    def emit(fact: Fact) -> tuple[RunEmission, ...]:
        cause = fact.cause if isinstance(fact, TurnInterrupted) else ""
        status = derive_status(end, cause)
        result = {"status": status, "detail": cause or str(getattr(fact, "code", ""))}
        phase = end if end in ("completed", "failed") else "stopped" if status == "cancelled" else "interrupted"
        return (
            ("Outcome", {**collect_fields(fact), **result}),
            ("StateUpdated", {"change": "run_ended", **result}),
            emit_agent_status(phase),
        )

    return RunTranslation(emit, "Outcome")


TRANSLATIONS: dict[type[Fact], Translation] = {
    TurnSubmitted: Translation(
        emit_run("run.status", "submitted", "accepted", scope="turn", control="send"),
        RunTranslation(_send_input, "Message"),
    ),
    TurnStarted: Translation(emit_run("run.started", "accepted", "accepted"), RunTranslation(_start_run)),
    TurnInterruptRequested: Translation(
        emit_run("run.status", "acting", "streaming", control="interrupt"), show_phase("stopping")
    ),
    TurnCompleted: Translation(emit_run("run.finished", "completed", "done"), _end_run("completed")),
    TurnFailed: Translation(emit_run("run.failed", "failed", "failed"), _end_run("failed")),
    TurnInterrupted: Translation(_emit_interrupted, _end_run("interrupted")),
    QueueAdded: Translation(_emit_queued, update_queue("added")),
    QueuePromoted: Translation(emit_queue("promoted"), update_queue("promoted")),
    QueueEdited: Translation(emit_queue("queued"), update_queue("edited")),
    QueueRemoved: Translation(emit_queue("removed"), update_queue("removed")),
    SteerRequested: Translation(_emit_steer("submitted", "pending", "steer"), update_queue("steer_requested")),
    SteerAccepted: Translation(_emit_steer("accepted", "accepted"), RunTranslation(_accept_steer)),
    SteerRejected: Translation(_emit_steer("cancelled", "rejected"), update_queue("steer_rejected")),
    RoutingResolved: Translation(emit_run("run.status", "routing", "routing")),
    PlanUpdated: Translation(_emit_plan, update_state("plan_updated")),
    OutputFinal: Translation(
        emit_run("run.status", "reconciling", "streaming", scope="message"), update_state("answer")
    ),
}
