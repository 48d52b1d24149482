"""Durable appends of many sessions, compared with raw inserts of the same rows."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from bench.harness import Row, Scale
from bench.machine import settle
from bench.results import Line, Result, ratios, spread
from bench.rigs.history import History, history
from callboard.contracts.ports.store import Append
from callboard.log.sqlite.schema import FACTS
from callboard.log.sqlite.store import SqliteStore, open_store

PRODUCERS = 64
GOAL = 0.5
_TABLE = """
CREATE TABLE facts (position INTEGER PRIMARY KEY, stream INTEGER NOT NULL, sequence INTEGER NOT NULL,
                    header BLOB NOT NULL, link BLOB NOT NULL, seal BLOB NOT NULL, payload BLOB);
CREATE UNIQUE INDEX facts_by_stream ON facts (stream, sequence);
"""


async def run(scale: Scale) -> Result:
    """Append `scale.n` facts per round."""
    turn_history = await history(scale.place / "turn")
    here: list[float] = []
    baseline: list[float] = []
    sizes: list[float] = []
    worked: list[float] = []
    baseline_worked: list[float] = []
    for number in range(scale.rounds):
        folder = scale.place / f"round-{number}"
        rate, rows, size, took = await _measure_callboard(folder, turn_history, scale.n)
        here.append(rate)
        worked.append(took)
        sizes.append(size)
        before = time.process_time()
        baseline.append(await asyncio.to_thread(_raw, folder / "raw.db", rows, size))
        baseline_worked.append((time.process_time() - before) / len(rows) * 1e6)
    ratio = ratios(here, baseline)
    return Result(
        row="appends",
        title="Durable appends, many sessions",
        measures=f"{PRODUCERS} producers append the batches of real turns, each to its own session, and wait for each "
        "of the four transactions of a turn. Baseline: Python's sqlite3 inserts the same rows into the same indexed "
        "table, in transactions of the same mean size. Both use WAL and synchronous=FULL.",
        lines=(
            Line(
                label="durable appends",
                unit="facts/s",
                value=spread(here),
                baseline_name="raw inserts",
                baseline=spread(baseline),
                ratio=ratio,
                goal=f"ratio ≥ {GOAL}",
                met=ratio.median >= GOAL,
            ),
            Line(
                label="CPU time per fact",
                unit="µs",
                value=spread(worked),
                baseline_name="raw inserts",
                baseline=spread(baseline_worked),
                ratio=ratios(worked, baseline_worked),
            ),
            Line(label="mean size of a transaction", unit="facts", value=spread(sizes)),
        ),
    )


async def _measure_callboard(folder: Path, turn_history: History, count: int) -> tuple[float, list[Any], float, float]:
    """Return facts per second, the written rows, rows per transaction, and CPU microseconds per fact."""
    store = open_store(folder)
    turns = max(1, count // (PRODUCERS * turn_history.facts))
    # Building the batches is not measured.
    batches_by_session = [
        list(_batches(turn_history, f"ses_bench{number}", store.epoch, turns)) for number in range(PRODUCERS)
    ]
    # The batches are objects of the row, not of the product.
    settle()
    before = _transactions(store)
    began, worked = time.perf_counter(), time.process_time()
    await asyncio.gather(*(_produce(store, batches) for batches in batches_by_session))
    took, worked = time.perf_counter() - began, time.process_time() - worked
    transactions = _transactions(store) - before
    await store.close()
    with sqlite3.connect(folder / FACTS) as connection:
        rows = connection.execute(
            "SELECT stream, sequence, header, link, seal, payload FROM facts ORDER BY position"
        ).fetchall()
    return len(rows) / took, rows, len(rows) / transactions, worked / len(rows) * 1e6


async def _produce(store: SqliteStore, batches: list[Append]) -> None:
    for batch in batches:
        await store.facts.append(batch)


def _batches(turn_history: History, session: str, epoch: int, turns: int) -> Iterator[Append]:
    first = turn_history.first(session, epoch)
    yield first
    yield from turn_history.turns(session, epoch, len(first.facts), turns)


def _transactions(store: SqliteStore) -> int:
    """Return the number of commits, which the writer does not report."""
    return store._writer._transactions if store._writer else 0


def _raw(path: Path, rows: list[Any], size: float) -> float:
    """Return rows per second of raw inserts."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = FULL")
    connection.executescript(_TABLE)
    left, owed = iter(rows), 0.0
    began = time.perf_counter()
    while True:
        owed += size
        group = list(islice(left, max(1, int(owed))))
        if not group:
            break
        owed -= len(group)
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            "INSERT INTO facts (stream, sequence, header, link, seal, payload) VALUES (?, ?, ?, ?, ?, ?)", group
        )
        connection.execute("COMMIT")
    took = time.perf_counter() - began
    connection.close()
    return len(rows) / took


ROW = Row(
    name="appends",
    counts="facts a round",
    n={"tiny": 1_000, "quick": 30_000, "full": 300_000},
    rounds={"tiny": 1, "quick": 5, "full": 9},
    run=run,
)
