"""Pages of stored call outputs for the agent that made the call."""

from __future__ import annotations

import msgspec

from callboard.contracts.content import BlobRef, Text
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.rows.tool import ToolPart
from callboard.tools.builtin.read_output import ReadOutputArguments, format_page

from ..sessions.host import SessionHost
from ..views.current_rows import read_current_rows


async def read_output(host: SessionHost, thread: str, text: str) -> ToolOutcome:
    """Return a page of the output of an earlier call of the same thread. The gate has checked the arguments."""
    request = msgspec.json.decode(text, type=ReadOutputArguments)
    output = await _find_output(host, thread, request.call_id)
    if output is None:
        return _fail(f"There is no stored output of call {request.call_id}. A truncated result names its call_id.")
    if output.ref is None:
        data = output.text.encode("utf-8", "replace")
        return _format_page(data[request.offset : request.offset + request.limit], request, len(data))
    return await _read_page(host, output.ref, request)


async def _find_output(host: SessionHost, thread: str, call: str) -> Text | None:
    """Return the output of a call from the conversation, or else from its row."""
    output = (await host.conversations.get(thread)).find_output(call)
    if output is not None:
        return output
    row = await (await read_current_rows(host.dependencies.store, host.session)).get(ToolPart, call)
    return row.output if row is not None and row.thread_id == thread else None


async def _read_page(host: SessionHost, ref: BlobRef, request: ReadOutputArguments) -> ToolOutcome:
    data = await host.dependencies.store.blobs.get_range(ref.hash, offset=request.offset, length=request.limit)
    if data is None:
        return _fail("The output was erased. Repeat the call if you still need it.")
    return _format_page(data, request, ref.size)


def _format_page(data: bytes, request: ReadOutputArguments, size: int) -> ToolOutcome:
    if not data and request.offset:
        return _fail(f"The output has {size} bytes, so offset {request.offset} is invalid.")
    return ToolOutcome(output=format_page(data, request, size))


def _fail(message: str) -> ToolOutcome:
    return ToolOutcome(output="", code="tool_failed", message=message)
