"""What each provider's format makes of a tool's schema, as its server receives it."""

from __future__ import annotations

from typing import Any, cast

import pytest

from callboard.contracts.ports.model import ToolSpec
from callboard.contracts.tool_names import model_name
from callboard.models.wire import Format
from callboard.tools import arguments
from callboard.tools.builtin import declarations
from tests.models.asking import asks, failure
from tests.models.servers import Exchange, against

_KEYS = ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema")
_TOOLS = tuple(
    ToolSpec(name=kind.name, description=kind.description, schema=arguments.schema(kind.arguments))
    for kind in declarations.TOOLS.values()
)


def _schemas(body: Any) -> dict[str, dict[str, Any]]:
    """The schema of each tool in a request, wherever the format puts it."""
    if isinstance(body, list):
        return {name: one for part in cast("list[Any]", body) for name, one in _schemas(part).items()}
    if not isinstance(body, dict):
        return {}
    held = cast("dict[str, Any]", body)
    own = next((held[key] for key in _KEYS if isinstance(held.get(key), dict)), None)
    if own is not None and "name" in held:
        return {held["name"]: own}
    return {name: one for part in held.values() for name, one in _schemas(part).items()}


@pytest.mark.parametrize("format", ["openai-compatible", "openai", "anthropic", "google"])
async def test_m1_every_property_of_every_tool_is_sent(format: Format):
    bodies: list[dict[str, Any]] = []

    async def refuse(request: Exchange) -> None:
        bodies.append(request.body)
        await request.status("400 Bad Request", '{"error": {"message": "no"}}')

    async with against(refuse, format=format) as (model, _):
        await failure(model, asks("go", tools=_TOOLS))

    found = _schemas(bodies[0])
    assert {name: set(one["properties"]) for name, one in found.items()} == {
        model_name(tool.name): set(tool.schema["properties"]) for tool in _TOOLS
    }
    assert {name: set(one.get("required", ())) for name, one in found.items()} == {
        model_name(tool.name): set(tool.schema["required"]) for tool in _TOOLS
    }
