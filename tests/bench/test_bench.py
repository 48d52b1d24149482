"""The figures of the bench, as they are computed and written."""

from __future__ import annotations

import pytest

from bench.results import Spread, percentile, spread
from bench.table import number


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
