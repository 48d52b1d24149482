"""Messages between agents. They wait in inboxes, so agents that write to each other in a ring never wait for each other."""

from __future__ import annotations

from callboard.contracts.commands.team import Message, MessageSent
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ChannelMessage, ChannelOpened
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state import Thread
from .agents import main_of
from .handoff import check_invariants
from .kin import ENDED


def send(batch: Batch, sender: Thread, request: Message) -> MessageSent:
    """Says something to other agents, in the channel that they share. Raises `empty_message`, `unknown_agent`,
    `agent_to_itself`, `subagents_do_not_talk`, `nothing_running`."""
    if not request.text.strip():
        raise Refusal("empty_message", "A message needs a text.", field="text")
    receivers = {one.thread: one for one in (main_of(batch, name, sender, "to") for name in request.to)}
    if sender.thread in receivers:
        raise Refusal("agent_to_itself", "An agent does not write to itself.", field="to")
    for receiver in receivers.values():
        check_listens(sender, receiver, "to")
    participants = (sender.agent, *(one.agent for one in receivers.values()))
    run = sender.run
    scope = Scope(
        agent=sender.agent,
        thread=sender.thread,
        turn=run.turn if run is not None else "",
        run=run.run if run is not None else "",
        channel=_channel(batch, sender, participants),
    )
    batch.say(
        ChannelMessage(
            item=batch.known.ids.new("item"),
            source=sender.agent,
            participants=participants,
            to_threads=tuple(receivers),
            message=batch.hold(request.text),
            hops=(run.hops if run is not None else 0) + 1,
        ),
        scope,
    )
    return MessageSent(session_id=batch.state.session, channel_id=scope.channel, sequence=batch.state.sequence)


def check_listens(sender: Thread, receiver: Thread, field: str) -> None:
    """Who speaks to whom: a subagent to its parent, and its parent to it while it works. Raises `subagents_do_not_talk`, and
    `nothing_running` of a child that has ended: it would never be told."""
    check_invariants(sender, receiver)
    child = receiver.child
    if child is None:
        return
    if child.parent != sender.thread:
        raise Refusal("subagents_do_not_talk", f"{receiver.agent} listens to its parent only.", field=field)
    if child.status in ENDED or child.ending:
        raise Refusal(
            "nothing_running",
            f"{receiver.agent} has ended and reads nothing more.",
            field=field,
            hint="send_subagent_input gives it more to do.",
        )


def _channel(batch: Batch, sender: Thread, participants: tuple[str, ...]) -> str:
    for channel in batch.state.channels.values():
        if set(channel.participants) == set(participants):
            return channel.channel
    run = sender.run
    channel = batch.known.ids.new("channel")
    batch.say(
        ChannelOpened(participants=participants),
        Scope(agent=sender.agent, thread=sender.thread, run=run.run if run is not None else "", channel=channel),
    )
    return channel
