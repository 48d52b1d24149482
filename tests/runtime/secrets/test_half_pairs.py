"""Halves of surrogate pairs, which JSON can contain and no store can encode: replaced where texts
enter (M4, A2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.contracts.facts.message import MessageText, ReasoningCompleted
from callboard.contracts.facts.tool import ToolCompleted, ToolRequested
from callboard.models.registry import ConfiguredModels, ModelSettings, ProviderSettings
from tests.models.servers import Exchange, fault_server
from tests.runtime.rigs.acp_agent import list_facts, open_coder, start_session
from tests.runtime.rigs.runtime_rig import calls, open_runtime

HALF = "\ud83d"


async def _answers(exchange: Exchange) -> None:
    await exchange.begin_stream()
    await exchange.delta({"reasoning_content": f"hm{HALF}"})
    await exchange.text(f"a{HALF}b")
    await exchange.text("", finish_reason="stop")
    await exchange.event("[DONE]")
    await exchange.end_stream()


async def test_half_a_pair_in_a_model_stream_stops_neither_turn_nor_view(tmp_path: Path):
    async with fault_server(_answers) as server:
        mock = ProviderSettings(name="mock", base_url=server.base_url, api_key="k", models=("m",))
        async with open_runtime(tmp_path, calls(), models=ConfiguredModels(ModelSettings(providers=(mock,)))) as rig:
            turn = await rig.submit("go")
            await rig.until(turn.session_id, "turn.completed")
            (message,) = await list_facts(rig, turn.session_id, MessageText)
            (thought,) = await list_facts(rig, turn.session_id, ReasoningCompleted)
            parts = await rig.parts(turn.session_id, turn.turn_id)

    assert (message.content.text, thought.content.text) == ("a\ufffdb", "hm\ufffd")
    assert len(parts) >= 2


@pytest.mark.parametrize("agent", [{}, {"plan": [f"look{HALF}"]}], ids=["text and a call", "a plan"])
async def test_half_a_pair_from_an_external_agent_stops_neither_turn_nor_view(tmp_path: Path, agent: dict[str, object]):
    call = {"id": "c", "title": f"ls {HALF}", "kind": "execute", "input": {"command": f"ls {HALF}"}}
    steps = [
        *([agent] if agent else []),
        {"say": f"a{HALF}b"},
        {"call": {**call, "status": "in_progress"}},
        {"call": {"id": "c", "status": "completed", "output": f"out{HALF}"}},
    ]
    async with open_coder(tmp_path, steps) as rig:
        session = await start_session(rig)
        ended = await rig.until(session, "turn.completed")
        (message,) = await list_facts(rig, session, MessageText)
        (_, requested) = await list_facts(rig, session, ToolRequested)
        (_, completed) = await list_facts(rig, session, ToolCompleted)
        parts = await rig.parts(session, ended.scope.turn)

    assert message.content.text == "a\ufffdb"
    assert requested.arguments.text == '{"command": "ls \ufffd"}'
    assert completed.output.text == "out\ufffd"
    assert parts
