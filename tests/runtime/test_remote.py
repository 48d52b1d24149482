"""Agents elsewhere as teammates: the official SDK's server over real HTTP, the real gate, deciders and log."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from callboard.adapters.a2a import A2aAgents
from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands import InterruptTurn, RespondAction, ResumeThread
from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    ActionRequired,
    ActionResolved,
    AgentConnected,
    AgentDisconnected,
    ChannelMessage,
    Fact,
    RemoteArtifact,
    RemoteTaskChanged,
    RoutingResolved,
    ToolRequested,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
)
from callboard.contracts.ports.external import RemoteAgents
from tests.adapters.a2a.peer import QUICK, Peer, Task, holding, peer, raw
from tests.runtime.house import House, MovedClock, calls, house, says, uses
from tests.runtime.test_recovery import killed

HOST = """---
name: host
description: Works here.
kind: main
lead: true
tools: ["*"]
policy: [Finalize]
edges: [{to: peer, direction: both}]
---
You work here.
"""


async def greets(task: Task) -> None:
    await task.tell.start_work(task.words("Looking."))
    await task.tell.add_artifact(list(task.words("A card.").parts), artifact_id="a1", name="card")
    await task.tell.complete(task.words(f"You said: {task.said}"))


async def asks(task: Task) -> None:
    if task.said == "Blue.":
        await task.tell.complete(task.words("It is blue."))
        return
    await task.tell.requires_input(task.words("Which colour?"))


@asynccontextmanager
async def with_peer(
    place: Path, url: str, scenario: dict[str, Any] | None = None, remotes: RemoteAgents | None = None, **limits: Any
) -> AsyncIterator[House]:
    """A house with a lead here, that writes to an agent elsewhere."""
    agents = place / "work" / "agents"
    agents.mkdir(parents=True, exist_ok=True)
    (agents / "host.md").write_text(HOST)
    (agents / "peer.md").write_text(
        f"---\nname: peer\ndescription: Elsewhere.\nkind: remote\nurl: {url}\n---\nBe brief.\n"
    )
    async with house(
        place, scenario or WRITES, FolderDefinitions(), remotes=remotes or A2aAgents(QUICK), **limits
    ) as opened:
        yield opened


WRITES = calls(uses("send_message", to=["peer"], text="What is it?"), says("I asked it."), says("Thank you."))


async def met(home: House) -> str:
    """A session in which the lead wrote to the agent elsewhere, and a person let that be contacted."""
    session = (await home.submit("Write to it.")).session_id
    await answer(home, session, 1)
    return session


async def again(home: House, session: str, text: str) -> None:
    """The person says something to the agent elsewhere itself."""
    await home.submit(text, session, thread_id=await thread_of(home, session))


async def answer(home: House, session: str, count: int, decision: str = "approve", **more: Any) -> ActionRequired:
    asked = await home.until(session, "action.required", count)
    respond: Any = {"decision": decision, **more}
    await home.do(RespondAction(session_id=session, action_id=asked.scope.action, **respond))
    assert isinstance(asked.fact, ActionRequired)
    return asked.fact


async def told(home: House, session: str, kind: type[Fact]) -> list[Any]:
    return [record.fact for record in await home.facts(session) if isinstance(record.fact, kind)]


async def thread_of(home: House, session: str, agent: str = "peer") -> str:
    return next(
        record.scope.thread
        for record in await home.facts(session)
        if record.header.type == "thread.opened" and record.scope.agent == agent
    )


async def of_peer(home: House, session: str) -> list[str]:
    return [record.header.type for record in await home.facts(session) if record.scope.agent == "peer"]


async def ended(home: House, session: str, count: int = 1, agent: str = "peer") -> Any:
    """How the nth turn of that agent ended."""
    async with asyncio.timeout(30):
        async for records in home.runtime.parts.store.facts.subscribe(session, after=0):
            for record in records:
                if record.scope.agent == agent and isinstance(
                    record.fact, TurnCompleted | TurnFailed | TurnInterrupted
                ):
                    count -= 1
                    if count == 0:
                        return record.fact
    raise AssertionError("the session ended")


def states(facts: list[RemoteTaskChanged]) -> list[str]:
    return [fact.state for fact in facts]


JOINED = [
    "tool.requested",
    "permission.evaluated",
    "action.required",
    "action.resolved",
    "tool.started",
    "tool.completed",
]
ENDED = ["message.text", "model.completed", "cost.recorded", "channel.message", "output.final", "turn.completed"]


async def test_a_message_reaches_it_after_a_yes_to_its_very_address_and_its_answer_goes_back(tmp_path: Path):
    """UI-23"""
    async with peer(greets) as there, with_peer(tmp_path, there.url) as home:
        session = (await home.submit("Write to it.")).session_id
        asked = await answer(home, session, 1)
        await ended(home, session)
        types = await of_peer(home, session)
        (route,) = [fact for fact in await told(home, session, RoutingResolved) if fact.chosen.provider == "a2a"]
        met_it, named = await told(home, session, AgentConnected)
        tasks = await told(home, session, RemoteTaskChanged)
        (artifact,) = await told(home, session, RemoteArtifact)
        sent, back = await told(home, session, ChannelMessage)

    assert types == [
        *("thread.opened", "turn.submitted", "turn.started", "routing.resolved", "inbox.reserved", "model.requested"),
        *JOINED,
        *("agent.connected", "agent.connected"),
        *("remote.task", "inbox.consumed", "remote.task", "remote.artifact", "remote.task"),
        *ENDED,
    ]
    assert (asked.action_type, asked.tool, asked.risk) == ("tool_approval", "ConnectAgent", "high")
    assert asked.preview == Text(text=there.url)
    assert asked.matchers == dict.fromkeys(("session", "workspace"), f"ConnectAgent({there.url})")
    assert (route.chosen.model, route.reason) == ("peer", "the agent is elsewhere")
    assert (met_it.name, met_it.version, met_it.provider_session_id, met_it.resumed) == ("Peer", "2.1", "", False)
    assert named == msgspec.structs.replace(met_it, provider_session_id=named.provider_session_id)
    assert '"supportedInterfaces"' in met_it.card.text
    assert [(one.state, one.message.text) for one in tasks] == [
        ("submitted", ""),
        ("working", "Looking."),
        ("completed", ""),
    ]
    assert len({one.remote_task_id for one in (*tasks, artifact)}) == 1
    assert (artifact.remote_artifact_id, artifact.name, artifact.parts[0].text.text) == ("a1", "card", "A card.")
    assert there.texts[0].startswith("Be brief.\n\n<inbox>")
    assert (sent.source, back.source, back.participants) == ("host", "peer", ("peer", "host"))
    assert back.message.text == f"You said: {there.texts[0]}\n\n[artifact card]\nA card."


async def test_without_a_yes_nothing_is_sent_and_the_message_waits(tmp_path: Path):
    """CTL-05, COM-09"""
    async with peer(greets) as there, with_peer(tmp_path, there.url) as home:
        session = (await home.submit("Write to it.")).session_id
        await answer(home, session, 1, "reject")
        failed = await ended(home, session)
        before = list(there.asked)
        await again(home, session, "Please.")
        await answer(home, session, 2, scope="session")
        await ended(home, session, 2)
        await again(home, session, "Once more.")
        await ended(home, session, 3)
        types = await of_peer(home, session)

    assert (failed.code, before) == ("person_denied", [])
    assert "What is it?" in there.texts[0]
    assert "Please." in there.texts[0]
    assert there.texts[1] == "Once more."
    assert types.count("action.required") == 2


async def test_what_it_asks_waits_for_a_person_whose_answer_is_its_next_message(tmp_path: Path):
    """UI-23, CTL-04, CTL-16"""
    async with peer(asks) as there, with_peer(tmp_path, there.url) as home:
        session = await met(home)
        action = await home.until(session, "action.required", 2)
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"decision": "approve"}, "decision_not_offered"),
            ({"decision": "answer"}, "invalid_input"),
            ({"decision": "answer", "answer": "  "}, "invalid_input"),
            ({"decision": "reject", "answer": "Blue."}, "invalid_input"),
        ]
        for given, code in wrong:
            with pytest.raises(Refusal) as refused:
                await home.do(RespondAction(session_id=session, action_id=action.scope.action, **given))
            assert refused.value.code == code
        answered = await home.do(
            RespondAction(session_id=session, action_id=action.scope.action, decision="answer", answer="Blue.")
        )
        twice = await home.do(
            RespondAction(session_id=session, action_id=action.scope.action, decision="answer", answer="Red.")
        )
        await ended(home, session)
        types = await of_peer(home, session)
        (resolved,) = [fact for fact in await told(home, session, ActionResolved) if fact.decision == "answer"]
        tasks = await told(home, session, RemoteTaskChanged)
        requested = (await told(home, session, ToolRequested))[-1]

    need = action.fact
    assert isinstance(need, ActionRequired)
    assert (need.action_type, need.decisions, need.scopes) == ("clarification", ("answer", "reject"), ("once",))
    assert need.prompt == f"The agent peer at {there.url} asks:\n\nWhich colour?"
    assert (requested.tool, requested.summary) == ("RemoteInput", f"RemoteInput {tasks[0].remote_task_id}")
    assert (answered.outcome, answered.first, twice.outcome, twice.first) == ("answered", True, "answered", False)
    assert resolved.answer.text == "Blue."
    assert there.texts[1:] == ["Blue."]
    assert [(one.state, one.message.text) for one in tasks] == [
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


@pytest.mark.parametrize("how", ["rejected", "expired"])
async def test_a_question_that_is_not_answered_is_a_denial_and_ends_its_task(how: str, tmp_path: Path):
    """CTL-04"""
    clock = MovedClock()
    async with (
        peer(asks) as there,
        with_peer(tmp_path, there.url, clock=clock, look=0.01, approval_expiry=3600.0) as home,
    ):
        session = await met(home)
        if how == "rejected":
            await answer(home, session, 2, "reject", reason="Not yours to know.")
        else:
            await home.until(session, "action.required", 2)
            clock.move(3600)
        failed = await ended(home, session)
        types = await of_peer(home, session)
        tasks = await told(home, session, RemoteTaskChanged)

    code = "person_denied" if how == "rejected" else "approval_expired"
    assert (failed.code, states(tasks)) == (code, ["submitted", "input_required", "canceled"])
    assert types[-5:] == [
        *(("action.resolved",) if how == "rejected" else ("action.expired",)),
        *("tool.refused", "remote.task", "model.failed", "turn.failed"),
    ]
    assert there.texts[1:] == []


async def test_an_authorisation_is_given_there_and_no_secret_is_told_here(tmp_path: Path):
    """UI-23"""

    async def wants(task: Task) -> None:
        if "authorised" in task.said:
            await task.tell.complete(task.words("In."))
        else:
            await task.tell.requires_auth(task.words("Log in at https://id.test/?token=abc123."))

    async with peer(wants) as there, with_peer(tmp_path, there.url) as home:
        session = await met(home)
        need = await answer(home, session, 2)
        await ended(home, session)
        tasks = await told(home, session, RemoteTaskChanged)
        everything = "".join(str(record.fact) for record in await home.facts(session))

    assert (need.action_type, need.decisions, need.scopes) == ("credential_request", ("approve", "reject"), ("once",))
    assert need.prompt.startswith(f"The agent peer at {there.url} needs to be authorised:\n\nLog in at https://id.test")
    assert "Give no secret here." in need.prompt
    assert states(tasks) == ["submitted", "auth_required", "completed"]
    assert "abc123" not in everything


async def test_what_it_settles_by_itself_is_asked_no_more(tmp_path: Path):
    """CTL-16"""
    found: list[Peer] = []

    async def wants(task: Task) -> None:
        await task.tell.requires_auth(task.words("Log in."))
        await found[0].hold.wait()
        await task.tell.complete(task.words("Somebody did."))

    async with peer(wants) as there, with_peer(tmp_path, there.url) as home:
        found.append(there)
        session = await met(home)
        await home.until(session, "action.required", 2)
        there.hold.set()
        done = await ended(home, session)
        types = await of_peer(home, session)

    assert isinstance(done, TurnCompleted)
    start = types.index("action.required", types.index("remote.task"))
    assert types[start:] == ["action.required", "action.withdrawn", "tool.cancelled", "remote.task", *ENDED]


@pytest.mark.parametrize("state", ["rejected", "failed", "canceled"])
async def test_what_it_did_not_complete_is_not_complete(state: str, tmp_path: Path):
    """UI-23"""

    async def ends(task: Task) -> None:
        end = {"rejected": task.tell.reject, "failed": task.tell.failed, "canceled": task.tell.cancel}[state]
        await end(task.words("No."))

    async with peer(ends) as there, with_peer(tmp_path, there.url) as home:
        session = await met(home)
        failed = await ended(home, session)
        tasks = await told(home, session, RemoteTaskChanged)
        messages = await told(home, session, ChannelMessage)

    assert (failed.code, failed.retryable) == ("remote_refused", False)
    assert failed.message.endswith(" No.")
    assert states(tasks) == ["submitted", state]
    assert len(messages) == 1


async def test_one_that_is_gone_is_unavailable_and_its_task_stays_as_it_was_told(tmp_path: Path):
    """UI-23, UI-26"""
    async with holding() as there, with_peer(tmp_path, there.url) as home:
        session = await met(home)
        await home.until(session, "remote.task", 2)
        await there.stop()
        failed = await ended(home, session)
        tasks = await told(home, session, RemoteTaskChanged)
        (gone,) = await told(home, session, AgentDisconnected)
        types = await of_peer(home, session)

    assert (failed.code, failed.retryable) == ("remote_unavailable", True)
    assert states(tasks) == ["submitted", "working"]
    assert gone.reason == failed.message
    assert types[-3:] == ["agent.disconnected", "model.failed", "turn.failed"]


async def test_a_retry_takes_up_the_task_that_is_unfinished_there(tmp_path: Path):
    """UI-23"""
    async with holding() as there, with_peer(tmp_path, there.url, external_silence=4.0) as home:
        session = await met(home)
        silent = await ended(home, session)
        there.hold.set()
        thread = await thread_of(home, session)
        await home.submit(there.texts[0].removeprefix("Be brief.\n\n"), session, thread_id=thread)
        await answer(home, session, 2)
        done = await ended(home, session, 2)
        tasks = await told(home, session, RemoteTaskChanged)

    assert (silent.code, silent.retryable) == ("remote_unavailable", True)
    assert isinstance(done, TurnCompleted)
    assert len(there.texts) == 1
    assert (states(tasks)[0], states(tasks)[-1]) == ("submitted", "completed")
    assert len({one.remote_task_id for one in tasks}) == 1


async def test_an_interrupt_cancels_the_task_there(tmp_path: Path):
    """COM-10"""
    async with holding() as there, with_peer(tmp_path, there.url) as home:
        session = await met(home)
        await home.until(session, "remote.task", 2)
        await home.do(InterruptTurn(session_id=session, thread_id=await thread_of(home, session)))
        stopped = await ended(home, session)
        tasks = await told(home, session, RemoteTaskChanged)

    assert isinstance(stopped, TurnInterrupted)
    assert states(tasks) == ["submitted", "working", "canceled"]


async def test_an_interrupt_withdraws_what_it_asks(tmp_path: Path):
    """CTL-16"""
    async with peer(asks) as there, with_peer(tmp_path, there.url) as home:
        session = await met(home)
        await home.until(session, "action.required", 2)
        await home.do(InterruptTurn(session_id=session, thread_id=await thread_of(home, session)))
        await ended(home, session)
        types = await of_peer(home, session)

    assert types[-6:] == [
        *("turn.interrupt.requested", "remote.task", "model.interrupted"),
        *("action.withdrawn", "tool.cancelled", "turn.interrupted"),
    ]


async def test_an_unfinished_task_outlives_the_process_and_is_taken_up_with_its_thread(tmp_path: Path):
    """CTL-06, UI-23"""
    async with holding() as there:
        async with with_peer(tmp_path, there.url) as home:
            session = await met(home)
            await home.until(session, "remote.task", 2)
            thread = await thread_of(home, session)
        there.hold.set()
        async with with_peer(tmp_path, there.url) as home:
            await home.do(ResumeThread(session_id=session, thread_id=thread, tree=True))
            await answer(home, session, 2)
            done = await ended(home, session, 2)
            stopped = await ended(home, session)
            tasks = await told(home, session, RemoteTaskChanged)
            connected = await told(home, session, AgentConnected)
            messages = await told(home, session, ChannelMessage)
            gone = await told(home, session, AgentDisconnected)

    assert (stopped.cause, isinstance(done, TurnCompleted), gone) == ("shutdown", True, [])
    assert len(there.texts) == 1
    assert states(tasks)[:2] == ["submitted", "working"]
    assert (states(tasks)[-1], len({one.remote_task_id for one in tasks})) == ("completed", 1)
    assert (connected[-1].resumed, connected[-1].provider_session_id) == (True, connected[1].provider_session_id)
    assert messages[0].source == "host"


@pytest.mark.parametrize("waits", ["works", "asks"])
async def test_after_a_kill_the_task_is_taken_up_where_it_stands(waits: str, tmp_path: Path):
    """CTL-06, UI-23"""
    async with holding() if waits == "works" else peer(asks) as there, with_peer(tmp_path, there.url) as home:
        session = await met(home)
        await home.until(session, "remote.task", 2)
        if waits == "asks":
            await home.until(session, "action.required", 2)
        thread = await thread_of(home, session)
        async with with_peer(killed(home, tmp_path), there.url) as after:
            there.hold.set()
            await after.do(ResumeThread(session_id=session, thread_id=thread, tree=True))
            await answer(after, session, 2 if waits == "works" else 3)
            if waits == "asks":
                await answer(after, session, 4, "answer", answer="Blue.")
            done = await ended(after, session, 2)
            crashed = await ended(after, session)
            tasks = await told(after, session, RemoteTaskChanged)

    assert (crashed.cause, isinstance(done, TurnCompleted)) == ("crash", True)
    assert there.texts[1:] == (["Blue."] if waits == "asks" else [])
    assert (states(tasks)[-1], len({one.remote_task_id for one in tasks})) == ("completed", 1)


async def test_a_rule_of_the_workspace_lets_it_be_contacted_and_one_that_denies_does_not(tmp_path: Path):
    async with peer(greets) as there, with_peer(tmp_path, there.url) as home:
        session = (await home.submit("Write to it.")).session_id
        await answer(home, session, 1, scope="workspace")
        await ended(home, session)
        other = (await home.submit("Write to it.")).session_id
        await ended(home, other)
        types = await of_peer(home, other)

    assert "action.required" not in types
    assert types[-1] == "turn.completed"


async def test_another_address_in_its_file_is_asked_about_before_anything_is_said_there(tmp_path: Path):
    """SAFE-07"""
    async with peer(greets) as there, peer(greets) as other, with_peer(tmp_path, there.url) as home:
        session = await met(home)
        await ended(home, session)
        file = home.folder / "agents" / "peer.md"
        file.write_text(file.read_text().replace(there.url, other.url))
        await again(home, session, "And now?")
        asked = await home.until(session, "action.required", 2)
        before = list(other.asked)
        await answer(home, session, 2)
        await ended(home, session, 2)

    assert isinstance(asked.fact, ActionRequired)
    assert (asked.fact.preview, before) == (Text(text=other.url), [])
    assert (len(there.texts), len(other.texts)) == (1, 1)


async def test_without_the_library_the_turn_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "a2a.client", None)
    async with peer(greets) as there, with_peer(tmp_path, there.url) as home:
        session = await met(home)
        failed = await ended(home, session)

    assert (failed.code, "pip install 'callboard[a2a]'" in failed.message) == ("model_unconfigured", True)


async def test_what_it_says_of_its_work_is_told_now_and_then_and_the_newest_in_any_case(tmp_path: Path):
    async def talks(task: Task) -> None:
        for step in range(30):
            await task.tell.start_work(task.words(f"Step {step}."))
        await task.tell.complete(task.words("Done."))

    async with peer(talks) as there, with_peer(tmp_path, there.url, remote_interval=3600.0) as home:
        session = await met(home)
        await ended(home, session)
        tasks = await told(home, session, RemoteTaskChanged)

    assert [(one.state, one.message.text) for one in tasks] == [
        ("submitted", ""),
        ("working", "Step 0."),
        ("working", "Step 29."),
        ("completed", ""),
    ]


async def test_an_answer_that_it_did_not_take_is_asked_for_again(tmp_path: Path):
    """CTL-04"""
    answers = 0

    async def card(request: Request) -> Response:
        base = f"{request.base_url}"
        return JSONResponse({"name": "Frail", "url": base, "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC"})

    async def rpc(request: Request) -> Response:
        nonlocal answers
        sent = await request.json()
        answers += sent["method"] == "message/send" and bool(sent["params"]["message"].get("taskId"))
        if answers == 1 and sent["method"] == "message/send":
            return Response(status_code=502)
        state = "completed" if answers > 1 else "input-required"
        status = {"state": state, "message": said("Done." if answers > 1 else "Which colour?")}
        result = {"kind": "task", "id": "t1", "contextId": "c1", "status": status}
        return JSONResponse({"jsonrpc": "2.0", "id": sent["id"], "result": result})

    def said(text: str) -> dict[str, Any]:
        return {"kind": "message", "role": "agent", "messageId": text, "parts": [{"kind": "text", "text": text}]}

    routes = [Route("/.well-known/agent-card.json", card), Route("/", rpc, methods=["POST"])]
    async with raw(Starlette(routes=routes)) as there, with_peer(tmp_path, there.url) as home:
        session = await met(home)
        await answer(home, session, 2, "answer", answer="Blue.")
        await answer(home, session, 3, "answer", answer="Blue.")
        done = await ended(home, session)
        types = await of_peer(home, session)
        tasks = await told(home, session, RemoteTaskChanged)

    assert (isinstance(done, TurnCompleted), states(tasks)) == (True, ["input_required", "completed"])
    ends = [one for one in types if one in ("tool.completed", "tool.failed")]
    assert ends == ["tool.completed", "tool.failed", "tool.completed"]
