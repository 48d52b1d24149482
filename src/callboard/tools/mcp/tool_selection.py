"""Selection of a server's tools.

Declarations are untrusted. So names, descriptions and schemas have bounds, patterns have a limit on
backtracking, and a schema refers only to itself. Refused tools are counted with the reason.
"""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.model import ToolSpec
from callboard.contracts.settings import HttpServer, Server

from ..arguments import CALL_AGAIN
from ..files.paths import display
from . import names
from .schema_checker import Checker

MAX_TOOLS = 256
MAX_NAME_CHARS = 200
MAX_DESCRIPTION_CHARS = 8192
MAX_SCHEMA_BYTES = 64 * 1024
#: Maximum number of refusals with a reason; the others are counted.
_MAX_REASONS = 20


class DeclaredTool(NamedTuple):
    """A tool as its server declares it. None: not declared."""

    name: str
    description: str
    schema: dict[str, Any]
    read_only: bool | None = None
    destructive: bool | None = None
    needs_task: bool = False


class ToolOffer(msgspec.Struct, frozen=True, kw_only=True):
    """A selected tool.

    Attributes:
        tool: Name at the server.
        digest: SHA-256 of the declaration in hex. Approvals apply only to this declaration.
        destructive: The server's annotation, or the protocol's default for tools that are not read-only.
    """

    name: str
    server: str
    tool: str
    spec: ToolSpec
    digest: str
    read_only: bool
    destructive: bool
    deferred: bool
    is_remote: bool
    checker: Checker

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Check arguments against the tool's schema. Raises Refusal `tool_arguments`."""
        try:
            mismatch = self.checker.find_mismatch(arguments)
        except ValueError as error:
            # For example a number that JSON does not have.
            raise Refusal("tool_arguments", f"The arguments are not valid JSON: {error}.", hint=CALL_AGAIN) from error
        if mismatch is not None:
            message = display(mismatch.message, 500)
            raise Refusal(
                "tool_arguments",
                f"{mismatch.where}: {message}." if mismatch.where else f"{message}.",
                field=mismatch.where,
                hint=CALL_AGAIN,
            )


class ToolSelection(NamedTuple):
    """Tools of a server: offers, names that the settings exclude, and the number of refused ones with reasons."""

    offers: dict[str, ToolOffer]
    excluded: tuple[str, ...] = ()
    refused: int = 0
    refusals: tuple[str, ...] = ()


def select_tools(server: Server, part: str, declared: Sequence[DeclaredTool]) -> ToolSelection:
    """Select tools from a server's declarations. `part` represents the server in tool names."""
    offers: dict[str, ToolOffer] = {}
    excluded: list[str] = []
    refusals: list[str] = []
    names_seen: set[str] = set()
    for tool in declared:
        reason = _find_problem(tool, names_seen) or (
            "" if len(offers) < MAX_TOOLS else f"the limit is {MAX_TOOLS} tools"
        )
        if not reason:
            names_seen.add(tool.name)
            name = names.build_tool_name(part, tool.name, offers)
            if not any(fnmatch.fnmatchcase(tool.name, pattern) for pattern in server.tools):
                excluded.append(name)
                continue
            try:
                offers[name] = _to_offer(server, name, tool)
                continue
            except ValueError as error:
                reason = f"invalid schema: {error}"
        refusals.append(f"{display(tool.name, 60) or 'a tool without a name'}: {display(reason, 300)}")
    return ToolSelection(offers, tuple(excluded), len(refusals), tuple(refusals[:_MAX_REASONS]))


def _find_problem(tool: DeclaredTool, names_seen: set[str]) -> str:
    if not tool.name or not tool.name.isprintable():
        return "invalid name"
    if len(tool.name) > MAX_NAME_CHARS:
        return f"the name is longer than {MAX_NAME_CHARS} characters"
    if tool.name in names_seen:
        return "duplicate name"
    if len(tool.description) > MAX_DESCRIPTION_CHARS:
        return f"the description is longer than {MAX_DESCRIPTION_CHARS:,} characters"
    if tool.schema.get("type") != "object":
        return "the arguments are not an object"
    if tool.needs_task:
        return "it runs only as a task, and Callboard does not support the tasks of the protocol"
    return ""


def _to_offer(server: Server, name: str, tool: DeclaredTool) -> ToolOffer:
    text = msgspec.json.encode(tool.schema, order="sorted")
    if len(text) > MAX_SCHEMA_BYTES:
        raise ValueError(f"larger than {MAX_SCHEMA_BYTES:,} bytes")
    read_only = tool.read_only is True
    declaration = (tool.name, tool.description, text.decode(), tool.read_only, tool.destructive)
    return ToolOffer(
        name=name,
        server=server.name,
        tool=tool.name,
        spec=ToolSpec(name=name, description=tool.description, schema=_to_provider_schema(tool.schema)),
        digest=hashlib.sha256(msgspec.json.encode(declaration)).hexdigest(),
        read_only=read_only,
        destructive=not read_only and tool.destructive is not False,
        deferred=server.deferred,
        is_remote=isinstance(server, HttpServer),
        checker=Checker(tool.schema),
    )


def _to_provider_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema in the form that providers accept: with properties, without `$schema`."""
    return {"properties": {}, **{key: value for key, value in schema.items() if key != "$schema"}}
