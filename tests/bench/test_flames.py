"""The flame graph of a turn."""

from __future__ import annotations

import re

import pytest

from bench.flames import Sample, decode, merge, page

LOOP = ("BaseEventLoop._run_once", "asyncio/base_events.py")
ENTRY = ("Handle._run", "asyncio/events.py")
REPORT = ("SessionHost._report", "callboard/runtime/sessions/host.py")
DECIDE = ("decide_outcome", "callboard/control/decide/__init__.py")
SELECT = ("CountingSelector.select", "bench/workers/turn_counts.py")
SAMPLES: list[Sample] = [
    ([LOOP, ENTRY, REPORT, DECIDE], 0.003),
    ([LOOP, SELECT], 0.010),
    ([LOOP, ENTRY, REPORT], 0.001),
    ([LOOP], 0.001),
]


def test_waiting_is_not_a_part_of_the_graph() -> None:
    """A turn mostly waits for its syncs. Their width would hide what the loop does."""
    root, waiting = merge(SAMPLES)

    (report,) = root.calls.values()
    (decide,) = report.calls.values()
    assert waiting == pytest.approx(0.010)
    assert [root.seconds, report.seconds, decide.seconds] == pytest.approx([0.005, 0.004, 0.003])


def test_a_box_shows_its_function_file_milliseconds_per_turn_and_share() -> None:
    drawn = page(SAMPLES, turns=2)

    titles = re.findall(r'title="([^"]+)"', drawn)
    assert titles == [
        "event loop, asyncio: 2.500 ms, 100.0%",
        "SessionHost._report, callboard/runtime/sessions/host.py: 2.000 ms, 80.0%",
        "decide_outcome, callboard/control/decide/__init__.py: 1.500 ms, 60.0%",
    ]
    assert "5.00 ms passed while the loop" in re.sub(r"\s+", " ", drawn)


def test_a_function_of_a_comprehension_is_text_and_not_markup() -> None:
    drawn = page([([ENTRY, ("Batch.<listcomp>", "callboard/control/batch.py")], 0.001)], turns=1)

    assert "Batch.&lt;listcomp&gt;" in drawn
    assert "<listcomp>" not in drawn


def test_a_sampled_function_has_its_class_and_its_path_below_the_package() -> None:
    """The samples name a function, its file and its line, then attributes marked with a letter."""
    function = "_report\x00/home/ann/callboard/src/callboard/runtime/sessions/host.py\x00230\x01l231\x01cSessionHost"

    samples = list(decode([([function, "select\x00/usr/lib/python3.11/selectors.py\x00452"], 0.002)]))

    assert samples == [([REPORT, ("select", "python3.11/selectors.py")], 0.002)]
