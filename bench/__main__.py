"""Runs the bench: `python -m bench [ROW ...] [--full] [--n N] [--no-peers]`."""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import uvloop

from . import machine, plots, table
from .harness import Size, measured
from .results import Result, Run
from .rows import ROWS

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"


def main(arguments: list[str]) -> int:
    """Runs the rows that are named, or all. A row that breaks is told and does not stop the others; the exit code is then 1."""
    asked = _parser().parse_args(arguments)
    size: Size = "full" if asked.full else "quick"
    names = {row.name for row in ROWS}
    unknown = [name for name in asked.rows if name not in names]
    if unknown:
        print(f"There is no row {unknown[0]}. There are: {', '.join(row.name for row in ROWS)}.", file=sys.stderr)
        return 2
    # Before anything runs: a run whose figures cannot join those of before would be lost.
    before = () if asked.dry else _before()
    results: list[Result] = []
    broken: list[str] = []
    for row in ROWS:
        if asked.rows and row.name not in asked.rows:
            continue
        print(f"\n{row.name}: {asked.n or row.n[size]:,} {row.counts} ...", flush=True)
        try:
            # In the loop that the product runs in.
            result = uvloop.run(measured(row, size, n=asked.n, peers=asked.peers))
        except Exception as error:
            broken.append(row.name)
            print(f"  broke: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        results.append(result)
        print(table.text(result), flush=True)
    if results and not asked.dry:
        _keep(before, results, size)
    if broken:
        print(f"\nWithout figures: {', '.join(broken)}.", file=sys.stderr)
    return 1 if broken else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Benchmarks of Callboard, each beside a peer.")
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", help=f"of {', '.join(row.name for row in ROWS)}; default: all"
    )
    parser.add_argument("--full", action="store_true", help="the long run")
    counts = "; ".join(f"{row.name}: {row.counts}" for row in ROWS)
    parser.add_argument(
        "--n",
        type=int,
        help=f"the size of the rows that are named ({counts})",
    )
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="without what is not ours")
    parser.add_argument("--dry", action="store_true", help="print the figures and write nothing")
    return parser


def _keep(before: Sequence[Result], results: Sequence[Result], size: Size) -> None:
    """Puts the results in the place of those of the same rows, and makes the table and the pictures anew."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    kept = {row.row: row for row in before}
    kept.update({row.row: msgspec.structs.replace(row, date=today) for row in results})
    run = Run(
        date=today,
        size=size,
        machine=machine.facts(),
        versions=machine.versions(),
        rows=tuple(kept[row.name] for row in ROWS if row.name in kept),
    )
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(run), indent=1))
    table.write(run, HERE)
    drawn = plots.draw((plot for row in results for plot in row.plots), HERE / "plots")
    print(f"\nWritten: {RESULTS.name}, README.md" + (", plots/" if drawn else "; no matplotlib, no plots"))


def _before() -> tuple[Result, ...]:
    """Return the rows of earlier runs. Raises MsgspecError for a file that cannot be read."""
    if not RESULTS.exists():
        return ()
    run = msgspec.json.decode(RESULTS.read_bytes(), type=Run)
    return tuple(msgspec.structs.replace(row, date=row.date or run.date) for row in run.rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
