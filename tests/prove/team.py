"""A team at work: the eleven facts of the Subagents specification's fixture come, in order, out of a real run.

A lead that works by itself delegates with review, the child uses a tool, writes a file and hands a report over, the lead gives
its verdict, and the task ends; a second child works beside it. How fast each speaks is drawn at random. Then the roster, the
graph, the board, the lanes and the runs that the server shows are compared with a fold of the log as it lies on disk.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from . import scenes, store
from .crew import Followed, begin, lead, plays, started, worker
from .driving import snapshot
from .product import Server, place
from .report import Report, arguments, quantiles, run
from .store import Fact
from .team_fold import FIELDS, TeamFold, bare, differences
from .view import View

FIXTURE = (
    "task.created(parent)",
    "subagent.started(child)",
    "channel.opened(parent -> child)",
    "tool.started(child)",
    "tool.result(child)",
    "artifact.changed(child)",
    "handoff.requested(child -> parent)",
    "review.verdict(parent)",
    "subagent.completed(child)",
    "task.completed(parent)",
    "snapshot.updated",
)
ELEVEN = "the eleven facts of the fixture come out of the run, in order"
SHOWN = "the team that is shown is the team that the log gives"
#: How long a run may take to come to rest, and its view to show that, in seconds.
REST_S = 60.0


class Wire(NamedTuple):
    """A fact under the specification's name; `who` says whose it is as the fixture does."""

    name: str
    sequence: int


def wire(facts: list[Fact]) -> Iterator[Wire]:
    """What the facts are called by the Subagents specification; parent and child are those of the first spawn."""
    spawned = next(fact for fact in facts if fact.type == "subagent.spawned")
    child, parent = spawned.id("t"), spawned.id("pt")
    agents = {fact.id("t"): fact.id("g") for fact in facts if fact.type == "thread.opened"}
    root = next(fact.id("w") for fact in facts if fact.type == "task.created" and fact.id("t") == parent)
    for fact in facts:
        names: list[str] = []
        of_child = fact.id("t") == child
        match fact.type:
            case "task.created" | "task.completed" if fact.id("w") == root:
                names = [f"{fact.type}(parent)"]
            case "subagent.started" | "subagent.completed" | "tool.started" if of_child:
                names = [f"{fact.type}(child)"]
            case "tool.completed" if of_child:
                names = ["tool.result(child)", *["artifact.changed(child)"] * bool(fact.payload.get("changes"))]
            case "channel.opened" if fact.payload["participants"] == [agents[parent], agents[child]]:
                names = ["channel.opened(parent -> child)"]
            case "handoff.requested" if (fact.payload["source"], fact.payload["target"]) == (
                agents[child],
                agents[parent],
            ):
                names = ["handoff.requested(child -> parent)"]
            case "review.verdict" if fact.payload["reviewer"] == agents[parent]:
                names = ["review.verdict(parent)"]
            case "snapshot.updated":
                names = ["snapshot.updated"]
            case _:
                pass
        yield from (Wire(name, fact.sequence) for name in names)


def missing(facts: list[Fact]) -> list[str]:
    """The facts of the fixture that do not come behind those before them."""
    found: list[str] = [*FIXTURE]
    for event in wire(facts):
        if found and event.name == found[0]:
            found.pop(0)
    return found


#: The ids that each family must carry (Subagents specification, Runtime facts): what makes one up, by its short name.
_REQUIRED: dict[str, tuple[Callable[[Fact], Any], ...]] = {
    "task": (lambda fact: fact.stream, lambda fact: fact.id("w")),
    "subagent": (lambda fact: fact.id("w"), lambda fact: fact.id("g"), lambda fact: fact.id("pr")),
    "worker": (lambda fact: fact.id("g"), lambda fact: fact.id("w")),
    "channel": (
        lambda fact: fact.id("ch"),
        lambda fact: fact.payload["participants"],
        lambda fact: fact.id("w") or fact.id("r"),
    ),
    "handoff": (lambda fact: fact.id("h"), lambda fact: fact.payload["source"], lambda fact: fact.payload["target"]),
    "review": (lambda fact: fact.id("v"), lambda fact: fact.id("w")),
}


def without_ids(facts: list[Fact]) -> list[str]:
    """The facts that lack an id of their family. One that waits for children is of a call, and not of a child."""
    return [
        f"{fact.type} {fact.sequence}"
        for fact in facts
        if fact.type != "subagent.awaited"
        and not all(one(fact) for one in _REQUIRED.get(fact.type.partition(".")[0], ()))
    ]


