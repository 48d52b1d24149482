"""Tables of a run: for the terminal, and README.md."""

from __future__ import annotations

from pathlib import Path

from .results import Line, Result, Run, Spread

#: The last section: changes that were measured and dropped.
TRIED = Path(__file__).parent / "tried.md"
HEAD = """# Benchmarks

```sh
make bench                     # all rows, a few minutes; writes results.json, plots/ and the tables below
make bench ARGS="turn size"    # some rows; the others keep their figures
make bench ARGS="--full"       # the long run
make bench ARGS=opening N=1000000
make bench ARGS=profile        # counts the work of a turn, and draws a flame graph: out/profile.html
make bench ARGS=--tables       # writes this page from results.json and tried.md, without a run
```

Each row compares Callboard with a peer or a baseline in alternating rounds of the same run. Compare
ratios: milliseconds depend on the machine and the day. A figure is a median or a percentile, with
minimum and maximum in brackets. A ratio is computed within each round. ✓ and ✗ show whether this run
meets the goal.

Peers are systems for the same work, in their durable configuration. Each has one tool and an
in-process model without latency, unless the row names another. The figures do not cover their other
features.
"""


def markdown(run: Run) -> str:
    """Return the content of README.md."""
    machine = ", ".join(
        f"{value} {name}" if name == "cores" else f"{name} {value}" for name, value in run.machine.items()
    )
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    parts = [HEAD, f"Last run: {run.date}, size `{run.size}`. {machine}.\n\n{versions}.\n"]
    parts += [_section(row) for row in run.rows]
    # Written by hand, and kept when the tables are written again.
    parts.append(TRIED.read_text("utf-8"))
    return "\n".join(parts)


def text(result: Result) -> str:
    """Return a row for the terminal."""
    lines = [f"\n{result.title}   ({result.seconds:.0f} s)"]
    for line in result.lines:
        baseline = f"   {line.baseline_name} {number(line.baseline)}" if line.baseline is not None else ""
        ratio = f"   ratio {number(line.ratio)}" if line.ratio is not None else ""
        goal = f"   {_mark(line)} {line.goal}" if line.goal else ""
        lines.append(f"  {line.label}: {number(line.value)} {line.unit}{baseline}{ratio}{goal}")
    return "\n".join([*lines, *(f"  {note}" for note in result.notes)])


def number(spread: Spread | None) -> str:
    """Format the median, with its bounds if they differ."""
    if spread is None:
        return ""
    low, middle, high = (_short(value) for value in (spread.low, spread.median, spread.high))
    return middle if low == middle == high else f"{middle} [{low}, {high}]"


def write(run: Run, folder: Path) -> None:
    """Write README.md."""
    (folder / "README.md").write_text(markdown(run), "utf-8")


def _section(row: Result) -> str:
    table = ["| | value | unit | baseline | | ratio | goal | |", "|---|---|---|---|---|---|---|---|"]
    before = ""
    for line in row.lines:
        same = line.label == before and line.baseline_name
        cells = [
            "" if same else line.label,
            "" if same else number(line.value),
            "" if same else line.unit,
            line.baseline_name,
            number(line.baseline),
            number(line.ratio),
            line.goal,
            _mark(line),
        ]
        before = line.label
        table.append("| " + " | ".join(cells) + " |")
    day = f"{row.date}; " if row.date else ""
    noise = f"{day}{row.seconds:.0f} s; load average {row.load[0]:.1f} before, {row.load[1]:.1f} after."
    pictures = [f"![{plot.title}](plots/{plot.name}.svg)" for plot in row.plots]
    parts = [f"## {row.title}\n", row.measures + "\n", "\n".join(table) + "\n", " ".join([noise, *row.notes]) + "\n"]
    return "\n".join([*parts, *(picture + "\n" for picture in pictures)])


def _mark(line: Line) -> str:
    return "" if line.met is None else "✓" if line.met else "✗"


def _short(value: float) -> str:
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"
