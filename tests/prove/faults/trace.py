"""A trace of writes and syncs, and the files as a power loss at any place of it leaves them."""

from __future__ import annotations

import random
import struct
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

_HEAD = struct.Struct("<cQqIH")
PAGE = 4096


class Operation(NamedTuple):
    """One operation on a file: `W` writes data at an offset, `S` syncs, `T` truncates, `R` names
    it, `U` removes it.

    A name or its removal counts as durable at once, so that the content is what is tested.
    """

    kind: str
    inode: int
    offset: int
    path: str
    data: bytes


def operations(trace: Path) -> Generator[Operation]:
    """Return the operations of a trace in order."""
    with trace.open("rb") as file:
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            kind, inode, offset, size, length = _HEAD.unpack(head)
            path = file.read(length).decode()
            yield Operation(kind.decode(), inode, offset, path, file.read(size) if kind == b"W" else b"")


@dataclass
class _File:
    """A file as programs see it, as the disk has it, and the pages in which they differ."""

    path: str
    now: bytearray = field(default_factory=bytearray)
    disk: bytearray = field(default_factory=bytearray)
    unsynced: set[int] = field(default_factory=set[int])

    def write(self, offset: int, data: bytes) -> None:
        end = offset + len(data)
        if end > len(self.now):
            self.now.extend(bytes(end - len(self.now)))
        self.now[offset:end] = data
        self.unsynced.update(range(offset // PAGE, (end - 1) // PAGE + 1))

    def cut(self, size: int) -> None:
        if size < len(self.now):
            del self.now[size:]
        else:
            self.now.extend(bytes(size - len(self.now)))
        self.unsynced.update(range(size // PAGE, max(len(self.disk), size) // PAGE + 1))

    def sync(self) -> None:
        # Synced data is copied page by page: a file is large and changes little.
        if len(self.disk) > len(self.now):
            del self.disk[len(self.now) :]
        for page in self.unsynced:
            piece = self.now[page * PAGE : (page + 1) * PAGE]
            if page * PAGE > len(self.disk):
                self.disk.extend(bytes(page * PAGE - len(self.disk)))
            self.disk[page * PAGE : page * PAGE + len(piece)] = piece
        if len(self.disk) < len(self.now):
            self.disk.extend(self.now[len(self.disk) :])
        self.unsynced.clear()

    def left(self, draw: random.Random | None) -> bytes:
        """Return what a power loss leaves: synced data and, with `draw`, some of the other pages."""
        if draw is None or not self.unsynced:
            return bytes(self.disk)
        left = bytearray(self.disk)
        if draw.random() < 0.7:
            size = len(self.now)
            left = left[:size] + bytes(max(0, size - len(left)))
        for page in self.unsynced:
            piece = self.now[page * PAGE : (page + 1) * PAGE]
            if draw.random() < 0.5 and page * PAGE + len(piece) <= len(left):
                left[page * PAGE : page * PAGE + len(piece)] = piece
        return bytes(left)


class Disk:
    """The files below a folder after the operations so far."""

    def __init__(self, under: Path) -> None:
        self._under = under
        self._files: dict[int, _File] = {}

    def apply(self, operation: Operation) -> None:
        """Apply one operation."""
        file = self._files.get(operation.inode)
        if operation.kind in "RU":
            self._files = {inode: other for inode, other in self._files.items() if other.path != operation.path}
            if operation.kind == "R" and file is not None:
                self._files[operation.inode] = file
                file.path = operation.path
            return
        if file is None or file.path != operation.path:
            # A removed file may have left its number to another one.
            file = self._files[operation.inode] = _File(operation.path)
        match operation.kind:
            case "W":
                file.write(operation.offset, operation.data)
            case "T":
                file.cut(operation.offset)
            case _:
                file.sync()

    def lose_power(self, into: Path, draw: random.Random | None = None) -> None:
        """Write the files as a power loss now leaves them into a folder that has none of them."""
        for file in self._files.values():
            place = into / Path(file.path).relative_to(self._under)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.left(draw))
