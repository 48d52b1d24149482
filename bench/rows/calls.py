"""A model call after a long conversation: what the processor works for it, and how long it holds the event loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from bench.callers import BARE, CALLERS, OURS, peers_for
from bench.harness import Row, Scale
from bench.processes import Process, python
from bench.provider import base_url, provider
from bench.results import Line, Result, Spread, ratios, spread

FORMATS = {
    "openai-compatible": "chat completions",
    "openai": "Responses",
    "anthropic": "Messages",
    "google": "generateContent",
}
LENGTHS = (100, 1_000, 10_000)
#: Turns up to which the peers are asked where a run is not the long one: each call then takes them seconds.
PEERS_GO_TO = 1_000
FLAT, GOAL_HOLD_MS = 1.5, 5.0


@dataclass
class _Calls:
    """What was measured of one client in one format at one length, in milliseconds; `cold` is the first call."""

    spent: list[float] = field(default_factory=list[float])
    wall: list[float] = field(default_factory=list[float])
    worked: list[float] = field(default_factory=list[float])
    cold: dict[str, list[float]] = field(default_factory=dict[str, list[float]])


_Found = dict[tuple[str, str, int], _Calls]


async def run(scale: Scale) -> Result:
    """Histories of up to `scale.n` turns."""
    lengths = [length for length in LENGTHS if length <= scale.n] or [scale.n]
    found: _Found = {}
    async with provider() as root:
        for format in FORMATS:
            names = [OURS, BARE, *(peers_for(format) if scale.peers else ())]
            await _format(root, format, names, lengths, scale, found)
    missing = [name for key, (name, _, formats) in CALLERS.items() if scale.peers and key not in peers_for(formats[0])]
    return Result(
        row="calls",
        title=f"A model call after {lengths[-1]:,} turns",
        measures="Each client in a process of its own sends a whole conversation to a provider in another process and reads "
        "the streamed answer; each call adds a turn to the conversation. A turn is a question, a tool call, its result and an "
        "answer. Processor is that of the client's process. The hold is the longest time in which the event loop of that "
        "process did nothing else, by the processor time of its thread and by the clock; the clock also counts what other "
        "processes of the machine do meanwhile. A first call is that of a conversation of which nothing was sent before, as "
        "after a restart. The bytes of a request grow with the conversation, and the provider is "
        "sent all of them: beside each call the same bytes, made once, go over a bare socket, and what must not grow is what "
        "the client takes beyond that. Peers are the model clients of the three frameworks, given the same turns in their own "
        "types; Messages and generateContent have no peer here.",
        lines=tuple(_lines(found, lengths)),
        notes=tuple(f"{name} is not installed." for name in missing),
    )


async def _format(
    root: str, format: str, names: Sequence[str], lengths: Sequence[int], scale: Scale, found: _Found
) -> None:
    async with AsyncExitStack() as stack:
        workers: dict[str, Process] = {}
        for name in names:
            command = python("bench.calling", name, format, base_url(root, format))
            workers[name] = await stack.enter_async_context(Process(*command))
            await workers[name].told()
        for length in lengths:
            asked = [name for name in names if name in (OURS, BARE) or length <= PEERS_GO_TO or scale.rounds > 5]
            for name in asked:
                await workers[name].ask(load=length)
                found[name, format, length] = _Calls(cold=await workers[name].ask(call=1))
            for number in range(scale.rounds):
                for name in sorted(asked, reverse=bool(number % 2)):
                    told = await workers[name].ask(call=1)
                    calls = found[name, format, length]
                    calls.spent += told["spent"]
                    calls.wall += told["wall"]
                    calls.worked += told["worked"]


def _lines(found: _Found, lengths: Sequence[int]) -> Iterator[Line]:
    for format, title in FORMATS.items():
        for length in lengths:
            ours = found[OURS, format, length]
            what = f"{title}, {length:,} turns"
            yield Line(
                what=f"{what}: processor a call",
                unit="ms",
                here=spread(ours.spent),
                beside_name="its bytes over a bare socket",
                beside=spread(found[BARE, format, length].spent),
                ratio=ratios(ours.spent, found[BARE, format, length].spent),
            )
            for name, (known_as, _, _) in CALLERS.items():
                theirs = found.get((name, format, length))
                if theirs is not None:
                    yield _beside(f"{what}: processor a call", ours.spent, known_as, theirs.spent)
            held = spread(ours.worked)
            yield Line(
                what=f"{what}: longest hold, processor",
                unit="ms",
                here=held,
                goal=f"≤ {GOAL_HOLD_MS:.0f} ms",
                met=held.high <= GOAL_HOLD_MS,
            )
            for name, (known_as, _, _) in CALLERS.items():
                theirs = found.get((name, format, length))
                if theirs is not None:
                    yield _beside(f"{what}: longest hold, processor", ours.worked, known_as, theirs.worked)
            yield Line(what=f"{what}: longest hold, clock", unit="ms", here=spread(ours.wall))
            cold = ours.cold
            yield Line(what=f"{what}: first call, processor", unit="ms", here=_one(cold["spent"][0]))
            yield Line(
                what=f"{what}: first call, longest hold, processor",
                unit="ms",
                here=_one(cold["worked"][0]),
                goal=f"≤ {GOAL_HOLD_MS:.0f} ms",
                met=cold["worked"][0] <= GOAL_HOLD_MS,
            )
        if len(lengths) > 1:
            long, short = (_beyond_bytes(found, format, length) for length in (lengths[-1], lengths[0]))
            flat = ratios(sorted(long), sorted(short))
            yield Line(
                what=f"{title}: processor a call beyond its bytes, {lengths[-1]:,} turns",
                unit="ms",
                here=spread(long),
                beside_name=f"{lengths[0]:,} turns",
                beside=spread(short),
                ratio=flat,
                goal=f"ratio ≤ {FLAT}",
                met=flat.median <= FLAT,
            )


def _beyond_bytes(found: _Found, format: str, length: int) -> list[float]:
    ours, bare = found[OURS, format, length].spent, found[BARE, format, length].spent
    return [value - other for value, other in zip(ours, bare, strict=True)]


def _beside(what: str, ours: Sequence[float], name: str, theirs: Sequence[float]) -> Line:
    ratio = ratios(ours, theirs)
    return Line(
        what=what,
        unit="ms",
        here=spread(ours),
        beside_name=name,
        beside=spread(theirs),
        ratio=ratio,
        goal="ratio < 1",
        met=ratio.median < 1,
    )


def _one(value: float) -> Spread:
    return Spread(value, value, value)


ROW = Row(
    name="calls",
    counts="turns of history",
    n={"tiny": 4, "quick": 10_000, "full": 10_000},
    rounds={"tiny": 1, "quick": 3, "full": 7},
    run=run,
)
