"""Expected roster, graph, board, lanes and runs of a team at rest, folded from facts without code
of the product.

`FIELDS` are the compared fields of each panel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.prove.driver.store import Fact

Row = dict[str, Any]
Panels = dict[str, dict[str, Row]]

_USAGE = ("modelCalls", "toolCalls")
FIELDS: dict[str, tuple[str, ...]] = {
    "agents": (
        *("agentId", "name", "threadId", "agentKind", "role", "state", "definition", "parentThreadId", "parentAgentId"),
        *(
            "parentRunId",
            "taskId",
            "objective",
            "isolation",
            "latestTurn",
            "latestTurnStatus",
            "currentRun",
            "queuedTurns",
        ),
        *("inbox", "blockedOn", "result", "usage", "policy", "background"),
    ),
    "tasks": (
        *("title", "status", "objective", "assignee", "parentTask", "dependsOn", "summary", "blocker", "attempts"),
        *("created", "ended", "entity", "paused", "cancelling", "phase", "counters", "refs", "progress"),
    ),
    "edges": ("edgeType", "source", "target"),
    "handoffs": ("source", "target", "edge", "state", "payload", "requested", "accepted", "ended"),
    "notifications": ("agentId", "parentAgentId", "taskId", "status", "result", "transcript", "at", "consumed"),
    "reviews": ("reviewer", "target", "taskId", "state", "summary", "requested", "judged"),
    "runs": (
        *(
            "agentId",
            "agentKind",
            "threadId",
            "turnId",
            "status",
            "parentRunId",
            "taskId",
            "detail",
            "started",
            "ended",
        ),
        "usage",
    ),
}
_EMPTY = (None, "", 0, [], {}, False, "shared", "work_item")
_ENDED = {
    "subagent.completed": "completed",
    "subagent.failed": "failed",
    "subagent.cancelled": "killed",
    "subagent.closed": "closed",
}
_TURNS = {"turn.completed": "completed", "turn.failed": "failed", "turn.interrupted": "interrupted"}
_RESTS = {"turn.completed": "idle", "turn.failed": "failed", "turn.interrupted": "waiting"}
_TASKS = {"task.completed": "done", "task.failed": "blocked", "task.cancelled": "cancelled"}
_MEANT = ("person", "replaced", "cancelled", "closed")
_OUTCOMES = {"passed": "passed", "failed": "failed", "changes_requested": "changes_requested"}


class TeamFold:
    """The team of one session after some facts.

    Keys are those of the product's rows, if it names them.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.panels: Panels = {panel: {} for panel in FIELDS}
        self._threads: dict[str, Row] = {}
        self._waiting: dict[str, list[str]] = {}
        self._children: set[str] = set()
        self._parent_of_item: dict[str, str] = {}
        takes: dict[str, Callable[[Fact], None]] = {
            "thread": self._thread,
            "turn": self._turn,
            "queue": self._queue,
            "model": self._used,
            "tool": self._used,
            "subagent": self._child,
            "task": self._task,
            "agent": self._slept,
            "handoff": self._handoff,
            "inbox": self._inbox,
            "channel": self._message,
            "worker": self._notified,
            "review": self._review,
        }
        for fact in facts:
            take = takes.get(fact.type.partition(".")[0])
            if take is not None:
                take(fact)

    def rows(self) -> Panels:
        """Return the rows without empty fields."""
        for row in self._threads.values():
            row["inbox"] = len(self._waiting[row["threadId"]])
        return {panel: {key: bare(panel, row) for key, row in rows.items()} for panel, rows in self.panels.items()}

    def _thread(self, fact: Fact) -> None:
        if fact.type != "thread.opened":
            return
        parent = self._threads.get(fact.id("pt"), {})
        row: Row = {
            "agentId": fact.id("g"),
            "name": fact.payload["agentName"],
            "threadId": fact.id("t"),
            "agentKind": "subagent" if parent else fact.payload["kind"],
            "role": fact.payload.get("role", "custom"),
            "state": "spawning" if parent else "idle",
            "definition": fact.payload["definition"],
            "parentThreadId": fact.id("pt"),
            "parentAgentId": parent.get("agentId"),
            "parentRunId": fact.id("pr"),
            "taskId": fact.id("w") if parent else "",
            "isolation": "shared",
            "policy": fact.payload.get("policy"),
            "usage": dict.fromkeys(_USAGE, 0),
        }
        self.panels["agents"][fact.id("g")] = self._threads[fact.id("t")] = row
        self._waiting[fact.id("t")] = []
        if parent:
            self._children.add(fact.id("t"))
            self._edge("child", parent["agentId"], fact.id("g"))

    def _turn(self, fact: Fact) -> None:
        row, run = self._threads[fact.id("t")], fact.id("r")
        if fact.type == "turn.submitted":
            return
        if fact.type == "turn.started":
            row |= {"latestTurn": fact.id("u"), "latestTurnStatus": "running", "currentRun": run, "state": "running"}
            row["queuedTurns"] = max(row.get("queuedTurns", 0) - 1, 0)
            child = fact.id("t") in self._children
            self.panels["runs"][run] = {
                **{name: row[name] for name in ("agentId", "agentKind", "threadId")},
                "turnId": fact.id("u"),
                "status": "running",
                "started": fact.at,
                "parentRunId": row["parentRunId"],
                "taskId": row["taskId"] if child else "",
                "usage": dict.fromkeys(_USAGE, 0),
            }
            if child:
                # A child's objective is one attempt, however many runs it takes.
                attempts = self._attempts(row["taskId"])
                if not attempts:
                    attempts.append({"number": 1, "agentId": fact.id("g"), "started": fact.at})
                attempts[-1] |= {"runId": run, "status": "running", "detail": "", "ended": 0}
                self.panels["tasks"][row["taskId"]]["status"] = "running"
        elif fact.type in _TURNS:
            row |= {"latestTurnStatus": _TURNS[fact.type], "currentRun": "", "state": _RESTS[fact.type]}
            if fact.type == "turn.interrupted" and fact.id("t") not in self._children:
                row["state"] = "idle"
            status = _TURNS[fact.type]
            cause = fact.payload.get("cause", "")
            if status == "interrupted":
                status = "cancelled" if cause in _MEANT else "failed"
            detail = cause or fact.payload.get("code", "")
            self.panels["runs"][run] |= {"status": status, "ended": fact.at, "detail": detail}
            for attempts in (task.get("attempts", []) for task in self.panels["tasks"].values()):
                for attempt in attempts:
                    if attempt["runId"] == run and attempt["status"] == "running":
                        attempt |= {"status": status, "detail": detail, "ended": fact.at}

    def _queue(self, fact: Fact) -> None:
        change = {"queue.added": 1, "queue.removed": -1}.get(fact.type, 0)
        row = self._threads[fact.id("t")]
        row["queuedTurns"] = row.get("queuedTurns", 0) + change

    def _used(self, fact: Fact) -> None:
        counter = {"model.requested": "modelCalls", "tool.started": "toolCalls"}.get(fact.type)
        if counter is not None:
            self._threads[fact.id("t")]["usage"][counter] += 1
            self.panels["runs"][fact.id("r")]["usage"][counter] += 1

    def _child(self, fact: Fact) -> None:
        if fact.type == "subagent.awaited":
            return
        row = self._threads[fact.id("t")]
        match fact.type:
            case "subagent.spawned":
                row |= {"role": fact.payload["role"], "objective": fact.payload["objective"], "state": "spawning"}
                row["isolation"] = fact.payload["isolation"]
            case "subagent.queued":
                row["state"] = "waiting"
            case "subagent.started":
                row["state"] = "running"
                self.panels["tasks"][fact.id("w")]["status"] = "running"
            case "subagent.continued":
                row |= {"state": "waiting", "taskId": fact.id("w"), "parentRunId": fact.id("pr")}
                row["usage"] = dict.fromkeys(_USAGE, 0)
            case _ if fact.type in _ENDED:
                row |= {"state": _ENDED[fact.type], "queuedTurns": 0}
                row["result"] = fact.payload.get("result", row.get("result"))
            case _:
                pass

    def _task(self, fact: Fact) -> None:
        payload, rows = fact.payload, self.panels["tasks"]
        if fact.type == "task.created":
            names = ("title", "objective", "assignee", "parentTask", "dependsOn")
            row = {name: payload.get(name) for name in names} | {"entity": payload.get("entity", "work_item")}
            row |= {"status": "claimed" if payload.get("assignee") else "open", "created": fact.at}
            rows[fact.id("w")] = row
            if fact.id("r") and not fact.id("pt"):
                tried = {"runId": fact.id("r"), "number": 1, "agentId": fact.id("g"), "started": fact.at}
                row |= {"status": "running", "attempts": [tried | {"status": "running"}]}
            return
        row = rows[fact.id("w")]
        running = [attempt for attempt in row.get("attempts", []) if attempt["status"] == "running"]
        if fact.type == "task.updated":
            row |= {name: value for name, value in payload.items() if name in FIELDS["tasks"] and value is not None}
        elif fact.type == "task.started":
            tried = {
                "runId": fact.id("r"),
                "number": fact.scope["n"],
                "agentId": payload["assignee"],
                "started": fact.at,
            }
            row |= {"status": "running", "assignee": payload["assignee"], "blocker": "", "ended": 0}
            self._attempts(fact.id("w")).append(tried | {"status": "running"})
        elif fact.type == "task.paused":
            row |= {"status": "blocked", "paused": True, "blocker": payload.get("reason")}
        elif fact.type == "task.resumed":
            resting = "claimed" if row["assignee"] else "open"
            row |= {"status": "running" if running else resting, "paused": False, "blocker": ""}
        elif fact.type == "task.cancel.requested":
            row["cancelling"] = True
        else:
            row |= {"status": _TASKS[fact.type], "ended": fact.at}
            how = {"done": "completed", "blocked": "failed", "cancelled": "cancelled"}[row["status"]]
            for attempt in running:
                attempt |= {"status": how, "detail": payload.get("code", ""), "ended": fact.at}
            if fact.type != "task.failed":
                row |= {"paused": False, "refs": payload.get("refs") or row.get("refs")}
            match fact.type:
                case "task.completed":
                    row |= {"summary": payload.get("summary"), "blocker": ""}
                case "task.failed":
                    row["blocker"] = payload.get("message") or payload.get("code")
                case _:
                    row["summary"] = payload.get("reason")

    def _slept(self, fact: Fact) -> None:
        """An agent that has not run yet waits for its first time."""
        if fact.type == "agent.slept":
            names = ("schedule", "wakeAt", "wakeOn")
            fields = {name: fact.payload[name] for name in names if fact.payload.get(name)}
            self._threads[fact.id("t")]["background"] = {"state": "scheduled", "taskId": fact.id("w"), **fields}

    def _handoff(self, fact: Fact) -> None:
        payload, rows, key = fact.payload, self.panels["handoffs"], fact.id("h")
        match fact.type:
            case "handoff.requested":
                rows[key] = {name: payload[name] for name in ("source", "target", "edge", "payload")}
                rows[key] |= {"state": "handoff_requested", "requested": fact.at}
                self._waiting[payload["toThread"]].append(key)
            case "handoff.accepted":
                rows[key] |= {"state": "active" if payload.get("ownership") else "accepted", "accepted": fact.at}
            case "handoff.completed":
                rows[key] |= {"state": "returned" if payload.get("returned") else "completed", "ended": fact.at}
            case "handoff.rejected":
                rows[key] |= {"state": "rejected", "ended": fact.at}
                self._waiting[payload["toThread"]].append(f"{key}.rejected")
            case _:
                raise AssertionError(f"the team's fold does not know {fact.type}")

    def _inbox(self, fact: Fact) -> None:
        if fact.type == "inbox.consumed":
            mine = self._waiting[fact.id("t")]
            self._waiting[fact.id("t")] = [item for item in mine if item not in fact.payload["items"]]
            for row in self.panels["notifications"].values():
                row["consumed"] = row["consumed"] or row["_item"] in fact.payload["items"]

    def _message(self, fact: Fact) -> None:
        for thread in fact.payload.get("toThreads", ()) if fact.type == "channel.message" else ():
            self._waiting[thread].append(fact.payload["item"])

    def _notified(self, fact: Fact) -> None:
        payload = fact.payload
        names = ("status", "result", "transcript")
        self.panels["notifications"][f"{fact.stream}/{fact.sequence}"] = {
            "agentId": fact.id("g"),
            "parentAgentId": self._threads[payload["toThread"]]["agentId"],
            "taskId": fact.id("w"),
            "at": fact.at,
            # Apply a child's end at once, as the result of the call reports it.
            "consumed": not payload.get("item"),
            "_item": payload.get("item"),
            **{name: payload.get(name) for name in names},
        }
        if payload.get("item"):
            self._waiting[payload["toThread"]].append(payload["item"])
        if payload["status"] in ("interrupted", "ready_for_review"):
            self._threads[fact.id("t")]["state"] = "waiting"

    def _review(self, fact: Fact) -> None:
        payload, rows = fact.payload, self.panels["reviews"]
        match fact.type:
            case "review.requested":
                rows[fact.id("v")] = {
                    "reviewer": payload["reviewer"],
                    "target": payload["target"],
                    "taskId": fact.id("w"),
                    "state": "requested",
                    "requested": fact.at,
                }
                self.panels["tasks"][fact.id("w")]["status"] = "reviewing"
            case "review.verdict":
                rows[fact.id("v")] |= {"state": _OUTCOMES[payload["verdict"]], "judged": fact.at}
                rows[fact.id("v")] |= {"summary": payload.get("summary"), "reviewer": payload["reviewer"]}
            case _:
                rows[fact.id("v")]["state"] = "applied"

    def _edge(self, kind: str, source: str, target: str) -> None:
        row = {"edgeType": kind, "source": source, "target": target}
        self.panels["edges"][f"{kind}:{source}>{target}"] = row

    def _attempts(self, task: str) -> list[Row]:
        return self.panels["tasks"][task].setdefault("attempts", [])


def bare(panel: str, row: Row) -> Row:
    """Return the compared fields of a row, without empty and default ones."""
    return {name: value for name in FIELDS[panel] if (value := _full(name, row.get(name))) not in _EMPTY}


def _full(name: str, value: Any) -> Any:
    if name == "usage":
        return {field: value[field] for field in _USAGE if (value or {}).get(field)}
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if item not in (None, "", [], {})}
    if isinstance(value, list):
        return [_full("", item) for item in value]
    return value


def differences(has: Panels, should: Panels) -> list[str]:
    """Return the differences between the shown and the expected rows, as text."""
    problems: list[str] = []
    for panel, rows in should.items():
        mine = has.get(panel, {})
        if set(mine) != set(rows):
            problems.append(f"{panel} has {sorted(mine)} and should have {sorted(rows)}")
        for key in mine.keys() & rows.keys():
            expected, other = mine[key], rows[key]
            names = [name for name in FIELDS[panel] if expected.get(name) != other.get(name)]
            problems += [
                f"{panel} {key}.{name} is {expected.get(name)!r} and should be {other.get(name)!r}" for name in names
            ]
    return problems
