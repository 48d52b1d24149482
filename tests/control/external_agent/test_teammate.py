"""A remote teammate: wakes by its inbox, and replies to the senders of its input."""

from __future__ import annotations

from callboard.contracts.content import Text
from callboard.contracts.entities.team import Edge
from callboard.contracts.facts.agent import RemoteArtifact, RemotePart
from callboard.contracts.facts.exchange.channel import ChannelMessage
from callboard.contracts.facts.exchange.handoff import ReplyEnded
from callboard.contracts.facts.exchange.inbox import InboxConsumed
from callboard.contracts.ports.external import CONNECT_AGENT, ArtifactReported, TaskReported
from callboard.control.outcomes import ExternalCallReported, RemoteReported
from tests.control.rigs.examples import ASK, requested_call
from tests.control.rigs.team import Team, agent_definition, fact_types, facts_of, team

PEER = agent_definition("peer", kind="remote", tools=(), policy=(), provider="a2a", url="http://peer.test/")
HOST = agent_definition("host", edges=(Edge(to="peer"),))
PERSON = agent_definition("owner", kind="human", tools=(), policy=(), provider="human")


def session_with_remote_run() -> Team:
    """Return a session whose lead sent a message to the remote agent, which runs for it."""
    session = team(HOST, PEER, PERSON)
    session.uses("host", "send_message", to=["peer"], text="Look.")
    return session


def remote_report(session: Team, report: TaskReported | ArtifactReported) -> RemoteReported:
    peer, run = session.thread_of("peer"), session.run_of("peer")
    return RemoteReported(thread=peer.thread, run=run.run, prompt=run.model_step, report=report)


def test_an_inbox_item_starts_a_remote_agent_and_no_person():
    session = session_with_remote_run()
    session.uses("host", "send_message", to=["owner"], text="Look.")
    assert (session.thread_of("peer").run is not None, session.thread_of("owner").run) == (True, None)


def test_a_remote_agent_consumes_its_inbox_with_its_first_report():
    """COM-09"""
    session = session_with_remote_run()
    peer, run = session.thread_of("peer"), session.run_of("peer")
    call = ExternalCallReported(
        thread=peer.thread, run=run.run, prompt=run.model_step, call=requested_call(9, 3, ASK, CONNECT_AGENT)
    )
    assert facts_of(session.when(call), InboxConsumed) == []
    assert facts_of(session.when(remote_report(session, TaskReported("T", "unknown"))), InboxConsumed) == []
    assert len(facts_of(session.when(remote_report(session, TaskReported("T", "submitted"))), InboxConsumed)) == 1


def test_a_remote_agents_answer_goes_to_the_sender_with_the_texts_of_its_artifacts():
    session = session_with_remote_run()
    parts = (RemotePart(media="text/plain", text=Text(text="A card.")), RemotePart(media="image/png", url="http://x/"))
    session.when(remote_report(session, TaskReported("T", "submitted")))
    session.when(remote_report(session, ArtifactReported(task="T", artifact="a", name="card", parts=parts[:1])))
    assert facts_of(
        session.when(remote_report(session, ArtifactReported(task="T", artifact="a", name="card", parts=parts))),
        RemoteArtifact,
    )
    result = session.responds("peer", "Here it is.")

    (reply,) = facts_of(result, ChannelMessage)
    assert (reply.source, reply.participants, reply.to_threads) == (
        "peer",
        ("peer", "host"),
        (session.thread_of("host").thread,),
    )
    assert reply.message.text == "Here it is.\n\n[artifact card]\nA card."
    assert fact_types(result)[-3:] == ["channel.message", "output.final", "turn.completed"]


def test_a_failed_remote_turn_sends_no_reply():
    session = session_with_remote_run()
    assert facts_of(session.fails("peer"), ChannelMessage) == []


def test_a_remote_agents_answer_ends_the_required_reply_of_a_handoff():
    """COM-16"""
    session = team(HOST, PEER, PERSON)
    session.uses("host", "send_handoff", to="peer", message="Look.", response={"expectation": "required"})
    result = session.responds("peer", "Seen.")

    assert [(reply.end, reply.by) for reply in facts_of(result, ReplyEnded)] == [("answered", "peer")]
    assert [message.message.text for message in facts_of(result, ChannelMessage)] == ["Seen."]
