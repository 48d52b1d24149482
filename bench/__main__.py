"""Command line of the benchmarks: `python -m bench [ROW ...] [--full] [--n N] [--no-peers] [--tables]`."""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import uvloop

from . import machine, plots, table
from .harness import Size, measure
from .results import Result, Run
from .rows import ROWS

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"


def main(arguments: list[str]) -> int:
    """Run the named rows, or all; return the exit code. The other rows run after a failed one."""
    options = _parser().parse_args(arguments)
    if options.tables:
        table.write(msgspec.json.decode(RESULTS.read_bytes(), type=Run), HERE)
        return 0
    size: Size = "full" if options.full else "quick"
    names = {row.name for row in ROWS}
    unknown = [name for name in options.rows if name not in names]
    if unknown:
        print(f"Unknown row {unknown[0]}. Use {', '.join(row.name for row in ROWS)}.", file=sys.stderr)
        return 2
    # Read former figures first: a run that cannot be merged with them would be lost.
    former = () if options.dry else _read_former()
    results: list[Result] = []
    failed: list[str] = []
    for row in ROWS:
        if options.rows and row.name not in options.rows:
            continue
        print(f"\n{row.name}: {options.n or row.n[size]:,} {row.counts} ...", flush=True)
        try:
            # uvloop is the loop of the product.
            result = uvloop.run(measure(row, size, n=options.n, peers=options.peers))
        except Exception as error:
            failed.append(row.name)
            print(f"  failed: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        results.append(result)
        print(table.text(result), flush=True)
    if results and not options.dry:
        _store(former, results, size)
    if failed:
        print(f"\nFailed rows: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Run benchmarks of Callboard, each with a peer or a baseline."
    )
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", help=f"row to run: {', '.join(row.name for row in ROWS)} [default: all]"
    )
    parser.add_argument("--full", action="store_true", help="long run")
    counts = "; ".join(f"{row.name}: {row.counts}" for row in ROWS)
    parser.add_argument(
        "--n",
        type=int,
        help=f"size of the named rows ({counts})",
    )
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="run only Callboard and its baselines")
    parser.add_argument("--tables", action="store_true", help="write README.md from the stored figures, without a run")
    parser.add_argument("--dry", action="store_true", help="print the figures without writing files")
    return parser


def _store(former: Sequence[Result], results: Sequence[Result], size: Size) -> None:
    """Replace the results of the same rows, and write the table and the plots."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    rows = {row.row: row for row in former}
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
    print(
        f"\nWritten: {RESULTS.name}, README.md"
        + (", plots/" if drawn else "; no plots, because matplotlib is not installed")
    )


def _read_former() -> tuple[Result, ...]:
    """Return the rows of earlier runs. Raises MsgspecError for a file that cannot be read."""
    if not RESULTS.exists():
        return ()
    run = msgspec.json.decode(RESULTS.read_bytes(), type=Run)
    return tuple(msgspec.structs.replace(row, date=row.date or run.date) for row in run.rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
