"""Proof that a real run has the eleven facts of the Subagents specification's fixture, in order.

A lead delegates with review. The child uses a tool, writes a file and hands over a report, the lead
gives its verdict, and the task ends. A second child works beside it, and a person adds a sleeping
agent and works on a card of the board. The speed of each is random. Then the proof compares the
roster, the graph, the board, the lanes and the runs that the server shows with a fold of the log on
disk, and also the roster, the graph and the board from its task snapshots alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from typing import Any

from tests.prove.driver import scenes, store
from tests.prove.driver.crew import Followed, agent, begin, lead, plays, started, worker
from tests.prove.driver.product import ROOT, Place, Server, place
from tests.prove.driver.report import Report, arguments, quantiles, run
from tests.prove.driver.session_driver import do, snapshot
from tests.prove.driver.store import Fact
from tests.prove.driver.view import View
from tests.prove.team.fold import FIELDS, TeamFold, bare, differences
from tests.prove.team.snapshot import ALL, compared, team_of, team_of_facts

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
ALONE = "roster, graph and board made of task snapshots alone are those of the facts"
SAME_TEAM = "the team that is shown is the team that the log gives"
Row = dict[str, Any]
#: Reference of the verdict.
EVIDENCE = [{"type": "file", "ref": "note.md"}]
#: Time limits until a run is at rest, and until its view shows that, in seconds.
REST_S = 60.0


async def _read_reports(at: Place, session: str) -> Row:
    """Return the product's reports of the session besides its rows (`session_reports`)."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.prove.driver.session_reports", str(at.store), session),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, f"what the product says could not be read: {process.returncode}"
    return json.loads(output)


def _named(event: Row, parent: str, child: str, root: str) -> str:
    """Return the fixture's name of the event; empty if it has none."""
    own, of_child = event.get("taskId") == root, event.get("subagentId") == child
    between = (event.get("sourceId"), event.get("targetId"))
    ids = {
        "task.created": "(parent)" * own,
        "task.completed": "(parent)" * own,
        "channel.opened": "(parent -> child)" * (event.get("participants") == [parent, child]),
        "handoff.requested": "(child -> parent)" * (between == (child, parent)),
        "review.verdict": "(parent)" * (event["payload"].get("reviewer") == parent),
        "snapshot.updated": "" if own else "(of another)",
    }
    return event["type"] + ids.get(event["type"], "(child)" * of_child)


def missing(facts: list[Fact], events: list[Row]) -> list[str]:
    """Return the facts of the fixture that do not follow those before them.

    Parent and child are those of the first spawn.
    """
    spawned = next(fact for fact in facts if fact.type == "subagent.spawned")
    agents = {fact.id("t"): fact.id("g") for fact in facts if fact.type == "thread.opened"}
    parent = spawned.id("pt")
    root = next((fact.id("w") for fact in facts if fact.type == "task.created" and fact.id("t") == parent), "")
    missing_types: list[str] = [*FIXTURE]
    for event in events:
        if missing_types and _named(event, agents[parent], spawned.id("g"), root) == missing_types[0]:
            missing_types.pop(0)
    return missing_types


#: Required ids of each family (Subagents specification, Runtime facts). Of alternatives one is
#: enough.
_REQUIRED: dict[str, tuple[tuple[str, ...], ...]] = {
    "task": (("sessionId",), ("taskId",)),
    "subagent": (("taskId",), ("subagentId",), ("parentTaskId", "parentRunId")),
    "worker": (("workerId",), ("taskId", "subagentId", "jobId")),
    "channel": (("channelId",), ("participants",), ("taskId", "runId")),
    "handoff": (("handoffId",), ("sourceId",), ("targetId",)),
    "review": (("reviewId",), ("refs",), ("taskId",)),
}


def without_ids(events: list[Row]) -> list[str]:
    """Return the events that lack an id of their family. Refs may be empty and must exist."""
    return [
        f"{event['type']} {event['sequence']}: {', '.join(names)}"
        for event in events
        for names in _REQUIRED.get(event["type"].partition(".")[0], ())
        if not any(event.get(name) or (name == "refs" and name in event) for name in names)
    ]


def _scenario(draw: random.Random) -> list[tuple[str, str, list[scenes.Call]]]:
    def paced(text: str, kind: str = "reasoning") -> scenes.Part:
        return scenes.says(text, kind=kind, chunk=4, delay_ms=draw.randrange(6))

    delegates = [
        scenes.calls("spawn_subagent", agent="worker", objective="write the note", title="The note", review=True),
        scenes.calls("spawn_subagent", agent="worker", objective="look around", role="researcher"),
        scenes.calls("wait_subagents", agents=["worker-1"]),
        scenes.calls(
            "submit_verdict", agent="worker-1", verdict="passed", summary="It says what it should.", refs=EVIDENCE
        ),
        scenes.calls("wait_subagents"),
        scenes.calls("Finalize", summary="The note is there."),
    ]
    note = scenes.calls("Write", file_path="note.md", content="# A note\n")
    report = scenes.calls("send_handoff", to="lead", message="note.md is written", status={"ok": True})
    return [
        ("lead", "have a note written", [[paced("So be it."), call] for call in delegates]),
        # Its children's messages wake it.
        ("lead", "", [[paced("I have read it."), scenes.calls("Finalize", summary="All is reported.")]]),
        (
            "worker",
            "write the note",
            [[paced("I write."), note], [report], [paced("It is written.", "text"), scenes.usage(9)]],
        ),
        (
            "worker",
            "look around",
            [[paced("I look around me, and further."), scenes.calls("Glob", pattern="*.md")], [paced("Seen.", "text")]],
        ),
    ]


