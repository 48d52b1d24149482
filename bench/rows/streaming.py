"""Memory over an hour's worth of streamed text."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib.util import find_spec

from bench.harness import Row, Scale
from bench.results import Line, Result, spread
from bench.rigs.processes import Process, python
from bench.workers.provider import PIECE, base_url, provider
from bench.workers.streamed_answers import PEERS

OURS = "callboard"
#: Deltas of an answer, and per second of simulated time.
DELTAS, A_SECOND = 1_000, 30
GOAL_MB = 16.0


async def run(scale: Scale) -> Result:
    """Stream the deltas of `scale.n` minutes."""
    answers = max(2, scale.n * 60 * A_SECOND // DELTAS)
    warm = max(1, answers // 10)
    names = [OURS, *(name for name, (_, module) in PEERS.items() if scale.peers and find_spec(module))]
    async with provider() as root:
        measures = dict(
            zip(
                names, await asyncio.gather(*(_stream(scale, root, name, warm, answers) for name in names)), strict=True
            )
        )
    return Result(
        row="streaming",
        title=f"Memory over {scale.n:,} minutes of streamed text",
        measures=f"A model streams the text of {scale.n:,} minutes at {A_SECOND} deltas per second, as fast as each "
        f"system reads it: {answers:,} answers of {DELTAS:,} deltas of {len(PIECE)} characters in one conversation. Each "
        "system stores the conversation in SQLite and sends all of it with every call. A client follows Callboard's "
        f"session. Resident memory is measured after the first answer, after {warm:,} answers and at the end. The systems "
        "run in parallel, each in its own process. LangGraph streams through LangChain's client and is not measured here.",
        lines=tuple(_lines(measures, answers)),
    )


async def _stream(scale: Scale, root: str, name: str, warm: int, answers: int) -> dict[str, float]:
    folder = scale.place / name
    folder.mkdir()
    async with Process(
        *python("bench.workers.streamed_answers", name, str(folder), base_url(root, "openai-compatible", DELTAS))
    ) as process:
        await process.read_line()
        first = await process.ask(answers=1)
        warmed, worked = first, 0.0
        for done in range(1, answers):
            answer = await process.ask(answers=1)
            worked += answer["worked"]
            if done <= warm:
                warmed = answer
    return {
        "start": first["resident"] / 1e6,
        "warm": warmed["resident"] / 1e6,
        "end": answer["resident"] / 1e6,
        "delta": worked / (answers - 1) / DELTAS * 1000,
    }


def _lines(measures: dict[str, dict[str, float]], answers: int) -> Iterator[Line]:
    ours = measures[OURS]
    yield Line(label="resident memory after the first answer", unit="MB", value=spread([ours["start"]]))
    yield Line(label="resident memory after the warm-up", unit="MB", value=spread([ours["warm"]]))
    grown = ours["end"] - ours["warm"]
    yield Line(
        label="resident memory at the end",
        unit="MB",
        value=spread([ours["end"]]),
        baseline_name="after the warm-up",
        baseline=spread([ours["warm"]]),
        ratio=spread([ours["end"] / ours["warm"]]),
        goal=f"≤ {GOAL_MB:.0f} MB more",
        met=grown <= GOAL_MB,
    )
    for name, (peer, _) in PEERS.items():
        if name in measures:
            for label, key, unit in (
                ("resident memory at the end", "end", "MB"),
                ("CPU time per delta", "delta", "µs"),
            ):
                yield Line(
                    label=label,
                    unit=unit,
                    value=spread([ours[key]]),
                    baseline_name=peer,
                    baseline=spread([measures[name][key]]),
                    ratio=spread([ours[key] / measures[name][key]]),
                )
    yield Line(label="CPU time per delta", unit="µs", value=spread([ours["delta"]]))


ROW = Row(
    name="streaming",
    counts="minutes of streaming",
    n={"tiny": 1, "quick": 60, "full": 240},
    rounds={"tiny": 1, "quick": 1, "full": 1},
    run=run,
)
