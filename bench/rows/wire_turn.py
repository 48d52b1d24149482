"""A durable turn over HTTP, compared with the client of OpenAI alone and with OpenAI Agents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from importlib.util import find_spec
from statistics import fmean

from bench.harness import LATER_S, Row, Scale, wait_for_later_work
from bench.results import Line, Result, ratios, spread
from bench.rigs.processes import Process, python
from bench.workers.provider import base_url, provider
from bench.workers.wire_turns import read_newest_turn

OURS, CLIENT, PEER = "callboard", "openai", "openai_agents"
NAMES = {CLIENT: "OpenAI client alone", PEER: "OpenAI Agents SQLiteSession"}
_FIGURES = {
    "worked": "CPU time of a turn",
    "all": "CPU time of a turn with later work",
    "spent": "wall time of a turn",
}


async def run(scale: Scale) -> Result:
    """Run `scale.n` turns of new sessions in each round."""
    has_peer = scale.peers and find_spec("agents") is not None
    names = [OURS, CLIENT, *([PEER] if has_peer else [])]
    measured = {figure: {name: [] for name in names} for figure in _FIGURES}
    async with provider() as root, AsyncExitStack() as stack:
        url = base_url(root, "openai-compatible", "turn")
        workers: dict[str, Process] = {}
        for name in names:
            folder = scale.place / name
            folder.mkdir()
            command = python("bench.workers.wire_turns", name, str(folder), url)
            workers[name] = await stack.enter_async_context(Process(*command))
            # One after another: the others send what Callboard sent.
            await workers[name].read_line()
            if name == OURS:
                size = sum(len(json.dumps(request)) for request in await read_newest_turn(url))
        later = dict.fromkeys(names, 0.0)
        for number in range(scale.rounds):
            for name in sorted(names, reverse=bool(number % 2)):
                answer = await workers[name].ask(new=scale.n)
                measured["worked"][name].append(answer["worked"] / scale.n)
                measured["spent"][name].append(spread(answer["spent"]).median)
                later[name] += answer["later"] if number else 0.0
        await wait_for_later_work()
        for name in names:
            later[name] += (await workers[name].ask(new=0))["later"]
            measured["all"][name].append(fmean(measured["worked"][name]) + later[name] / scale.n / scale.rounds)
    return Result(
        row="wire",
        title="A durable turn over HTTP",
        measures="The turn of the rows above with the wire format of chat completions, in new sessions. A provider in "
        "another process streams a call of Read, and after its result a text, with a delta for each word. Callboard uses "
        "its own client, stores every fact before its effects and runs the real Read behind its gate. Baselines: the "
        "official Python client of OpenAI alone, which sends the same messages and tools, calls a function and stores "
        "nothing, and OpenAI Agents with that client, the same tools and its session in SQLite. Each runs in its own "
        "process, on uvloop; garbage collections do not visit what its start loaded. CPU time is the time of all threads "
        f"of the process. Later work is what a system does in the {LATER_S:.0f} s after its turns: Callboard folds facts "
        "into the rows of its views when a client looks, or else some seconds later.",
        lines=tuple(lines(measured)),
        notes=(
            f"The two requests have {size:,} B.",
            *((f"{NAMES[PEER]} is not installed.",) if scale.peers and not has_peer else ()),
        ),
    )


def lines(measured: Mapping[str, Mapping[str, list[float]]]) -> Iterator[Line]:
    """Yield the figures beside each baseline. Only OpenAI Agents does comparable work, so only its lines have a goal."""
    for figure, label in _FIGURES.items():
        values = measured[figure]
        for name, baseline in values.items():
            if name != OURS:
                ratio = ratios(values[OURS], baseline)
                aimed = name == PEER
                yield Line(
                    label=label,
                    unit="ms",
                    value=spread(values[OURS]),
                    baseline_name=NAMES[name],
                    baseline=spread(baseline),
                    ratio=ratio,
                    goal="ratio < 1" if aimed else "",
                    met=ratio.median < 1 if aimed else None,
                )


ROW = Row(
    name="wire",
    counts="turns of new sessions in each round",
    n={"tiny": 2, "quick": 25, "full": 50},
    rounds={"tiny": 1, "quick": 6, "full": 15},
    run=run,
)
