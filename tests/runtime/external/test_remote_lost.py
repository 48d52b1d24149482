"""Remote agents that are lost, stopped, resumed or unreachable."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from callboard.contracts.commands.turn import InterruptTurn, ResumeThread
from callboard.contracts.content import Text
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.agent import AgentConnected, AgentDisconnected, RemoteTaskChanged
from callboard.contracts.facts.exchange.channel import ChannelMessage
from callboard.contracts.facts.turn import TurnCompleted, TurnInterrupted
from callboard.control.decide.thread.resume import RESUME_INPUT
from callboard.runtime.workspaces.installation import build_install_command
from tests.adapters.a2a.peer import Task, blocked_peer, peer, raw_peer
from tests.runtime.rigs.remote_agent import (
    answer,
    answer_greeting,
    ask_colour,
    contact_agent,
    find_thread,
    list_agent_types,
    list_facts,
    open_with_peer,
    send_again,
    states,
    wait_end,
)
from tests.runtime.sessions.test_recovery import copy_as_killed


async def test_a_lost_agent_is_unavailable_and_its_task_keeps_its_last_state(tmp_path: Path):
    """UI-23, UI-26"""
    async with blocked_peer() as there, open_with_peer(tmp_path, there.url) as rig:
        session = await contact_agent(rig)
        await rig.until(session, "remote.task", 2)
        await there.stop()
        failed = await wait_end(rig, session)
        tasks = await list_facts(rig, session, RemoteTaskChanged)
        (gone,) = await list_facts(rig, session, AgentDisconnected)
        types = await list_agent_types(rig, session)

    assert (failed.code, failed.retryable) == ("remote_unavailable", True)
    assert states(tasks) == ["submitted", "working"]
    assert gone.reason == failed.message
    assert types[-3:] == ["agent.disconnected", "model.failed", "turn.failed"]


async def test_a_retry_resumes_the_unfinished_remote_task(tmp_path: Path):
    """UI-23"""
    async with blocked_peer() as there, open_with_peer(tmp_path, there.url, external_silence=4.0) as rig:
        session = await contact_agent(rig)
        silent = await wait_end(rig, session)
        there.hold.set()
        thread = await find_thread(rig, session)
        await rig.submit(there.texts[0].removeprefix("Be brief.\n\n"), session, thread_id=thread)
        await answer(rig, session, 2)
        done = await wait_end(rig, session, 2)
        tasks = await list_facts(rig, session, RemoteTaskChanged)

    assert (silent.code, silent.retryable) == ("remote_unavailable", True)
    assert isinstance(done, TurnCompleted)
    assert len(there.texts) == 1
    assert (states(tasks)[0], states(tasks)[-1]) == ("submitted", "completed")
    assert len({task.remote_task_id for task in tasks}) == 1


async def test_an_interrupt_cancels_the_remote_task(tmp_path: Path):
    """COM-10"""
    async with blocked_peer() as there, open_with_peer(tmp_path, there.url) as rig:
        session = await contact_agent(rig)
        await rig.until(session, "remote.task", 2)
        await rig.do(InterruptTurn(session_id=session, thread_id=await find_thread(rig, session)))
        stopped = await wait_end(rig, session)
        tasks = await list_facts(rig, session, RemoteTaskChanged)

    assert isinstance(stopped, TurnInterrupted)
    assert states(tasks) == ["submitted", "working", "canceled"]


async def test_an_interrupt_withdraws_the_agents_question(tmp_path: Path):
    """CTL-16"""
    async with peer(ask_colour) as there, open_with_peer(tmp_path, there.url) as rig:
        session = await contact_agent(rig)
        await rig.until(session, "action.required", 2)
        await rig.do(InterruptTurn(session_id=session, thread_id=await find_thread(rig, session)))
        await wait_end(rig, session)
        types = await list_agent_types(rig, session)

    assert types[-6:] == [
        *("turn.interrupt.requested", "remote.task", "model.interrupted"),
        *("action.withdrawn", "tool.cancelled", "turn.interrupted"),
    ]


async def test_an_unfinished_task_outlives_the_process_and_resumes_with_its_thread(tmp_path: Path):
    """CTL-06, UI-23"""
    async with blocked_peer() as there:
        async with open_with_peer(tmp_path, there.url) as rig:
            session = await contact_agent(rig)
            await rig.until(session, "remote.task", 2)
            thread = await find_thread(rig, session)
        there.hold.set()
        async with open_with_peer(tmp_path, there.url) as rig:
            await rig.do(ResumeThread(session_id=session, thread_id=thread, tree=True))
            await answer(rig, session, 2)
            done = await wait_end(rig, session, 2)
            stopped = await wait_end(rig, session)
            tasks = await list_facts(rig, session, RemoteTaskChanged)
            connected = await list_facts(rig, session, AgentConnected)
            messages = await list_facts(rig, session, ChannelMessage)
            gone = await list_facts(rig, session, AgentDisconnected)

    assert (stopped.cause, isinstance(done, TurnCompleted), gone) == ("shutdown", True, [])
    assert len(there.texts) == 1
    assert states(tasks)[:2] == ["submitted", "working"]
    assert (states(tasks)[-1], len({task.remote_task_id for task in tasks})) == ("completed", 1)
    assert (connected[-1].resumed, connected[-1].provider_session_id) == (True, connected[1].provider_session_id)
    assert messages[0].source == "host"


async def test_a_persons_message_with_the_text_of_a_resume_reaches_the_task(tmp_path: Path):
    """UI-23: a fact decides what the agent receives, not the wording of a message."""
    async with peer(ask_colour) as there:
        async with open_with_peer(tmp_path, there.url) as rig:
            session = await contact_agent(rig)
            await rig.until(session, "action.required", 2)
        async with open_with_peer(tmp_path, there.url) as rig:
            await send_again(rig, session, RESUME_INPUT)
            await answer(rig, session, 3)
            await rig.until(session, "action.required", 4)

    assert there.texts[1:] == [RESUME_INPUT]


async def test_a_message_that_repeats_one_of_an_ended_task_reaches_the_open_task(tmp_path: Path):
    """UI-23: only a message that the open task has received is a retry."""

    async def starts(task: Task) -> None:
        if task.input == "Start.":
            await task.updater.requires_input(task.reply("Really?"))
        else:
            await task.updater.complete(task.reply("Done."))

    async with peer(starts) as there:
        async with open_with_peer(tmp_path, there.url) as rig:
            session = await contact_agent(rig)
            await wait_end(rig, session)
            await send_again(rig, session, "Yes.")
            await wait_end(rig, session, 2)
            await send_again(rig, session, "Start.")
            await rig.until(session, "action.required", 2)
        async with open_with_peer(tmp_path, there.url) as rig:
            await send_again(rig, session, "Yes.")
            await answer(rig, session, 3)
            done = await wait_end(rig, session, 4)

    assert isinstance(done, TurnCompleted)
    assert there.texts[1:] == ["Yes.", "Start.", "Yes."]


@pytest.mark.parametrize("waits", ["works", "asks"])
async def test_a_task_is_resumed_after_a_kill(waits: str, tmp_path: Path):
    """CTL-06, UI-23"""
    async with (
        blocked_peer() if waits == "works" else peer(ask_colour) as there,
        open_with_peer(tmp_path, there.url) as rig,
    ):
        session = await contact_agent(rig)
        await rig.until(session, "remote.task", 2)
        if waits == "asks":
            await rig.until(session, "action.required", 2)
        thread = await find_thread(rig, session)
        async with open_with_peer(copy_as_killed(rig, tmp_path), there.url) as after:
            there.hold.set()
            await after.do(ResumeThread(session_id=session, thread_id=thread, tree=True))
            await answer(after, session, 2 if waits == "works" else 3)
            if waits == "asks":
                await answer(after, session, 4, "answer", answer="Blue.")
            done = await wait_end(after, session, 2)
            crashed = await wait_end(after, session)
            tasks = await list_facts(after, session, RemoteTaskChanged)

    assert (crashed.cause, isinstance(done, TurnCompleted)) == ("crash", True)
    assert there.texts[1:] == (["Blue."] if waits == "asks" else [])
    assert (states(tasks)[-1], len({task.remote_task_id for task in tasks})) == ("completed", 1)


async def test_a_workspace_rule_allows_or_denies_the_contact(tmp_path: Path):
    async with peer(answer_greeting) as there, open_with_peer(tmp_path, there.url) as rig:
        session = (await rig.submit("Write to it.")).session_id
        await answer(rig, session, 1, scope="workspace")
        await wait_end(rig, session)
        other = (await rig.submit("Write to it.")).session_id
        await wait_end(rig, other)
        types = await list_agent_types(rig, other)

    assert "action.required" not in types
    assert types[-1] == "turn.completed"


async def test_a_changed_address_needs_approval_before_anything_is_sent(tmp_path: Path):
    """SAFE-07"""
    async with (
        peer(answer_greeting) as there,
        peer(answer_greeting) as other,
        open_with_peer(tmp_path, there.url) as rig,
    ):
        session = await contact_agent(rig)
        await wait_end(rig, session)
        file = rig.folder / "agents" / "peer.md"
        file.write_text(file.read_text().replace(there.url, other.url))
        await send_again(rig, session, "And now?")
        action = await rig.until(session, "action.required", 2)
        before = list(other.methods)
        await answer(rig, session, 2)
        await wait_end(rig, session, 2)

    assert isinstance(action.fact, ActionRequired)
    assert (action.fact.preview, before) == (Text(text=other.url), [])
    assert (len(there.texts), len(other.texts)) == (1, 1)


async def test_a_missing_library_is_named_with_its_install_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "a2a.client", None)
    async with peer(answer_greeting) as there, open_with_peer(tmp_path, there.url) as rig:
        session = await contact_agent(rig)
        failed = await wait_end(rig, session)

    assert (failed.code, build_install_command("a2a") in failed.message) == ("not_installed", True)


async def test_progress_is_recorded_at_intervals_including_the_newest(tmp_path: Path):
    async def talks(task: Task) -> None:
        for step in range(30):
            await task.updater.start_work(task.reply(f"Step {step}."))
        await task.updater.complete(task.reply("Done."))

    async with peer(talks) as there, open_with_peer(tmp_path, there.url, remote_interval=3600.0) as rig:
        session = await contact_agent(rig)
        await wait_end(rig, session)
        tasks = await list_facts(rig, session, RemoteTaskChanged)

    assert [(task.state, task.message.text) for task in tasks] == [
        ("submitted", ""),
        ("working", "Step 0."),
        ("working", "Step 29."),
        ("completed", ""),
    ]


async def test_an_answer_that_the_agent_did_not_accept_is_requested_again(tmp_path: Path):
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
        status = {"state": state, "message": build_message("Done." if answers > 1 else "Which colour?")}
        result = {"kind": "task", "id": "t1", "contextId": "c1", "status": status}
        return JSONResponse({"jsonrpc": "2.0", "id": sent["id"], "result": result})

    def build_message(text: str) -> dict[str, Any]:
        return {"kind": "message", "role": "agent", "messageId": text, "parts": [{"kind": "text", "text": text}]}

    routes = [Route("/.well-known/agent-card.json", card), Route("/", rpc, methods=["POST"])]
    async with raw_peer(Starlette(routes=routes)) as there, open_with_peer(tmp_path, there.url) as rig:
        session = await contact_agent(rig)
        await answer(rig, session, 2, "answer", answer="Blue.")
        await answer(rig, session, 3, "answer", answer="Blue.")
        done = await wait_end(rig, session)
        types = await list_agent_types(rig, session)
        tasks = await list_facts(rig, session, RemoteTaskChanged)

    assert (isinstance(done, TurnCompleted), states(tasks)) == (True, ["input_required", "completed"])
    ends = [tag for tag in types if tag in ("tool.completed", "tool.failed")]
    assert ends == ["tool.completed", "tool.failed", "tool.completed"]
