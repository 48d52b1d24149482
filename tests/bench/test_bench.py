"""Computation and formatting of the bench's figures."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

import bench.__main__ as run
from bench.machine import CpuTime
from bench.results import Line, Result, Run, Spread, percentile, spread
from bench.table import TRIED, markdown, number


def test_a_spread_is_the_median_with_its_bounds() -> None:
    assert spread([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0)


@pytest.mark.parametrize(("share", "value"), [(0.5, 50.0), (0.99, 99.0), (1.0, 100.0), (0.001, 1.0)])
def test_a_percentile_is_a_measured_value(share: float, value: float) -> None:
    assert percentile([float(number) for number in range(100, 0, -1)], share) == value


def test_a_figure_without_bounds_is_written_as_one_number() -> None:
    assert [number(Spread(1234.5, 1234.5, 1234.5)), number(Spread(2.0, 1.5, 30.0)), number(None)] == [
        "1,234",
        "2.00 [1.50, 30.0]",
        "",
    ]


def _row(name: str, value: float) -> Result:
    line = Line(label="whole run", unit="ms", value=Spread(value, value, value))
    return Result(row=name, title=name, measures="", lines=(line,))


def test_a_run_of_some_rows_keeps_the_figures_and_the_day_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results.json"
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(run, "RESULTS", results)
    run._store(run._read_former(), [_row("size", 1.0), _row("turn", 2.0)], "quick")
    written = json.loads(results.read_text())
    for row in written["rows"]:
        del row["date"]
    results.write_text(json.dumps({**written, "date": "2020-01-02"}))

    run._store(run._read_former(), [_row("idle", 3.0), _row("turn", 4.0)], "quick")
    rows = {row.row: row for row in run._read_former()}
    assert {name: row.lines[0].value.median for name, row in rows.items()} == {"turn": 4.0, "size": 1.0, "idle": 3.0}
    assert rows["size"].date == "2020-01-02"
    assert rows["turn"].date == rows["idle"].date > "2020-01-02"
    assert "2020-01-02; 0 s" in (tmp_path / "README.md").read_text()


def test_a_run_keeps_the_section_of_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 11: bench/README.md lists what was tried and gave nothing."""
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results.json")

    run._store((), [_row("size", 1.0)], "quick")

    assert (tmp_path / "README.md").read_text().endswith(f"\n{TRIED.read_text('utf-8')}")
    assert TRIED.read_text("utf-8").startswith("## Tried and gave nothing\n")


def test_the_tables_are_written_from_the_stored_figures_without_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results.json")
    run._store((), [_row("size", 1.0)], "quick")
    page, results = (tmp_path / "README.md").read_text(), (tmp_path / "results.json").read_text()
    (tmp_path / "README.md").unlink()

    assert run.main(["--tables"]) == 0

    assert (tmp_path / "README.md").read_text() == page
    assert (tmp_path / "results.json").read_text() == results


def test_a_run_with_incompatible_former_figures_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = tmp_path / "results.json"
    results.write_text("{")
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(run, "RESULTS", results)
    with pytest.raises(msgspec.DecodeError):
        run.main(["size"])
    assert results.read_text() == "{"


def test_the_readme_shows_the_stored_figures_with_the_current_texts() -> None:
    """The tables can be written again without a run: README.md is the rendering of results.json."""
    folder = Path(run.__file__).parent
    assert (folder / "README.md").read_text("utf-8") == markdown(
        msgspec.json.decode((folder / "results.json").read_bytes(), type=Run)
    )


def test_the_cpu_time_of_a_lap_is_the_work_since_the_lap_before() -> None:
    cpu = CpuTime()
    sum(range(2_000_000))
    worked = cpu.lap()

    assert worked > 0
    assert cpu.lap() < worked
