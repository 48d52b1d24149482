"""Supported parts of the protocol, with a server on the protocol's own package (A9)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent

from callboard.contracts.settings import StdioServer
from callboard.tools.mcp.call_results import to_outcome
from tests.tools.mcp.servers import call_tool, open_agent, scripted_server
from tests.tools.rigs.calls import Agent

LIBRARY = StdioServer(
    name="library", command=(sys.executable, str(Path(__file__).with_name("library.py"))), env={"HOME": "/"}
)


def list_tool_names(agent: Agent) -> list[str]:
    """Return the server's tools that a model receives."""
    return sorted(spec.name for spec in agent.toolbox.list_specs(agent.context) if spec.name.startswith("mcp__"))


async def test_a_tool_that_requires_a_task_is_refused_with_the_reason(folder: Path) -> None:
    """A9: a model could not call it."""
    async with open_agent(folder, LIBRARY) as agent:
        (state,) = agent.toolbox.list_servers(agent.context)

        assert list_tool_names(agent) == [
            f"mcp__library__{name}" for name in ("capabilities", "items", "number", "read_resource", "record", "roots")
        ]
        assert state.refusals == (
            "slow: it runs only as a task, and Callboard does not support the tasks of the protocol",
        )


async def test_structured_content_reaches_the_model_once(folder: Path) -> None:
    """A9: the server sends a number, a list and an object also as text."""
    async with open_agent(folder, LIBRARY) as agent:
        number = (await call_tool(agent, "mcp__library__number")).output
        items = (await call_tool(agent, "mcp__library__items")).output
        record = (await call_tool(agent, "mcp__library__record", title="t")).output

    assert (number, items) == ("5", "one\n\ntwo")
    assert json.loads(record) == {"title": "t", "default": "x"}


@pytest.mark.parametrize(
    ("data", "texts", "expected"),
    [
        ({"result": 5}, ["5"], "5"),
        ({"result": [1, 2]}, ["1", "2"], "1\n\n2"),
        ({"result": ["1", "2"]}, ["1", "2"], "1\n\n2"),
        ({"a": 1}, ['{"a":1}'], '{"a":1}'),
        ({"a": 1}, ["There is one a."], 'There is one a.\n\n{\n  "a": 1\n}'),
        ({"result": [1, 2]}, ["1"], '1\n\n{\n  "result": [\n    1,\n    2\n  ]\n}'),
        ({"result": []}, [], '{\n  "result": []\n}'),
    ],
)
def test_structured_content_is_dropped_only_if_the_text_repeats_it(
    data: dict[str, Any], texts: list[str], expected: str
) -> None:
    """A9: data that the text does not contain is kept."""
    content = [TextContent(text=text) for text in texts]

    assert to_outcome(CallToolResult(content=list(content), structured_content=data)).output == expected


async def test_resources_are_listed_and_read_through_the_gate(folder: Path) -> None:
    """A9: by one read-only tool."""
    async with open_agent(folder, LIBRARY) as agent:
        listed = (await call_tool(agent, "mcp__library__read_resource")).output.splitlines()
        read = await call_tool(agent, "mcp__library__read_resource", uri="notes://days/monday")
        missing = await call_tool(agent, "mcp__library__read_resource", uri="notes://nowhere")
        info = next(tool for tool in agent.toolbox.list_tools(agent.context) if tool.name.endswith("read_resource"))

    assert listed[0].startswith("notes://today  today (text/plain)")
    assert listed[1].startswith("notes://days/{day}  day")
    assert read.output == "Nothing on monday."
    assert (missing.code, info.read_only) == ("tool_failed", True)


async def test_prompts_are_listed_and_only_servers_with_resources_have_the_tool(folder: Path, tmp_path: Path) -> None:
    """A9"""
    async with open_agent(folder, LIBRARY, scripted_server(tmp_path)) as agent:
        library, plain = agent.toolbox.list_servers(agent.context)

        assert (library.prompts, plain.prompts) == (("review",), ())
        assert "mcp__scripted__read_resource" not in list_tool_names(agent)


async def test_a_program_receives_its_root_and_no_sampling(folder: Path) -> None:
    """A9: the root is the agent's folder."""
    async with open_agent(folder, LIBRARY) as agent:
        roots = (await call_tool(agent, "mcp__library__roots")).output
        declared = (await call_tool(agent, "mcp__library__capabilities")).output.split()

    assert roots == f"{folder.as_uri()} {folder.name}"
    assert ("roots" in declared, "elicitation" in declared, "sampling" in declared) == (True, True, False)


async def test_a_tools_schema_reaches_the_model_with_its_properties(folder: Path) -> None:
    """A9: also if a property has the name of a JSON Schema keyword."""
    async with open_agent(folder, LIBRARY) as agent:
        (spec,) = (info for info in agent.toolbox.list_specs(agent.context) if info.name == "mcp__library__record")

    properties: Any = spec.schema["properties"]
    assert {name: schema["type"] for name, schema in properties.items()} == {"title": "string", "default": "string"}
    assert spec.schema["required"] == ["title"]
