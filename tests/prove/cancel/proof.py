"""Proof that a cancel at a random moment of a tree ends all of it, for good.

A lead gives work to nine children and then works too. One child ends at once, two run commands, six
write without end, one waits for a slot. The commands leave processes that called setsid and forked
twice, marked in their environment and arguments. At a random moment over the facts of such a tree
the person cancels it. Then the proof reads /proc, and at the end the log on disk. What the children
wait for comes after the cancel, so that surviving work shows.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.prove.driver import scenes, store
from tests.prove.driver.crew import CHILD_ENDS, TURN_ENDS, Followed, begin, lead, plays, started, worker
from tests.prove.driver.product import Place, Server, place
from tests.prove.driver.report import Report, arguments, quantiles, run
from tests.prove.driver.session_driver import do
from tests.prove.driver.store import Fact

#: Seconds within which all marked processes must end.
DEAD_S = 2.0
#: Longest time until a tree is at rest in the log, in seconds.
REST_S = 30.0
#: Children that write without end. With the others they exceed the limit of working children.
WRITERS = 7
CHILDREN = WRITERS + 3
ALIVE = "nothing that is marked is alive {within:g} s after the cancel"
FURTHER = "no model call follows the cancel"
#: Facts that only a working agent causes.
_WORK = (
    "model.",
    "message.",
    "reasoning.",
    "tool.",
    "permission.evaluated",
    "sandbox.",
    "routing.",
    "output.",
    "cost.",
)
_BEGINS = frozenset({"model.requested", "tool.started", "turn.started", "subagent.started", "subagent.spawned"})


@dataclass
class Tree:
    """One cancelled tree.

    `after` is the last fact before the cancel, `took` the seconds that a marked process lived on.
    """

    session: str
    mark: str
    after: str = ""
    took: float = 0.0
    left: int = 0
    alive: int = 0
    rested: bool = False


def marked(mark: str) -> list[int]:
    """Return the processes of this machine with the word in their arguments or environment."""
    word, processes = mark.encode(), list[int]()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if word in (entry / "cmdline").read_bytes() or word in (entry / "environ").read_bytes():
                processes.append(int(entry.name))
        except OSError:
            # It just ended, or belongs to another user.
            continue
    return processes


def _command(mark: str, who: str) -> scenes.Part:
    lives = f"sh -c 'sleep 600; :' {mark}"
    twice = f'setsid sh -c "({lives} &) ; (setsid {lives} >/dev/null 2>&1 </dev/null &)"'
    return scenes.calls(
        "Bash", command=f"export PROOF_MARK={mark}; {twice}; setsid nohup {lives} & : > {_began(mark, who)}; {lives}"
    )


def _began(mark: str, who: str) -> str:
    return f"began-{mark}-{who}"


def _late(mark: str) -> str:
    return f"late-{mark}.md"


def _answers(number: int, mark: str) -> list[tuple[str, str, list[scenes.Call]]]:
    """Return the answers of one tree's agents."""
    works = ["end at once", "run one", "run two", *["write"] * WRITERS]
    spawns = [[scenes.calls("spawn_subagent", agent="worker", objective=f"{task} {mark}")] for task in works]
    last = [_command(mark, "lead")] if number % 2 else [scenes.calls("wait_subagents")]
    goes_on = scenes.calls("Write", file_path=_late(mark), content="late\n")
    return [
        ("lead", f"tree {mark}", [*spawns, last, [goes_on]]),
        ("worker", f"end at once {mark}", [[scenes.says("Done.")]]),
        ("worker", f"run one {mark}", [[scenes.says("I run it."), _command(mark, "one")], [goes_on]]),
        ("worker", f"run two {mark}", [[_command(mark, "two")], [goes_on]]),
        ("worker", f"write {mark}", [[scenes.says("It begins."), scenes.waits(f"go-{mark}"), goes_on]]),
    ]


class Proof:
    """Trees that are grown and cancelled in one server, in sequence."""

    def __init__(self, report: Report, at: Place, server: Server, within: float) -> None:
        self._report = report
        self._at = at
        self._server = server
        self._within = within

    async def grown(self, mark: str, number: int) -> int:
        """Return the number of facts of a full-grown tree. It is cancelled then."""
        return len((await self.cancelled(mark, number, None, 0.0))[1])

    async def cancelled(self, mark: str, number: int, moment: int | None, late: float) -> tuple[Tree, list[str]]:
        """Grow a tree.

        Cancel it after the fact of that number and this delay, or when it is full-grown. Return it
        with its types of facts.
        """
        followed = await begin(self._server, f"tree {mark}", permissionMode="full")
        tree = Tree(followed.session, mark)
        whole = lambda: self._whole(followed, mark, number)
        struck = lambda: moment is not None and len(followed.facts) >= moment
        assert await followed.until(lambda: struck() or whole()), [fact["type"] for fact in followed.facts][-20:]
        await asyncio.sleep(late)
        before = [fact["type"] for fact in followed.facts]
        tree.after = before[-1] if moment is None else before[min(moment, len(before)) - 1]
        tree.alive = len(marked(mark))
        await do(self._server, "interrupt_turn", sessionId=tree.session, cascade=True, reason="the proof cancels")
        cancelled_at = time.monotonic()
        (self._at.root / f"go-{mark}").touch()
        while left := marked(mark):
            tree.took = time.monotonic() - cancelled_at
            if tree.took > self._within:
                break
            await asyncio.sleep(0.02)
        tree.left = len(left)
        rests = lambda: not followed.open_runs and not followed.open_children
        tree.rested = await followed.until(rests, REST_S if not tree.left else 1.0)
        await followed.close()
        return tree, before

    def judge(self, tree: Tree, facts: list[Fact]) -> None:
        """Check a tree and its facts in the log."""
        check, none = self._report.check, self._report.none
        who = f"{tree.session} ({tree.mark}, behind {tree.after})"
        remaining = f"{who}: {tree.left} processes"
        check(ALIVE.format(within=self._within), not tree.left, remaining)
        check("a cancelled tree comes to rest", tree.rested, who)
        check("nothing that waited for a later event continues", not (self._at.folder / _late(tree.mark)).exists(), who)
        none(
            "no fact of work follows the end of its run or of its child",
            [f"{who}: {problem}" for problem in _after(facts)],
        )
        intent = next((fact for fact in facts if fact.type == "turn.interrupt.requested"), None)
        if not check("a cancel leaves its intent first", intent is not None, who) or intent is None:
            return
        begun = [fact for fact in facts[intent.sequence :] if fact.type in _BEGINS]
        requests = [f"{who}: {fact.sequence}" for fact in begun if fact.type == "model.requested"]
        none(FURTHER, requests)
        others = [f"{who}: {fact.type} {fact.sequence}" for fact in begun if fact.type != "model.requested"]
        none("nothing else begins after the cancel", others)
        none("finished children stay finished, and all others are cancelled", _children(facts, intent.sequence))

    def _whole(self, followed: Followed, mark: str, number: int) -> bool:
        who = ("one", "two", "lead") if number % 2 else ("one", "two")
        begun = all((self._at.folder / _began(mark, child)).exists() for child in who)
        waits = number % 2 or followed.count("subagent.awaited")
        return bool(begun and waits and followed.count("subagent.spawned") == CHILDREN)


