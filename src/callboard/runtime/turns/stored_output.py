"""What a call printed, read again by the agent that made it: its result told a part of it."""

from __future__ import annotations

import msgspec

from callboard.contracts.content import BlobRef, Text
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.rows import ToolPart
from callboard.tools.builtin.read_output import ReadOutputArguments, format_page

from ..sessions.host import SessionHost


async def read_output(host: SessionHost, thread: str, text: str) -> ToolOutcome:
    """A page of the output of an earlier call of this thread, of no other's. The gate has checked the arguments."""
    asked = msgspec.json.decode(text, type=ReadOutputArguments)
    output = await _output(host, thread, asked.call_id)
    if output is None:
        return _failed(
            f"You made no call {asked.call_id} whose output is kept. A result names its call where there is more."
        )
    if output.ref is None:
        data = output.text.encode("utf-8", "replace")
        return _page(data[asked.offset : asked.offset + asked.limit], asked, len(data))
    return await _of_blob(host, output.ref, asked)


async def _output(host: SessionHost, thread: str, call: str) -> Text | None:
    """Where the context no longer tells of the call, its row still does."""
    found = (await host.conversations.get(thread)).find_output(call)
    if found is not None:
        return found
    row = await host.dependencies.store.rows.row(host.session, ToolPart.panel, call)
    return row.output if isinstance(row, ToolPart) and row.thread_id == thread else None


async def _of_blob(host: SessionHost, ref: BlobRef, asked: ReadOutputArguments) -> ToolOutcome:
    data = await host.dependencies.store.blobs.get_range(ref.hash, offset=asked.offset, length=asked.limit)
    if data is None:
        return _failed("This output was erased. Make the call again if it is still needed.")
    return _page(data, asked, ref.size)


def _page(data: bytes, asked: ReadOutputArguments, size: int) -> ToolOutcome:
    if not data and asked.offset:
        return _failed(f"The output has {size} bytes; there is nothing at {asked.offset}.")
    return ToolOutcome(output=format_page(data, asked, size))


def _failed(message: str) -> ToolOutcome:
    return ToolOutcome(output="", code="tool_failed", message=message)
