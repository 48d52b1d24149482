"""Each row of the bench runs at its smallest size, without a peer, and reports readable figures."""

from __future__ import annotations

import math

import msgspec
import pytest

from bench.harness import Row, measure
from bench.machine import facts, versions
from bench.results import Result, Run
from bench.rows import ROWS
from bench.table import markdown, text


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
async def test_a_row_reports_consistent_figures(row: Row) -> None:
    """A goal has a verdict, a ratio its baseline, and a median is within its bounds."""
    result = await measure(row, "tiny", peers=False)
    assert result.row == row.name
    assert result.lines
    for line in result.lines:
        assert (line.goal == "") == (line.met is None), line
        assert (line.baseline is None) == (line.baseline_name == ""), line
        assert line.ratio is None or line.baseline is not None, line
        for figure in (line.value, line.baseline, line.ratio):
            assert figure is None or (math.isfinite(figure.high) and figure.low <= figure.median <= figure.high), line
    assert msgspec.json.decode(msgspec.json.encode(result), type=Result) == result
    run = Run(date="", size="tiny", machine=facts(), versions=versions(), rows=(result,))
    assert all(line.label in markdown(run) and line.label in text(result) for line in result.lines)
