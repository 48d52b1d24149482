"""A server's resources, as one read-only tool of ours beside the tools that the server declares."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

from mcp import Client, MCPError
from mcp_types import ReadResourceResult, Resource, ResourceTemplate, TextResourceContents

from callboard.contracts.content import Blob, BlobRef
from callboard.contracts.ports.tools import ToolOutcome

from ..files.paths import display
from .call_results import decode_picture
from .tool_selection import DeclaredTool

#: The names of the tool; the second where the server has a tool of the first name.
NAMES = ("read_resource", "read_mcp_resource")
_DESCRIPTION = (
    "Read a resource of this tool server by its URI. Without a URI, list the resources and the templates of their URIs."
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "uri": {"type": "string", "description": "URI of the resource. Omit it to list the resources."},
        "cursor": {"type": "string", "description": "Position in the list, as the previous list ended with it."},
    },
    "additionalProperties": False,
}


async def has_resources(client: Client) -> bool:
    """True where the server has a resource or a template of one. Many declare the capability and have none."""
    if client.server_capabilities.resources is None:
        return False
    with contextlib.suppress(MCPError):
        if (await client.list_resources()).resources:
            return True
    return bool(await _templates(client))


async def _templates(client: Client) -> list[ResourceTemplate]:
    """The first page of the templates; none from a server that does not know the request."""
    with contextlib.suppress(MCPError):
        return list((await client.list_resource_templates()).resource_templates)
    return []


def declare_reader(tools: Iterable[DeclaredTool]) -> DeclaredTool:
    """The tool that reads resources, under a name that the server itself does not use."""
    used = {one.name for one in tools}
    name = next((one for one in NAMES if one not in used), NAMES[-1])
    return DeclaredTool(name=name, description=_DESCRIPTION, schema=_SCHEMA, read_only=True)


async def read(client: Client, arguments: dict[str, Any]) -> ToolOutcome:
    """The contents of a resource, or a page of the list.

    Raises:
        MCPError: The server refused the request.
    """
    uri, cursor = arguments.get("uri"), arguments.get("cursor")
    if uri:
        return _contents(await client.read_resource(str(uri)))
    page = await client.list_resources(cursor=str(cursor) if cursor else None)
    lines = [_line(one.uri, one) for one in page.resources]
    if not cursor:
        lines += [_line(one.uri_template, one) for one in await _templates(client)]
    if page.next_cursor:
        lines.append(f"[more with cursor {page.next_cursor}]")
    return ToolOutcome(output="\n".join(lines) or "[no resources]")


def _line(uri: str, one: Resource | ResourceTemplate) -> str:
    kind = f" ({display(one.mime_type, 60)})" if one.mime_type else ""
    about = f": {display(one.description, 300)}" if one.description else ""
    return f"{display(uri, 1000)}  {display(one.title or one.name, 200)}{kind}{about}"


def _contents(result: ReadResourceResult) -> ToolOutcome:
    texts: list[str] = []
    blobs: list[Blob] = []
    for one in result.contents:
        uri = display(str(one.uri), 1000)
        if isinstance(one, TextResourceContents):
            texts.append(one.text if len(result.contents) == 1 else f"[resource {uri}]\n{one.text}")
            continue
        size = len(one.blob) * 3 // 4
        picture = decode_picture(one.blob, one.mime_type or "")
        if isinstance(picture, Blob):
            blobs.append(picture)
        texts.append(f"[resource {uri}: {display(one.mime_type or 'unknown type', 60)}, {size:,} bytes]")
    images: tuple[BlobRef, ...] = tuple(one.ref for one in blobs)
    return ToolOutcome(output="\n\n".join(texts) or "[empty]", images=images, blobs=tuple(blobs))
