"""Proof that after kill -9 between any two facts of a handoff it is consumed exactly once, and in
order.

A client in its own process sends handoffs to an agent on behalf of the lead, most while that agent
works. The server is killed after a handoff's request, its reservation by a turn, its consumption,
acceptance or completion, or when all is done: after a fraction of a millisecond or during a write
of the log. Then the server starts again, unanswered commands are repeated, and a person resumes the
agent. Finally the proof reads the log on disk.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.prove.driver import scenes, store
from tests.prove.driver.crew import agent, begin, lead, plays, started
from tests.prove.driver.product import ROOT, Place, Server, place
from tests.prove.driver.report import Report, arguments, run
from tests.prove.driver.store import Fact
from tests.prove.inbox.client import Moment, Orders

#: The facts of a handoff in order. `inbox.…` facts name it among their items.
FACTS = ("handoff.requested", "inbox.reserved", "inbox.consumed", "handoff.accepted", "handoff.completed")
ONCE = "every handoff is consumed exactly once"
#: Handoffs of a round.
A_ROUND = 4
MAX_WRITES = 16
#: Time limits of all handoffs of a round, in seconds: normally, and with a fault that keeps them
#: from ending.
PATIENCE_S, SHORT_S = 30.0, 2.0


class Home:
    """One store, its rounds, and the client's notes."""

    def __init__(self, report: Report, at: Place, fault: str) -> None:
        self.struck: Counter[str] = Counter()
        self.cut = 0
        self._report = report
        self._at = at
        self._fault = fault
        self._server: Server | None = None
        self._session = ""
        self._writer_thread = ""
        self._sent: dict[str, dict[str, Any]] = {}
        self._answers: dict[str, dict[str, Any]] = {}
        self._rounds = 0

    async def open(self) -> None:
        """Create the session, with one handoff so that its receiver exists."""
        server = self._server = await started(self._at, self._fault)
        followed = await begin(server, "open")
        self._session = followed.session
        assert await followed.until(lambda: followed.count("turn.completed") == 1)
        await followed.close()
        await self._work(server, [self._handoff(0)], _never())
        opening = [fact for fact in self._log().facts[self._session] if fact.type == "thread.opened"][-1]
        self._writer_thread = opening.id("t")

    async def round(self, number: int, moment: Moment) -> bool:
        """Send the handoffs of a round, kill at the moment, and start the server again.

        Return whether all were accepted.
        """
        server = self._server
        assert server is not None
        first = 1 + (number - 1) * A_ROUND
        sends = self._open() + [self._handoff(index) for index in range(first, first + A_ROUND)]
        end = await self._work(server, sends, moment)
        if moment["how"]:
            await server.kill()
            self._note()
            self._server = await started(self._at, self._fault)
        return end

    async def settle(self, n: int) -> None:
        """Repeat unanswered commands without a kill, and wait until all are completed."""
        assert self._server is not None
        self._report.check(
            "in the end every handoff is completed", await self._work(self._server, self._open(), _never())
        )
        facts = self._log()
        self._report.none("the chain verifies", facts.broken)
        self._judge(facts.facts[self._session])

    async def close(self) -> None:
        """End the server."""
        if self._server is not None:
            await self._server.kill()

    def _handoff(self, index: int) -> dict[str, Any]:
        body = {"sessionId": self._session, "to": "desk", "message": f"part {index:05}"}
        return {"command": "send_handoff", "key": f"handoff-{index}", "body": body}

    def _open(self) -> list[dict[str, Any]]:
        """Return the unanswered commands, and the person's resume of the agent."""
        again = [command for key, command in self._sent.items() if key not in self._answers]
        if not self._writer_thread:
            return again
        self._rounds += 1
        body = {"sessionId": self._session, "threadId": self._writer_thread, "text": "go on"}
        return [*again, {"command": "submit_turn", "key": f"on-{self._rounds}", "body": body}]

    async def _work(self, server: Server, sends: list[dict[str, Any]], moment: Moment) -> bool:
        """Run the client for one round. Return whether all commands sent by then are completed."""
        journal = self._at.root / f"journal-{len(list(self._at.root.glob('journal-*')))}"
        wanted = {command["key"] for command in (*self._sent.values(), *sends) if command["command"] == "send_handoff"}
        orders = Orders(
            url=server.wire.url,
            token=server.wire.token,
            pid=server.pid,
            session=self._session,
            wal=str(self._at.store / f"{store.DATABASE}-wal"),
            journal=str(journal),
            head=len(self._log().facts[self._session]),
            due=len(wanted),
            patience=SHORT_S if self._fault else PATIENCE_S,
            sends=sends,
            moment=moment,
        )
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.prove.inbox.client", stdin=asyncio.subprocess.PIPE, cwd=ROOT
        )
        try:
            await process.communicate(json.dumps(orders).encode() + b"\n")
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode == 0, f"the client ended with {process.returncode}"
        return self._read(journal) >= len(wanted)

    def _read(self, journal: Path) -> int:
        completed = 0
        for line in map(json.loads, journal.read_text().splitlines()):
            match line.pop("kind"):
                case "sent":
                    self._sent.setdefault(line["key"], line)
                case "answer":
                    self._answers[line["key"]] = line
                    self._report.check("every command is accepted", line["status"] == 200, f"{line}")
                case _:
                    completed = line["completed"]
        return completed

    def _note(self) -> None:
        with store.copied(self._at.store) as copy:
            self.cut += store.cut_transaction(copy) > 0
            facts = store.read(copy).facts[self._session]
        self.struck[next(fact.type for fact in reversed(facts) if fact.type in FACTS)] += 1

    def _log(self) -> store.Log:
        return store.read(self._at.store)

    def _judge(self, facts: list[Fact]) -> None:
        check, none = self._report.check, self._report.none
        requested = [fact for fact in facts if fact.type == "handoff.requested"]
        messages = Counter(fact.payload["payload"]["message"] for fact in requested)
        sent = {command["body"]["message"] for command in self._sent.values() if command["command"] == "send_handoff"}
        none(
            "what was sent twice is one handoff",
            [f"{text} {count} times" for text, count in messages.items() if count > 1],
        )
        check("every handoff that was sent is there", set(messages) == sent, f"{sorted(sent ^ set(messages))[:5]}")
        there = {fact.id("h"): fact.payload["payload"]["message"] for fact in requested}
        for key, answer in self._answers.items():
            if answer["status"] == 200 and "handoffId" in answer["answer"]:
                same = there.get(answer["answer"]["handoffId"]) == self._sent[key]["body"]["message"]
                check("every handoff that was acknowledged is there", same, f"{answer}")
        at: dict[str, dict[str, list[int]]] = {handoff: {type: [] for type in FACTS} for handoff in there}
        for fact in facts:
            items = fact.payload["items"] if fact.type.startswith("inbox.") else [fact.id("h")]
            for item in items if fact.type in FACTS else ():
                if item in at:
                    at[item][fact.type].append(fact.sequence)
        for handoff, facts_of in at.items():
            consumed = facts_of["inbox.consumed"]
            check(ONCE, len(consumed) == 1, f"{handoff}: {consumed}")
            for type in ("handoff.accepted", "handoff.completed"):
                check(
                    "and accepted and completed once", len(facts_of[type]) == 1, f"{handoff}: {type} {facts_of[type]}"
                )
            path = [facts_of[type][-1] for type in FACTS if facts_of[type]]
            check("each of its facts follows the one before", path == sorted(path), f"{handoff}: {facts_of}")
        order = [
            item for fact in facts if fact.type == "inbox.consumed" for item in fact.payload["items"] if item in at
        ]
        check("they are consumed in the order in which they were sent", order == list(there), f"{order} {list(there)}")
        none("a run consumes only what it reserved, after its model's answer", _unheard(facts))


