"""Wake times of schedules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.agents.cron import has_next_time, is_cron
from callboard.contracts.ports.agents import Schedule
from callboard.runtime.sessions.schedules import find_next_wake

SECOND = 1_000_000


def us(*date: int) -> int:
    """Return a moment in UTC in microseconds."""
    return int(datetime(*date, tzinfo=UTC).timestamp()) * SECOND


def field(least: int, greatest: int) -> st.SearchStrategy[str]:
    number = st.integers(least, greatest)
    return st.one_of(
        st.just("*"),
        number.map(str),
        st.tuples(number, number).map(lambda ends: f"{min(ends)}-{max(ends)}"),
        st.integers(1, max(1, greatest)).map(lambda step: f"*/{step}"),
        st.lists(number, min_size=1, max_size=3).map(lambda numbers: ",".join(map(str, numbers))),
    )


LINES = st.tuples(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7)).map(" ".join)
MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2090, 1, 1)).map(  # noqa: DTZ001 - made aware below
    lambda at: int(at.replace(tzinfo=UTC).timestamp() * SECOND)
)


@pytest.mark.parametrize(
    ("line", "after", "comes_at"),
    [
        ("0 9 * * *", us(2026, 11, 21, 8, 59, 59), us(2026, 11, 21, 9)),
        ("0 9 * * *", us(2026, 11, 21, 9), us(2026, 11, 22, 9)),
        ("0 9 * * 1-5", us(2026, 11, 20, 9), us(2026, 11, 23, 9)),
        ("0 0 29 2 *", us(2026, 1, 1), us(2028, 2, 29)),
        ("30 2 * * *", us(2026, 3, 28, 3), us(2026, 3, 29, 2, 30)),
        ("30 2 * * 7", us(2026, 10, 24), us(2026, 10, 25, 2, 30)),
    ],
)
def test_a_cron_line_is_in_utc(line: str, after: int, comes_at: int) -> None:
    """No hour is skipped or repeated, whatever the machine's time zone."""
    assert find_next_wake(Schedule(cron=line), after) == comes_at


def test_every_counts_from_the_start_time() -> None:
    assert find_next_wake(Schedule(every=90), us(2026, 11, 21) + 7) == us(2026, 11, 21) + 90 * SECOND + 7


def test_a_schedule_of_facts_has_no_time() -> None:
    assert find_next_wake(Schedule(wake_on=("turn.failed",)), us(2026, 11, 21)) == 0


def test_a_day_that_does_not_exist_has_no_time() -> None:
    assert find_next_wake(Schedule(cron="0 0 30 2 *"), us(2026, 11, 21)) == 0


@given(LINES, MOMENTS)
def test_every_valid_cron_line_has_a_later_time_on_a_full_minute(line: str, after: int) -> None:
    """A line that loads always has a next time."""
    assert is_cron(line)
    wake = find_next_wake(Schedule(cron=line), after)
    if not has_next_time(line):
        assert wake == 0
        return
    assert wake > after
    assert wake % (60 * SECOND) == 0
    assert datetime.fromtimestamp(wake // SECOND, tz=UTC) - datetime.fromtimestamp(after // SECOND, tz=UTC) < timedelta(
        days=366 * 41
    )
