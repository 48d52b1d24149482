"""Proof that golden stores of earlier versions open, and that a store with a changed byte opens or
is refused with the reason.

The server opens each golden store. Every session must show the facts of its log, and the same rows
whether its stored views are used, are from older code, or are missing. Then one byte of one stored
value is changed, at N random places over all tables, and the server opens the store again: every
session shows the same facts and rows, or is refused with a code and a reason. Nothing exceeds its
time limit.
"""

from __future__ import annotations

import asyncio
import random
import re
import shutil
import sqlite3
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from tests.golden import stores
from tests.prove.driver import store
from tests.prove.driver.product import Place, Server, place
from tests.prove.driver.report import Report, arguments, quantiles, run
from tests.prove.driver.session_driver import snapshot
from tests.prove.driver.view import plain

FACTS = "every session has the facts of its log, or is refused"
ROWS = "the rows that are shown do not depend on what was derived before"
REASON = "a refusal has a code of its own and a reason"
HANGS = "nothing hangs"
OPENS = "golden stores open with all their facts, and none is refused"
#: Accepted codes of a refused store with damage.
CODES = frozenset({"chain_broken", "store_unusable", "facts_unreadable", "rows_damaged", "blob_damaged"})
#: Seconds in which a session must open or be refused, and after which it counts as hanging.
WITHIN_S, HANG_S = 2.0, 20.0
#: Places of damage: by file, each table with a column of bytes.
TABLES: dict[str, tuple[tuple[str, str], ...]] = {
    "callboard.db": (
        *(("facts", column) for column in ("header", "link", "seal", "payload")),
        ("streams", "link"),
        ("blobs", "data"),
        ("answers", "answer"),
        ("partials", "scope"),
        ("pieces", "text"),
    ),
    "views.db": (("views", "state"), ("rows", "data"), ("snapshots", "state"), ("snapshots", "link")),
}
Facts = list[list[Any]]


class OpenedView(NamedTuple):
    """The view of a session. `code` is the code of its refusal; empty if it opened."""

    facts: Facts
    rows: dict[str, list[Any]]
    code: str
    reason: str
    seconds: float


class Damage(NamedTuple):
    """One changed byte."""

    file: str
    table: str
    column: str
    offset: int

    def __str__(self) -> str:
        return f"{self.table}.{self.column} at {self.offset}"


class _Refused(Exception):
    """The facts of a session are refused."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


async def _facts(server: Server, session: str) -> Facts:
    answer = await server.wire.get(f"/sessions/{session}/facts?after=0&limit=1000")
    if answer.status != 200:
        raise _Refused(answer.body["code"], answer.body["message"])
    return [[event["sequence"], event["type"], event["payload"]] for event in answer.body["events"]]


async def _look(server: Server, session: str) -> OpenedView:
    began = time.monotonic()
    try:
        async with asyncio.timeout(HANG_S):
            facts = await _facts(server, session)
            while True:
                view = await snapshot(server, session)
                now = await _facts(server, session)
                if len(now) == len(facts):
                    break
                # An agent with a due schedule woke in between: the rows may be those of any fact
                # since.
                facts = now
    except TimeoutError:
        return OpenedView([], {}, "hangs", "", HANG_S)
    except _Refused as refused:
        return OpenedView([], {}, refused.code, refused.reason, time.monotonic() - began)
    except AssertionError as error:
        code = re.search(r'"code":"(\w+)"', str(error))
        return OpenedView([], {}, code[1] if code else "none", str(error), time.monotonic() - began)
    rows = {panel: [plain(row) for _, row in sorted(rows.items())] for panel, rows in sorted(view.rows.items()) if rows}
    return OpenedView(facts, rows, "", "", time.monotonic() - began)


async def _open(
    at: Place, sessions: list[str], sabotage: str = "", *, rests: bool = False
) -> tuple[dict[str, OpenedView], str]:
    """Return the views of the sessions, and the code if the whole store was refused."""
    try:
        server = await Server.start(at, sabotage=sabotage)
    except AssertionError as error:
        code = re.search(r'"code":"(\w+)"', str(error))
        return {}, code[1] if code else f"none: {error}"
    try:
        return {session: await _look(server, session) for session in sessions}, ""
    finally:
        await (server.stop if rests else server.kill)()


def _stored_facts(log: store.Log) -> dict[str, Facts]:
    """Return the facts of each session on disk."""
    return {
        name: [[fact.sequence, fact.type, fact.payload] for fact in facts]
        for name, facts in log.facts.items()
        if name.startswith("ses_")
    }


def _lay(at: Place, home: Path) -> None:
    """Copy this state folder to the place of the proof's."""
    shutil.rmtree(at.home, ignore_errors=True)
    shutil.copytree(home, at.home)


def change(folder: Path, file: str, table: str, column: str, draw: random.Random) -> Damage | None:
    """Change one byte of one value. Return None if there is no value."""
    with closing(sqlite3.connect(folder / file, isolation_level=None)) as database:
        key = "key" if table == "answers" else "rowid"
        cursor = database.execute(
            f"SELECT {key}, CAST({column} AS BLOB), typeof({column}) FROM {table} WHERE length({column}) > 0"
        ).fetchall()
        if not cursor:
            return None
        name, data, kind = draw.choice(cursor)
        changed, offset = bytearray(data), draw.randrange(len(data))
        changed[offset] ^= draw.randrange(1, 256)
        value = "CAST(? AS TEXT)" if kind == "text" else "?"
        database.execute(f"UPDATE {table} SET {column} = {value} WHERE {key} = ?", (bytes(changed), name))
    return Damage(file, table, column, offset)


