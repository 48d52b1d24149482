"""M2: the names of tools in requests, as each format's server receives them over HTTP."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest

from callboard.contracts.ports.model import ToolSpec
from callboard.models.wire import Format
from callboard.tools import arguments
from callboard.tools.builtin import declarations
from tests.models.requests import make_call, make_message, make_request, make_result, read_failure
from tests.models.servers import Exchange, connect_model

FORMATS: tuple[Format, ...] = ("openai-compatible", "openai", "anthropic", "google")
OTHERS = "mcp__github__getIssue"
_TOOLS = tuple(
    ToolSpec(name=kind.name, description=kind.description, schema=arguments.build_schema(kind.arguments))
    for kind in declarations.TOOLS.values()
)
_THEIRS = ToolSpec(name=OTHERS, description="Reads an issue.", schema={"type": "object", "properties": {}})
_SNAKE = re.compile(r"[a-z][a-z0-9_]*")


def list_names(body: Any) -> list[str]:
    """Return all values of `name` outside of schemas."""
    if isinstance(body, list):
        return [name for part in cast("list[Any]", body) for name in list_names(part)]
    if not isinstance(body, dict):
        return []
    fields = cast("dict[str, Any]", body)
    own = [fields["name"]] if isinstance(fields.get("name"), str) else []
    inside = [part for key, part in fields.items() if key not in {"properties", "arguments", "input_schema"}]
    return [*own, *list_names(inside)]


async def capture_body(format: Format, **request: Any) -> Any:
    bodies: list[Any] = []

    async def refuse(exchange: Exchange) -> None:
        bodies.append(exchange.body)
        await exchange.status("400 Bad Request", '{"error": {"message": "no"}}')

    messages = request.pop("messages", ("go",))
    async with connect_model(refuse, format=format) as (model, _):
        await read_failure(model, make_request(*messages, **request))
    return bodies[-1]


@pytest.mark.parametrize("format", FORMATS)
async def test_m2_built_in_tools_are_sent_in_snake_case_and_others_unchanged(format: Format):
    names = list_names(await capture_body(format, tools=(*_TOOLS, _THEIRS)))

    assert len(names) == len(set(names)) == len(_TOOLS) + 1
    assert [name for name in names if not _SNAKE.fullmatch(name)] == [OTHERS]
    assert {"read_output", "bash", "find_tools", "spawn_subagent"} <= set(names)


@pytest.mark.parametrize("format", FORMATS)
async def test_m2_stored_calls_and_results_have_the_tool_names_of_the_request(format: Format):
    """Also in finished rounds, which are encoded separately."""
    history = (
        make_message("user", "look"),
        make_message("assistant", make_call("c1", "ReadOutput", "{}"), make_call("c2", OTHERS, "{}")),
        make_message("tool", *make_result("c1", "ReadOutput", "a").content, *make_result("c2", OTHERS, "b").content),
        make_message("assistant", "Seen."),
        make_message("user", "again"),
        make_message("assistant", make_call("c3", "Bash", "{}")),
        make_result("c3", "Bash", "c"),
    )
    names = set(list_names(await capture_body(format, messages=history)))

    assert names == {"read_output", "bash", OTHERS}
