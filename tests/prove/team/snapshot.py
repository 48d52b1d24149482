"""The team from task snapshots alone, and from facts, without code of the product.

`ALL` are the fields of each surface (Subagents specification, Snapshot and UI projection).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tests.prove.driver.store import Fact
from tests.prove.team.fold import Row, TeamFold

Team = dict[str, dict[str, Row]]
ALL: dict[str, tuple[str, ...]] = {
    "roster": (
        *("subagentId", "taskId", "parentTaskId", "parentRunId", "role", "status", "currentStepId", "channelIds"),
        *("toolCallIds", "artifactRefs", "evidenceRefs", "lastEventCursor"),
    ),
    "graph": ("source", "target"),
    "board": (
        *("taskId", "title", "status", "assignee", "parentTaskId", "dependsOn", "entity", "paused", "cancelling"),
        *("phase", "counters", "attempts", "refs"),
    ),
}
#: A roster's states as a snapshot names them, of a child at rest.
_STATUS = {
    "spawning": "queued",
    "running": "running",
    "waiting": "waiting",
    "completed": "completed",
    "failed": "failed",
    "killed": "cancelled",
}


def team_of(tasks: Iterable[Row]) -> Team:
    """Return roster, graph and board from task snapshots alone."""
    team: Team = {surface: {} for surface in ALL}
    for task in tasks:
        team["board"][task["taskId"]] = _plain("board", task)
        for child in task["subagents"]:
            team["roster"][child["subagentId"]] = _plain("roster", child)
            source, target = child["parentAgentId"], child["subagentId"]
            team["graph"][f"{source}>{target}"] = {"source": source, "target": target}
    return team


def team_of_facts(facts: Sequence[Fact]) -> Team:
    """Return the same from the facts."""
    panels = TeamFold(facts).panels
    team: Team = {surface: {} for surface in ALL}
    for key, task in panels["tasks"].items():
        whole = {"taskId": key, "parentTaskId": task["parentTask"]}
        team["board"][key] = _plain("board", task | whole)
    for agent, row in panels["agents"].items():
        if not row["parentThreadId"]:
            continue
        mine = [fact for fact in facts if fact.id("g") == agent]
        changes = [change["path"] for fact in mine for change in (fact.payload.get("changes") or ())]
        channels = [fact for fact in facts if fact.type == "channel.opened" and agent in fact.payload["participants"]]
        statuses = {
            "subagentId": agent,
            "taskId": row["taskId"],
            "parentTaskId": panels["tasks"][row["taskId"]]["parentTask"],
            "parentRunId": row["parentRunId"],
            "role": row["role"],
            "status": _STATUS[row["state"]],
            "channelIds": [fact.id("ch") for fact in channels],
            "toolCallIds": [fact.id("k") for fact in mine if fact.type == "tool.requested"],
            "artifactRefs": [{"type": "file", "ref": path} for path in dict.fromkeys(changes)],
            "evidenceRefs": _evidence(facts, agent),
            "lastEventCursor": f"{mine[-1].stream}/{mine[-1].sequence}",
        }
        team["roster"][agent] = _plain("roster", statuses)
        source = row["parentAgentId"]
        team["graph"][f"{source}>{agent}"] = {"source": source, "target": agent}
    return team


def compared(has: Team, should: Team) -> list[str]:
    """Return the differences as text."""
    problems: list[str] = []
    for surface, rows in should.items():
        mine = has[surface]
        if set(mine) != set(rows):
            problems.append(f"the {surface} has {sorted(mine)} and should have {sorted(rows)}")
        for key in mine.keys() & rows.keys():
            fields = [name for name in ALL[surface] if mine[key].get(name) != rows[key].get(name)]
            problems += [
                f"{surface} {key}.{name} is {mine[key].get(name)!r}, not {rows[key].get(name)!r}" for name in fields
            ]
    return problems


def _evidence(facts: Sequence[Fact], agent: str) -> list[Any]:
    """Return the references of reviews of the agent's work."""
    reviews = (fact for fact in facts if fact.type in ("review.requested", "review.verdict"))
    return [ref for fact in reviews if fact.payload["target"] == agent for ref in (fact.payload.get("refs") or ())]


def _plain(surface: str, row: Row) -> Row:
    fields = {name: row[name] for name in ALL[surface] if row.get(name) not in (None, "", [], {}, False)}
    if "attempts" in fields:
        fields["attempts"] = [
            {name: value for name, value in attempt.items() if value} for attempt in fields["attempts"]
        ]
    return fields
