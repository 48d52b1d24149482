"""External agents over the Agent Client Protocol: start, prompts, requests and end, with real processes and pipes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from callboard.adapters.acp import AcpAgents
from callboard.adapters.acp.agents import AcpSession
from callboard.adapters.acp.modes import ENVIRONMENT
from callboard.adapters.acp.process import build_environment
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.ports.external import (
    CallReported,
    ExternalCall,
    ExternalDiff,
    ExternalEvent,
    ExternalFailure,
    PermissionRequested,
    PlanReported,
    PromptEnded,
    ReadRequested,
    TextReported,
    ThoughtReported,
    WriteRequested,
)
from callboard.contracts.ports.model import Usage
from callboard.contracts.text.redactor import mask_secrets

AGENT = Path(__file__).with_name("agent.py")
USED = Usage(input_tokens=20, output_tokens=10)


def command(folder: Path, *prompts: list[dict[str, Any]], **more: Any) -> tuple[str, ...]:
    script = folder / "script.json"
    script.write_text(json.dumps({"prompts": prompts, **more}))
    return (sys.executable, str(AGENT), str(script))


async def prompt_events(session: AcpSession, text: str = "do it") -> list[ExternalEvent]:
    async with asyncio.timeout(30):
        return [event async for event in session.prompt(text)]


def joined_text(events: list[ExternalEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextReported))


async def test_texts_thoughts_and_plans_arrive_in_order(tmp_path: Path):
    played = command(tmp_path, [{"think": "hm"}, {"plan": ["look", "fix"]}, {"say": "one "}, {"say": "two"}])
    session = await AcpAgents().start(played, str(tmp_path))

    events = await prompt_events(session)
    await session.close()

    assert (session.name, session.version, session.resumed) == ("Scripted", "1.2.3", False)
    assert events == [
        ThoughtReported("hm"),
        PlanReported((PlanStep("look", "pending"), PlanStep("fix", "pending"))),
        TextReported("one "),
        TextReported("two"),
        PromptEnded("end_turn", USED),
    ]


async def test_every_update_of_a_call_reports_the_complete_call(tmp_path: Path):
    played = command(
        tmp_path,
        [
            {
                "call": {
                    "id": "c1",
                    "title": "Run tests",
                    "kind": "execute",
                    "input": {"command": ["bash", "-lc", "make"]},
                }
            },
            {"call": {"id": "c1", "status": "in_progress"}},
            {"call": {"id": "c1", "status": "completed", "diff": ["a.py", None, "x"], "output": "all green"}},
        ],
    )
    session = await AcpAgents().start(played, str(tmp_path))

    events = await prompt_events(session)
    await session.close()

    begun = ExternalCall(
        call_id="c1",
        title="Run tests",
        kind="execute",
        arguments='{"command": ["bash", "-lc", "make"]}',
        command="make",
    )
    assert [event.call.status for event in events if isinstance(event, CallReported)] == [
        "pending",
        "in_progress",
        "completed",
    ]
    assert events[0] == CallReported(begun)
    last = events[2]
    assert isinstance(last, CallReported)
    assert (last.call.output, last.call.diffs) == ("all green", (ExternalDiff(path="a.py", before=None, after="x"),))


async def test_requests_of_an_agent_are_answered(tmp_path: Path):
    played = command(
        tmp_path,
        [
            {"permit": {"id": "c1", "title": "Delete it", "kind": "delete"}},
            {"permit": {"id": "c2", "title": "Delete that", "kind": "delete"}},
            {"read": {"path": "/f/a.txt", "line": 2, "limit": 1}},
            {"write": {"path": "/f/b.txt", "content": "new"}},
        ],
    )
    session = await AcpAgents().start(played, str(tmp_path), reads=True, writes=True)
    requests: list[ExternalEvent] = []
    output = ""
    async with asyncio.timeout(30):
        async for event in session.prompt("go"):
            match event:
                case PermissionRequested(key, call):
                    session.permit(key, "allow" if call.call_id == "c1" else "reject")
                case ReadRequested(key):
                    session.answer_file_request(key, "line two")
                case WriteRequested(key):
                    session.answer_file_request(key, refusal="that file is not yours")
                case TextReported(text):
                    output += text
                case _:
                    continue
            requests.append(event)
    await session.close()

    assert output == "[yes][no][line two][refused: {'details': 'that file is not yours'}]"
    assert [event for event in requests if isinstance(event, ReadRequested | WriteRequested)] == [
        ReadRequested(3, "/f/a.txt", 2, 1),
        WriteRequested(4, "/f/b.txt", "new"),
    ]


async def test_a_cancelled_prompt_ends(tmp_path: Path):
    played = command(tmp_path, [{"say": "working"}, {"hang": True}])
    session = await AcpAgents().start(played, str(tmp_path))
    events: list[ExternalEvent] = []
    async with asyncio.timeout(30):
        async for event in session.prompt("go"):
            events.append(event)
            if len(events) == 1:
                await session.cancel()
    await session.close()

    assert events == [TextReported("working"), TextReported(" (stopped)"), PromptEnded("cancelled")]
    assert not session.alive


async def test_a_request_outside_a_prompt_is_refused(tmp_path: Path):
    """A2: no caller answers it between two turns, and the agent must not wait forever."""
    received = tmp_path / "received"
    later = {"later": {"path": str(tmp_path / "a.txt"), "into": str(received)}}
    session = await AcpAgents().start(command(tmp_path, [later]), str(tmp_path))

    await prompt_events(session)
    async with asyncio.timeout(30):
        while not (received.exists() and received.read_text()):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
    await session.close()

    assert "No turn is running" in received.read_text() or "The turn was stopped" in received.read_text()


async def test_the_failure_of_a_dead_agent_has_its_last_error_output_without_secrets(tmp_path: Path):
    played = command(tmp_path, [{"say": "so far"}, {"err": "fatal: api_key=sk-live-0123456789 refused"}, {"die": 3}])
    session = await AcpAgents().start(played, str(tmp_path))

    with pytest.raises(ExternalFailure) as failed:
        await prompt_events(session)
    await session.close()

    assert failed.value.code == "model_unavailable"
    assert "It exited with code 3." in failed.value.message
    assert "fatal: api_key=*** refused" in failed.value.message


async def test_the_failure_of_a_start_names_the_reason(tmp_path: Path):
    with pytest.raises(ExternalFailure, match="could not be started: No such file"):
        await AcpAgents().start((str(tmp_path / "missing"),), str(tmp_path))
    with pytest.raises(ExternalFailure) as silent:
        await AcpAgents(start_s=0.3).start(("sleep", "30"), str(tmp_path))
    with pytest.raises(ExternalFailure) as locked:
        await AcpAgents().start(command(tmp_path, refuse="run login"), str(tmp_path))

    assert (silent.value.code, locked.value.code) == ("model_timeout", "model_auth")
    assert "run login" in locked.value.message


async def test_a_conversation_is_resumed_if_the_agent_supports_it(tmp_path: Path):
    agents = AcpAgents()
    first = await agents.start(command(tmp_path, [{"say": "a"}], load=True), str(tmp_path))
    await first.close()
    resumed = await agents.start(command(tmp_path, [{"say": "b"}], load=True), str(tmp_path), resume=first.id)
    events = await prompt_events(resumed)
    await resumed.close()
    other = await agents.start(command(tmp_path, [{"say": "b"}]), str(tmp_path), resume=first.id)
    await other.close()

    assert (resumed.id, resumed.resumed, joined_text(events)) == (first.id, True, "b")
    assert other.id != first.id
    assert not other.resumed


async def test_an_agent_receives_no_api_key(tmp_path: Path):
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/h",
        "LC_ALL": "C",
        "OPENAI_API_KEY": "sk-1",
        "CALLBOARD_HOME": "/x",
    }

    assert build_environment(environment) == {"PATH": os.environ["PATH"], "HOME": "/h", "LC_ALL": "C", **ENVIRONMENT}
    assert mask_secrets("Authorization: Bearer abc") == "Authorization: Bearer ***"
