"""Expected view of a client, folded from facts by the specification, without code of the product.

It folds histories at rest: a working turn has no settled status line, and is in `working`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.prove.driver.artifact_fold import ArtifactFold
from tests.prove.driver.store import Fact
from tests.prove.driver.view import Row, plain

#: After every step of a run.
_LAST = 1 << 30
_LOST = "The process that ran this ended. Whether it took effect is unknown."
_STOPPED = {True: "Stopped before its end.", False: "Not begun: the turn was stopped before."}
#: Calls of remote agents that ask for something. They are no tools.
_NO_TOOL = ("RemoteInput", "RemoteAuth")
_OUTCOMES = {"approve": "approved", "reject": "rejected", "answer": "answered"}
_ENDS = {"turn.completed": "completed", "turn.failed": "failed", "turn.interrupted": "interrupted"}
_RESTS = {
    "turn.completed": ("done", "completed"),
    "turn.failed": ("failed", "failed"),
    "turn.interrupted": ("done", "interrupted"),
    "thread.paused": ("blocked", "paused"),
    "thread.resumed": ("idle", "ready"),
}

#: Stations of the gate.
_STATIONS = ("hooks", "tools", "policy", "mode", "paths", "rules", "approval", "sandbox")


@dataclass
class _Thread:
    row: Row
    parent: str = ""
    run: str = ""
    turn: str = ""
    started: int = 0
    open: bool = False
    ended: str = ""
    rest: tuple[str, str] = ("idle", "ready")
    waiting: dict[str, str] = field(default_factory=dict[str, str])


class Fold:
    """The view of one session after some facts."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.session: Row = {}
        self.turns: dict[str, Row] = {}
        self.parts: dict[str, tuple[tuple[int, int, str], Row]] = {}
        self.queue: dict[str, list[str]] = {}
        self.actions: dict[str, Row] = {}
        self.artifacts = ArtifactFold()
        self._threads: dict[str, _Thread] = {}
        self._files: dict[str, set[str]] = {}
        self._since_call: dict[str, list[str]] = {}
        self._remote_requests: dict[str, str] = {}
        for fact in facts:
            self._take(fact)

    @property
    def working(self) -> list[str]:
        """Return the turns that an agent should work on: open, and not only waiting for an answer."""
        return [thread.turn for thread in self._threads.values() if thread.open and not thread.waiting]

    def panels(self) -> dict[str, list[Row]]:
        """Return the rows that a client should show, in the order of each panel."""
        turns = sorted(self.turns.values(), key=lambda row: row["_order"])
        waiting = [turn for queue in self.queue.values() for turn in queue]
        return {
            "session": [plain(self.session | self._state())],
            "status": [plain(self._status(thread)) for thread in self._threads.values()],
            "turns": [_bare(row) for row in turns],
            "parts": [_bare(row) for _, row in sorted(self.parts.values(), key=lambda part: part[0])],
            "queue": [plain(self._queued(turn)) for turn in waiting],
            "actions": [plain(row) for row in self.actions.values()],
            "artifacts": [_bare(row) for row in self.artifacts.shown_rows()],
        }

    def _state(self) -> Row:
        """Return the state of the session and the attention that it needs; empty for an idle one."""
        threads = self._threads.values()
        causes = [thread.row["paused"] for thread in threads if thread.row.get("paused")]
        if any(thread.waiting for thread in threads):
            return {"state": "waiting", "attention": "needs_input"}
        if "failed" in causes or any(thread.ended == "failed" for thread in threads):
            return {"state": "failed", "attention": "failed"}
        if causes:
            return {"state": "paused", "attention": "needs_input"}
        if any(thread.open for thread in threads):
            return {"state": "running"}
        if any(self.queue.values()):
            return {"state": "queued"}
        return {"state": "interrupted"} if any(thread.ended == "interrupted" for thread in threads) else {}

    def _take(self, fact: Fact) -> None:
        family = fact.type.partition(".")[0]
        match family:
            case "session":
                self._session(fact)
            case "thread":
                self._thread(fact)
            case "turn":
                self._turn(fact)
            case "queue":
                self._queue(fact)
            case "model" | "routing" | "cost" | "output":
                self._model(fact)
            case "message" | "reasoning":
                self._text(fact)
            case "tool" | "permission" | "sandbox":
                self._tool(fact)
            case "action":
                self._action(fact)
            case "artifact":
                self._artifact(fact)
            case _:
                raise AssertionError(f"the fold does not know {fact.type}")

    def _session(self, fact: Fact) -> None:
        if fact.type == "session.created":
            fields = {name: fact.payload[name] for name in ("workspaceId", "folder", "title")}
            self.session = {
                "kind": "session",
                "key": fact.stream,
                "sessionId": fact.stream,
                "createdAt": fact.at,
                **fields,
            }

    def _thread(self, fact: Fact) -> None:
        if fact.type == "thread.opened":
            row = {"kind": "status", "key": fact.id("t"), "threadId": fact.id("t"), "agentId": fact.id("g")}
            parent = self._threads[fact.id("pt")].row["agentId"] if fact.id("pt") else ""
            self._threads[fact.id("t")] = _Thread(row | {"agentName": fact.payload["agentName"]}, parent)
            return
        thread = self._threads[fact.id("t")]
        thread.row["paused"] = fact.payload["cause"] if fact.type == "thread.paused" else None
        if not thread.open:
            thread.rest = _RESTS[fact.type]
        if fact.type == "thread.paused":
            self._aside(
                thread,
                fact,
                _LAST,
                "runtime_status",
                code=f"paused_{thread.row['paused']}",
                message=fact.payload.get("reason"),
            )

    def _turn(self, fact: Fact) -> None:
        turn, thread = fact.id("u"), self._threads[fact.id("t")]
        if fact.type != "turn.started" and fact.type != "turn.interrupt.requested":
            self.session["updatedAt"] = fact.at
        if fact.type == "turn.submitted":
            fields = {name: fact.payload[name] for name in ("input", "mode", "permissionMode")}
            fields |= {name: fact.payload[name] for name in ("source",) if name in fact.payload}
            self.turns[turn] = {
                "kind": "turn", "key": turn, "turnId": turn, "threadId": fact.id("t"), "agentId": fact.id("g"),
                "state": "queued", "submittedAt": fact.at, "_order": fact.sequence, **fields,
            }  # fmt: skip
            return
        row = self.turns[turn]
        if fact.type == "turn.started":
            thread.open, thread.run, thread.turn, thread.started = True, fact.id("r"), turn, fact.sequence
            thread.ended = ""
            thread.row |= {
                "turnId": turn, "runId": thread.run, "maxIters": fact.payload["maxIters"], "iteration": 0,
                "inputTokens": None, "outputTokens": None,
            }  # fmt: skip
            row |= {"state": "running", "runId": thread.run, "startedAt": fact.at, "_order": fact.sequence}
            row["agentId"] = fact.id("g") or row["agentId"]
            self._leave_queue(fact)
        elif fact.type in _ENDS:
            thread.open, thread.rest = False, _RESTS[fact.type]
            _waited(row, fact.at)
            row |= {"state": _ENDS[fact.type], "endedAt": fact.at}
            thread.ended = _ENDS[fact.type]
            row["iterations"] = fact.payload.get("iterations") or row.get("iterations", 0)
            row["code"] = fact.payload.get("cause") or fact.payload.get("code")
            row["message"] = fact.payload.get("reason") or fact.payload.get("message")
            row["hint"] = fact.payload.get("hint")
            if fact.type == "turn.failed":
                fields = {name: fact.payload.get(name) for name in ("code", "message", "hint", "retryable")}
                self._aside(thread, fact, _LAST, "error", **fields)

    def _queue(self, fact: Fact) -> None:
        queue = self.queue.setdefault(fact.id("t"), [])
        turn = fact.id("u")
        match fact.type:
            case "queue.added":
                queue.insert(fact.payload["position"] - 1, turn)
            case "queue.promoted":
                queue.remove(turn)
                queue.insert(0, turn)
            case "queue.edited":
                self.turns[turn]["input"] = fact.payload["input"]
            case "queue.removed":
                self._leave_queue(fact)
                self.turns[turn] |= {"state": "removed", "endedAt": fact.at, "message": fact.payload.get("reason")}
            case _:
                raise AssertionError(f"the fold does not know {fact.type}")

    def _leave_queue(self, fact: Fact) -> None:
        queue = self.queue.get(fact.id("t"), [])
        if fact.id("u") in queue:
            queue.remove(fact.id("u"))

    def _model(self, fact: Fact) -> None:
        thread, row = self._threads[fact.id("t")], self.turns[fact.id("u")]
        match fact.type:
            case "routing.resolved":
                thread.row |= fact.payload["chosen"]
            case "model.requested":
                thread.row |= {name: fact.payload[name] for name in ("provider", "model")}
                thread.row["iteration"] = row["iterations"] = fact.payload["iteration"]
            case "model.failed" if fact.payload.get("retryInMs") is not None:
                fields = {name: fact.payload.get(name) for name in ("code", "message", "retryInMs")}
                fields["attempt"] = fact.payload.get("attempt", 1) + 1
                self._aside(thread, fact, fact.scope.get("s", 0), "runtime_status", **fields)
            case "cost.recorded":
                for name in ("inputTokens", "outputTokens"):
                    more = fact.payload.get(name)
                    for target in (row, thread.row):
                        target[name] = target.get(name) if more is None else (target.get(name) or 0) + more
            case "output.final":
                answer = [f"{fact.id('r')}.{step}" for step in fact.payload["parts"]]
                row["finalParts"] = answer
                self._commentary(fact, keep=answer)
            case _:
                pass

    def _text(self, fact: Fact) -> None:
        is_text = fact.type.startswith("message")
        key = f"{fact.id('r')}.{fact.scope['s']}"
        state = "interrupted" if fact.type.endswith("interrupted") else "final"
        kind = "assistant_text" if is_text else "reasoning_summary"
        row = {"kind": kind, "key": key, "state": state, "content": fact.payload["content"], **self._common(fact)}
        row["revised"] = is_text and fact.payload.get("revised")
        self._put(fact, fact.scope["s"], row)
        if is_text:
            self._since_call.setdefault(fact.id("r"), []).append(key)

    def _commentary(self, fact: Fact, keep: Iterable[str] = ()) -> None:
        for key in self._since_call.pop(fact.id("r"), []):
            if key not in keep:
                self.parts[key][1]["commentary"] = True

    def _tool(self, fact: Fact) -> None:
        call, payload = fact.id("k"), fact.payload
        if fact.type.startswith(("permission.rule", "tool.catalog", "tool.server")):
            return
        if fact.type == "tool.requested":
            self.turns[fact.id("u")]["toolCalls"] = self.turns[fact.id("u")].get("toolCalls", 0) + 1
            self._commentary(fact)
            row = {
                "kind": "tool_call",
                "key": call,
                "toolCallId": call,
                "state": "input-available",
                **self._common(fact),
            }
            row |= {name: payload.get(name) for name in ("tool", "arguments", "summary")}
            self._put(fact, fact.scope["s"], row)
            return
        row = self.parts[call][1]
        match fact.type:
            case "permission.evaluated":
                row |= {name: payload.get(name) for name in ("verdict", "risk")}
                row["checks"] = _passed(payload.get("checks", []))
            case "sandbox.applied":
                row |= {"sandbox": payload["level"], "network": payload.get("network", False)}
            case "tool.started":
                row |= {"state": "running", "startedAt": fact.at}
            case "tool.completed":
                row["state"] = "output-available"
            case "tool.lost":
                row |= {"state": "output-error", "code": "tool_lost", "message": _LOST}
            case "tool.cancelled":
                code = "tool_cancelled" if payload["started"] else "tool_not_started"
                row |= {"state": "cancelled", "code": code, "message": _STOPPED[payload["started"]]}
            case _:
                row |= {"state": "output-error", "code": payload["code"], "message": payload["message"]}
        if fact.type in ("tool.completed", "tool.lost", "tool.cancelled", "tool.failed"):
            row |= {name: payload.get(name) for name in ("output", "exitCode", "durationMs", "changes")}
            files = self._files.setdefault(fact.id("u"), set())
            files.update(change["path"] for change in payload.get("changes", ()))
            self.turns[fact.id("u")]["filesChanged"] = len(files)

    def _action(self, fact: Fact) -> None:
        action, payload, thread = fact.id("a"), {**fact.payload}, self._threads[fact.id("t")]
        if payload.get("tool") in _NO_TOOL:
            payload["tool"] = ""
        turn = self.turns[fact.id("u")]
        if fact.type == "action.required":
            thread.waiting[action] = payload.get("tool", "")
            if turn["state"] != "waiting":
                turn |= {"state": "waiting", "waitingSince": fact.at}
            names = ("actionType", "tool", "prompt")
            row = {
                "kind": "action_required",
                "key": action,
                "actionId": action,
                "outcome": "pending",
                **self._common(fact),
            }
            self._put(fact, fact.scope["s"], row | {name: payload.get(name) for name in names})
            if fact.id("k"):
                self.parts[fact.id("k")][1]["actionId"] = action
            names = (*names, "arguments", "preview", "risk", "decisions", "scopes", "matchers", "policy", "expiresAt")
            names = (*names, "sandbox", "network", "commands")
            self.actions[action] = {
                "kind": "action", "key": action, "actionId": action, "turnId": fact.id("u"), "threadId": fact.id("t"),
                "agentId": fact.id("g"), "agentName": thread.row["agentName"], "parentAgentId": thread.parent,
                "toolCallId": fact.id("k"), "requiredAt": fact.at,
                "change": _change(payload), **{name: payload.get(name) for name in names},
            }  # fmt: skip
            return
        thread.waiting.pop(action, None)
        self.actions.pop(action, None)
        if turn["state"] == "waiting" and not thread.waiting:
            turn["state"] = "running"
            _waited(turn, fact.at)
        row = self.parts[action][1]
        row |= {"reason": payload.get("reason"), "answer": payload.get("answer"), "settledAt": fact.at}
        row["actor"] = ":".join(filter(None, (fact.actor.get("kind"), fact.actor.get("id"))))
        row["outcome"] = _OUTCOMES.get(payload.get("decision", ""), fact.type.partition(".")[2])
        if row["outcome"] == "approved":
            row["answeredScope"] = payload.get("scope", "once")

    def _artifact(self, fact: Fact) -> None:
        card = self.artifacts.take(fact)
        if card is not None:
            thread, key = self._threads[fact.id("t")], f"{fact.id('r')}~{fact.sequence:010}"
            row = {"key": key, **self._common(fact), **card}
            self.parts[key] = ((thread.started, fact.scope["s"], key), row)

    def _status(self, thread: _Thread) -> Row:
        status, detail = ("blocked", "waiting_approval") if thread.waiting else ("working", "working")
        tool = next(reversed(thread.waiting.values()), "") if thread.open else ""
        if not thread.open:
            status, detail = thread.rest
        return thread.row | {"status": status, "detail": detail, "tool": tool}

    def _queued(self, turn: str) -> Row:
        row = self.turns[turn]
        return {
            "kind": "queued_turn",
            "key": turn,
            **{n: row[n] for n in ("turnId", "threadId", "input", "mode", "submittedAt")},
        }

    def _common(self, fact: Fact) -> Row:
        return {"turnId": fact.id("u"), "threadId": fact.id("t"), "at": fact.at}

    def _put(self, fact: Fact, step: int, row: Row) -> None:
        self.parts[row["key"]] = ((self._threads[fact.id("t")].started, step, row["key"]), row)

    def _aside(self, thread: _Thread, fact: Fact, step: int, kind: str, **fields: Any) -> None:
        row = {"kind": kind, "key": "", "turnId": thread.turn, "threadId": fact.id("t"), "at": fact.at, **fields}
        # Remarks at one place are in the order of their arrival.
        self.parts[f"aside {fact.sequence}"] = ((thread.started, step, f"~{fact.sequence:010}"), row)


