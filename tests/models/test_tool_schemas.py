"""Schemas of tools as the server of each format receives them."""

from __future__ import annotations

from typing import Any, cast

import pytest

from callboard.contracts.ports.model import ToolSpec
from callboard.contracts.tool_names import to_model_name
from callboard.models.wire import Format
from callboard.tools import arguments
from callboard.tools.builtin import declarations
from tests.models.requests import make_request, read_failure
from tests.models.servers import Exchange, connect_model

_KEYS = ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema")
_TOOLS = tuple(
    ToolSpec(name=kind.name, description=kind.description, schema=arguments.build_schema(kind.arguments))
    for kind in declarations.TOOLS.values()
)


def find_schemas(body: Any) -> dict[str, dict[str, Any]]:
    """Return the schema of each tool in a request of any format."""
    if isinstance(body, list):
        return {name: schema for part in cast("list[Any]", body) for name, schema in find_schemas(part).items()}
    if not isinstance(body, dict):
        return {}
    fields = cast("dict[str, Any]", body)
    own = next((fields[key] for key in _KEYS if isinstance(fields.get(key), dict)), None)
    if own is not None and "name" in fields:
        return {fields["name"]: own}
    return {name: schema for part in fields.values() for name, schema in find_schemas(part).items()}


@pytest.mark.parametrize("format", ["openai-compatible", "openai", "anthropic", "google"])
async def test_m1_every_property_of_every_tool_is_sent(format: Format):
    bodies: list[dict[str, Any]] = []

    async def refuse(request: Exchange) -> None:
        bodies.append(request.body)
        await request.status("400 Bad Request", '{"error": {"message": "no"}}')

    async with connect_model(refuse, format=format) as (model, _):
        await read_failure(model, make_request("go", tools=_TOOLS))

    schemas = find_schemas(bodies[0])
    assert {name: set(schema["properties"]) for name, schema in schemas.items()} == {
        to_model_name(tool.name): set(tool.schema["properties"]) for tool in _TOOLS
    }
    assert {name: set(schema.get("required", ())) for name, schema in schemas.items()} == {
        to_model_name(tool.name): set(tool.schema["required"]) for tool in _TOOLS
    }
