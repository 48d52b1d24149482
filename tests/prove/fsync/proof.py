"""Proof that an acknowledgement leaves after the sync of its facts, by tracing the server's system
calls.

strace records every write to the log's files, every fdatasync of them, and all data that leaves
through sockets, in the kernel's order. An id of a new turn must be written to the log, and a sync
that began after that write must end, before bytes with that id leave, in the command's answer or in
a stream of events.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.prove.driver import scenes, store
from tests.prove.driver.product import Server, place
from tests.prove.driver.report import Report, arguments, run
from tests.prove.driver.session_driver import do, over, submit

_CALLS = "write,writev,pwrite64,pwritev,sendto,sendmsg,fdatasync,fsync"
_LINE = re.compile(r"^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\((\d+)<([^>]*)>)")
_SYNCS, _SENDS = ("fdatasync", "fsync"), ("sendto", "sendmsg", "write", "writev")


@dataclass
class Call:
    """A system call: its first and last line in the trace, its file, and its arguments."""

    name: str
    file: str
    began: int
    ended: int
    text: str


def calls_of(trace: Path) -> list[Call]:
    """Return the calls of a trace in the order in which they began, also interrupted ones."""
    calls: list[Call] = []
    unfinished: dict[str, Call] = {}
    for at, line in enumerate(trace.read_text("latin-1").splitlines()):
        parsed = _LINE.match(line)
        if parsed is None:
            continue
        pid, resumed, name, _, file = parsed.groups()
        if resumed:
            if pid in unfinished:
                unfinished.pop(pid).ended = at
            continue
        call = Call(name, file, at, at, line)
        calls.append(call)
        if line.endswith("<unfinished ...>"):
            call.ended = sys.maxsize
            unfinished[pid] = call
    return calls


def early(calls: list[Call], identity: str) -> list[str]:
    """Return the sends that had an id before its sync, as text; also ids that were never written or
    sent.
    """
    ours = [call for call in calls if f"/{store.DATABASE}" in call.file]
    writes = [call for call in ours if call.name.startswith("pwrite") and identity in call.text]
    sends = [call for call in calls if call.name in _SENDS and call.file.startswith("TCP") and identity in call.text]
    if not writes or not sends:
        return [f"{identity} was written {len(writes)} times and sent {len(sends)} times"]
    synced = min(
        (call.ended for call in ours if call.name in _SYNCS and call.began > writes[0].ended), default=sys.maxsize
    )
    return [
        f"{identity} left at line {send.began}; it was written at {writes[0].began} and synced at {synced}"
        for send in sends
        if send.began < synced
    ]


async def trace(report: Report, sabotage: str = "", turns: int = 12) -> None:
    """Check the order of writes, syncs and sends around some turns."""
    strace = shutil.which("strace")
    if not report.check("strace is there", strace is not None, "`make setup-test` installs it"):
        return
    with place() as at:
        at.play(scenes.scenario([("say hello", [[scenes.says("hello", chunk=1, delay_ms=1)]])]))
        output = at.root / "trace"
        traced = [str(strace), "-f", "-yy", "-s", "70000", "-e", f"trace={_CALLS}", "-o", str(output)]
        server = await Server.start(at, sabotage=sabotage, before=traced)
        ids: list[str] = []
        try:
            session = await submit(server, "say hello")
            watching = asyncio.create_task(_watch(server, session))
            for turn in range(turns):
                more = [
                    do(server, "submit_turn", f"t{turn}-{at}", text="say hello", **where)
                    for at, where in enumerate(({"sessionId": session}, {"workspaceId": server.workspace}))
                ]
                ids += [answer["turnId"] for answer in await asyncio.gather(*more)]
                report.progress(f"{len(ids)} turns traced")
            await over(server, session)
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        finally:
            await server.stop()
        calls = calls_of(output)
    for identity in ids:
        report.none("bytes about a turn leave after its facts were synced", early(calls, identity))
    syncs = sum(call.name in _SYNCS and f"/{store.DATABASE}" in call.file for call in calls)
    report.figure("traced", f"{len(ids)} turns, {syncs} syncs of the log, {len(calls)} calls")


async def _watch(server: Server, session: str) -> None:
    async for _ in server.wire.events(f"/sessions/{session}/facts"):
        continue


async def prove(n: int, sabotage: str) -> int:
    report = Report("prove-fsync")
    await trace(report, sabotage, n)
    return report.end()


def main() -> int:
    options = arguments(__doc__, n=12, help_n="pairs of turns").parse_args()
    return run(prove(options.n, options.sabotage), longest=120 + options.n)


if __name__ == "__main__":
    sys.exit(main())
