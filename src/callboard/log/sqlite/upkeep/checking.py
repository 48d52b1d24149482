"""The check of a store: every link of every stream, every blob, every reference, and all that is derived.

Reads only, in short transactions, so that it can run beside the process that writes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path

from ....contracts.errors import Refusal
from ... import chain
from ..blobs import compute_digest
from ..failures import VIEWS, primary_code, to_refusal, unusable
from ..ledger import End, find_end
from ..links import read_linked, read_stored
from ..schema import FACTS, check_facts, connect_reader, is_empty
from .damage import Checked, Damage, describe_damage
from .derived_check import check_views

#: How many facts one transaction reads.
_PAGE = 2000
#: The most that is reported of one kind of damage in the file itself.
_MOST = 20
#: What a quick look reads: the newest streams and of each the newest facts, and the newest blobs up to a size.
QUICK_STREAMS, QUICK_FACTS, QUICK_BLOBS, QUICK_BYTES = 20, 200, 200, 20_000_000

_UNREADABLE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)

Progress = Callable[[str], None]


def check_store(folder: Path, *, whole: bool = True, progress: Progress = lambda _: None) -> Checked:
    """Check the store in a folder. Blocks; a whole check reads all of it.

    Args:
        whole: False looks at the newest facts and blobs only.
        progress: Receives a line now and then.
    Returns:
        What was looked at and what is damaged.
    Raises:
        Refusal: `store_unusable` where there is no store or a newer version made it, `store_locked`, `store_full` where the
            disk has no room for the shared memory that SQLite reads with.
    Example:
        checked = check_store(home.store)
    """
    path = folder / FACTS
    if not path.exists():
        raise unusable(str(folder), "there is no store in this folder")
    try:
        with closing(connect_reader(path)) as connection:
            if is_empty(connection):
                raise unusable(str(folder), "the store in this folder is only being made")
            check_facts(connection, path)
            found = _Check(connection, path, whole, progress)
            found.run()
            found.views(folder / VIEWS)
            return found.result(folder)
    except sqlite3.Error as error:
        refusal = to_refusal(error, str(path))
        if refusal.code == "store_full" or primary_code(error) not in _UNREADABLE:
            raise refusal from error
        damages = (describe_damage("database", str(path), f"The file cannot be read: {error}."),)
        return Checked(store=str(folder), whole=whole, damages=damages)


class _Check:
    def __init__(self, connection: sqlite3.Connection, path: Path, whole: bool, progress: Progress) -> None:
        self._connection = connection
        self._path = path
        self._whole = whole
        self._progress = progress
        self._damages: list[Damage] = []
        self._streams = self._facts = self._blobs = self._bytes = 0
        (self._id,) = connection.execute("SELECT id FROM store").fetchone()

    def result(self, folder: Path) -> Checked:
        """Return what was found."""
        return Checked(
            store=str(folder),
            whole=self._whole,
            store_id=self._id,
            streams=self._streams,
            facts=self._facts,
            blobs=self._blobs,
            blob_bytes=self._bytes,
            damages=tuple(self._damages),
        )

    def run(self) -> None:
        """Check the log."""
        if self._whole:
            self._progress("the file")
            self._part(str(self._path), self._database)
        rows = self._connection.execute("SELECT name FROM streams WHERE name IS NOT NULL ORDER BY number").fetchall()
        names: list[str] = [name for (name,) in rows]
        for at, name in enumerate(names if self._whole else names[-QUICK_STREAMS:], 1):
            self._progress(f"stream {at} of {len(names)}")
            self._part(name, lambda name=name: self._stream(name))
        self._part(str(self._path), self._all_blobs)
        if self._whole:
            self._part(str(self._path), self._references)
            self._part(str(self._path), self._orphans)

    def views(self, path: Path) -> None:
        """Check what is derived from the log."""
        if path.exists():
            self._progress("the views")
            self._damages.extend(check_views(path, self._id, self._last_of, whole=self._whole))

    def _last_of(self, stream: str) -> int | None:
        """Return the newest sequence of a stream; None where its end is damaged, which is among the damages of the log."""
        try:
            return find_end(self._connection, stream).head.sequence
        except Refusal:
            return None

    def _part(self, name: str, look: Callable[[], None]) -> None:
        """Do one part of the check; a part that cannot be read is a damage, and the next one is still done."""
        try:
            look()
        except sqlite3.Error as error:
            if primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT):
                raise
            self._damages.append(describe_damage("database", name, f"A part of the file cannot be read: {error}."))

    def _database(self) -> None:
        for (line,) in self._connection.execute(f"PRAGMA integrity_check({_MOST})").fetchall():
            if line != "ok":
                self._damages.append(describe_damage("database", str(self._path), f"SQLite finds: {line}."))

    def _stream(self, name: str) -> None:
        try:
            end = find_end(self._connection, name)
        except Refusal as refusal:
            self._streams += 1
            self._damages.append(describe_damage("fact", name, refusal.problem.message, 1))
            return
        if not end.number:
            return
        self._streams += 1
        after = 0 if self._whole else max(0, end.head.sequence - QUICK_FACTS)
        try:
            while page := read_linked(self._connection, name, after, _PAGE, None):
                after = page[-1].sequence
                self._facts += len(page)
        except Refusal as refusal:
            sequence = self._first_broken(name, end, after)
            self._damages.append(describe_damage("fact", name, refusal.problem.message, sequence))
            return
        if (
            self._whole
            and self._connection.execute(
                "SELECT 1 FROM facts JOIN streams ON streams.number = facts.stream"
                " WHERE facts.stream = ? AND sequence > streams.head",
                (end.number,),
            ).fetchone()
        ):
            message = f"The log of {name} has facts after its end."
            self._damages.append(describe_damage("fact", name, message, end.head.sequence + 1))

    def _first_broken(self, name: str, end: End, after: int) -> int:
        """Return the first sequence that does not follow, after one that does; the last where each does."""
        last = end.head.sequence
        previous = chain.genesis(name)
        if after:
            before = read_stored(self._connection, end.number, after - 1, after)
            if not before:
                return after
            previous = before[0].link
        for stored in read_stored(self._connection, end.number, after, min(after + _PAGE, last)):
            try:
                after, previous = chain.check(name, after, previous, [stored])
            except Refusal:
                break
        return min(after + 1, last)

    def _all_blobs(self) -> None:
        for number, name, size in list(self._wanted()):
            try:
                with self._connection.blobopen("blobs", "data", number, readonly=True) as data:
                    right = compute_digest(data) == name
            except sqlite3.OperationalError as error:
                if primary_code(error) != sqlite3.SQLITE_ERROR:
                    raise
                if self._connection.execute("SELECT 1 FROM blobs WHERE number = ?", (number,)).fetchone() is None:
                    # Dropped meanwhile by the process that writes.
                    continue
                right = False
            self._blobs += 1
            self._bytes += size
            if not right:
                uses = self._users(number)
                self._damages.append(
                    describe_damage("blob", name.hex(), f"Its bytes are not those that were stored{uses}.")
                )

    def _wanted(self) -> Generator[tuple[int, bytes, int]]:
        query = "SELECT number, CAST(hash AS BLOB), length(data) FROM blobs ORDER BY number"
        rows = self._connection.execute(query if self._whole else f"{query} DESC LIMIT {QUICK_BLOBS}")
        room = QUICK_BYTES
        for row in rows:
            room -= row[2]
            if self._whole or room >= 0:
                yield row

    def _users(self, blob: int) -> str:
        row = self._connection.execute(
            "SELECT name, sequence FROM blob_uses JOIN streams ON number = stream WHERE blob = ? AND name IS NOT NULL"
            " ORDER BY sequence LIMIT 1",
            (blob,),
        ).fetchone()
        return "" if row is None else f"; the fact {row[0]}/{row[1]} refers to it"

    def _orphans(self) -> None:
        rows = self._connection.execute(
            "SELECT stream, count(*) FROM facts WHERE stream NOT IN (SELECT number FROM streams) GROUP BY stream LIMIT ?",
            (_MOST,),
        ).fetchall()
        for stream, count in rows:
            message = f"{count} facts of the stream with the number {stream} are not reachable: its name is missing."
            self._damages.append(describe_damage("fact", str(stream), message, 1))

    def _references(self) -> None:
        rows = self._connection.execute(
            "SELECT name, blob_uses.sequence FROM blob_uses JOIN streams ON streams.number = blob_uses.stream"
            " WHERE name IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blobs WHERE blobs.number = blob_uses.blob)"
            " LIMIT ?",
            (_MOST,),
        ).fetchall()
        for name, sequence in rows:
            message = f"The fact {name}/{sequence} refers to content that is not in the store."
            self._damages.append(describe_damage("reference", name, message, sequence))
