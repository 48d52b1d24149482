"""Selection of the tools that a server declares.

A server controls what it declares. So names, descriptions and schemas have bounds, patterns have a
limit on backtracking, and a schema refers only to itself. Refused tools are counted, with the
reason.
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

from ..files.paths import display
from . import names
from .schema_checker import Checker

MOST_TOOLS = 256
LONGEST_NAME = 200
LONGEST_DESCRIPTION = 8192
LARGEST_SCHEMA = 64 * 1024
#: Maximum number of refusals with a reason; the others are counted.
_MOST_TOLD = 20


class DeclaredTool(NamedTuple):
    """A tool as its server declares it. None means that the server does not declare it."""

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
        declared: SHA-256 of the whole declaration in hex. A tool with another declaration is
            another tool.
        destructive: The server's annotation, or else the protocol's default for tools that change
            something.
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
            misfit = self.checker.find_mismatch(arguments)
        except ValueError as unfit:
            # Such as a number that JSON does not have.
            raise Refusal("tool_arguments", f"The arguments cannot be checked: {unfit}.") from unfit
        if misfit is not None:
            said = display(misfit.message, 500)
            raise Refusal(
                "tool_arguments",
                f"{misfit.where}: {said}." if misfit.where else f"{said}.",
                field=misfit.where,
                hint="Correct the arguments and call the tool again.",
            )


class ToolSelection(NamedTuple):
    """Tools of a server: selected ones, names that the settings exclude, and the number of refused
    ones with reasons.
    """

    offers: dict[str, ToolOffer]
    excluded: tuple[str, ...] = ()
    refused: int = 0
    refusals: tuple[str, ...] = ()


def select_tools(server: Server, part: str, declared: Sequence[DeclaredTool]) -> ToolSelection:
    """Select tools from a server's declarations. `part` stands for the server in their names."""
    offered: dict[str, ToolOffer] = {}
    left_out: list[str] = []
    refusals: list[str] = []
    seen: set[str] = set()
    for one in declared:
        why = _refusal(one, seen) or ("" if len(offered) < MOST_TOOLS else f"only {MOST_TOOLS} tools are taken")
        if not why:
            seen.add(one.name)
            name = names.tool_name(part, one.name, offered)
            if not any(fnmatch.fnmatchcase(one.name, pattern) for pattern in server.tools):
                left_out.append(name)
                continue
            try:
                offered[name] = _offered(server, name, one)
                continue
            except ValueError as unfit:
                why = f"its schema is none: {unfit}"
        refusals.append(f"{display(one.name, 60) or 'a tool without a name'}: {display(why, 300)}")
    return ToolSelection(offered, tuple(left_out), len(refusals), tuple(refusals[:_MOST_TOLD]))


def _refusal(one: DeclaredTool, seen: set[str]) -> str:
    if not one.name or not one.name.isprintable():
        return "its name is none"
    if len(one.name) > LONGEST_NAME:
        return f"its name is longer than {LONGEST_NAME} characters"
    if one.name in seen:
        return "there are two of this name"
    if len(one.description) > LONGEST_DESCRIPTION:
        return f"its description is longer than {LONGEST_DESCRIPTION:,} characters"
    if one.schema.get("type") != "object":
        return "its arguments are no object"
    if one.needs_task:
        return "it runs only as a task, and Callboard does not support the tasks of the protocol"
    return ""


def _offered(server: Server, name: str, one: DeclaredTool) -> ToolOffer:
    text = msgspec.json.encode(one.schema, order="sorted")
    if len(text) > LARGEST_SCHEMA:
        raise ValueError(f"it is larger than {LARGEST_SCHEMA:,} bytes")
    read_only = one.read_only is True
    words = (one.name, one.description, text.decode(), one.read_only, one.destructive)
    return ToolOffer(
        name=name,
        server=server.name,
        tool=one.name,
        spec=ToolSpec(name=name, description=one.description, schema=_told(one.schema)),
        digest=hashlib.sha256(msgspec.json.encode(words)).hexdigest(),
        read_only=read_only,
        destructive=not read_only and one.destructive is not False,
        deferred=server.deferred,
        is_remote=isinstance(server, HttpServer),
        checker=Checker(one.schema),
    )


def _told(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema as providers accept it: with properties, and without `$schema`."""
    return {"properties": {}, **{key: value for key, value in schema.items() if key != "$schema"}}
