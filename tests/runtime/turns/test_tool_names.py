"""M2: a call runs under every spelling of its tool's name, and is stored and shown under one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from callboard.contracts.commands.permission import AddRule, ListRules
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused, ToolRequested
from callboard.models.registry import ConfiguredModels, ModelSettings, ProviderSettings
from tests.models.servers import Exchange, fault_server
from tests.runtime.rigs.runtime_rig import calls, open_runtime, says, use_tool


@pytest.mark.parametrize("name", ["read", "Read", "READ"])
async def test_m2_a_call_runs_with_any_spelling_and_is_stored_with_one_name(tmp_path: Path, name: str):
    async with open_runtime(tmp_path, calls(use_tool(name, file_path="a.md"), says("Read."))) as rig:
        (rig.folder / "a.md").write_text("hello\n")
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        facts = [record.fact for record in await rig.facts(turn.session_id)]

    assert [fact.tool for fact in facts if isinstance(fact, ToolRequested)] == ["Read"]
    assert ["hello" in fact.output.text for fact in facts if isinstance(fact, ToolCompleted)] == [True]


async def test_m2_an_unknown_tool_name_is_refused_with_the_known_names(tmp_path: Path):
    async with open_runtime(tmp_path, calls(use_tool("teleport"), says("No."))) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        refused = [record.fact for record in await rig.facts(turn.session_id) if isinstance(record.fact, ToolRefused)]

    assert [fact.code for fact in refused] == ["tool_unknown"]
    assert refused[0].message.startswith("There is no tool teleport. Known tools: bash, edit, finalize, find_tools, ")


@pytest.mark.parametrize("matcher", ["read(a.md)", "Read(a.md)"])
async def test_m2_a_rule_applies_in_either_spelling_and_is_listed_with_one_name(tmp_path: Path, matcher: str):
    async with open_runtime(tmp_path, calls(use_tool("read", file_path="a.md"), says("No."))) as rig:
        (rig.folder / "a.md").write_text("hello\n")
        await rig.do(AddRule(workspace_id=rig.workspace, matcher=matcher, verdict="deny"))
        listed = await rig.do(ListRules(workspace_id=rig.workspace))
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        refused = [record.fact for record in await rig.facts(turn.session_id) if isinstance(record.fact, ToolRefused)]

    assert [rule.matcher for rule in listed.rules] == ["Read(a.md)"]
    assert [fact.code for fact in refused] == ["rule_denied"]


async def test_m2_a_stored_session_continues_over_http_and_runs_a_call_in_snake_case(tmp_path: Path):
    """The log has `Read` and `ReadOutput`. Requests and model calls have `read` and `read_output`."""
    async with open_runtime(tmp_path, calls(use_tool("Read", file_path="a.md"), says("Read."))) as rig:
        (rig.folder / "a.md").write_text("hello\n")
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")

    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        if len(server.exchanges) == 1:
            function = {"name": "read", "arguments": '{"file_path": "a.md"}'}
            await exchange.delta({"tool_calls": [{"index": 0, "id": "c9", "type": "function", "function": function}]})
            await exchange.delta({}, finish_reason="tool_calls")
        else:
            await exchange.text("Read again.")
            await exchange.delta({}, finish_reason="stop")
        await exchange.event("[DONE]")
        await exchange.end_stream()

    async with fault_server(play) as server:
        provider = ProviderSettings(
            name="p", kind="openai-compatible", base_url=server.base_url, models=("m",), api_key="k"
        )
        async with open_runtime(
            tmp_path, calls(), models=ConfiguredModels(ModelSettings(providers=(provider,)))
        ) as rig:
            await rig.submit("again", turn.session_id)
            await rig.until(turn.session_id, "turn.completed", count=2)
            facts = [record.fact for record in await rig.facts(turn.session_id)]

    assert [fact.tool for fact in facts if isinstance(fact, ToolRequested)] == ["Read", "Read"]
    assert ["hello" in fact.output.text for fact in facts if isinstance(fact, ToolCompleted)] == [True, True]
    first, second = (exchange.body for exchange in server.exchanges)
    named = [call["function"]["name"] for entry in second["messages"] for call in entry.get("tool_calls", ())]
    assert named == ["read", "read"]
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", tool["function"]["name"]) for tool in first["tools"])
