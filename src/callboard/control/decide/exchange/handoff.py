"""Handoffs: envelopes over edges (Communication specification, Handoff delivery)."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.commands.exchange.handoff import (
    HandoffAnswered,
    HandoffArguments,
    HandoffSent,
    RespondArguments,
)
from callboard.contracts.entities.handoff_payload import MAX_MESSAGE_BYTES, Payload
from callboard.contracts.entities.team import Edge
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.exchange.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    ReplyEnded,
)
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.handoff import OpenHandoff
from ...state.session import Session, Thread
from ..agent.addressing import find_agent, find_or_join_agent, require_agent
from ..artifact.versions import find_worktree, resolve_refs
from ..turn.idle import find_delay_reason

#: Maximum size of an envelope without its message, in bytes of JSON.
MAX_REST_BYTES = 32 * 1024
#: Default time for a required reply, in seconds.
DEFAULT_REPLY_SECONDS = 86_400


def send_handoff(batch: Batch, sender: Thread, request: HandoffArguments) -> HandoffSent:
    """Queue an envelope in the receiver's inbox.

    Raises:
        Refusal: `empty_message`, `message_too_large`, `unknown_agent`, `no_edge`,
            `agent_to_itself`, `subagents_do_not_talk`, `ownership_not_allowed`.
    """
    _check_size(request)
    receiver = find_or_join_agent(batch, request.to, sender, "to")
    if receiver.thread == sender.thread:
        raise Refusal(
            "agent_to_itself", "An agent cannot hand off to itself.", field="to", hint="Set `to` to another agent."
        )
    check_invariants(sender, receiver)
    edge = find_edge(batch.state, sender, receiver)
    if edge is None:
        raise Refusal(
            "no_edge",
            f"There is no edge from {sender.agent} to {receiver.agent}.",
            field="to",
            hint=f"Edges lead to: {', '.join(list_reachable(batch.state, sender)) or 'none'}.",
        )
    if request.ownership and not edge.ownership:
        raise Refusal(
            "ownership_not_allowed",
            f"The edge from {sender.agent} to {receiver.agent} does not allow ownership.",
            field="ownership",
            hint="Leave ownership out, or choose an agent to which you have an edge with ownership.",
        )
    resume = _resolve_resume_target(batch, sender, request)
    response = request.response
    within = response.within_s if response is not None and response.expectation == "required" else None
    reply_by = batch.inputs.now + (within or DEFAULT_REPLY_SECONDS) * 1_000_000 if _is_reply_required(request) else 0
    handoff = batch.inputs.ids.new("handoff")
    run = sender.run
    artifacts, unresolved = resolve_refs(batch, request.artifacts, find_worktree(sender))
    batch.add(
        HandoffRequested(
            source=sender.agent,
            target=receiver.agent,
            to_thread=receiver.thread,
            edge=edge.kind,
            payload=Payload(
                message=request.message,
                structured=request.structured,
                artifacts=request.artifacts,
                status=request.status,
                response=response,
            ),
            context_ref=request.context_ref,
            meta=request.meta,
            reason=request.reason,
            confirm=edge.confirm,
            ownership=request.ownership,
            resume_target=resume.agent if request.ownership else "",
            context_boundary=batch.state.sequence,
            reply_by=reply_by,
            hops=(run.hops if run is not None else 0) + 1,
            artifacts=artifacts or None,
            unresolved=unresolved,
        ),
        Scope(
            agent=sender.agent,
            thread=sender.thread,
            turn=run.turn if run is not None else "",
            run=run.run if run is not None else "",
            task=sender.child.task if sender.child is not None else "",
            handoff=handoff,
        ),
    )
    _end_reply_waits(batch, sender, receiver)
    return HandoffSent(
        session_id=batch.state.session,
        handoff_id=handoff,
        target=receiver.agent,
        status="waiting_for_answer" if edge.confirm or request.ownership else "queued",
        sequence=batch.state.sequence,
        paused=find_delay_reason(batch.state, batch.get_thread(receiver.thread)),
    )


def respond_handoff(batch: Batch, receiver: Thread | None, request: RespondArguments) -> HandoffAnswered:
    """Accept, reject or complete a handoff. `receiver` is the responding agent, None for a person.

    Raises:
        Refusal: `unknown_handoff`, `not_yours`, `handoff_not_waiting`.
    """
    handoff = batch.state.handoffs.get(request.handoff_id)
    if handoff is None:
        raise _build_unknown_handoff(batch, request.handoff_id)
    if receiver is not None and receiver.thread != handoff.receiver:
        raise Refusal(
            "not_yours",
            f"The handoff {request.handoff_id} is for another agent.",
            field="handoffId",
            hint=f"Only {handoff.target} can respond to it.",
        )
    scope = _build_scope(batch, handoff, receiver)
    match request.decision:
        case "accept":
            _check_waiting(batch.state, handoff)
            batch.add(
                HandoffAccepted(
                    source=handoff.source,
                    target=handoff.target,
                    ownership=handoff.ownership,
                    resume_target=handoff.resume_target,
                    reason=request.reason,
                ),
                scope,
            )
            return _build_answer(batch, handoff, "accepted")
        case "reject":
            _check_waiting(batch.state, handoff)
            batch.add(
                HandoffRejected(
                    source=handoff.source,
                    target=handoff.target,
                    to_thread=handoff.sender,
                    reason=request.reason,
                ),
                scope,
            )
            return _build_answer(batch, handoff, "rejected")
        case "complete":
            if not handoff.accepted:
                raise Refusal(
                    "handoff_not_waiting",
                    "The handoff is not accepted yet.",
                    field="decision",
                    hint="Accept it first, then complete it.",
                )
            batch.add(
                HandoffCompleted(
                    source=handoff.source,
                    target=handoff.target,
                    returned=handoff.ownership,
                    to_thread=_resume_thread(batch.state, handoff) if handoff.ownership else "",
                    reason=request.reason,
                ),
                scope,
            )
            return _build_answer(batch, handoff, "completed")


def expire_due(batch: Batch) -> None:
    """End the wait for required replies that are overdue, and notify their senders."""
    for handoff in list(batch.state.handoffs.values()):
        if handoff.reply_by and batch.inputs.now >= handoff.reply_by:
            batch.add(ReplyEnded(end="expired", to_thread=handoff.sender), _build_scope(batch, handoff))


def find_edge(state: Session, sender: Thread, receiver: Thread) -> Edge | None:
    """Return the edge between two agents: the sender's, or the receiver's if it leads both ways. A
    subagent has one to its parent."""
    if sender.child is not None and sender.child.parent == receiver.thread:
        return Edge(to=receiver.agent, kind="report")
    for edge in sender.edges:
        if _is_edge_to(state, edge, receiver):
            return edge
    for edge in receiver.edges:
        if edge.direction == "both" and _is_edge_to(state, edge, sender):
            return edge
    return None


def _is_edge_to(state: Session, edge: Edge, thread: Thread) -> bool:
    target = find_agent(state, edge.to)
    return target is not None and target.thread == thread.thread


def list_reachable(state: Session, sender: Thread) -> list[str]:
    """Return the names of agents that an edge of the sender leads to. An agent outside of the
    session is named by its definition."""
    names = [edge.to for edge in sender.edges]
    names += [
        thread.agent
        for thread in state.threads.values()
        if thread.thread != sender.thread and find_edge(state, sender, thread)
    ]
    return list(dict.fromkeys(names))


def check_invariants(sender: Thread, receiver: Thread) -> None:
    """Check invariants 3 and 4: a subagent speaks to its parent only.

    Raises:
        Refusal: `subagents_do_not_talk`.
    """
    if sender.child is None:
        return
    if receiver.thread != sender.child.parent:
        raise Refusal(
            "subagents_do_not_talk",
            "A subagent speaks to its parent only.",
            field="to",
            hint="Report to your parent, and name the agent that it is for.",
        )


def _check_size(request: HandoffArguments) -> None:
    if not request.message.strip():
        raise Refusal(
            "empty_message", "The message is empty.", field="message", hint="Set message to what the receiver must do."
        )
    if len(request.message.encode()) > MAX_MESSAGE_BYTES:
        raise Refusal(
            "message_too_large",
            f"A handoff's message can have at most {MAX_MESSAGE_BYTES} bytes.",
            field="message",
            hint="Write long content to a file and send it as an artifact ref.",
        )
    if len(msgspec.json.encode((request.structured, request.artifacts, request.meta))) > MAX_REST_BYTES:
        raise Refusal(
            "message_too_large",
            f"structured, artifacts and meta can have at most {MAX_REST_BYTES} bytes together.",
            field="structured",
            hint="Write long content to a file and send it as an artifact ref.",
        )


def _resolve_resume_target(batch: Batch, sender: Thread, request: HandoffArguments) -> Thread:
    """Return the agent that gets the ownership back. A subagent cannot own the person's input."""
    if not request.resume_target:
        return sender
    target = require_agent(batch.state, request.resume_target, "resumeTarget")
    if target.child is not None:
        raise Refusal(
            "ownership_not_allowed",
            f"{target.agent} is a subagent and cannot own the objective.",
            field="resumeTarget",
            hint="Name its parent.",
        )
    return target


