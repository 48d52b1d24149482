"""A remote teammate: wakes by its inbox, and replies to the senders of its input."""

from __future__ import annotations

from callboard.contracts.content import Text
from callboard.contracts.entities.team import Edge
from callboard.contracts.facts.agent import RemoteArtifact, RemotePart
from callboard.contracts.facts.handoff import ChannelMessage, InboxConsumed, ReplyEnded
from callboard.contracts.ports.external import CONNECT_AGENT, ArtifactReported, TaskReported
from callboard.control.outcomes import ExternalCallReported, RemoteReported
from tests.control.rigs.examples import ASK, requested_call
from tests.control.rigs.team import Team, agent_definition, fact_types, facts_of, team

PEER = agent_definition("peer", kind="remote", tools=(), policy=(), provider="a2a", url="http://peer.test/")
HOST = agent_definition("host", edges=(Edge(to="peer"),))
PERSON = agent_definition("owner", kind="human", tools=(), policy=(), provider="human")


def wrote() -> Team:
    """Return a session whose lead sent a message to the remote agent, which runs for it."""
    made = team(HOST, PEER, PERSON)
    made.uses("host", "send_message", to=["peer"], text="Look.")
    return made


def tells(made: Team, told: TaskReported | ArtifactReported) -> RemoteReported:
    peer, run = made.thread_of("peer"), made.run_of("peer")
    return RemoteReported(thread=peer.thread, run=run.run, prompt=run.model_step, report=told)


def test_an_inbox_item_starts_a_remote_agent_and_no_person():
    made = wrote()
    made.uses("host", "send_message", to=["owner"], text="Look.")
    assert (made.thread_of("peer").run is not None, made.thread_of("owner").run) == (True, None)


def test_a_remote_agent_consumes_its_inbox_with_its_first_report():
    """COM-09"""
    made = wrote()
    peer, run = made.thread_of("peer"), made.run_of("peer")
    asked = ExternalCallReported(
        thread=peer.thread, run=run.run, prompt=run.model_step, call=requested_call(9, 3, ASK, CONNECT_AGENT)
    )
    assert facts_of(made.when(asked), InboxConsumed) == []
    assert facts_of(made.when(tells(made, TaskReported("T", "unknown"))), InboxConsumed) == []
    assert len(facts_of(made.when(tells(made, TaskReported("T", "submitted"))), InboxConsumed)) == 1


def test_a_remote_agents_answer_goes_to_the_sender_with_the_texts_of_its_artifacts():
    made = wrote()
    parts = (RemotePart(media="text/plain", text=Text(text="A card.")), RemotePart(media="image/png", url="http://x/"))
    made.when(tells(made, TaskReported("T", "submitted")))
    made.when(tells(made, ArtifactReported(task="T", artifact="a", name="card", parts=parts[:1])))
    assert facts_of(
        made.when(tells(made, ArtifactReported(task="T", artifact="a", name="card", parts=parts))), RemoteArtifact
    )
    then = made.answers("peer", "Here it is.")

    (back,) = facts_of(then, ChannelMessage)
    assert (back.source, back.participants, back.to_threads) == (
        "peer",
        ("peer", "host"),
        (made.thread_of("host").thread,),
    )
    assert back.message.text == "Here it is.\n\n[artifact card]\nA card."
    assert fact_types(then)[-3:] == ["channel.message", "output.final", "turn.completed"]


def test_a_failed_remote_turn_sends_no_reply():
    made = wrote()
    assert facts_of(made.fails("peer"), ChannelMessage) == []


def test_a_remote_agents_answer_ends_the_required_reply_of_a_handoff():
    """COM-16"""
    made = team(HOST, PEER, PERSON)
    made.uses("host", "send_handoff", to="peer", message="Look.", response={"expectation": "required"})
    then = made.answers("peer", "Seen.")

    assert [(one.end, one.by) for one in facts_of(then, ReplyEnded)] == [("answered", "peer")]
    assert [one.message.text for one in facts_of(then, ChannelMessage)] == ["Seen."]
