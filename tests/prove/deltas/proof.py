"""Proof of the cost of a long reply in many pieces, and of its views.

The log must not have a fact per piece, and partial text is written only once. A viewer who arrives
in the middle gets the text so far and then the rest. After kill -9 the shown text is kept, except
the newest second or 2 KB.
"""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass

from tests.prove.driver import acknowledged, scenes, store
from tests.prove.driver.fold import Fold
from tests.prove.driver.product import Place, Server, place
from tests.prove.driver.report import Report, arguments, run
from tests.prove.driver.session_driver import over, snapshot, submit, until
from tests.prove.driver.view import View, differences, shown_fields

CHUNK = 4
#: Allowed size of the log: bytes per byte of content, and bytes per fact.
PER_CONTENT, PER_FACT = 1.2, 350
#: SQLite truncates the write-ahead log to this size.
MAX_WAL_BYTES = 8 * 1024 * 1024 + 64 * 1024
#: Smallest delay: the model yields before each piece and does not wait.
YIELDS_MS = 0.0001
#: Replies that run at once, each in a session. A single one ends before its files can be read.
MARKS = "abcdef"
#: End of every reply, after everything was observed. A viewer gets each piece separately.
TAIL = "That was all. "
RESUME_INPUT = "go-on"
#: Least number of looks at the store in the meantime, and the time limit for all of this, in seconds.
SAMPLES = 3
WAITS_S = 60.0
#: Pieces of the reply that is killed, one per millisecond, so that most of it is older than the
#: allowed loss.
SLOW = 3000
#: Characters of that reply that must exist after the kill.
OLD_ENOUGH = 1000
#: Seconds within which an idle server returns space.
QUIET_S = 30.0


@dataclass
class Sample:
    """The store while the reply runs."""

    facts: int
    partial_bytes: int
    database: int
    wal: int


def sample(at: Place) -> Sample:
    log = store.read(at.store)
    return Sample(
        facts=sum(len(facts) for facts in log.facts.values()),
        partial_bytes=sum(len(part.text.encode()) for part in log.partials),
        database=log.sizes[store.DATABASE],
        wal=log.sizes.get(f"{store.DATABASE}-wal", 0),
    )


async def prove(n: int, sabotage: str, writing: float = acknowledged.WRITING) -> int:
    """Run the proof.

    `writing` is the longest time that a write of a partial takes here, in seconds.
    """
    report = Report("prove-deltas")
    # Each differs, since equal bytes are stored once. The first is watched: each of its pieces is
    # unique, and its last letter begins no secret, so that none of it is withheld.
    texts = [scenes.prose(n * CHUNK - 1, MARKS[0]) + ".", *(f"{mark * (CHUNK - 1)}é" * n for mark in MARKS[1:])]
    replies = [scenes.says(texts[0], chunk=CHUNK, delay_ms=YIELDS_MS)]
    replies += [scenes.repeats(text[:CHUNK], n, YIELDS_MS) for text in texts[1:]]
    end = [scenes.waits(RESUME_INPUT), scenes.says(TAIL, chunk=1, delay_ms=30), scenes.usage(n)]
    slow = scenes.prose((SLOW + round(1000 * writing)) * CHUNK, "k")
    scenario = scenes.scenario(
        [
            *((f"the long reply {mark}", [[reply, *end]]) for mark, reply in zip(MARKS, replies, strict=True)),
            ("the slow reply", [[scenes.says(slow, chunk=CHUNK, delay_ms=1), scenes.waits()]]),
            ("say hello", [[scenes.says("hello")]]),
        ]
    )
    report.figure("reply", f"{len(texts[0].encode()):,} bytes in {n:,} pieces, {len(MARKS)} of them at once")
    with place() as at:
        at.play(scenario)
        await _to_the_end(report, at, texts, sabotage)
    with place() as at:
        at.play(scenario)
        await _killed(report, at, slow, sabotage, writing)
    return report.end()


