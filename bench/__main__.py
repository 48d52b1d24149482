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
    """Run the named rows, or all; return the exit code. A failed row is reported, and the others still run."""
    options = _parser().parse_args(arguments)
    size: Size = "full" if options.full else "quick"
    names = {row.name for row in ROWS}
    unknown = [name for name in options.rows if name not in names]
    if unknown:
        print(f"There is no row {unknown[0]}. There are: {', '.join(row.name for row in ROWS)}.", file=sys.stderr)
        return 2
    # Read former figures first: a run that cannot be merged with them would be lost.
    before = () if options.dry else _before()
    results: list[Result] = []
    broken: list[str] = []
    for row in ROWS:
        if options.rows and row.name not in options.rows:
            continue
        print(f"\n{row.name}: {options.n or row.n[size]:,} {row.counts} ...", flush=True)
        try:
            # uvloop is the loop of the product.
            result = uvloop.run(measured(row, size, n=options.n, peers=options.peers))
        except Exception as error:
            broken.append(row.name)
            print(f"  broke: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        results.append(result)
        print(table.text(result), flush=True)
    if results and not options.dry:
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
        help=f"the size of the named rows ({counts})",
    )
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="without other systems")
    parser.add_argument("--dry", action="store_true", help="print the figures and write nothing")
    return parser


def _keep(before: Sequence[Result], results: Sequence[Result], size: Size) -> None:
    """Replace the results of the same rows, and write the table and the plots."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    rows = {row.row: row for row in before}
    rows.update({row.row: msgspec.structs.replace(row, date=today) for row in results})
    run = Run(
        date=today,
        size=size,
        machine=machine.facts(),
        versions=machine.versions(),
        rows=tuple(rows[row.name] for row in ROWS if row.name in rows),
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