def _scenario(draw: random.Random) -> list[tuple[str, str, list[scenes.Call]]]:
    def paced(text: str, kind: str = "reasoning") -> scenes.Part:
        return scenes.says(text, kind=kind, chunk=4, delay_ms=draw.randrange(6))

    delegates = [
        scenes.calls("spawn_subagent", agent="worker", objective="write the note", title="The note", review=True),
        scenes.calls("spawn_subagent", agent="worker", objective="look around", role="researcher"),
        scenes.calls("wait_subagents", agents=["worker-1"]),
        scenes.calls("submit_verdict", agent="worker-1", verdict="passed", summary="It says what it should."),
        scenes.calls("wait_subagents"),
        scenes.calls("Finalize", summary="The note is there."),
    ]
    note = scenes.calls("Write", file_path="note.md", content="# A note\n")
    report = scenes.calls("send_handoff", to="lead", message="note.md is written", status={"ok": True})
    return [
        ("lead", "have a note written", [[paced("So be it."), call] for call in delegates]),
        # It is woken by what its children sent it.
        ("lead", "", [[paced("I have read it."), scenes.calls("Finalize", summary="All is told.")]]),
        (
            "worker",
            "write the note",
            [[paced("I write."), note], [report], [paced("It is written.", "text"), scenes.told(9)]],
        ),
        (
            "worker",
            "look around",
            [[paced("I look around me, and further."), scenes.calls("Glob", pattern="*.md")], [paced("Seen.", "text")]],
        ),
    ]


async def _run(server: Server) -> Followed:
    followed = await begin(server, "have a note written", mode="auto", permissionMode="edits")
    rests = lambda: not followed.open_runs and not followed.open_children and followed.count("snapshot.updated")
    await followed.until(rests, REST_S)
    await followed.close()
    return followed


async def _shown(server: Server, session: str, head: int) -> View:
    """What a client is shown once the view is at the newest fact."""
    end = time.monotonic() + REST_S
    view = await snapshot(server, session)
    while view.sequence < head and time.monotonic() < end:
        view = await snapshot(server, session)
    return view


def _judge(report: Report, facts: list[Fact], view: View, forgets: str) -> None:
    who = facts[0].stream
    lacks = missing(facts)
    report.check(ELEVEN, not lacks, f"{who}: {lacks}")
    report.none("every fact has the ids that its family requires", [f"{who}: {one}" for one in without_ids(facts)])
    report.check("the view shows every fact", view.sequence == len(facts), f"{view.sequence} of {len(facts)}")
    should = TeamFold(fact for fact in facts if fact.type != forgets).shown()
    has = {panel: {key: bare(panel, row) for key, row in view.rows.get(panel, {}).items()} for panel in FIELDS}
    report.none(SHOWN, [f"{who}: {one}" for one in differences(has, should)])


async def prove(n: int, sabotage: str, seed: int) -> int:
    """`sabotage` is a fault of `planted`, or `forget:TYPE` for a fold that overlooks the facts of a type."""
    report = Report("prove-team")
    draw = random.Random(seed)
    forgets = sabotage.removeprefix("forget:") if sabotage.startswith("forget:") else ""
    lengths: list[int] = []
    for number in range(1, n + 1):
        with place() as at:
            lead(at)
            worker(at)
            plays(at, _scenario(draw))
            server = await started(at, "" if forgets else sabotage)
            try:
                followed = await _run(server)
                log = store.read(at.store)
                facts = log.facts[followed.session]
                view = await _shown(server, followed.session, len(facts))
            finally:
                await server.kill()
            report.none("the chain verifies", log.broken)
            _judge(report, facts, view, forgets)
            lengths.append(len(facts))
            report.progress(f"run {number} of {n}: {len(facts)} facts")
    report.figure("runs", f"{n}, {quantiles(lengths, 'facts', 0)}")
    for panel, fields in FIELDS.items():
        report.figure(f"compared of {panel}", ", ".join(fields))
    report.figure("the machine", f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
    return report.end()


def main() -> int:
    options = arguments(__doc__, n=6, help_n="runs").parse_args()
    return run(prove(options.n, options.sabotage, options.seed), longest=120 + 15 * options.n)


if __name__ == "__main__":
    sys.exit(main())
