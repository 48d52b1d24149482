"""The log on disk, read without the product: facts, chain, partials, blobs, and the write-ahead
log.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

DATABASE = "callboard.db"
_WAL_HEADER = 32
_FRAME_HEADER = 24
#: Ids in a header are 22 digits of six bits each, without their prefix.
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LENGTH = 22
_BEGINNINGS = {"t": "thr", "u": "trn", "r": "run", "k": "cal", "a": "act", "ps": "ses", "pt": "thr", "pr": "run"}


@dataclass(frozen=True)
class Fact:
    """One stored fact.

    `scope` has the short names of the header; `payload` is None if it was erased.
    """

    stream: str
    sequence: int
    type: str
    at: int
    epoch: int
    actor: dict[str, str]
    scope: dict[str, Any]
    payload: Any
    size: int

    def id(self, name: str) -> str:
        """Return an id of the scope by its short name; empty if the fact has none."""
        return str(self.scope.get(name, ""))


@dataclass(frozen=True)
class Part:
    """A stored partial."""

    stream: str
    kind: str
    run: str
    step: int
    text: str


@dataclass(frozen=True)
class Log:
    """A store at one moment.

    `broken` lists places where a chain, a sequence or a head does not fit.
    """

    facts: dict[str, list[Fact]]
    partials: list[Part]
    blobs: dict[str, bytes]
    broken: list[str]
    sizes: dict[str, int]

    def text(self, content: dict[str, Any]) -> str:
        """Return the whole text of a fact, inline or by reference."""
        ref = content.get("ref")
        return content.get("text", "") if ref is None else self.blobs[ref["hash"]].decode()


@contextmanager
def copied(folder: Path) -> Generator[Path]:
    """Copy a store without a running process, so that reading changes nothing in it."""
    with tempfile.TemporaryDirectory(prefix="callboard-copy-") as copy:
        for name in (DATABASE, f"{DATABASE}-wal"):
            if (folder / name).exists():
                shutil.copyfile(folder / name, Path(copy, name))
        yield Path(copy)


def read(folder: Path, only: str = "") -> Log:
    """Read the store of this folder in one transaction. `only` is the one stream to read."""
    database = folder / DATABASE
    with closing(
        sqlite3.connect(f"{database.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)
    ) as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        streams = connection.execute("SELECT number, name, head, link FROM streams WHERE name IS NOT NULL").fetchall()
        facts: dict[str, list[Fact]] = {}
        broken: list[str] = []
        for number, name, head, link in streams:
            if only in ("", name):
                facts[name] = _stream(connection, number, name, head, link, broken)
        names = {number: name for number, name, _, _ in streams}
        partials = _partials(connection, names)
        blobs = {row[0].hex(): row[1] for row in connection.execute("SELECT hash, data FROM blobs")}
    broken += [f"the blob {name} has other bytes" for name, data in blobs.items() if _sha(data).hex() != name]
    return Log(facts, partials, blobs, broken, sizes(folder))


def sizes(folder: Path) -> dict[str, int]:
    """Return the store's files with their sizes in bytes."""
    ids: dict[str, int] = {}
    for path in folder.iterdir():
        try:
            ids[path.name] = path.stat().st_size
        except FileNotFoundError:
            continue
    return ids


def free_bytes(folder: Path) -> int:
    """Return the bytes of free pages and of the write-ahead log."""
    with closing(sqlite3.connect(f"{(folder / DATABASE).absolute().as_uri()}?mode=rw", uri=True)) as connection:
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        (page,) = connection.execute("PRAGMA page_size").fetchone()
    return free * page + sizes(folder).get(f"{DATABASE}-wal", 0)


def cut_transaction(folder: Path) -> int:
    """Return the number of pages of an unfinished transaction in the write-ahead log: a kill hit
    the write of a commit.
    """
    try:
        data = (folder / f"{DATABASE}-wal").read_bytes()
    except FileNotFoundError:
        return 0
    if len(data) < _WAL_HEADER:
        return 0
    (page,), salts = struct.unpack(">I", data[8:12]), data[16:24]
    open_pages = 0
    for at in range(_WAL_HEADER, len(data) - _FRAME_HEADER - page + 1, _FRAME_HEADER + page):
        if data[at + 8 : at + 16] != salts:
            break
        (commit,) = struct.unpack(">I", data[at + 4 : at + 8])
        open_pages = 0 if commit else open_pages + 1
    return open_pages


def _stream(
    connection: sqlite3.Connection, number: int, name: str, head: int, head_link: bytes, broken: list[str]
) -> list[Fact]:
    link = _sha(b"callboard.chain.v1" + name.encode())
    facts: list[Fact] = []
    at = 0
    rows = connection.execute(
        "SELECT sequence, header, link, seal, payload FROM facts WHERE stream = ? ORDER BY sequence", (number,)
    )
    for sequence, header, stored, seal, payload in rows:
        digest = seal if payload is None else _sha(seal + payload)
        link = _sha(link + header + digest)
        if sequence != len(facts) + 1:
            broken.append(f"{name} has {sequence} where {len(facts) + 1} should be")
        if stored != link:
            broken.append(f"the chain of {name} breaks at {sequence}")
        fields = msgspec.msgpack.decode(header)
        if fields["at"] < at:
            broken.append(f"time goes back at {name}/{sequence}")
        at = fields["at"]
        content = None if payload is None else json.loads(payload)
        size = len(header) + len(stored) + len(seal) + len(payload or b"")
        scope = {short: _id(short, value) for short, value in fields.get("i", {}).items()}
        facts.append(Fact(name, sequence, fields["y"], at, fields["e"], fields.get("by", {}), scope, content, size))
    if (len(facts), link) != (head, head_link):
        broken.append(f"{name} ends with {len(facts)} facts, and its head says {head}")
    return facts


def _id(short: str, value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    number = int.from_bytes(value, "big")
    digits = (_DIGITS[number >> 6 * place & 63] for place in reversed(range(_LENGTH)))
    return f"{_BEGINNINGS[short]}_{''.join(digits)}"


def _partials(connection: sqlite3.Connection, names: dict[int, str]) -> list[Part]:
    parts: list[Part] = []
    rows = connection.execute("SELECT number, stream, kind, scope FROM partials").fetchall()
    for number, stream, kind, scope in rows:
        pieces = connection.execute(
            "SELECT text FROM pieces WHERE place >= ? AND place < ? ORDER BY place", (number << 32, (number + 1) << 32)
        )
        place = json.loads(scope)
        parts.append(Part(names[stream], kind, place["r"], place["s"], "".join(text for (text,) in pieces)))
    return parts


def _sha(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
