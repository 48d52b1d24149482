"""The complete state of a conversation, and its encoding."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.queue import QueueEdited, SteerRequested
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.ports.model import ModelMessage

from ..slices import split_pages, yield_in_slices
from .content_renderer import Pinned
from .conversation_lines import Entry

#: Entries that are encoded together. An entry with images is encoded alone, because images are large.
_ENTRIES = 50
#: Size above which a conversation is not encoded, in bytes. It is then folded from the log.
MAX_STORED_BYTES = 16 * 1024 * 1024


class HistoryState(msgspec.Struct, frozen=True, kw_only=True):
    """The complete state of a conversation after the fact `sequence`. The default is an empty one.

    Its text is the text of facts and blobs, from which secrets were redacted before they were
    stored. So it contains nothing that the log does not contain.

    - `turn`: start of the newest turn. `iteration`: number of its newest model call.
    - `inputs`: inputs of turns that have not started. `edits`: such inputs after an edit. `steers`:
      steering messages that no model call includes yet. `tools`: tools of open calls. `rewritten`:
      notes for the results of calls with rewritten arguments. `items`: messages of other agents that
      are not consumed.
    - `outputs`: truncated outputs by call. `pinned`: the newest pinned contents.
    - `remote_task`: newest task of a remote agent, from `task_turn` on.
    """

    sequence: int = 0
    turn: int = 0
    iteration: int = 0
    remote_task: str = ""
    task_turn: int = 0
    has_images: bool = False
    inputs: dict[str, TurnSubmitted] = {}
    edits: dict[str, QueueEdited] = {}
    steers: dict[str, SteerRequested] = {}
    tools: dict[str, str] = {}
    rewritten: dict[str, str] = {}
    items: dict[str, str] = {}
    outputs: dict[str, Text] = {}
    pinned: tuple[Pinned, ...] = ()
    worktree_note: ModelMessage | None = None
    summary: tuple[ModelMessage, ...] = ()
    entries: tuple[Entry, ...] = ()


class _Page(msgspec.Struct, frozen=True, array_like=True):
    """Some entries without their pins, the numbers of their pins, and the pinned contents that are new."""

    pinned: list[Pinned]
    pins: list[tuple[int, ...]]
    entries: list[Entry]


class _End(msgspec.Struct, frozen=True, array_like=True):
    """The state without entries and pins."""

    pinned: list[Pinned]
    pins: tuple[int, ...]
    state: HistoryState


class _PinTable:
    """Numbers each pinned content, because most turns have the same."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._new: list[Pinned] = []

    def number(self, pins: tuple[Pinned, ...]) -> tuple[int, ...]:
        """Return the numbers of pinned contents. The caller must keep the contents alive."""
        for pinned in pins:
            if id(pinned) not in self._numbers:
                self._numbers[id(pinned)] = len(self._numbers)
                self._new.append(pinned)
        return tuple([self._numbers[id(pinned)] for pinned in pins])

    def pop_new(self) -> list[Pinned]:
        """Return the contents that were numbered since the last call."""
        new, self._new = self._new, []
        return new


async def encode_history(state: HistoryState) -> tuple[bytes, ...] | None:
    """Encode a state in parts, with pauses for the event loop. Return None above `MAX_STORED_BYTES`."""
    encoder, table = msgspec.msgpack.Encoder(), _PinTable()
    parts: list[bytes] = []
    size = 0
    async for entries in yield_in_slices(split_pages(state.entries, 1 if state.has_images else _ENTRIES)):
        pins = [table.number(entry.pins) for entry in entries]
        plain = [msgspec.structs.replace(entry, pins=()) if entry.pins else entry for entry in entries]
        parts.append(encoder.encode(_Page(table.pop_new(), pins, plain)))
        size += len(parts[-1])
        if size > MAX_STORED_BYTES:
            return None
    pins = table.number(state.pinned)
    rest = msgspec.structs.replace(state, pinned=(), entries=())
    parts.append(encoder.encode(_End(table.pop_new(), pins, rest)))
    return tuple(parts) if size + len(parts[-1]) <= MAX_STORED_BYTES else None


async def decode_history(parts: Sequence[bytes]) -> HistoryState:
    """Decode a state, with pauses for the event loop. Raises msgspec.MsgspecError for invalid parts."""
    if not parts:
        raise msgspec.DecodeError("the conversation has no part")
    decoder = msgspec.msgpack.Decoder(_Page)
    pinned: list[Pinned] = []
    entries: list[Entry] = []
    try:
        async for part in yield_in_slices(parts[:-1]):
            page = decoder.decode(part)
            pinned += page.pinned
            entries += [
                msgspec.structs.replace(entry, pins=tuple([pinned[number] for number in pins])) if pins else entry
                for entry, pins in zip(page.entries, page.pins, strict=True)
            ]
        end = msgspec.msgpack.decode(parts[-1], type=_End)
        pinned += end.pinned
        pins = tuple([pinned[number] for number in end.pins])
    except (IndexError, ValueError) as error:
        raise msgspec.ValidationError(f"the conversation is inconsistent: {error}") from error
    return msgspec.structs.replace(end.state, pinned=pins, entries=tuple(entries))