def _after(facts: list[Fact]) -> list[str]:
    """Return facts of work after the end of their run or child."""
    ended_runs, ended_threads, problems = set[str](), set[str](), list[str]()
    for fact in facts:
        if fact.type in TURN_ENDS:
            ended_runs.add(fact.id("r"))
        elif fact.type in CHILD_ENDS:
            ended_threads.add(fact.id("t"))
        elif fact.type.startswith(_WORK) and (fact.id("r") in ended_runs or fact.id("t") in ended_threads):
            problems.append(f"{fact.type} {fact.sequence}")
    return problems


def _children(facts: list[Fact], intent: int) -> list[str]:
    ends: dict[str, list[Fact]] = {fact.id("t"): [] for fact in facts if fact.type == "subagent.spawned"}
    for fact in facts:
        if fact.type in CHILD_ENDS:
            ends[fact.id("t")].append(fact)
    problems: list[str] = []
    for child, end in ends.items():
        done = [fact for fact in end if fact.sequence < intent]
        fine = len(end) == 1 and (bool(done) or end[0].type == "subagent.cancelled")
        if not fine:
            problems.append(f"{child}: {[f'{fact.type} {fact.sequence}' for fact in end]}, cancelled at {intent}")
    return problems


async def prove(n: int, sabotage: str, seed: int, within: float = DEAD_S) -> int:
    """Run the proof. `within` is the longest life of marked processes, in seconds."""
    report = Report("prove-cancel")
    draw = random.Random(seed)
    marks = [f"proof{os.getpid()}x{number:05}" for number in range(n + 1)]
    with place() as at:
        lead(at)
        worker(at)
        plays(at, [play for number, mark in enumerate(marks) for play in _answers(number, mark)])
        server = await started(at, sabotage)
        proof = Proof(report, at, server, within)
        trees: list[Tree] = []
        try:
            total = await proof.grown(marks[0], 0)
            moments = [round((number + 0.5) * total / n) + 1 for number in range(n)]
            draw.shuffle(moments)
            for number, moment in enumerate(moments, 1):
                tree, _ = await proof.cancelled(marks[number], number, moment, draw.choice((0, draw.random() / 100)))
                trees.append(tree)
                report.progress(f"tree {number} of {n}: cancelled behind fact {moment} of {total}, {tree.after}")
                if sabotage and tree.left:
                    break
            report.none(
                "nothing of any tree is alive in the end",
                [f"{processes}" for processes in map(marked, marks) if processes],
            )
            log = store.read(at.store)
        finally:
            await server.kill()
            _clean(marks)
        report.none("the chain verifies", log.broken)
        for tree in trees:
            proof.judge(tree, log.facts[tree.session])
        _write_figures(report, trees, total, log)
    return report.end()


def _clean(marks: list[str]) -> None:
    """Ends what a broken product left."""
    for pid in (pid for mark in marks for pid in marked(mark)):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _write_figures(report: Report, trees: list[Tree], total: int, log: store.Log) -> None:
    facts = [fact for tree in trees for fact in log.facts[tree.session]]
    levels = Counter(fact.payload["level"] for fact in facts if fact.type == "sandbox.applied")
    report.figure("trees", f"{len(trees)}, cancelled over the {total} facts of one, each with {CHILDREN} children")
    report.figure(
        "cancelled behind", ", ".join(f"{type} {n}" for type, n in Counter(t.after for t in trees).most_common())
    )
    report.figure("marked processes", quantiles([tree.alive for tree in trees], "at the cancel", 0))
    report.figure("the last was gone after", quantiles([tree.took for tree in trees]))
    report.figure("sandboxes", ", ".join(f"{level} {count}" for level, count in levels.items()) or "none")
    report.figure(
        "children",
        ", ".join(f"{type} {n}" for type, n in Counter(f.type for f in facts if f.type in CHILD_ENDS).items()),
    )
    report.figure("the machine", f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")


def main() -> int:
    options = arguments(__doc__, n=12, help_n="trees").parse_args()
    return run(prove(options.n, options.sabotage, options.seed), longest=120 + 15 * options.n)


if __name__ == "__main__":
    sys.exit(main())
