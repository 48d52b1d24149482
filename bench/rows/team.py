"""Many subagents of one session with a budget, beside a fan-out of LangGraph of the same size."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

from bench.harness import Row, Scale
from bench.peers import PEERS, installed
from bench.results import Line, Result, Spread, percentile, ratios, spread
from bench.rigs.processes import Process, python
from bench.workers.subagents import BUDGET

OURS, PEER = "callboard", "langgraph"
NAME = f"LangGraph Send, {PEERS[PEER][0].removeprefix('LangGraph ')}"
#: Checks of the log of each run.
HELD = ("gapless", "in_order", "completed")


async def run(scale: Scale) -> Result:
    """Run `scale.n` children."""
    names = [OURS, *([PEER] if scale.peers and installed(PEER) else [])]
    measures: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    async with AsyncExitStack() as stack:
        crowds: dict[str, Process] = {}
        for name in names:
            folder = scale.place / name
            folder.mkdir()
            crowds[name] = await stack.enter_async_context(
                Process(*python("bench.workers.subagents", name, str(folder)))
            )
            await crowds[name].read_line()
        for number in range(scale.rounds):
            for name in sorted(names, reverse=bool(number % 2)):
                measures[name].append(await crowds[name].ask(run=scale.n))
    ours, peers = measures[OURS], measures.get(PEER, [])
    gaps = [gap for run in ours for gap in run["gaps"]]
    whole = sum(all(run[claim] for claim in HELD) for run in ours)
    most = spread(run["most"] for run in ours)
    budget = min(BUDGET, scale.n)
    return Result(
        row="team",
        title=f"{scale.n} subagents of one session, {BUDGET} at once",
        measures="A lead gives all of them work in one answer and waits for them; each takes two model calls and reads a file, "
        "with a model in the process that answers at once. Ours are threads of the session, with the gate before the tool, "
        "and every fact is durable before what follows from it is done. The peer fans out with `Send` to its prebuilt "
        "agent, as many at once, with a checkpoint after each step (durability `sync`) and a plain function as tool. From "
        "the lead's input to its end. A slot is free with the fact that ends a child's turn; the next child's model is "
        "asked after that is durable.",
        lines=(
            _beside("all of it", "ms", _of(ours, "wall"), _of(peers, "wall")),
            _beside("processor, a child", "ms", _of(ours, "worked", scale.n), _of(peers, "worked", scale.n)),
            Line(
                label="facts, durable", unit="facts/s", here=spread(1000 * run["facts"] / run["wall"] for run in ours)
            ),
            Line(label="facts of a child", unit="facts", here=spread(run["facts"] / scale.n for run in ours)),
            *(
                Line(label=f"slot free → next child's model asked, p{name}", unit="ms", here=_at(gaps, share))
                for name, share in (("50", 0.5), ("99", 0.99))
                if gaps
            ),
            Line(
                label="at work at once, at most",
                unit="children",
                here=most,
                goal=f"= {budget}",
                met=(most.low, most.high) == (budget, budget),
            ),
            Line(
                label="one gapless sequence, started in order, all completed",
                unit="runs",
                here=Spread(whole, whole, whole),
                goal=f"= {len(ours)}",
                met=whole == len(ours),
            ),
        ),
        notes=(f"{NAME} is not installed.",) if scale.peers and not peers else (),
    )


def _of(runs: list[dict[str, Any]], key: str, over: int = 1) -> list[float]:
    return [run[key] / over for run in runs]


def _beside(label: str, unit: str, here: list[float], beside: list[float]) -> Line:
    if not beside:
        return Line(label=label, unit=unit, here=spread(here))
    return Line(
        label=label, unit=unit, here=spread(here), beside_name=NAME, beside=spread(beside), ratio=ratios(here, beside)
    )


def _at(values: list[float], share: float) -> Spread:
    return Spread(percentile(values, share), min(values), max(values))


ROW = Row(
    name="team",
    counts="subagents of one session",
    n={"tiny": 20, "quick": 200, "full": 200},
    rounds={"tiny": 1, "quick": 3, "full": 9},
    run=run,
)