class Proof:
    """One golden store, and its views without damage."""

    def __init__(self, report: Report, at: Place, version: str, within: float) -> None:
        self.rested = at.root / "rested"
        self.golden = stores.unpack(version, at.root / "golden")
        self.times: list[float] = []
        self.refused: Counter[str] = Counter()
        self._report = report
        self._at = at
        self._within = within
        self._version = version
        self._left: dict[str, Facts] = {}
        self._facts: dict[str, Facts] = {}
        self._expected: dict[str, OpenedView] = {}

    async def as_it_is(self) -> None:
        """Open the store as it was left, with its old views, without any, and with current ones."""
        report = self._report
        contents = stores.contents(self.golden / "store")
        report.check("a golden store is as it was checked in", contents == stores.expected(self._version))
        self._left = self._facts = _stored_facts(store.read(self.golden / "store"))
        _lay(self._at, self.golden)
        first, refused = await _open(self._at, [*self._facts], rests=True)
        wrong = [f"{name} {view.code} {view.reason}" for name, view in first.items() if view.code]
        wrong += [name for name, view in first.items() if not _begins(view.facts, self._facts[name])]
        report.none(OPENS, [f"{self._version}: {problem}" for problem in (refused, *wrong) if problem])
        # Everything open has ended by now, so the log is at rest.
        shutil.copytree(self._at.home, self.rested)
        self._facts = _stored_facts(store.read(self.rested / "store"))
        self._expected, _ = await _open(self._at, [*self._facts], rests=True)
        _lay(self._at, self.rested)
        for path in (self._at.home / "store").glob("views.db*"):
            path.unlink()
        anew, refused = await _open(self._at, [*self._facts])
        self._judge("without stored views", anew, refused, derived=True)

    async def damaged(self, draw: random.Random, file: str, table: str, column: str, sabotage: str) -> Damage | None:
        """Open the store with one byte changed."""
        # Only a killed process leaves partials.
        left = table in ("partials", "pieces")
        _lay(self._at, self.golden if left else self.rested)
        damage = change(self._at.store, file, table, column, draw)
        if damage is None:
            return None
        views, refused = await _open(self._at, [*self._facts], sabotage)
        self._judge(str(damage), views, refused, derived=file == "views.db", facts=self._left if left else None)
        return damage

    def _judge(
        self,
        label: str,
        views: dict[str, OpenedView],
        refused: str,
        *,
        derived: bool,
        facts: dict[str, Facts] | None = None,
    ) -> None:
        facts = facts or self._facts
        report = self._report
        codes = [refused] if refused else [view.code for view in views.values() if view.code]
        self.refused.update(codes)
        report.check(HANGS, "hangs" not in codes, label)
        report.check(REASON, set(codes) <= CODES, f"{label}: {codes}")
        wrong = [name for name, view in views.items() if not view.code and not _begins(view.facts, facts[name])]
        if derived:
            wrong += codes
        report.none(FACTS, [f"{label}: {name}" for name in wrong])
        if derived:
            # A schedule that became due may have started a run.
            at_rest = [name for name, view in views.items() if len(view.facts) == len(self._expected[name].facts)]
            report.check("most sessions are at rest", 2 * len(at_rest) > len(views), label)
            report.none(ROWS, [f"{label}: {name}" for name in at_rest if views[name].rows != self._expected[name].rows])
        slow = [f"{label}: {name} {view.seconds:.2f} s" for name, view in views.items() if view.seconds > self._within]
        report.none(f"every session opens or is refused within {self._within:g} s", slow)
        self.times += [view.seconds for view in views.values()]


def _begins(facts: Facts, whole: Facts) -> bool:
    """Return True if the view begins with the facts on disk. A takeover may have added some."""
    return facts[: len(whole)] == whole


async def prove(n: int, sabotage: str, seed: int, within: float = WITHIN_S, only: str = "") -> int:
    """Run the proof. `only` is the one file with damage."""
    report = Report("prove-upgrade")
    draw = random.Random(seed)
    places: Counter[str] = Counter()
    columns = [(file, *table) for file, tables in TABLES.items() if only in ("", file) for table in tables]
    times: list[float] = []
    refused: Counter[str] = Counter()
    # The stores share the columns. Begin with the newest, which has the most.
    for index, version in enumerate(reversed(stores.versions())):
        with place() as at:
            proof = Proof(report, at, version, within)
            await proof.as_it_is()
            for number in range(n):
                damage = await proof.damaged(draw, *columns[(index * n + number) % len(columns)], sabotage)
                if damage is not None:
                    places[f"{damage.table}.{damage.column}"] += 1
                report.progress(f"{version}: {number + 1} of {n} places")
                if sabotage and report.failed:
                    break
            times += proof.times
            refused += proof.refused
    report.figure("golden stores", ", ".join(stores.versions()))
    report.figure("changed bytes", ", ".join(f"{name} {count}" for name, count in sorted(places.items())))
    report.figure("refused with", ", ".join(f"{code} {count}" for code, count in sorted(refused.items())) or "nothing")
    report.figure("a session, opened or refused", quantiles(times))
    return report.end()


def main() -> int:
    options = arguments(__doc__, n=7, help_n="changed bytes for each golden store").parse_args()
    return run(prove(options.n, options.sabotage, options.seed), longest=120 + 15 * options.n)


if __name__ == "__main__":
    sys.exit(main())