async def _person(server: Server, session: str) -> None:
    """Do a person's work beside the run: add a sleeping agent, and work on the board."""
    await do(server, "add_agent", sessionId=session, agent="watcher")
    for command, more in _BOARD:
        await do(server, command, sessionId=session, taskId="tsk_board", **more)


#: A person's steps with a card of the board, in this order.
_BOARD: tuple[tuple[str, Row], ...] = (
    ("create_task", {"title": "Read it again"}),
    (
        "append_task_progress",
        {"phase": "reading", "counters": {"pages": 3}, "progress": "half of it", "refs": [EVIDENCE[0]]},
    ),
    ("pause_task", {}),
    ("resume_task", {}),
    ("complete_task", {"summary": "It reads well."}),
)


async def _run(server: Server) -> Followed:
    followed = await begin(server, "have a note written", mode="auto", permissionMode="edits")
    await _person(server, followed.session)
    rests = lambda: not followed.open_runs and not followed.open_children and followed.count("snapshot.updated")
    await followed.until(rests, REST_S)
    await followed.close()
    return followed


async def _read_view(server: Server, session: str, head: int) -> View:
    """Return a client's view when it has the newest fact."""
    end = time.monotonic() + REST_S
    view = await snapshot(server, session)
    while view.sequence < head and time.monotonic() < end:
        view = await snapshot(server, session)
    return view


def _judge(report: Report, facts: list[Fact], view: View, reports: Row, forgets: str) -> None:
    who = facts[0].stream
    lacks = missing(facts, reports["events"])
    report.check(ELEVEN, not lacks, f"{who}: {lacks}")
    report.none(
        "every event has the ids that its family requires",
        [f"{who}: {problem}" for problem in without_ids(reports["events"])],
    )
    report.check("the view shows every fact", view.sequence == len(facts), f"{view.sequence} of {len(facts)}")
    facts_left = [fact for fact in facts if fact.type != forgets]
    should = TeamFold(facts_left).rows()
    has = {panel: {key: bare(panel, row) for key, row in view.rows.get(panel, {}).items()} for panel in FIELDS}
    report.none(SAME_TEAM, [f"{who}: {difference}" for difference in differences(has, should)])
    apart = compared(team_of(reports["tasks"]), team_of_facts(facts_left))
    report.none(ALONE, [f"{who}: {difference}" for difference in apart])
    fresh = [task for task in reports["tasks"] if task["state"] or task["through"] != len(facts)]
    report.check("every snapshot is whole up to the newest fact", not fresh, f"{who}: {fresh[:1]}")


async def prove(n: int, sabotage: str, seed: int) -> int:
    """Run the proof.

    `sabotage` is a fault of `planted`, or `forget:TYPE` for a fold that ignores facts of a type.
    """
    report = Report("prove-team")
    draw = random.Random(seed)
    forgets = sabotage.removeprefix("forget:") if sabotage.startswith("forget:") else ""
    lengths: list[int] = []
    for number in range(1, n + 1):
        with place() as at:
            lead(at)
            worker(at)
            agent(at, "watcher", kind="background", tools=["Read"], policy=["Finalize"], schedule={"every": "12h"})
            plays(at, _scenario(draw))
            server = await started(at, "" if forgets else sabotage)
            try:
                followed = await _run(server)
                log = store.read(at.store)
                facts = log.facts[followed.session]
                view = await _read_view(server, followed.session, len(facts))
                reports = await _read_reports(at, followed.session)
            finally:
                await server.kill()
            report.none("the chain verifies", log.broken)
            _judge(report, facts, view, reports, forgets)
            lengths.append(len(facts))
            report.progress(f"run {number} of {n}: {len(facts)} facts")
    report.figure("runs", f"{n}, {quantiles(lengths, 'facts', 0)}")
    for panel, fields in FIELDS.items():
        report.figure(f"compared of {panel}", ", ".join(fields))
    for surface, fields in ALL.items():
        report.figure(f"compared of the {surface} of snapshots", ", ".join(fields))
    report.figure("the machine", f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
    return report.end()


def main() -> int:
    options = arguments(__doc__, n=6, help_n="runs").parse_args()
    return run(prove(options.n, options.sabotage, options.seed), longest=120 + 15 * options.n)


if __name__ == "__main__":
    sys.exit(main())
