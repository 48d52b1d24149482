"""A disk that fails or fills at one write of the run: what is kept, what is advised, and what works
afterwards.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.prove.driver import store
from tests.prove.driver.product import Place, Server, environment_of, place
from tests.prove.driver.report import Report
from tests.prove.driver.wire import Gone

from .library import Faults, Kind, faults
from .mixed import Acknowledged, Client, prepare, run
from .power import there

SURVIVES = "what was acknowledged survives a failing or full disk"
ADVICE = "the advice fits the fault"
READS = "sessions are read while the disk is full"
CONTINUES = "work continues once there is room, or after a new start where the disk failed"
HIT = "each fault fell into the run"
SOUND = "`check` finds nothing afterwards"
CAUSE = "no turn ends as a crash because of the disk"
STARTS = "a start on a full disk says so"
KINDS: tuple[Kind, ...] = ("full", "io-error", "short")
#: Disturbed runs at one time. Each has its own folder and processes, which mostly wait.
AT_ONCE = 3
#: Operations by which one run may be shorter than another.
_SPREAD = 8
#: Longest wait of the run while its disk fails, in seconds.
MAX_SECONDS = 3.0
#: Accepted advice by fault; each is part of a hint.
_FULL = ("Free some disk space", "Make room")
_FAILED = ("Check the disk", "Start Callboard again", *_FULL)


async def prove(report: Report, library: Path, n: int, total: int, draw: random.Random) -> None:
    """Disturb the run `n` times, at operations spread over its `total`."""
    # Runs differ by a few operations, so the last ones of the recorded run may not occur.
    last = total - _SPREAD
    moments = [min(round((at + draw.random()) * total / n) + 1, last) for at in range(n)]
    waiting = enumerate(moments)

    async def disturb() -> None:
        for at, moment in waiting:
            report.progress(f"disk fault {at + 1} of {n}")
            await _disturb(report, library, KINDS[at % len(KINDS)], moment)

    async with asyncio.TaskGroup() as parts:
        for _ in range(min(n, AT_ONCE)):
            parts.create_task(disturb())


async def _disturb(report: Report, library: Path, kind: Kind, moment: int) -> None:
    where = f"{kind} at operation {moment}"
    with place() as at, faults(library, at.root, at.home) as planted:
        prepare(at)
        at.home.mkdir()
        planted.arm(kind, moment)
        try:
            server = await Server.start(at, before=planted.command)
        except AssertionError as error:
            report.check(ADVICE, _advised(str(error), kind), f"{where}, at the start: {error}")
            planted.disarm()
            server = await Server.start(at, before=planted.command)
        client = Client(server, lambda: planted.count)
        try:
            await run(client, MAX_SECONDS)
            report.check(HIT, planted.hits > 0, where)
            wrong = [problem for problem in client.problems if not _advised(str(problem.get("hint", "")), kind)]
            report.none(ADVICE, [f"{where}: {problem}" for problem in wrong])
            if kind != "io-error":
                await _reads(report, client, where)
                await _starts_full(report, at, planted, where, server)
        finally:
            await server.kill()
            await client.close()
        planted.disarm()
        await _afterwards(report, at, planted, client.acknowledged, where)


async def _reads(report: Report, client: Client, where: str) -> None:
    for session in client.facts:
        for query in ("get_session", "get_turns", "list_tasks", "list_artifacts"):
            try:
                answer = await client.server.wire.get(f"/queries/{query}?sessionId={session}")
            except Gone as error:
                report.check(READS, False, f"{where}: {query}: {error}")
                continue
            report.check(READS, answer.status == 200, f"{where}: {query}: {answer.status} {answer.body}")


async def _starts_full(report: Report, at: Place, planted: Faults, where: str, server: Server) -> None:
    """Start once more while the disk is full."""
    await server.kill()
    planted.arm("full")
    code, printed = await command(at, "up", "--json", "--no-browser", "--port", "0", before=planted.command)
    fits = code != 0 and _advised(printed, "full") and "estore" not in printed
    report.check(STARTS, fits, f"{where}: {code} {printed[-300:]}")


async def _afterwards(
    report: Report, at: Place, planted: Faults, acknowledged: Sequence[Acknowledged], where: str
) -> None:
    """Check the rest, and work with it."""
    if acknowledged:
        log = store.read(at.store)
        report.none(
            SURVIVES,
            [
                f"{where}: {problem}"
                for problem in (*log.broken, *(each for each in acknowledged if not there(at.home, log, each)))
            ],
        )
    server = await Server.start(at, before=planted.command)
    try:
        client = Client(server, lambda: planted.count, number=1000)
        begun = await client.send("submit_turn", workspaceId=server.workspace, text="again")
        client.follow((begun or {}).get("sessionId", ""))
        ends = lambda facts: any(fact["type"] == "turn.completed" for fact in facts)
        done = begun is not None and await client.until(begun["sessionId"], ends, 10.0)
        report.check(CONTINUES, done, f"{where}: {client.problems}")
        await client.close()
    finally:
        await server.stop()
    left = store.read(at.store)
    crashed = [
        f"{where}: {fact.stream}/{fact.sequence} {fact.payload}"
        for facts in left.facts.values()
        for fact in facts
        if fact.type == "turn.interrupted"
        and fact.payload["cause"] == "crash"
        and "runtime failed" in fact.payload["reason"]
    ]
    report.none(CAUSE, crashed)
    code, printed = await command(at, "check")
    report.check(SOUND, code == 0, f"{where}: {printed}")


def _advised(text: str, kind: Kind) -> bool:
    return any(advice in text for advice in (_FAILED if kind == "io-error" else _FULL))


async def command(at: Place, *arguments: str, before: Sequence[str] = ()) -> tuple[int, str]:
    """Run a command of the product for at most 60 s.

    Return its exit code, -1 without an end, and its output.
    """
    process = await asyncio.create_subprocess_exec(
        *before,
        sys.executable,
        "-m",
        "callboard",
        *arguments,
        cwd=at.folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment_of(at),
    )
    try:
        async with asyncio.timeout(60):
            printed, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        printed, _ = await process.communicate()
        return -1, f"it did not end: {printed.decode('utf-8', 'replace')}"
    return process.returncode or 0, printed.decode("utf-8", "replace")