async def _to_the_end(report: Report, at: Place, texts: list[str], sabotage: str) -> None:
    server = await Server.start(at, sabotage=sabotage)
    try:
        # The first turn writes what every session has, so only the replies are measured.
        sessions = [await submit(server, "say hello") for _ in texts]
        for session in sessions:
            await over(server, session)
        empty = await _settled(at)
        began = time.monotonic()
        for mark, session in zip(MARKS, sessions, strict=True):
            await submit(server, f"the long reply {mark}", session)
        session, text = sessions[0], texts[0]
        first, late = View(), View()
        watching = [asyncio.create_task(_watch(server, session, first, text, report, 0))]
        watching.append(asyncio.create_task(_watch(server, session, late, text, report, len(text) // 2, first)))
        samples: list[Sample] = []
        ended = asyncio.create_task(over(server, session, 2 * WAITS_S))
        while not ended.done():
            samples.append(await asyncio.to_thread(sample, at))
            report.progress(
                f"{_length(first):,} of {len(text):,} characters shown, {samples[-1].partial_bytes:,} bytes kept"
            )
            done = len(samples) >= SAMPLES and late.snapshots and _length(first) == _length(late) == len(text)
            if done or time.monotonic() - began > WAITS_S:
                (at.root / RESUME_INPUT).touch()
            await asyncio.wait([ended], timeout=0.02)
        took = time.monotonic() - began
        for other in sessions:
            await over(server, other)
        log = store.read(at.store)
        await until(lambda: min(first.sequence, late.sequence) >= len(log.facts[session]))
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        _judge(report, texts, first, late, samples, took)
        for other, reply in zip(sessions, texts, strict=True):
            _judge_end(report, reply, log, other)
        for view in (first, late):
            report.none("each viewer saw every piece once", view.problems)
            report.none("each viewer ends with the view that the log gives", _differ(view, log, session))
        _judge_size(report, empty, await _settled(at))
    finally:
        await server.kill()


async def _killed(report: Report, at: Place, text: str, sabotage: str, writing: float) -> None:
    server = await Server.start(at, sabotage=sabotage)
    view = View()
    try:
        session = await submit(server, "the slow reply")
        watching = asyncio.create_task(_watch(server, session, view, text, report, 0))
        async with asyncio.timeout(60):
            while (
                max((acknowledged.at_least(grown, None, writing) for grown in view.grown.values()), default=0)
                < OLD_ENOUGH
            ):
                report.progress(f"{_length(view):,} of {len(text):,} characters shown before kill -9")
                await asyncio.sleep(0.002)
        killed = time.monotonic()
    finally:
        await server.kill()
    await asyncio.gather(watching)
    key, grown = next(iter(view.grown.items()))
    least = acknowledged.at_least(grown, killed, writing)
    server = await Server.start(at, sabotage=sabotage)
    try:
        after = await snapshot(server, session)
        row = after.rows.get("parts", {}).get(key, {"kind": "", "content": {}})
        log = store.read(at.store)
        there = log.text(row["content"])
        fine = row.get("state") == "interrupted" and text.startswith(there) and len(there) >= least
        measured = (
            f"{row.get('state')} with {len(there)} characters of {grown[-1][1]} shown; at least {least} had to be kept"
        )
        report.check("what was shown before kill -9 is there after it, as interrupted", fine, measured)
        report.none("after kill -9 a viewer has the view that the log gives", _differ(after, log, session))
        report.figure("kill -9 at", f"{grown[-1][1]:,} characters shown: {len(there):,} kept, {least:,} promised")
    finally:
        await server.kill()


def _judge(report: Report, texts: list[str], first: View, late: View, samples: list[Sample], took: float) -> None:
    report.check("the store was looked at while the reply ran", len(samples) >= SAMPLES, f"{len(samples)} samples")
    counts = sorted({sample.facts for sample in samples})
    report.check("no fact is added for a piece", counts[-1] - counts[0] <= 8 * len(texts), f"{counts}")
    most, content = max(sample.partial_bytes for sample in samples), sum(len(text.encode()) for text in texts)
    report.check("a partial is stored", most >= content // 4, f"{most} bytes at most")
    report.check("a partial is stored once", most <= content, f"{most} bytes at most")
    room = PER_CONTENT * content + PER_FACT * counts[-1] + MAX_WAL_BYTES
    largest = max(sample.database - samples[0].database + sample.wal for sample in samples)
    report.check(
        "while it runs the files stay within the bound and the write-ahead log's", largest <= room, f"{largest}"
    )
    report.check("a viewer who comes in the middle is served a snapshot once", late.snapshots == 1, f"{late.snapshots}")
    report.check("and then pieces", late.appends >= 1, "none came")
    report.check("pieces are gathered to at most some 60 a second", first.appends <= 60 * took + 10, f"{first.appends}")
    report.figure("time", f"{took:.1f} s, {first.appends} operations to a viewer")
    report.figure(
        "while it runs",
        f"{counts[-1]} facts, partials up to {most:,} bytes, WAL up to {max(s.wal for s in samples):,} bytes",
    )


def _judge_end(report: Report, text: str, log: store.Log, session: str) -> None:
    facts = log.facts[session]
    report.none("the chain verifies", log.broken)
    report.check("the whole session is a handful of facts", len(facts) <= 25, f"{len(facts)}")
    report.check("nothing in the making is left", not log.partials, f"{len(log.partials)} partials")
    texts = [log.text(fact.payload["content"]) for fact in facts if fact.type == "message.text"]
    report.check(
        "the log has the text that was sent", texts == ["hello", text, TAIL], f"{[len(text) for text in texts]}"
    )


def _judge_size(report: Report, empty: dict[str, int], full: dict[str, int]) -> None:
    grown, facts, content = (full[name] - empty[name] for name in ("bytes", "facts", "content"))
    bound = PER_CONTENT * content + PER_FACT * facts
    report.check(
        "after the end the log is within 1.2 × content + 350 B a fact", grown <= bound, f"{grown} > {bound:.0f}"
    )
    report.figure(
        "after the end",
        f"{grown:,} bytes for {content:,} of content and {facts} facts: {grown / bound:.2f} of the bound",
    )


async def _settled(at: Place) -> dict[str, int]:
    """Return the size of the log after the server was idle and returned free space."""
    await until(lambda: not store.free_bytes(at.store), QUIET_S, every=0.5)
    log = store.read(at.store)
    facts = [fact for stream in log.facts.values() for fact in stream]
    content = sum(len(data) for data in log.blobs.values())
    content += sum(len(_inline(fact.payload).encode()) for fact in facts if fact.payload is not None)
    size = log.sizes[store.DATABASE] + log.sizes.get(f"{store.DATABASE}-wal", 0)
    return {"bytes": size, "facts": len(facts), "content": content}


def _inline(value: object) -> str:
    """Return all texts in a payload."""
    if isinstance(value, dict):
        return "".join(_inline(item) for name, item in value.items() if name != "ref")
    if isinstance(value, list):
        return "".join(_inline(item) for item in value)
    return value if isinstance(value, str) else ""


async def _watch(
    server: Server, session: str, view: View, text: str, report: Report, when: int, other: View | None = None
) -> None:
    await until(lambda: other is None or _length(other) >= when)
    is_late = False
    async for event in server.wire.events(f"/sessions/{session}/ops"):
        view.apply(event)
        for row in view.rows.get("parts", {}).values():
            if row.get("state") == "streaming":
                so_far = row["content"].get("text", "")
                if not any(whole.startswith(so_far) for whole in (text, TAIL)):
                    report.check("the streamed text is the text that was sent", False, so_far[-80:])
                if other is not None and not is_late:
                    is_late = True
                    difference = f"{len(so_far)} characters where {when} had been shown"
                    report.check(
                        "a viewer who comes in the middle gets the text so far", len(so_far) >= when, difference
                    )
    report.check("the streamed text is the text that was sent", True)


def _length(view: View) -> int:
    return max((grown[-1][1] for grown in view.grown.values()), default=0)


def _differ(view: View, log: store.Log, session: str) -> list[str]:
    facts = [fact for fact in log.facts[session] if fact.sequence <= view.sequence]
    return differences(shown_fields(view.rows), Fold(facts).panels())


def main() -> int:
    parser = arguments(__doc__, n=50_000, help_n="pieces of the reply, of 4 characters each")
    options = parser.parse_args()
    return run(prove(options.n, options.sabotage), longest=60 + options.n / 1000)


if __name__ == "__main__":
    sys.exit(main())
