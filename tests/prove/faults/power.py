"""Lost power: after any write, unsynced data is lost or partial, and nothing acknowledged is
missing.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import random
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.prove.driver import crew, store
from tests.prove.driver.product import Place, Server, environment_of, place
from tests.prove.driver.report import Report

from .library import Faults, faults
from .mixed import Acknowledged, Client, prepare, run
from .trace import Disk, Operation, operations

ACKNOWLEDGED = "what was acknowledged survives a loss of power"
OPENS = "the log opens after a loss of power, and its chains verify"
STARTS = "the product starts after a loss of power, and `check` finds nothing"
#: Number of images that the product itself opens.
OPENED = 3


async def prove(report: Report, library: Path, n: int, draw: random.Random, sabotage: str) -> int:
    """Record one run, and lose power at `n` of its operations, or at each if there are fewer.

    Returns:
        The number of operations of the run.
    """
    with place() as at:
        prepare(at)
        trace = at.root / "trace"
        at.home.mkdir()
        with faults(library, at.root, at.home, trace) as planted:
            client = await _recorded(at, planted, sabotage)
        done = list(operations(trace))
        report.figure("recorded", f"{len(done)} operations, {len(client.acknowledged)} acknowledgements")
        report.check("the run had an end", client.problems == [], f"{client.problems[:2]}")
        await _lose(report, at, done, client.acknowledged, n, draw)
        return len(done)


async def _recorded(at: Place, planted: Faults, sabotage: str) -> Client:
    fault = (sys.executable, str(crew.PLANTED), sabotage) if sabotage else ()
    server = await Server.start(at, before=(*planted.command, *fault))
    client = Client(server, lambda: planted.count)
    try:
        await run(client)
    finally:
        await server.kill()
        await client.close()
    return client


async def _lose(
    report: Report,
    at: Place,
    done: Sequence[Operation],
    acknowledged: Sequence[Acknowledged],
    n: int,
    draw: random.Random,
) -> None:
    """Lose power before each moment: all unsynced data, and then a part of it."""
    moments = set(draw.sample(range(1, len(done) + 1), min(n, len(done))))
    opened = set(sorted(moments)[:: max(1, len(moments) // OPENED)][-OPENED:])
    disk, count, images = Disk(at.home), 0, 0
    for operation in done:
        disk.apply(operation)
        count += operation.kind not in "RU"
        if count not in moments:
            continue
        moments.discard(count)
        due = [each for each in acknowledged if each.count <= count]
        for drawn in (None, draw):
            with tempfile.TemporaryDirectory(prefix="callboard-power-", dir=at.root) as name:
                disk.lose_power(Path(name), drawn)
                images += 1
                judge(report, Path(name), due, f"operation {count} of {len(done)}")
                if count in opened and drawn is not None:
                    await _start(report, at, Path(name), count)
    report.figure("lost power", f"{images} times, {OPENED} of them opened by the product")


def judge(report: Report, home: Path, due: Sequence[Acknowledged], where: str) -> None:
    """Compare the files of a home with what was acknowledged."""
    if not due and not (home / "store" / store.DATABASE).exists():
        return
    try:
        log = store.read(home / "store")
    except (sqlite3.Error, OSError) as error:
        # Before the store existed nothing was acknowledged, and an empty file is created again.
        report.check(OPENS, not due, f"{where}: {error}")
        report.check(ACKNOWLEDGED, not due, f"{where}: {error}")
        return
    report.none(OPENS, [f"{where}: {problem}" for problem in log.broken])
    missing = [f"{where}: {item}" for item in due if not there(home, log, item)]
    report.none(ACKNOWLEDGED, missing)


def there(home: Path, log: store.Log, acknowledged: Acknowledged) -> bool:
    """Return True if the acknowledged thing is in the files of a home."""
    if acknowledged.upload:
        try:
            data = (home / "uploads" / acknowledged.upload).read_bytes()
            note = (home / "uploads" / f"{acknowledged.upload}.json").read_bytes()
        except FileNotFoundError:
            return False
        return hashlib.sha256(data).hexdigest() == acknowledged.digest and acknowledged.upload.encode() in note
    facts = log.facts.get(acknowledged.stream, [])
    if acknowledged.type:
        return len(facts) >= acknowledged.sequence and facts[acknowledged.sequence - 1].type == acknowledged.type
    return (not acknowledged.stream or len(facts) >= acknowledged.sequence) and (
        not acknowledged.key or _answered(home, acknowledged.key)
    )


def _answered(home: Path, key: str) -> bool:
    with contextlib.closing(sqlite3.connect(home / "store" / store.DATABASE)) as connection:
        return connection.execute("SELECT count(*) FROM answers WHERE key LIKE ?", (f"%{key}",)).fetchone()[0] > 0


async def _start(report: Report, at: Place, image: Path, count: int) -> None:
    """Let the product open an image, as a person would after the power is back."""
    with place() as other:
        shutil.copytree(image, other.home)
        shutil.copytree(at.folder, other.folder, dirs_exist_ok=True)
        try:
            server = await Server.start(other)
        except AssertionError as error:
            report.check(STARTS, False, f"after operation {count}: {error}")
            return
        await server.stop()
        code, output = await check(other)
        report.check(STARTS, code == 0, f"after operation {count}: {output}")


async def check(at: Place) -> tuple[int, str]:
    """Return the exit code and output of `callboard check`."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "callboard",
        "check",
        cwd=at.folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment_of(at),
    )
    printed, _ = await process.communicate()
    return process.returncode or 0, printed.decode("utf-8", "replace")
