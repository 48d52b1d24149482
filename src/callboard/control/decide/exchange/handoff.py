"""Envelopes over edges (Communication specification, Handoff delivery)."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.commands.team import Handoff, HandoffAnswered, HandoffSent, Respond
from callboard.contracts.entities.handoff_payload import LARGEST_MESSAGE, Payload
from callboard.contracts.entities.team import Edge
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import HandoffAccepted, HandoffCompleted, HandoffRejected, HandoffRequested, ReplyEnded
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.session import OpenHandoff, Session, Thread
from ..agent.addressing import find_agent, require_agent, require_main_agent
from ..artifact.versions import resolve_refs, worktree_of
from ..turn.idle import delay_reason

#: The largest of all else that an envelope carries, in bytes of JSON.
LARGEST_REST = 32 * 1024
#: How long a required answer is waited for where the sender does not say, in seconds.
DAY = 86_400


def send_handoff(batch: Batch, sender: Thread, request: Handoff) -> HandoffSent:
    """Queues an envelope to the receiver's inbox.

    Raises `empty_message`, `message_too_large`, `unknown_agent`, `no_edge`, `agent_to_itself`, `subagents_do_not_talk`,
    `ownership_not_allowed`.
    """
    _check_size(request)
    receiver = require_main_agent(batch, request.to, sender, "to")
    if receiver.thread == sender.thread:
        raise Refusal("agent_to_itself", "An agent does not hand off to itself.", field="to")
    check_invariants(sender, receiver)
    edge = find_edge(batch.state, sender, receiver)
    if edge is None:
        raise Refusal(
            "no_edge",
            f"No edge leads from {sender.agent} to {receiver.agent}.",
            field="to",
            hint=f"Edges lead to: {', '.join(list_reachable(batch.state, sender)) or 'nobody'}.",
        )
    if request.ownership and not edge.ownership:
        raise Refusal(
            "ownership_not_allowed",
            f"The edge from {sender.agent} to {receiver.agent} moves no ownership.",
            field="ownership",
        )
    resume = _resume_target(batch, sender, request)
    response = request.response
    within = response.within_s if response is not None and response.expectation == "required" else None
    reply_by = batch.inputs.now + (within or DAY) * 1_000_000 if _required(request) else 0
    handoff = batch.inputs.ids.new("handoff")
    run = sender.run
    artifacts, unresolved = resolve_refs(batch, request.artifacts, worktree_of(sender))
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
    _answers(batch, sender, receiver)
    return HandoffSent(
        session_id=batch.state.session,
        handoff_id=handoff,
        target=receiver.agent,
        status="waiting_for_answer" if edge.confirm or request.ownership else "queued",
        sequence=batch.state.sequence,
        paused=delay_reason(batch.state, batch.thread(receiver.thread)),
    )


def respond_handoff(batch: Batch, receiver: Thread | None, request: Respond) -> HandoffAnswered:
    """Accepts, rejects, or gives back. `receiver` is the agent that answers, None for a person.

    Raises `unknown_handoff`, `not_yours`, `handoff_not_waiting`.
    """
    handoff = batch.state.handoffs.get(request.handoff_id)
    if handoff is None:
        ended = request.handoff_id in batch.inputs.closed_ids
        raise Refusal(
            "unknown_handoff",
            f"The handoff {request.handoff_id} is over." if ended else f"There is no handoff {request.handoff_id}.",
            field="handoffId",
        )
    if receiver is not None and receiver.thread != handoff.receiver:
        raise Refusal("not_yours", "Only its receiver answers a handoff.", field="handoffId")
    scope = _scope(batch, handoff, receiver)
    match request.decision:
        case "accept":
            _waits(batch.state, handoff)
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
            return _answer(batch, handoff, "accepted")
        case "reject":
            _waits(batch.state, handoff)
            batch.add(
                HandoffRejected(
                    source=handoff.source,
                    target=handoff.target,
                    to_thread=handoff.sender,
                    reason=request.reason,
                ),
                scope,
            )
            return _answer(batch, handoff, "rejected")
        case "complete":
            if not handoff.accepted:
                raise Refusal("handoff_not_waiting", "A handoff is accepted before it is complete.", field="decision")
            batch.add(
                HandoffCompleted(
                    source=handoff.source,
                    target=handoff.target,
                    returned=handoff.ownership,
                    to_thread=_resumes(batch.state, handoff) if handoff.ownership else "",
                    reason=request.reason,
                ),
                scope,
            )
            return _answer(batch, handoff, "completed")


def expire_due(batch: Batch) -> None:
    """Required answers whose time is up are no longer waited for; their senders are told."""
    for handoff in list(batch.state.handoffs.values()):
        if handoff.reply_by and batch.inputs.now >= handoff.reply_by:
            batch.add(ReplyEnded(end="expired", to_thread=handoff.sender), _scope(batch, handoff))


def find_edge(state: Session, sender: Thread, receiver: Thread) -> Edge | None:
    """The edge that leads from one agent to the other: declared by the sender, or by the receiver for both ways. A subagent
    has one to its parent."""
    if sender.child is not None and sender.child.parent == receiver.thread:
        return Edge(to=receiver.agent, kind="report")
    for edge in sender.edges:
        if _leads(state, edge, receiver):
            return edge
    for edge in receiver.edges:
        if edge.direction == "both" and _leads(state, edge, sender):
            return edge
    return None


def _leads(state: Session, edge: Edge, to: Thread) -> bool:
    found = find_agent(state, edge.to)
    return found is not None and found.thread == to.thread


def list_reachable(state: Session, sender: Thread) -> list[str]:
    """The names of those that an edge leads to; one that is not in the session yet is named as its definition is."""
    found = [edge.to for edge in sender.edges]
    found += [
        one.agent for one in state.threads.values() if one.thread != sender.thread and find_edge(state, sender, one)
    ]
    return list(dict.fromkeys(found))


def check_invariants(sender: Thread, receiver: Thread) -> None:
    """Invariants 3 and 4: a subagent speaks to its parent, and to no subagent. Raises `subagents_do_not_talk`."""
    if sender.child is None:
        return
    if receiver.thread != sender.child.parent:
        raise Refusal(
            "subagents_do_not_talk",
            "A subagent speaks to its parent only.",
            field="to",
            hint="Report to your parent, and say whom it is for.",
        )


def _check_size(request: Handoff) -> None:
    if not request.message.strip():
        raise Refusal("empty_message", "A handoff needs a message.", field="message")
    if len(request.message.encode()) > LARGEST_MESSAGE:
        raise Refusal(
            "message_too_large",
            f"A handoff's message has at most {LARGEST_MESSAGE} bytes.",
            field="message",
            hint="Write what is long to a file and send it as an artifact ref.",
        )
    if len(msgspec.json.encode((request.structured, request.artifacts, request.meta))) > LARGEST_REST:
        raise Refusal(
            "message_too_large",
            f"What a handoff carries beside its message has at most {LARGEST_REST} bytes.",
            field="structured",
            hint="Write what is long to a file and send it as an artifact ref.",
        )


def _resume_target(batch: Batch, sender: Thread, request: Handoff) -> Thread:
    """Who takes the ownership back: a person's words never go to a subagent, which speaks to its parent only."""
    if not request.resume_target:
        return sender
    found = require_agent(batch.state, request.resume_target, "resumeTarget")
    if found.child is not None:
        raise Refusal(
            "ownership_not_allowed",
            f"{found.agent} is a subagent: it takes no ownership.",
            field="resumeTarget",
            hint="Name its parent.",
        )
    return found


