"""Agents that violate the protocol: the turn fails with a reason (A1, A2)."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from callboard.adapters.acp import AcpAgents, process
from callboard.adapters.acp.client import MAX_WAITING
from callboard.contracts.ports.external import CallReported, ExternalFailure, TextReported

from .test_agents import joined_text, prompt_events

AGENT = Path(__file__).with_name("raw_agent.py")
ENDS = '{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":"end_turn"}}'


def raw_command(folder: Path, *lines: str, **more: Any) -> tuple[str, ...]:
    script = folder / "script.json"
    script.write_text(json.dumps({"lines": lines, **more}))
    return (sys.executable, str(AGENT), str(script))


def update(session: str = "MINE", **fields: Any) -> str:
    return json.dumps(
        {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": fields}}
    )


def text_update(text: str, session: str = "MINE") -> str:
    return update(session, sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


@pytest.mark.parametrize(
    "line",
    ["[1, 2]", "7", "null", '"hello"', '{"jsonrpc":"2.0","id":[1],"result":1}', "\x00\x01", '{"a":' * 100_000, "{"],
    ids=["array", "number", "null", "text", "id", "bytes", "deep", "half"],
)
async def test_an_invalid_line_is_dropped(tmp_path: Path, line: str):
    session = await AcpAgents().start(raw_command(tmp_path, line, text_update("hi"), ENDS), str(tmp_path))
    events = await prompt_events(session)
    await session.close()

    assert joined_text(events) == "hi"


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ('{"jsonrpc":"2.0","id":PROMPT,"result":null}', "invalid PromptResponse"),
        ('{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":7}}', "invalid PromptResponse"),
        ('{"jsonrpc":"2.0","id":PROMPT,"error":"boom"}', "boom"),
        ('{"jsonrpc":"2.0","id":PROMPT,"error":{"code":"x","message":["a"]}}', "without a message"),
    ],
    ids=["nothing", "invalid reason", "error as text", "error with invalid types"],
)
async def test_an_invalid_response_fails_the_prompt_with_the_reason(tmp_path: Path, end: str, message: str):
    session = await AcpAgents().start(raw_command(tmp_path, text_update("hi"), end), str(tmp_path))
    with pytest.raises(ExternalFailure, match=message):
        await prompt_events(session)
    await session.close()


async def test_an_invalid_response_to_a_new_session_is_refused(tmp_path: Path):
    with pytest.raises(ExternalFailure, match="invalid NewSessionResponse") as failure:
        await AcpAgents().start(raw_command(tmp_path, new={"sessionId": 5}), str(tmp_path))
    assert failure.value.code == "model_unavailable"


async def test_messages_of_another_conversation_are_dropped(tmp_path: Path):
    request = {
        "sessionId": "other",
        "toolCall": {"toolCallId": "c", "kind": "execute", "rawInput": {"command": "ls"}},
        "options": [{"optionId": "yes", "name": "yes", "kind": "allow_once"}],
    }
    lines = (
        text_update("a"),
        text_update("foreign", "other"),
        update("other", sessionUpdate="current_mode_update", currentModeId="yolo"),
        json.dumps({"jsonrpc": "2.0", "id": 70, "method": "session/request_permission", "params": request}),
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 71,
                "method": "fs/write_text_file",
                "params": {**request, "path": "a", "content": "b"},
            }
        ),
        text_update("b"),
        ENDS,
    )
    session = await AcpAgents().start(raw_command(tmp_path, *lines), str(tmp_path))
    events = await prompt_events(session)
    received = tmp_path / "script.json.received"
    async with asyncio.timeout(30):
        while not received.exists() or received.read_text().count("\n") < 2:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0)
    mode = session.settings.mode
    await session.close()

    assert [event.text for event in events if isinstance(event, TextReported)] == ["a", "b"]
    assert len(events) == 3
    assert mode == "ask"
    answers = {answer["id"]: answer for answer in map(json.loads, received.read_text().splitlines())}
    assert answers[70]["result"]["outcome"] == {"outcome": "cancelled"}
    assert "error" in answers[71]


async def test_an_agent_that_sends_an_endless_line_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Memory stays bounded, and an agent that is no longer read gets no further turn."""
    monkeypatch.setattr(process, "MAX_LINE_BYTES", 1 << 16)
    session = await AcpAgents().start(raw_command(tmp_path, text_update("x" * (1 << 18)), ENDS), str(tmp_path))
    with pytest.raises(ExternalFailure, match=r"The agent sent a line of more than [\d,]+ bytes"):
        await prompt_events(session)
    reason = await asyncio.wait_for(session.wait_for_end(), 30)
    alive = session.alive
    await session.close()

    assert reason.startswith("The agent sent a line of more than")
    assert not alive


async def test_an_agent_that_closes_its_output_is_lost(tmp_path: Path):
    """A1: it cannot answer any more, so its turn ends before the time limit of a silent agent."""
    session = await AcpAgents().start(raw_command(tmp_path, text_update("hi"), closes=True), str(tmp_path))
    async with asyncio.timeout(20):
        with pytest.raises(ExternalFailure, match="It closed its output but is still running"):
            await prompt_events(session)
        assert not session.alive
        assert "closed its output" in await session.wait_for_end()
    await session.close()


async def test_nan_and_infinity_are_recorded_as_null(tmp_path: Path):
    call = update(
        sessionUpdate="tool_call", toolCallId="c", title="x", kind="execute", rawInput={"command": "ls", "n": 0}
    )
    line = call.replace('"n": 0', '"n": NaN, "m": 1e999, "i": -Infinity')
    session = await AcpAgents().start(raw_command(tmp_path, line, ENDS), str(tmp_path))
    events = await prompt_events(session)
    await session.close()

    (call,) = [event.call for event in events if isinstance(event, CallReported)]
    assert json.loads(call.arguments) == {"command": "ls", "n": None, "m": None, "i": None}
    assert "null" in call.arguments


async def test_a_flood_of_updates_fills_the_agents_pipe_and_not_memory(tmp_path: Path):
    """Memory is bounded: the rest waits in the agent's pipe."""
    session = await AcpAgents().start(
        raw_command(tmp_path, text_update("x" * 100), times=5 * MAX_WAITING), str(tmp_path)
    )
    events = session.prompt("go")
    first = await anext(events)
    waiting = session._client.events
    most = 0
    for _ in range(30_000):
        await asyncio.sleep(0)
        most = max(most, waiting.qsize())
    received = 1
    async with asyncio.timeout(60):
        while received < 4 * MAX_WAITING:
            await anext(events)
            received += 1
            most = max(most, waiting.qsize())
    await events.aclose()
    await session.close()

    assert first == TextReported("x" * 100, "")
    assert most <= MAX_WAITING + 1
