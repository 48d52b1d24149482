"""Messages between agents. They wait in inboxes, so agents that write in a ring never block each
other."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.exchange.message import MessageArguments, MessageSent
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.exchange.channel import ChannelMessage, ChannelOpened
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.session import Thread
from ..agent.addressing import find_or_join_agent
from ..subagent.child_scope import ENDED
from ..turn.idle import find_delay_reason
from .handoff import check_invariants


def send_message(batch: Batch, sender: Thread, request: MessageArguments) -> MessageSent:
    """Send a message to other agents in their shared channel.

    Raises:
        Refusal: `empty_message`, `unknown_agent`, `agent_to_itself`, `subagents_do_not_talk`,
            `nothing_running`.
    """
    if not request.text.strip():
        raise Refusal("empty_message", "The message is empty.", field="text", hint="Set text to the message.")
    receivers = {
        agent.thread: agent for agent in (find_or_join_agent(batch, name, sender, "to") for name in request.to)
    }
    if sender.thread in receivers:
        raise Refusal(
            "agent_to_itself", "An agent cannot write to itself.", field="to", hint="Remove your own name from `to`."
        )
    for receiver in receivers.values():
        check_receiver(sender, receiver, "to")
    channel = _post(batch, sender, tuple(receivers.values()), request.text)
    reasons = {
        thread.agent: find_delay_reason(batch.state, batch.get_thread(thread.thread)) for thread in receivers.values()
    }
    return MessageSent(
        session_id=batch.state.session,
        channel_id=channel,
        sequence=batch.state.sequence,
        paused={agent: reason for agent, reason in reasons.items() if reason},
    )


def notify_agent(batch: Batch, by: Thread | None, receiver: Thread, text: str) -> None:
    """Send an agent the decision about its work; `by` is None for a person. An ended child is
    skipped."""
    if receiver.child is None or (receiver.child.status not in ENDED and not receiver.child.ending):
        _post(batch, by, (receiver,), text)


def _post(batch: Batch, by: Thread | None, receivers: tuple[Thread, ...], text: str) -> str:
    source = by.agent if by is not None else "person"
    participants = (source, *(thread.agent for thread in receivers))
    run = by.run if by is not None else None
    scope = Scope(
        agent=source,
        thread=by.thread if by is not None else "",
        turn=run.turn if run is not None else "",
        run=run.run if run is not None else "",
    )
    channel = _open_channel(batch, scope, participants)
    batch.add(
        ChannelMessage(
            item=batch.inputs.ids.new("item"),
            source=source,
            participants=participants,
            to_threads=tuple(thread.thread for thread in receivers),
            message=batch.store_text(text),
            hops=(run.hops if run is not None else 0) + 1,
        ),
        msgspec.structs.replace(scope, channel=channel),
    )
    return channel


def check_receiver(sender: Thread, receiver: Thread, field: str) -> None:
    """Check that the sender can write to the receiver: a subagent to its parent, a parent to its
    running child.

    Raises:
        Refusal: `subagents_do_not_talk`; `not_your_child` for a job's worker; `nothing_running` for
            an ended child.
    """
    check_invariants(sender, receiver)
    child = receiver.child
    if child is None:
        return
    if child.parent != sender.thread:
        raise Refusal(
            "subagents_do_not_talk",
            f"{receiver.agent} listens to its parent only.",
            field=field,
            hint="Send the message to its parent.",
        )
    if child.job:
        raise Refusal(
            "not_your_child",
            f"{receiver.agent} works on an item of a job and accepts no messages.",
            field=field,
            hint="A person can use send_subagent_input.",
        )
    if child.status in ENDED or child.ending:
        raise Refusal(
            "nothing_running",
            f"{receiver.agent} has ended.",
            field=field,
            hint="Give it new input with send_subagent_input.",
        )


def _open_channel(batch: Batch, by: Scope, participants: tuple[str, ...]) -> str:
    for channel in batch.state.channels.values():
        if set(channel.participants) == set(participants):
            return channel.channel
    channel = batch.inputs.ids.new("channel")
    batch.add(
        ChannelOpened(participants=participants), Scope(agent=by.agent, thread=by.thread, run=by.run, channel=channel)
    )
    return channel
