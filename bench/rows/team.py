"""Many subagents of one session with a budget, compared with a fan-out of LangGraph."""

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
#: The largest ratio of the whole run to the peer.
GOAL = 0.6
#: Checks of the log of each run.
CHECKS = ("gapless", "in_order", "completed")


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
    whole = sum(all(run[check] for check in CHECKS) for run in ours)
    most = spread(run["most"] for run in ours)
    budget = min(BUDGET, scale.n)
    return Result(
        row="team",
        title=f"{scale.n} subagents of one session, {BUDGET} in parallel",
        measures="Each system runs in its own process, on uvloop; garbage collections do not visit what its start "
        "loaded. A lead delegates to all subagents in one answer and waits for them. Each subagent makes two model calls "
        "and reads a file. The model runs in the process and answers immediately. In Callboard, subagents are threads of "
        "the session, the gate checks each tool call, and every fact is durable before its effects start. The peer fans "
        "out with `Send` to its prebuilt agent at the same concurrency, with a checkpoint after each step (durability "
        "`sync`) and a plain function as tool. The whole run is the time from the lead's input to the end of its turn. "
        "The fact that ends a child's turn frees its slot. The next child's model call starts after that fact is "
        "durable.",
        lines=(
            _compare("whole run", "ms", _of(ours, "wall"), _of(peers, "wall"), GOAL),
            _compare("CPU time per child", "ms", _of(ours, "worked", scale.n), _of(peers, "worked", scale.n)),
            Line(
                label="durable facts", unit="facts/s", value=spread(1000 * run["facts"] / run["wall"] for run in ours)
            ),
            Line(label="facts per child", unit="facts", value=spread(run["facts"] / scale.n for run in ours)),
            *(
                Line(label=f"free slot → next child's model call, p{name}", unit="ms", value=_at(gaps, share))
                for name, share in (("50", 0.5), ("99", 0.99))
                if gaps
            ),
            Line(
                label="maximum of concurrent children",
                unit="children",
                value=most,
                goal=f"= {budget}",
                met=(most.low, most.high) == (budget, budget),
            ),
            Line(
                label="runs with a gapless sequence, ordered starts and all children completed",
                unit="runs",
                value=Spread(whole, whole, whole),
                goal=f"= {len(ours)}",
                met=whole == len(ours),
            ),
        ),
        notes=(f"{NAME} is not installed.",) if scale.peers and not peers else (),
    )


def _of(runs: list[dict[str, Any]], key: str, over: int = 1) -> list[float]:
    return [run[key] / over for run in runs]


def _compare(label: str, unit: str, here: list[float], baseline: list[float], goal: float | None = None) -> Line:
    if not baseline:
        return Line(label=label, unit=unit, value=spread(here))
    ratio = ratios(here, baseline)
    return Line(
        label=label,
        unit=unit,
        value=spread(here),
        baseline_name=NAME,
        baseline=spread(baseline),
        ratio=ratio,
        goal="" if goal is None else f"ratio < {goal}",
        met=None if goal is None else ratio.median < goal,
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