def _is_reply_required(request: HandoffArguments) -> bool:
    return request.response is not None and request.response.expectation == "required"


def _end_reply_waits(batch: Batch, sender: Thread, receiver: Thread) -> None:
    """End the wait of the receiver: a handoff back is the reply to its handoff."""
    for handoff in list(batch.state.handoffs.values()):
        if handoff.reply_by and handoff.receiver == sender.thread and handoff.sender == receiver.thread:
            batch.add(
                ReplyEnded(end="answered", to_thread=handoff.sender, by=sender.agent), _build_scope(batch, handoff)
            )


def _build_unknown_handoff(batch: Batch, handoff: str) -> Refusal:
    if handoff in batch.inputs.closed_ids:
        message, hint = f"The handoff {handoff} has ended.", "It needs no further answer. Send a new handoff."
    else:
        message = f"There is no handoff {handoff}."
        hint = "Use the handoff_id from the envelope or from the answer of send_handoff."
    return Refusal("unknown_handoff", message, field="handoffId", hint=hint)


def _check_waiting(state: Session, handoff: OpenHandoff) -> None:
    """Check that the handoff waits for an answer. A person has no turn that reads it, so it always
    waits for one."""
    receiver = state.threads.get(handoff.receiver)
    to_person = receiver is not None and receiver.kind == "human"
    if handoff.accepted:
        raise Refusal(
            "handoff_not_waiting",
            "The handoff was already accepted.",
            field="handoffId",
            hint="Complete it with decision complete.",
        )
    if not (handoff.confirm or handoff.ownership or to_person):
        raise Refusal(
            "handoff_not_waiting",
            "This handoff waits for no answer: the receiver's next turn accepts it.",
            field="handoffId",
            hint="Wait for that turn, then complete the handoff.",
        )


def _resume_thread(state: Session, handoff: OpenHandoff) -> str:
    return next(
        (thread.thread for thread in state.threads.values() if thread.agent == handoff.resume_target), state.lead
    )


def _build_scope(batch: Batch, handoff: OpenHandoff, by: Thread | None = None) -> Scope:
    """Return the scope of the receiver, with the run of the agent that acts."""
    receiver = batch.state.threads.get(handoff.receiver)
    run = by.run if by is not None else None
    return Scope(
        agent=receiver.agent if receiver is not None else handoff.target,
        thread=handoff.receiver,
        turn=run.turn if run is not None else "",
        run=run.run if run is not None else "",
        handoff=handoff.handoff,
    )


def _build_answer(
    batch: Batch, handoff: OpenHandoff, status: Literal["accepted", "rejected", "completed"]
) -> HandoffAnswered:
    return HandoffAnswered(
        session_id=batch.state.session, handoff_id=handoff.handoff, status=status, sequence=batch.state.sequence
    )
