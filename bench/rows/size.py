"""Size of the log, compared with the same facts as JSON Lines."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import yaml

from bench.harness import Row, Scale
from bench.results import Line, Result, spread
from bench.rigs.board import Board
from bench.rigs.conversation import ANSWER, PROMPT
from bench.rigs.processes import ROOT
from callboard.contracts.content import Text
from callboard.contracts.record import Record
from callboard.log.sqlite.schema import FACTS
from callboard.models.registry import ConfiguredModels, ModelSettings, ProviderSettings
from callboard.projection.emit.runtime import build_wire_event

CONTENT, EACH = 1.2, 350
TURNS_A_SESSION = 10
SAMPLE = ROOT / "examples" / "sample"
_FIND = "find . -name '*.md' -o -name '*.py' | sort | xargs wc -l"


def _scenario() -> dict[str, Any]:
    """Return the scenario of a typical turn: search, read, change, run, answer."""
    uses: list[tuple[str, dict[str, Any]]] = [
        ("Grep", {"pattern": "def |class ", "path": "."}),
        ("Read", {"file_path": "README.md"}),
        ("Write", {"file_path": "notes/export.md", "content": ANSWER * 4}),
        ("Bash", {"command": _FIND}),
    ]
    calls: list[list[dict[str, Any]]] = [
        [{"text": f"Next: {tool}."}, {"tool": {"name": tool, "arguments": arguments}}] for tool, arguments in uses
    ]
    usage = {"usage": {"input": 5200, "output": 180, "cached": 4100}}
    return {
        "name": "bench",
        "match": [{"text": "", "calls": [[*call, usage] for call in [*calls, [{"text": ANSWER}]]]}],
    }


async def run(scale: Scale) -> Result:
    """Run `scale.n` turns, ten per session."""
    path = scale.place / "scenario.yaml"
    path.write_text(yaml.safe_dump(_scenario()))
    played = ProviderSettings(name="scripted", kind="scripted", scenario=str(path))
    shutil.copytree(SAMPLE, scale.place / "work")
    board = Board(scale.place, models=ConfiguredModels(ModelSettings(providers=(played,))))
    await board.open()
    facts = board.parts.store.facts
    session: str | None = None
    for number in range(scale.n):
        accepted = await board.submit(session, PROMPT, permission_mode="full")
        if await board.until(accepted) != "turn.completed":
            raise RuntimeError(f"turn {number} of {accepted.session_id} did not complete")
        session = None if number % TURNS_A_SESSION == TURNS_A_SESSION - 1 else accepted.session_id
    records: list[Record] = []
    for stream in await facts.list_streams(""):
        records += await facts.read(stream, limit=1_000_000)
    store = board.parts.store
    lines = sum(len(msgspec.json.encode(build_wire_event(record, store.id))) + 1 for record in records)
    await board.close()
    return _result(records, scale.place / "state", lines)


def _result(records: Sequence[Record], state: Path, lines: int) -> Result:
    with closing(sqlite3.connect(state / FACTS)) as connection:
        (blobs,) = connection.execute("SELECT coalesce(sum(length(data)), 0) FROM blobs").fetchone()
    count = len(records)
    content = blobs + sum(_texts(record.fact) for record in records)
    log = (state / FACTS).stat().st_size
    views = (state / "views.db").stat().st_size
    bound = CONTENT * content + EACH * count
    return Result(
        row="size",
        title="Size of the log",
        measures="Turns call four real tools behind the gate (Grep, Read, Write, Bash) in the sample folder, "
        f"{TURNS_A_SESSION} turns per session. Content is the text of people, model and tools, and the blobs, each "
        "counted once. The log is callboard.db with its indexes and blobs, after a checkpoint. Baseline: the same facts "
        "in their wire format as JSON Lines, and the blobs.",
        lines=(
            Line(
                label="log per fact",
                unit="B",
                value=spread([log / count]),
                baseline_name="JSON Lines",
                baseline=spread([(lines + blobs) / count]),
                ratio=spread([log / (lines + blobs)]),
                goal=f"≤ {CONTENT} × content + {EACH} B = {bound / count:.0f} B",
                met=log <= bound,
            ),
            Line(label="content per fact", unit="B", value=spread([content / count])),
            Line(label="log without content, per fact", unit="B", value=spread([(log - content) / count])),
            Line(label="view rows per fact (can be rebuilt)", unit="B", value=spread([views / count])),
        ),
        notes=(f"{count} facts. Content: {content} B, of which {blobs} B in blobs. Log: {log} B.",),
    )


def _texts(value: object) -> int:
    return sum(len(text.text.encode()) for text in _within(value) if text.ref is None)


def _within(value: object) -> Iterator[Text]:
    if isinstance(value, Text):
        yield value
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _within(getattr(value, name))
    elif isinstance(value, tuple):
        for part in value:
            yield from _within(part)


ROW = Row(
    name="size",
    counts="turns",
    n={"tiny": 2, "quick": 60, "full": 1000},
    rounds={"tiny": 1, "quick": 1, "full": 1},
    run=run,
)
