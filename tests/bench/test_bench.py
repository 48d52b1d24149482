"""Each row of the bench runs at its least size, beside no peer, and says what it found in a form that can be read."""

from __future__ import annotations

import math

import msgspec
import pytest

from bench.harness import Row, measured
from bench.machine import facts, versions
from bench.results import Result, Run, Spread, percentile, spread
from bench.rows import ROWS
from bench.table import markdown, number, text


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
async def test_a_row_comes_to_figures_that_hang_together(row: Row) -> None:
    """A goal has a verdict, a ratio its baseline, and a median lies within its bounds."""
    result = await measured(row, "tiny", peers=False)
    assert result.row == row.name
    assert result.lines
    for line in result.lines:
        assert (line.goal == "") == (line.met is None), line
        assert (line.beside is None) == (line.beside_name == ""), line
        assert line.ratio is None or line.beside is not None, line
        for found in (line.here, line.beside, line.ratio):
            assert found is None or (math.isfinite(found.high) and found.low <= found.median <= found.high), line
    assert msgspec.json.decode(msgspec.json.encode(result), type=Result) == result
    run = Run(date="", size="tiny", machine=facts(), versions=versions(), rows=(result,))
    assert all(line.what in markdown(run) and line.what in text(result) for line in result.lines)


def test_a_spread_is_the_median_with_its_bounds() -> None:
    assert spread([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0)


@pytest.mark.parametrize(("share", "value"), [(0.5, 50.0), (0.99, 99.0), (1.0, 100.0), (0.001, 1.0)])
def test_a_percentile_is_a_value_that_was_measured(share: float, value: float) -> None:
    assert percentile([float(one) for one in range(100, 0, -1)], share) == value


def test_a_figure_without_bounds_is_written_as_one_number() -> None:
    assert [number(Spread(1234.5, 1234.5, 1234.5)), number(Spread(2.0, 1.5, 30.0)), number(None)] == [
        "1,234",
        "2.00 [1.50, 30.0]",
        "",
    ]
