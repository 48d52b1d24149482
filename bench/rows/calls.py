"""A model call after a long conversation: its CPU time, and how long it blocks the event loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from bench.callers import BARE, CALLERS, OURS, peers_for
from bench.harness import Row, Scale
from bench.results import Line, Result, ratios, spread
from bench.rigs.processes import Process, python
from bench.workers.provider import base_url, provider

FORMATS = {
    "openai-compatible": "chat completions",
    "openai": "Responses",
    "anthropic": "Messages",
    "google": "generateContent",
}
LENGTHS = (100, 1_000, 10_000)
#: Maximum turns for the peers in a quick run: above, each call takes them seconds.
PEERS_GO_TO = 1_000
FLAT, GOAL_BLOCK_MS = 1.5, 5.0


@dataclass
class _Calls:
    """Measurements of a client in one format at one length, in milliseconds. `cold` is the first call."""

    spent: list[float] = field(default_factory=list[float])
    wall: list[float] = field(default_factory=list[float])
    worked: list[float] = field(default_factory=list[float])
    cold: dict[str, list[float]] = field(default_factory=dict[str, list[float]])


_Measurements = dict[tuple[str, str, int], _Calls]


async def run(scale: Scale) -> Result:
    """Measure calls after up to `scale.n` turns."""
    lengths = [length for length in LENGTHS if length <= scale.n] or [scale.n]
    measured: _Measurements = {}
    async with provider() as root:
        for format in FORMATS:
            names = [OURS, BARE, *(peers_for(format) if scale.peers else ())]
            await _format(root, format, names, lengths, scale, measured)
    missing = [name for key, (name, _, formats) in CALLERS.items() if scale.peers and key not in peers_for(formats[0])]
    return Result(
        row="calls",
        title=f"A model call after {lengths[-1]:,} turns",
        measures="Each client runs in its own process. It sends a whole conversation to a provider in another process and "
        "reads the streamed answer; each call adds a turn to the conversation. A turn is a question, a tool call, its "
        "result and an answer. CPU time is the time of the client's process. While the event loop is blocked, no other "
        "task can run. The longest block is measured as CPU time of the loop's thread and as wall time, which includes "
        "other processes of the machine. A first call sends a conversation for the first time, as after a restart. A "
        "request grows with the conversation. Baseline: the same bytes, encoded once, over a bare socket. The CPU time "
        "without these bytes must not grow. Peers are the model clients of three frameworks, with the same turns "
        "in their own types. Messages and generateContent have no peer here.",
        lines=tuple(_lines(measured, lengths)),
        notes=tuple(f"{name} is not installed." for name in missing),
    )


async def _format(
    root: str, format: str, names: Sequence[str], lengths: Sequence[int], scale: Scale, measured: _Measurements
) -> None:
    async with AsyncExitStack() as stack:
        workers: dict[str, Process] = {}
        for name in names:
            command = python("bench.workers.model_calls", name, format, base_url(root, format))
            workers[name] = await stack.enter_async_context(Process(*command))
            await workers[name].read_line()
        for length in lengths:
            callers = [name for name in names if name in (OURS, BARE) or length <= PEERS_GO_TO or scale.rounds > 5]
            for name in callers:
                await workers[name].ask(load=length)
                measured[name, format, length] = _Calls(cold=await workers[name].ask(call=1))
            for number in range(scale.rounds):
                for name in sorted(callers, reverse=bool(number % 2)):
                    answer = await workers[name].ask(call=1)
                    calls = measured[name, format, length]
                    calls.spent += answer["spent"]
                    calls.wall += answer["wall"]
                    calls.worked += answer["worked"]


def _lines(measured: _Measurements, lengths: Sequence[int]) -> Iterator[Line]:
    for format, title in FORMATS.items():
        for length in lengths:
            ours = measured[OURS, format, length]
            label = f"{title}, {length:,} turns"
            yield Line(
                label=f"{label}: CPU time per call",
                unit="ms",
                value=spread(ours.spent),
                baseline_name="same bytes over a bare socket",
                baseline=spread(measured[BARE, format, length].spent),
                ratio=ratios(ours.spent, measured[BARE, format, length].spent),
            )
            for name, (peer, _, _) in CALLERS.items():
                theirs = measured.get((name, format, length))
                if theirs is not None:
                    yield _compare(f"{label}: CPU time per call", ours.spent, peer, theirs.spent)
            worked_spread = spread(ours.worked)
            yield Line(
                label=f"{label}: longest block, CPU time",
                unit="ms",
                value=worked_spread,
                goal=f"≤ {GOAL_BLOCK_MS:.0f} ms",
                met=worked_spread.high <= GOAL_BLOCK_MS,
            )
            for name, (peer, _, _) in CALLERS.items():
                theirs = measured.get((name, format, length))
                if theirs is not None:
                    yield _compare(f"{label}: longest block, CPU time", ours.worked, peer, theirs.worked)
            yield Line(label=f"{label}: longest block, wall time", unit="ms", value=spread(ours.wall))
            cold = ours.cold
            yield Line(label=f"{label}: first call, CPU time", unit="ms", value=spread([cold["spent"][0]]))
            yield Line(
                label=f"{label}: first call, longest block, CPU time",
                unit="ms",
                value=spread([cold["worked"][0]]),
                goal=f"≤ {GOAL_BLOCK_MS:.0f} ms",
                met=cold["worked"][0] <= GOAL_BLOCK_MS,
            )
        if len(lengths) > 1:
            long, short = (_beyond_bytes(measured, format, length) for length in (lengths[-1], lengths[0]))
            flat = ratios(sorted(long), sorted(short))
            yield Line(
                label=f"{title}: CPU time per call without its bytes, {lengths[-1]:,} turns",
                unit="ms",
                value=spread(long),
                baseline_name=f"{lengths[0]:,} turns",
                baseline=spread(short),
                ratio=flat,
                goal=f"ratio ≤ {FLAT}",
                met=flat.median <= FLAT,
            )


def _beyond_bytes(measured: _Measurements, format: str, length: int) -> list[float]:
    ours, bare = measured[OURS, format, length].spent, measured[BARE, format, length].spent
    return [value - other for value, other in zip(ours, bare, strict=True)]


def _compare(label: str, ours: Sequence[float], name: str, theirs: Sequence[float]) -> Line:
    ratio = ratios(ours, theirs)
    return Line(
        label=label,
        unit="ms",
        value=spread(ours),
        baseline_name=name,
        baseline=spread(theirs),
        ratio=ratio,
        goal="ratio < 1",
        met=ratio.median < 1,
    )


ROW = Row(
    name="calls",
    counts="turns of history",
    n={"tiny": 4, "quick": 10_000, "full": 10_000},
    rounds={"tiny": 1, "quick": 3, "full": 7},
    run=run,
)