def _unheard(facts: list[Fact]) -> list[str]:
    """Return consumptions by a run that had not reserved these items, or apart from its first
    answer.
    """
    reservations: dict[str, Fact] = {fact.id("r"): fact for fact in facts if fact.type == "inbox.reserved"}
    calls_by_run: dict[str, list[Fact]] = {}
    problems: list[str] = []
    for fact in facts:
        if fact.type in ("model.requested", "model.completed"):
            calls_by_run.setdefault(fact.id("r"), []).append(fact)
    for fact in facts:
        if fact.type != "inbox.consumed":
            continue
        reserved = reservations.get(fact.id("r"))
        calls = calls_by_run.get(fact.id("r"), [])
        again = [call.sequence for call in calls[1:] if call.type == "model.requested"]
        heard = any(call.type == "model.completed" for call in calls)
        early = not again or fact.sequence < again[0]
        if (
            reserved is None
            or reserved.payload != fact.payload
            or reserved.sequence > fact.sequence
            or not (heard and early)
        ):
            problems.append(f"{fact.sequence} {fact.payload} of {fact.id('r')}")
    return problems


def _never() -> Moment:
    return Moment(how="", type="", nth=0, microseconds=0, writes=0)


def _scenario(at: Place) -> None:
    lead(at, edges=[{"to": "desk"}])
    agent(at, "desk", role="writer", tools=["Read"])
    (at.folder / "desk.md").write_text("A desk.\n")
    paced: dict[str, Any] = {"chunk": 8, "delay_ms": 1}
    # Each gap between two facts is open for some milliseconds.
    takes = [scenes.says(scenes.prose(160, "d"), kind="reasoning", **paced), scenes.calls("Read", file_path="desk.md")]
    plays(
        at,
        [
            ("lead", "open", [[scenes.says("It is open.")]]),
            ("desk", "", [takes, [scenes.says(scenes.prose(80, "t"), **paced)]]),
        ],
    )


async def prove(n: int, sabotage: str, seed: int) -> int:
    report = Report("prove-inbox")
    draw = random.Random(seed)
    places = (*FACTS, "")
    with place() as at:
        _scenario(at)
        home = Home(report, at, sabotage)
        try:
            await home.open()
            for number in range(1, n + 1):
                how = "fact" if (number // len(places)) % 2 == 0 else "write"
                behind = places[number % len(places)]
                moment = Moment(
                    how=how,
                    type=behind,
                    # One turn takes everything that arrives while the agent works.
                    nth=draw.randint(1, 2 if behind.startswith("inbox.") else A_ROUND),
                    microseconds=draw.randrange(1000),
                    writes=draw.randrange(1, MAX_WRITES),
                )
                report.progress(
                    f"kill {number} of {n}: {how} behind {moment['type'] or 'all'}; {len(report.failures)} failures"
                )
                await home.round(number, moment)
            await home.settle(n)
        finally:
            await home.close()
    fell = ", ".join(f"{type} {count}" for type, count in home.struck.most_common())
    report.figure("kills", f"{n}, each with {A_ROUND} handoffs")
    report.figure("they fell behind", fell)
    report.figure("and into", f"a transaction half written {home.cut}")
    report.figure("the machine", f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
    return report.end()


def main() -> int:
    options = arguments(__doc__, n=18, help_n="kills").parse_args()
    return run(prove(options.n, options.sabotage, options.seed), longest=120 + 15 * options.n)


if __name__ == "__main__":
    sys.exit(main())