def _bare(row: Row) -> Row:
    return plain({name: value for name, value in row.items() if name != "_order"})


def _waited(turn: Row, at: int) -> None:
    """End a turn's wait for a decision, if it has one."""
    since = turn.pop("waitingSince", 0)
    turn["waitedUs"] = turn.get("waitedUs", 0) + (max(at - since, 0) if since else 0)


def _change(payload: Row) -> Row | None:
    """Return the change that a request would make, from its unified diff."""
    binding, preview = payload.get("binding") or {}, payload.get("preview") or {}
    if not binding.get("file"):
        return None
    change: Row = {"path": binding["file"]}
    if binding.get("fileHash") == "absent":
        change["creates"] = True
    if not payload.get("preview") or preview.get("ref") or preview.get("erased"):
        return change
    lines = preview.get("text", "").split("\n")[2:]
    if not any(lines):
        return change | {"differs": "creates" in change, "added": 0, "removed": 0}
    if not lines[0].startswith("@@"):
        return change | {"differs": True}
    counted = {name: sum(line[:1] == mark for line in lines) for name, mark in (("added", "+"), ("removed", "-"))}
    return change | {"differs": True, **counted}


def _passed(checks: list[Row]) -> list[Row]:
    """Return every station that a call reached. A station without a check in the fact passed it."""
    by_station = {check["name"]: check for check in checks}
    denied = [check["name"] for check in checks if check["verdict"] == "deny"]
    last = _STATIONS.index(denied[0]) + 1 if denied else len(_STATIONS)
    return [by_station.get(name, {"name": name, "verdict": "allow"}) for name in _STATIONS[:last]]
