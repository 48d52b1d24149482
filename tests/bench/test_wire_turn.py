"""A turn over HTTP: what is compared is the same work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.rigs.conversation import ANSWER
from bench.rows.wire_turn import CLIENT, OURS, PEER, lines
from bench.workers.provider import base_url, provider
from bench.workers.wire_turns import SYSTEMS, read_requests


async def _run_turn(name: str, url: str, folder: Path) -> None:
    system = SYSTEMS[name](url)
    await system.open(folder)
    await system.turn("first")
    await system.close()


def _comparable(request: dict[str, Any]) -> dict[str, Any]:
    """Return the request without ids, and without the spaces of the arguments."""
    messages = [
        {
            "role": message["role"],
            "content": message["content"],
            "calls": [call["function"]["arguments"].replace(" ", "") for call in message.get("tool_calls", ())],
        }
        for message in request["messages"]
    ]
    return {**request, "messages": messages}


async def test_the_client_alone_sends_the_requests_of_a_turn_of_callboard(tmp_path: Path) -> None:
    """Its CPU time is the part of a turn that no storage and no gate can explain."""
    async with provider() as root:
        url = base_url(root, "openai-compatible", "turn")
        await _run_turn(OURS, url, tmp_path)
        ours = await read_requests(url)
        await _run_turn(CLIENT, url, tmp_path)
        both = await read_requests(url)

    assert (ours["count"], both["count"]) == (2, 4)
    assert list(map(_comparable, both["newest"])) == list(map(_comparable, ours["newest"]))
    assert [message["role"] for message in ours["newest"][1]["messages"]] == ["system", "user", "assistant", "tool"]


async def test_a_turn_over_http_stores_the_streamed_answer(tmp_path: Path) -> None:
    """A system that lost a delta would look faster."""
    async with provider() as root:
        system = SYSTEMS[OURS](base_url(root, "openai-compatible", "turn"))
        await system.open(tmp_path)
        await system.turn("first")
        await system.close()

    stored = b"".join(path.read_bytes() for path in (tmp_path / "state").iterdir())
    assert ANSWER.encode() in stored


def test_only_the_peer_that_stores_its_sessions_has_a_goal() -> None:
    figures = {OURS: [2.0, 2.0], CLIENT: [1.0, 1.0], PEER: [4.0, 4.0]}

    verdicts = {
        line.baseline_name: (line.ratio and line.ratio.median, line.met)
        for line in lines({"worked": figures, "all": figures, "spent": figures})
    }

    assert verdicts == {"OpenAI client alone": (2.0, None), "OpenAI Agents SQLiteSession": (0.5, True)}
