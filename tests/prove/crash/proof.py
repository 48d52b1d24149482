"""Proof that after kill -9 nothing acknowledged is missing and nothing happens twice.

A client in its own process works on eight sessions at once: it submits, approves, rejects, leaves
open, queues, promotes, interrupts, and sends commands twice. It records what it received. The
server is killed a fraction of a millisecond after the k-th fact that it showed, during a write of
the log, or while text streams. Then other code reads the store, the server starts again, and the
proof compares its view with a fold of the log. Rounds share one store, so each round answers and
resumes what the last kill left.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.prove.crash import checks, workload
from tests.prove.crash.client import Kill, Orders
from tests.prove.driver import acknowledged, store
from tests.prove.driver.fold import Fold
from tests.prove.driver.product import ROOT, Place, Server, place, second
from tests.prove.driver.report import Report, arguments, quantiles, run
from tests.prove.driver.session_driver import snapshot
from tests.prove.driver.view import differences, shown_fields
from tests.prove.fsync import proof

#: Number of kills after which a new store begins.
ROUNDS = 8
#: Longest delay of the true view, and of a live server, in seconds after exec.
TRUTH_S, LIVE_S = 2.0, 1.5
WAYS = ("fact", "write", "piece")
#: A page of the write-ahead log is two writes. A commit has about eight pages.
MAX_WRITES = 16


class Within(NamedTuple):
    """Time limits, in seconds: for the true view after exec, and for the write of a partial."""

    truth: float = TRUTH_S
    writing: float = acknowledged.WRITING


@dataclass
class Tally:
    """What the kills hit."""

    live: list[float] = field(default_factory=list[float])
    truth: list[float] = field(default_factory=list[float])
    types: Counter[str] = field(default_factory=Counter[str])
    into: Counter[str] = field(default_factory=Counter[str])


class Home:
    """One store and its rounds."""

    def __init__(self, report: Report, at: Place, first: int, within: Within, sabotage: str, tally: Tally) -> None:
        self.journal = checks.Journal()
        self._report = report
        self._at = at
        self._first = first
        self._within = within
        self._sabotage = sabotage
        self._tally = tally
        self._before: store.Log | None = None
        self._server: Server | None = None

    async def round(self, number: int, kill: Kill) -> int:
        """Start the server, check what the last kill left, work, and kill.

        Return the number of received facts.
        """
        self._at.play(workload.scenario(number, self._first))
        server = await self._start()
        left = store.read(self._at.store)
        folds = {session: Fold(facts) for session, facts in left.facts.items() if session.startswith("ses_")}
        orders = Orders(
            url=server.wire.url,
            token=server.wire.token,
            pid=server.pid,
            workspace=server.workspace,
            round=number,
            journal=str(self._at.root / f"journal-{number}"),
            wal=str(self._at.store / f"{store.DATABASE}-wal"),
            kill=kill,
            waiting=[[session, action] for session, fold in folds.items() for action in fold.actions],
            paused=[session for session, fold in folds.items() if any(fold.queue.values()) and not fold.actions],
            again=self.journal.unanswered(),
        )
        await _work(orders)
        await server.kill()
        end = self.journal.read(self._at.root / f"journal-{number}")
        self._report.none("the client saw no gap, no repeat and no surprise", end["problems"])
        self._note(end, kill)
        return len(end["received"])

    async def settle(self) -> None:
        """Check what the last kill left, and start a second server beside the running one."""
        server = await self._start()
        ready = await second(self._at)
        fine = ready.get("running") is True and (ready["pid"], ready["epoch"]) == (server.pid, server.epoch)
        self._report.check("a second server becomes a client of the first", fine, f"{ready}")

    async def close(self) -> None:
        """End the server."""
        if self._server is not None:
            await self._server.kill()

    async def _start(self) -> Server:
        """Start the server, and check what it does with what the last one left."""
        server = self._server = await Server.start(self._at, sabotage=self._sabotage)
        if self._before is None:
            return server
        before, end = self._before, self.journal.ends[-1]
        sessions = [stream for stream in before.facts if stream.startswith("ses_")]
        after, problems = await self._truth(server, sessions)
        took = time.monotonic() - server.began
        self._tally.truth.append(took)
        self._report.none("what the server shows is what the log gives", problems)
        self._report.check(
            f"the truth is shown within {self._within.truth:g} s of exec", took <= self._within.truth, f"{took:.2f} s"
        )
        checks.whole(self._report, after)
        checks.acknowledged(self._report, after, self.journal)
        checks.ran(self._report, after, self.journal, self._at.folder)
        checks.taken_over(self._report, before, after, server.epoch, end, self._within.writing)
        return server

    async def _truth(self, server: Server, sessions: list[str]) -> tuple[store.Log, list[str]]:
        """Return the log and its differences from the view, when there are none or the time is up."""
        waiting, problems_by_session = list(sessions), dict[str, list[str]]()
        live = 0.0
        while True:
            views = {session: await snapshot(server, session) for session in waiting}
            live = live or time.monotonic() - server.began
            log = store.read(self._at.store)
            for session, view in views.items():
                facts = log.facts.get(session, [])
                fold = Fold(facts)
                problems_by_session[session] = [f"{session}: {turn} is being worked on" for turn in fold.working]
                if view.sequence != len(facts):
                    problems_by_session[session].append(f"{session} is shown at {view.sequence} of {len(facts)}")
                else:
                    problems_by_session[session] += [
                        f"{session}: {difference}" for difference in differences(shown_fields(view.rows), fold.panels())
                    ]
            waiting = [session for session in waiting if problems_by_session[session]]
            if not waiting or time.monotonic() - server.began > 1.5 * self._within.truth:
                break
        self._tally.live.append(live)
        return log, [problem for problems in problems_by_session.values() for problem in problems]

    def _note(self, end: dict[str, Any], kill: Kill) -> None:
        with store.copied(self._at.store) as copy:
            pages = store.cut_transaction(copy)
            self._before = store.read(copy)
        into = self._tally.into
        struck = end["received"][min(kill["fact"], len(end["received"])) - 1][2] if end["received"] else "nothing"
        self._tally.types[struck] += 1
        into[f"by {kill['how']}"] += 1
        into["a transaction half written"] += pages > 0
        into["text in the making"] += any(part.kind in ("text", "reasoning") for part in self._before.partials)
        folds = [Fold(facts) for stream, facts in self._before.facts.items() if stream.startswith("ses_")]
        into["turns at work"] += sum(len(fold.working) for fold in folds)
        into["commands running"] += sum(
            row[1]["kind"] == "tool_call" and row[1]["state"] == "running"
            for fold in folds
            for row in fold.parts.values()
        )
        into["requests waiting"] += sum(len(fold.actions) for fold in folds)
        into["turns queued"] += sum(len(queue) for fold in folds for queue in fold.queue.values())
        into["commands not answered"] += len(self.journal.unanswered())


async def _work(orders: Orders) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.prove.crash.lanes", stdin=asyncio.subprocess.PIPE, cwd=ROOT
    )
    try:
        await process.communicate(json.dumps(orders).encode() + b"\n")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, f"the client ended with {process.returncode}"


async def prove(n: int, sabotage: str, seed: int, within: Within) -> int:
    report = Report("prove-crash")
    tally = Tally()
    draw = random.Random(seed)
    total = await _whole_round(report, within)
    moments = [round((at + 0.5) * total / n) + 1 for at in range(n)]
    # Every home gets early and late moments, and every moment each way of killing.
    draw.shuffle(moments)
    number = 1
    while moments:
        now, moments = moments[:ROUNDS], moments[ROUNDS:]
        with place() as at:
            home = Home(report, at, number, within, sabotage, tally)
            try:
                for moment in now:
                    if sabotage and report.failed.keys() & checks.MISSING:
                        moments = []
                        break
                    how = WAYS[number % len(WAYS)]
                    kill = Kill(
                        how=how, fact=moment, microseconds=draw.randrange(1000), writes=draw.randrange(1, MAX_WRITES)
                    )
                    report.progress(
                        f"kill {number} of {n}: {how} at fact {moment} of {total}; {len(report.failures)} failures"
                    )
                    await home.round(number, kill)
                    number += 1
                await home.settle()
            finally:
                await home.close()
    _write_figures(report, tally, total)
    if not sabotage:
        await proof.trace(report)
    return report.end()


async def _whole_round(report: Report, within: Within) -> int:
    """Return the number of facts that a client receives in an undisturbed round."""
    with place() as at:
        home = Home(report, at, 0, within, "", Tally())
        try:
            return await home.round(0, Kill(how="end", fact=0, microseconds=0, writes=0))
        finally:
            await home.close()


def _write_figures(report: Report, tally: Tally, total: int) -> None:
    report.figure("kills", f"{sum(tally.types.values())}, spread over the {total} facts of a round")
    report.figure("they fell after", ", ".join(f"{type} {count}" for type, count in tally.types.most_common()))
    report.figure("and into", ", ".join(f"{target} {count}" for target, count in sorted(tally.into.items())))
    report.figure("the machine", f"{os.cpu_count()} cores, load average {os.getloadavg()[1]:.1f}")
    report.figure("restart to live", f"{quantiles(tally.live)} after exec (goal {LIVE_S:g} s)")
    report.figure("restart to the truth", f"{quantiles(tally.truth)} after exec, every session compared")


def main() -> int:
    parser = arguments(__doc__, n=24, help_n="kills")
    parser.add_argument(
        "--within", type=float, default=TRUTH_S, help=f"when the truth must be shown, in seconds [{TRUTH_S:g}]"
    )
    options = parser.parse_args()
    return run(
        prove(options.n, options.sabotage, options.seed, Within(truth=options.within)), longest=120 + 15 * options.n
    )


if __name__ == "__main__":
    sys.exit(main())
