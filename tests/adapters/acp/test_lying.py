"""An agent that breaks the protocol: its turn ends with a reason, and it is taken for nothing else (A1, A2)."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from callboard.adapters.acp import AcpAgents, process
from callboard.adapters.acp.client import MOST_WAITING
from callboard.contracts.ports.external import CallReported, ExternalFailure, TextReported

from .test_agents import joined, prompted

AGENT = Path(__file__).with_name("raw_agent.py")
ENDS = '{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":"end_turn"}}'


def raw(place: Path, *lines: str, **more: Any) -> tuple[str, ...]:
    script = place / "script.json"
    script.write_text(json.dumps({"lines": lines, **more}))
    return (sys.executable, str(AGENT), str(script))


def update(session: str = "MINE", **fields: Any) -> str:
    return json.dumps(
        {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": fields}}
    )


def says(text: str, session: str = "MINE") -> str:
    return update(session, sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


@pytest.mark.parametrize(
    "line",
    ["[1, 2]", "7", "null", '"hello"', '{"jsonrpc":"2.0","id":[1],"result":1}', "\x00\x01", '{"a":' * 100_000, "{"],
    ids=["array", "number", "null", "text", "id", "bytes", "deep", "half"],
)
async def test_a_line_that_is_no_message_is_dropped(tmp_path: Path, line: str):
    session = await AcpAgents().start(raw(tmp_path, line, says("hi"), ENDS), str(tmp_path))
    events = await prompted(session)
    await session.close()

    assert joined(events) == "hi"


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ('{"jsonrpc":"2.0","id":PROMPT,"result":null}', "invalid PromptResponse"),
        ('{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":7}}', "invalid PromptResponse"),
        ('{"jsonrpc":"2.0","id":PROMPT,"error":"boom"}', "boom"),
        ('{"jsonrpc":"2.0","id":PROMPT,"error":{"code":"x","message":["a"]}}', "without a message"),
    ],
    ids=["nothing", "a reason that is none", "an error as text", "an error of other types"],
)
async def test_an_answer_that_is_none_of_the_protocol_fails_the_prompt_with_the_reason(
    tmp_path: Path, end: str, message: str
):
    session = await AcpAgents().start(raw(tmp_path, says("hi"), end), str(tmp_path))
    with pytest.raises(ExternalFailure, match=message):
        await prompted(session)
    await session.close()


async def test_a_conversation_that_is_opened_with_no_answer_of_the_protocol_is_refused(tmp_path: Path):
    with pytest.raises(ExternalFailure, match="invalid NewSessionResponse") as failure:
        await AcpAgents().start(raw(tmp_path, new={"sessionId": 5}), str(tmp_path))
    assert failure.value.code == "model_unavailable"


async def test_nothing_of_another_conversation_is_taken_for_this_one(tmp_path: Path):
    asks = {
        "sessionId": "other",
        "toolCall": {"toolCallId": "c", "kind": "execute", "rawInput": {"command": "ls"}},
        "options": [{"optionId": "yes", "name": "yes", "kind": "allow_once"}],
    }
    lines = (
        says("a"),
        says("foreign", "other"),
        update("other", sessionUpdate="current_mode_update", currentModeId="yolo"),
        json.dumps({"jsonrpc": "2.0", "id": 70, "method": "session/request_permission", "params": asks}),
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 71,
                "method": "fs/write_text_file",
                "params": {**asks, "path": "a", "content": "b"},
            }
        ),
        says("b"),
        ENDS,
    )
    session = await AcpAgents().start(raw(tmp_path, *lines), str(tmp_path))
    events = await prompted(session)
    heard = tmp_path / "script.json.heard"
    async with asyncio.timeout(30):
        while not heard.exists() or heard.read_text().count("\n") < 2:  # noqa: ASYNC110 - what is waited for is in the file
            await asyncio.sleep(0)
    mode = session.settings.mode
    await session.close()

    assert [event.text for event in events if isinstance(event, TextReported)] == ["a", "b"]
    assert len(events) == 3
    assert mode == "ask"
    answers = {one["id"]: one for one in map(json.loads, heard.read_text().splitlines())}
    assert answers[70]["result"]["outcome"] == {"outcome": "cancelled"}
    assert "error" in answers[71]


async def test_an_agent_that_sends_an_endless_line_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Its memory is bounded, and no later turn is sent to an agent that is not read."""
    monkeypatch.setattr(process, "LARGEST_LINE", 1 << 16)
    session = await AcpAgents().start(raw(tmp_path, says("x" * (1 << 18)), ENDS), str(tmp_path))
    with pytest.raises(ExternalFailure, match=r"It sent a line of more than [\d,]+ bytes"):
        await prompted(session)
    how = await asyncio.wait_for(session.gone(), 30)
    alive = session.alive
    await session.close()

    assert how.startswith("It sent a line of more than")
    assert not alive


async def test_an_agent_that_closes_its_output_and_lives_on_is_gone(tmp_path: Path):
    """A1: it can answer nothing more, so its turn ends before the time of a silent agent is over."""
    session = await AcpAgents().start(raw(tmp_path, says("hi"), closes=True), str(tmp_path))
    async with asyncio.timeout(20):
        with pytest.raises(ExternalFailure, match="It is running, and closed its output"):
            await prompted(session)
        assert not session.alive
        assert "closed its output" in await session.gone()
    await session.close()


async def test_a_number_that_json_does_not_have_is_recorded_as_null(tmp_path: Path):
    call = update(
        sessionUpdate="tool_call", toolCallId="c", title="x", kind="execute", rawInput={"command": "ls", "n": 0}
    )
    line = call.replace('"n": 0', '"n": NaN, "m": 1e999, "i": -Infinity')
    session = await AcpAgents().start(raw(tmp_path, line, ENDS), str(tmp_path))
    events = await prompted(session)
    await session.close()

    (call,) = [event.call for event in events if isinstance(event, CallReported)]
    assert json.loads(call.arguments) == {"command": "ls", "n": None, "m": None, "i": None}
    assert "null" in call.arguments


async def test_an_agent_that_floods_is_read_no_faster_than_it_is_taken(tmp_path: Path):
    """Memory is bounded: what is not taken waits in the agent's own pipe."""
    session = await AcpAgents().start(raw(tmp_path, says("x" * 100), times=5 * MOST_WAITING), str(tmp_path))
    events = session.prompt("go")
    first = await anext(events)
    waiting = session._client.events
    most = 0
    for _ in range(30_000):
        await asyncio.sleep(0)
        most = max(most, waiting.qsize())
    taken = 1
    async with asyncio.timeout(60):
        while taken < 4 * MOST_WAITING:
            await anext(events)
            taken += 1
            most = max(most, waiting.qsize())
    await events.aclose()
    await session.close()

    assert first == TextReported("x" * 100, "")
    assert most <= MOST_WAITING + 1