def _required(request: Handoff) -> bool:
    return request.response is not None and request.response.expectation == "required"


def _answers(batch: Batch, sender: Thread, receiver: Thread) -> None:
    """A handoff back is the answer that one of theirs was waiting for."""
    for handoff in list(batch.state.handoffs.values()):
        if handoff.reply_by and handoff.receiver == sender.thread and handoff.sender == receiver.thread:
            batch.add(ReplyEnded(end="answered", to_thread=handoff.sender, by=sender.agent), _scope(batch, handoff))


def _waits(state: Session, handoff: OpenHandoff) -> None:
    """A person has no turn in which a handoff is read: it waits for an answer in any case."""
    receiver = state.threads.get(handoff.receiver)
    to_person = receiver is not None and receiver.kind == "human"
    if handoff.accepted:
        raise Refusal("handoff_not_waiting", "The handoff is accepted already.", field="handoffId")
    if not (handoff.confirm or handoff.ownership or to_person):
        raise Refusal(
            "handoff_not_waiting", "It is accepted by being read in its receiver's next turn.", field="handoffId"
        )


def _resumes(state: Session, handoff: OpenHandoff) -> str:
    return next((one.thread for one in state.threads.values() if one.agent == handoff.resume_target), state.lead)


def _scope(batch: Batch, handoff: OpenHandoff, by: Thread | None = None) -> Scope:
    """Of the receiver; with its run where it is what the receiver itself does in it."""
    receiver = batch.state.threads.get(handoff.receiver)
    run = by.run if by is not None else None
    return Scope(
        agent=receiver.agent if receiver is not None else handoff.target,
        thread=handoff.receiver,
        turn=run.turn if run is not None else "",
        run=run.run if run is not None else "",
        handoff=handoff.handoff,
    )


def _answer(
    batch: Batch, handoff: OpenHandoff, status: Literal["accepted", "rejected", "completed"]
) -> HandoffAnswered:
    return HandoffAnswered(
        session_id=batch.state.session, handoff_id=handoff.handoff, status=status, sequence=batch.state.sequence
    )
