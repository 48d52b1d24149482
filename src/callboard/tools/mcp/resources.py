"""Read-only tool for the resources of a server."""

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

#: Names of the tool. The second is used if the server has a tool with the first.
NAMES = ("read_resource", "read_mcp_resource")
_DESCRIPTION = "Read a resource of this tool server by its URI. Without a URI, list the resources and URI templates."
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "uri": {"type": "string", "description": "URI of the resource. Omit it to list the resources."},
        "cursor": {"type": "string", "description": "Position in the list, from the end of the previous list."},
    },
    "additionalProperties": False,
}


async def has_resources(client: Client) -> bool:
    """Return True if the server has a resource or a template. Many declare the capability and have none."""
    if client.server_capabilities.resources is None:
        return False
    with contextlib.suppress(MCPError):
        if (await client.list_resources()).resources:
            return True
    return bool(await _list_templates(client))


async def _list_templates(client: Client) -> list[ResourceTemplate]:
    """Return the first page of the templates; empty if the server does not support the request."""
    with contextlib.suppress(MCPError):
        return list((await client.list_resource_templates()).resource_templates)
    return []


def declare_reader(tools: Iterable[DeclaredTool]) -> DeclaredTool:
    """Return the declaration of the tool, with a name that the server does not use."""
    used = {tool.name for tool in tools}
    name = next((tool for tool in NAMES if tool not in used), NAMES[-1])
    return DeclaredTool(name=name, description=_DESCRIPTION, schema=_SCHEMA, read_only=True)


async def read(client: Client, arguments: dict[str, Any]) -> ToolOutcome:
    """Return the contents of a resource, or a page of the list. Raises MCPError."""
    uri, cursor = arguments.get("uri"), arguments.get("cursor")
    if uri:
        return _to_outcome(await client.read_resource(str(uri)))
    page = await client.list_resources(cursor=str(cursor) if cursor else None)
    lines = [_format_line(item.uri, item) for item in page.resources]
    if not cursor:
        lines += [_format_line(item.uri_template, item) for item in await _list_templates(client)]
    if page.next_cursor:
        lines.append(f"[more with cursor {page.next_cursor}]")
    return ToolOutcome(output="\n".join(lines) or "[no resources]")


def _format_line(uri: str, item: Resource | ResourceTemplate) -> str:
    kind = f" ({display(item.mime_type, 60)})" if item.mime_type else ""
    description = f": {display(item.description, 300)}" if item.description else ""
    return f"{display(uri, 1000)}  {display(item.title or item.name, 200)}{kind}{description}"


def _to_outcome(result: ReadResourceResult) -> ToolOutcome:
    texts: list[str] = []
    blobs: list[Blob] = []
    for content in result.contents:
        uri = display(str(content.uri), 1000)
        if isinstance(content, TextResourceContents):
            texts.append(content.text if len(result.contents) == 1 else f"[resource {uri}]\n{content.text}")
            continue
        size = len(content.blob) * 3 // 4
        image = decode_picture(content.blob, content.mime_type or "")
        if isinstance(image, Blob):
            blobs.append(image)
        texts.append(f"[resource {uri}: {display(content.mime_type or 'unknown type', 60)}, {size:,} bytes]")
    images: tuple[BlobRef, ...] = tuple(content.ref for content in blobs)
    return ToolOutcome(output="\n\n".join(texts) or "[empty]", images=images, blobs=tuple(blobs))
