"""Remote agents as teammates: the official SDK's server over real HTTP, with the real gate,
deciders and log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.permission import ResolvePermission
from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.action import ActionRequired, ActionResolved
from callboard.contracts.facts.agent import AgentConnected, RemoteArtifact, RemoteTaskChanged
from callboard.contracts.facts.exchange.channel import ChannelMessage
from callboard.contracts.facts.model import RoutingResolved
from callboard.contracts.facts.tool import ToolRequested
from callboard.contracts.facts.turn import TurnCompleted
from tests.adapters.a2a.peer import Peer, Task, peer
from tests.runtime.rigs.remote_agent import (
    ENDED,
    JOINED,
    answer,
    answer_greeting,
    ask_colour,
    contact_agent,
    list_agent_types,
    list_facts,
    open_with_peer,
    send_again,
    states,
    wait_end,
)
from tests.runtime.rigs.runtime_rig import MovableClock


async def test_a_message_is_sent_after_approval_of_the_address_and_the_answer_returns(tmp_path: Path):
    """UI-23"""
    async with peer(answer_greeting) as there, open_with_peer(tmp_path, there.url) as rig:
        session = (await rig.submit("Write to it.")).session_id
        action = await answer(rig, session, 1)
        await wait_end(rig, session)
        types = await list_agent_types(rig, session)
        (route,) = [fact for fact in await list_facts(rig, session, RoutingResolved) if fact.chosen.provider == "a2a"]
        met_it, named = await list_facts(rig, session, AgentConnected)
        tasks = await list_facts(rig, session, RemoteTaskChanged)
        (artifact,) = await list_facts(rig, session, RemoteArtifact)
        sent, back = await list_facts(rig, session, ChannelMessage)

    assert types == [
        *("thread.opened", "turn.submitted", "turn.started", "routing.resolved", "inbox.reserved", "model.requested"),
        *JOINED,
        *("agent.connected", "agent.connected"),
        *("remote.task", "inbox.consumed", "remote.task", "remote.artifact"),
        *("artifact.created", "artifact.version.created", "remote.task"),
        *ENDED,
    ]
    assert (action.action_type, action.tool, action.risk) == ("tool_approval", "ConnectAgent", "high")
    assert action.preview == Text(text=there.url)
    assert action.matchers == dict.fromkeys(("session", "workspace"), f"ConnectAgent({there.url})")
    assert (route.chosen.model, route.reason) == ("peer", "the agent is remote")
    assert (met_it.name, met_it.version, met_it.provider_session_id, met_it.resumed) == ("Peer", "2.1", "", False)
    assert named == msgspec.structs.replace(met_it, provider_session_id=named.provider_session_id)
    assert '"supportedInterfaces"' in met_it.card.text
    assert [(task.state, task.message.text) for task in tasks] == [
        ("submitted", ""),
        ("working", "Looking."),
        ("completed", ""),
    ]
    assert len({fact.remote_task_id for fact in (*tasks, artifact)}) == 1
    assert (artifact.remote_artifact_id, artifact.name, artifact.parts[0].text.text) == ("a1", "card", "A card.")
    assert there.texts[0].startswith("Be brief.\n\n<inbox>")
    assert (sent.source, back.source, back.participants) == ("host", "peer", ("peer", "host"))
    assert back.message.text == f"You said: {there.texts[0]}\n\n[artifact card]\nA card."


@pytest.mark.parametrize("unattended", [False, True], ids=["rejected", "unattended"])
async def test_without_approval_nothing_is_sent_and_the_message_waits(unattended: bool, tmp_path: Path):
    """CTL-05, COM-09"""
    async with peer(answer_greeting) as there, open_with_peer(tmp_path, there.url) as rig:
        session = (await rig.submit("Write to it.")).session_id
        await answer(rig, session, 1, "reject", unattended=unattended)
        failed = await wait_end(rig, session)
        before = list(there.methods)
        await send_again(rig, session, "Please.")
        await answer(rig, session, 2, scope="session")
        await wait_end(rig, session, 2)
        await send_again(rig, session, "Once more.")
        await wait_end(rig, session, 3)
        types = await list_agent_types(rig, session)

    assert (failed.code, before) == ("nobody_there" if unattended else "person_denied", [])
    assert "What is it?" in there.texts[0]
    assert "Please." in there.texts[0]
    assert there.texts[1] == "Once more."
    assert types.count("action.required") == 2


async def test_a_policys_rejection_of_the_contact_fails_the_turn(tmp_path: Path):
    """CTL-05"""
    async with peer(answer_greeting) as there, open_with_peer(tmp_path, there.url) as rig:
        session = (await rig.submit("Write to it.")).session_id
        required_action = await rig.until(session, "action.required")
        action = required_action.scope.action
        await rig.do(ResolvePermission(session_id=session, action_id=action, decision="reject", policy="opa/main"))
        failed = await wait_end(rig, session)

    assert (failed.code, there.methods) == ("policy_denied", [])
    assert failed.message == "ConnectAgent was not allowed. The policy opa/main rejected the call."


async def test_a_question_waits_for_a_person_and_the_answer_is_the_next_message(tmp_path: Path):
    """UI-23, CTL-04, CTL-16"""
    async with peer(ask_colour) as there, open_with_peer(tmp_path, there.url) as rig:
        session = await contact_agent(rig)
        action = await rig.until(session, "action.required", 2)
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"decision": "approve"}, "decision_not_offered"),
            ({"decision": "answer"}, "invalid_input"),
            ({"decision": "answer", "answer": "  "}, "invalid_input"),
            ({"decision": "reject", "answer": "Blue."}, "invalid_input"),
        ]
        for response, code in wrong:
            with pytest.raises(Refusal) as refused:
                await rig.do(RespondAction(session_id=session, action_id=action.scope.action, **response))
            assert refused.value.code == code
        answered = await rig.do(
            RespondAction(session_id=session, action_id=action.scope.action, decision="answer", answer="Blue.")
        )
        twice = await rig.do(
            RespondAction(session_id=session, action_id=action.scope.action, decision="answer", answer="Red.")
        )
        await wait_end(rig, session)
        types = await list_agent_types(rig, session)
        (resolved,) = [fact for fact in await list_facts(rig, session, ActionResolved) if fact.decision == "answer"]
        tasks = await list_facts(rig, session, RemoteTaskChanged)
        requested = (await list_facts(rig, session, ToolRequested))[-1]

    need = action.fact
    assert isinstance(need, ActionRequired)
    assert (need.action_type, need.decisions, need.scopes) == ("clarification", ("answer", "reject"), ("once",))
    assert need.prompt == f"The agent peer at {there.url} asks:\n\nWhich colour?"
    assert (requested.tool, requested.summary) == ("RemoteInput", f"RemoteInput {tasks[0].remote_task_id}")
    assert (answered.outcome, answered.first, twice.outcome, twice.first) == ("answered", True, "answered", False)
    assert resolved.answer.text == "Blue."
    assert there.texts[1:] == ["Blue."]
    assert [(task.state, task.message.text) for task in tasks] == [
        ("submitted", ""),
        ("input_required", "Which colour?"),
        ("completed", ""),
    ]
    assert types[types.index("remote.task") :] == [
        *("remote.task", "inbox.consumed", "remote.task"),
        *("tool.requested", "permission.evaluated", "action.required", "action.resolved", "tool.started"),
        *("tool.completed", "remote.task"),
        *ENDED,
    ]


@pytest.mark.parametrize("how", ["rejected", "unattended", "expired"])
async def test_an_unanswered_question_is_denied_and_cancels_the_task(how: str, tmp_path: Path):
    """CTL-04"""
    clock = MovableClock()
    async with (
        peer(ask_colour) as there,
        open_with_peer(tmp_path, there.url, clock=clock, clock_interval=0.01, approval_expiry=3600.0) as rig,
    ):
        session = await contact_agent(rig)
        if how != "expired":
            await answer(rig, session, 2, "reject", reason="Not yours to know.", unattended=how == "unattended")
        else:
            await rig.until(session, "action.required", 2)
            clock.move(3600)
        failed = await wait_end(rig, session)
        types = await list_agent_types(rig, session)
        tasks = await list_facts(rig, session, RemoteTaskChanged)

    code = {"rejected": "person_denied", "unattended": "nobody_there", "expired": "approval_expired"}[how]
    assert (failed.code, states(tasks)) == (code, ["submitted", "input_required", "canceled"])
    assert types[-5:] == [
        *(("action.expired",) if how == "expired" else ("action.resolved",)),
        *("tool.refused", "remote.task", "model.failed", "turn.failed"),
    ]
    assert there.texts[1:] == []


async def test_an_authorisation_happens_remotely_without_a_secret_here(tmp_path: Path):
    """UI-23"""

    async def wants(task: Task) -> None:
        if "authorised" in task.input:
            await task.updater.complete(task.reply("In."))
        else:
            await task.updater.requires_auth(task.reply("Log in at https://id.test/?token=abc123."))

    async with peer(wants) as there, open_with_peer(tmp_path, there.url) as rig:
        session = await contact_agent(rig)
        need = await answer(rig, session, 2)
        await wait_end(rig, session)
        tasks = await list_facts(rig, session, RemoteTaskChanged)
        everything = "".join(str(record.fact) for record in await rig.facts(session))

    assert (need.action_type, need.decisions, need.scopes) == ("credential_request", ("approve", "reject"), ("once",))
    assert need.prompt.startswith(f"The agent peer at {there.url} needs to be authorised:\n\nLog in at https://id.test")
    assert "Do not enter a secret here." in need.prompt
    assert states(tasks) == ["submitted", "auth_required", "completed"]
    assert "abc123" not in everything


async def test_a_question_that_the_agent_settles_is_withdrawn(tmp_path: Path):
    """CTL-16"""
    peers: list[Peer] = []

    async def wants(task: Task) -> None:
        await task.updater.requires_auth(task.reply("Log in."))
        await peers[0].hold.wait()
        await task.updater.complete(task.reply("Somebody did."))

    async with peer(wants) as there, open_with_peer(tmp_path, there.url) as rig:
        peers.append(there)
        session = await contact_agent(rig)
        await rig.until(session, "action.required", 2)
        there.hold.set()
        done = await wait_end(rig, session)
        types = await list_agent_types(rig, session)

    assert isinstance(done, TurnCompleted)
    start = types.index("action.required", types.index("remote.task"))
    assert types[start:] == ["action.required", "action.withdrawn", "tool.cancelled", "remote.task", *ENDED]


@pytest.mark.parametrize("state", ["rejected", "failed", "canceled"])
async def test_an_incomplete_remote_task_fails_the_turn(state: str, tmp_path: Path):
    """UI-23"""

    async def ends(task: Task) -> None:
        end = {"rejected": task.updater.reject, "failed": task.updater.failed, "canceled": task.updater.cancel}[state]
        await end(task.reply("No."))

    async with peer(ends) as there, open_with_peer(tmp_path, there.url) as rig:
        session = await contact_agent(rig)
        failed = await wait_end(rig, session)
        tasks = await list_facts(rig, session, RemoteTaskChanged)
        messages = await list_facts(rig, session, ChannelMessage)

    assert (failed.code, failed.retryable) == ("remote_refused", False)
    assert failed.message.endswith(" No.")
    assert states(tasks) == ["submitted", state]
    assert len(messages) == 1
