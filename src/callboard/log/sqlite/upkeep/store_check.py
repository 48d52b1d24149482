"""The check of a store: links, blobs, references and derived data.

It reads in short transactions, so another process can write at the same time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path

from callboard.contracts.errors import Refusal

from ... import chain
from ..blobs import compute_digest
from ..failures import VIEWS, build_unusable_refusal, get_primary_code, to_refusal
from ..ledger import End, find_end
from ..links import read_linked, read_stored
from ..schema import FACTS, check_facts, connect_reader, is_empty
from .damage import Checked, Damage, describe_damage
from .derived_check import check_views

#: Facts that a transaction reads.
_PAGE = 2000
#: Maximum number of reported damages of each kind in the file.
_MAX_DAMAGES = 20
#: The newest streams, facts of each, and blobs that a quick check reads, and the total size of the blobs.
QUICK_STREAMS, QUICK_FACTS, QUICK_BLOBS, QUICK_BYTES = 20, 200, 200, 20_000_000

_UNREADABLE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)

Progress = Callable[[str], None]


def check_store(folder: Path, *, whole: bool = True, progress: Progress = lambda _: None) -> Checked:
    """Check the store in a folder. Blocks.

    Args:
        whole: False checks the newest facts and blobs only.
        progress: Receives a line for each stage.
    Raises:
        Refusal: `store_unusable` if the store is missing or from a newer version, `store_locked`, or `store_full` if SQLite
            has no space for shared memory.
    """
    path = folder / FACTS
    if not path.exists():
        raise build_unusable_refusal(str(folder), "there is no store in this folder")
    try:
        with closing(connect_reader(path)) as connection:
            if is_empty(connection):
                raise build_unusable_refusal(str(folder), "another process is creating the store in this folder")
            check_facts(connection, path)
            check = _Check(connection, path, whole, progress)
            check.check_log()
            check.check_views(folder / VIEWS)
            return check.summarize(folder)
    except sqlite3.Error as error:
        refusal = to_refusal(error, str(path))
        if refusal.code == "store_full" or get_primary_code(error) not in _UNREADABLE:
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

    def summarize(self, folder: Path) -> Checked:
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

    def check_log(self) -> None:
        if self._whole:
            self._progress("the file")
            self._run(str(self._path), self._check_database)
        rows = self._connection.execute("SELECT name FROM streams WHERE name IS NOT NULL ORDER BY number").fetchall()
        names: list[str] = [name for (name,) in rows]
        for at, name in enumerate(names if self._whole else names[-QUICK_STREAMS:], 1):
            self._progress(f"stream {at} of {len(names)}")
            self._run(name, lambda name=name: self._check_stream(name))
        self._run(str(self._path), self._check_blobs)
        if self._whole:
            self._run(str(self._path), self._check_references)
            self._run(str(self._path), self._find_orphans)

    def check_views(self, path: Path) -> None:
        if path.exists():
            self._progress("the views")
            self._damages.extend(check_views(path, self._id, self._find_last, whole=self._whole))

    def _find_last(self, stream: str) -> int | None:
        """Return the newest sequence of a stream; None if its end is damaged."""
        try:
            return find_end(self._connection, stream).head.sequence
        except Refusal:
            return None

    def _run(self, name: str, check: Callable[[], None]) -> None:
        """Run a part of the check. An unreadable part is a damage, and the check continues."""
        try:
            check()
        except sqlite3.Error as error:
            if get_primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT):
                raise
            self._damages.append(describe_damage("database", name, f"A part of the file cannot be read: {error}."))

    def _check_database(self) -> None:
        for (line,) in self._connection.execute(f"PRAGMA integrity_check({_MAX_DAMAGES})").fetchall():
            if line != "ok":
                self._damages.append(describe_damage("database", str(self._path), f"SQLite reports: {line}."))

    def _check_stream(self, name: str) -> None:
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
            sequence = self._find_broken(name, end, after)
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

    def _find_broken(self, name: str, end: End, after: int) -> int:
        """Return the first damaged sequence after a valid one; the last if there is none."""
        last = end.head.sequence
        previous = chain.begin_chain(name)
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

    def _check_blobs(self) -> None:
        for number, digest, size in list(self._list_blobs()):
            try:
                with self._connection.blobopen("blobs", "data", number, readonly=True) as data:
                    is_intact = compute_digest(data) == digest
            except sqlite3.OperationalError as error:
                if get_primary_code(error) != sqlite3.SQLITE_ERROR:
                    raise
                if self._connection.execute("SELECT 1 FROM blobs WHERE number = ?", (number,)).fetchone() is None:
                    # The writer dropped it in the meantime.
                    continue
                is_intact = False
            self._blobs += 1
            self._bytes += size
            if not is_intact:
                use = self._describe_use(number)
                self._damages.append(describe_damage("blob", digest.hex(), f"Its bytes do not match its hash{use}."))

    def _list_blobs(self) -> Generator[tuple[int, bytes, int]]:
        query = "SELECT number, CAST(hash AS BLOB), length(data) FROM blobs ORDER BY number"
        rows = self._connection.execute(query if self._whole else f"{query} DESC LIMIT {QUICK_BLOBS}")
        remaining_bytes = QUICK_BYTES
        for row in rows:
            remaining_bytes -= row[2]
            if self._whole or remaining_bytes >= 0:
                yield row

    def _describe_use(self, blob: int) -> str:
        row = self._connection.execute(
            "SELECT name, sequence FROM blob_uses JOIN streams ON number = stream WHERE blob = ? AND name IS NOT NULL"
            " ORDER BY sequence LIMIT 1",
            (blob,),
        ).fetchone()
        return "" if row is None else f"; the fact {row[0]}/{row[1]} refers to it"

    def _find_orphans(self) -> None:
        rows = self._connection.execute(
            "SELECT stream, count(*) FROM facts WHERE stream NOT IN (SELECT number FROM streams) GROUP BY stream LIMIT ?",
            (_MAX_DAMAGES,),
        ).fetchall()
        for stream, count in rows:
            message = f"{count} facts of the stream with the number {stream} are unreachable: its name is missing."
            self._damages.append(describe_damage("fact", str(stream), message, 1))

    def _check_references(self) -> None:
        rows = self._connection.execute(
            "SELECT name, blob_uses.sequence FROM blob_uses JOIN streams ON streams.number = blob_uses.stream"
            " WHERE name IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blobs WHERE blobs.number = blob_uses.blob)"
            " LIMIT ?",
            (_MAX_DAMAGES,),
        ).fetchall()
        for name, sequence in rows:
            message = f"The fact {name}/{sequence} refers to content that is not in the store."
            self._damages.append(describe_damage("reference", name, message, sequence))
