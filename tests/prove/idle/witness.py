"""A check of agents' states from facts and rows alone, without code of the product.

The witness counts each agent's unread input, running and queued turns, and waits. An agent with
unread input or a queued turn and no run must read as paused and need attention. A running task
needs an agent that works on it. A team with unread input must not read as done.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
IDLE = "an agent with unread input and no run reads as paused, with a reason, and is in attention"
WORK = "no task reads running while no agent works on it"
SLEEPS = "an agent that sleeps with unread input reads neither done nor running"
TEAM = "no team reads done while its lead has unread input"
HELD = "an agent of a paused task reads neither done nor running"


@dataclass
class Agent:
    """One thread, from its facts."""

    name: str
    kind: str
    run: str = ""
    paused: str = ""
    parent: str = ""
    job: str = ""
    ended: str = ""
    slot: bool = False
    sleeps: bool = False
    unread: list[str] = field(default_factory=list[str])
    queue: list[str] = field(default_factory=list[str])


@dataclass
class Task:
    """One open task."""

    thread: str = ""
    works: bool = False
    paused: bool = False
    retried: bool = False


class Witness:
    """Folds facts, and checks rows against them."""

    def __init__(self) -> None:
        self.agents: dict[str, Agent] = {}
        self.tasks: dict[str, Task] = {}
        self.receivers: dict[str, str] = {}
        self.looks = 0

    def take(self, kind: str, scope: dict[str, str], fact: dict[str, Any]) -> None:
        """Apply the next fact. `scope` has ids by name, `fact` its fields."""
        thread = self.agents.get(scope.get("thread", ""))
        family = kind.split(".", maxsplit=1)[0]
        if kind == "thread.opened":
            self.agents[scope["thread"]] = Agent(
                name=scope["agent"], kind=fact["kind"], parent=scope.get("parent_thread", ""), job=scope.get("job", "")
            )
        elif family in ("handoff", "channel", "inbox", "worker", "review"):
            self._mail(kind, scope, fact)
        elif family == "task" or kind == "job.item.retried":
            self._task(kind, scope)
        elif thread is not None:
            _turn(thread, kind, scope, fact)

    def _mail(self, kind: str, scope: dict[str, str], fact: dict[str, Any]) -> None:
        handoff = scope.get("handoff", "")
        match kind:
            case "handoff.requested":
                self.receivers[handoff] = fact["to_thread"]
                self._put(fact["to_thread"], handoff)
            case "handoff.accepted" if not scope.get("run"):
                self._put(self.receivers[handoff], f"{handoff}.accepted")
            case "handoff.rejected" | "handoff.completed":
                receiver = self.receivers.pop(handoff)
                self._drop(receiver, (handoff, f"{handoff}.accepted"))
                if kind == "handoff.rejected":
                    self._put(fact["to_thread"], f"{handoff}.rejected")
                elif fact.get("returned"):
                    self._put(fact["to_thread"], f"{handoff}.returned")
            case "handoff.reply.ended" if fact["end"] != "answered":
                self._put(fact["to_thread"], f"{handoff}.expired")
            case "channel.message":
                for to in fact["to_threads"]:
                    self._put(to, fact["item"])
            case "worker.notification" | "review.requested" if fact.get("item"):
                self._put(fact["to_thread"], fact["item"])
            case "inbox.consumed":
                self._drop(scope["thread"], tuple(fact["items"]))
            case _:
                pass

    def _task(self, kind: str, scope: dict[str, str]) -> None:
        name = scope["task"]
        if kind == "task.created":
            works = scope.get("turn") or scope.get("parent_thread")
            self.tasks[name] = Task(thread=scope.get("thread", "") if works else "", works=bool(works))
            return
        task = self.tasks.get(name)
        if task is None:
            return
        match kind:
            case "task.started":
                task.thread, task.works, task.retried = scope.get("thread", ""), True, False
            case "task.failed":
                task.works = False
            case "job.item.retried":
                task.retried = True
            case "task.paused":
                task.paused = True
            case "task.resumed":
                task.paused = False
            case "task.completed" | "task.cancelled":
                del self.tasks[name]
            case _:
                pass

    def _put(self, thread: str, item: str) -> None:
        if thread in self.agents:
            self.agents[thread].unread.append(item)

    def _drop(self, thread: str, items: tuple[str, ...]) -> None:
        if thread in self.agents:
            self.agents[thread].unread = [item for item in self.agents[thread].unread if item not in items]

    # Checks of the rows.

    def problems(self, rows: dict[tuple[str, str], Row]) -> Iterable[tuple[str, str]]:
        """Return each claim that the rows break, with their values. `rows` are by panel and key."""
        self.looks += 1
        cards = [row for (panel, _), row in rows.items() if panel == "sessions"]
        for thread, agent in self.agents.items():
            if agent.run or agent.kind == "human" or agent.ended in ("failed", "cancelled", "closed"):
                continue
            status, member = rows.get(("status", thread), {}), rows.get(("agents", agent.name), {})
            says = f"{agent}: {_only(status, 'status', 'detail', 'paused')}, {_only(member, 'state')}"
            if self.held(thread):
                if status["status"] in ("done", "streaming", "preparing") or member.get("state") in (
                    "completed",
                    "running",
                ):
                    yield HELD, says
            elif agent.sleeps:
                # It gets its run at its time, without a person.
                wrong = status["status"] in ("streaming", "preparing") or member.get("state") in (
                    "completed",
                    "running",
                )
                if (agent.unread or agent.queue) and wrong:
                    yield SLEEPS, says
            elif (agent.unread or agent.queue) and not agent.slot and not self.waits_for_task(thread):
                attention = [card["attention"] for card in cards]
                reads = status["status"] == "blocked" and status["detail"] == "paused" and status["paused"]
                rises = member.get("state", "needs_input") in ("needs_input", "plan_ready", "failed")
                if not agent.paused or not reads or not rises or "none" in attention:
                    yield IDLE, f"{says}, {attention}"
        yield from self._work(rows)

    def stranded(self) -> list[str]:
        """Return the threads with unread input and no run that only a person can start."""
        return [
            thread
            for thread, agent in self.agents.items()
            if agent.unread
            and not agent.run
            and agent.kind != "human"
            and agent.ended != "closed"
            and not (agent.job and agent.ended)
            and not agent.slot
            and not agent.sleeps
            and not self.waits_for_task(thread)
        ]

    def held(self, thread: str) -> bool:
        """Return True for an agent that works on a paused task."""
        return any(task.paused and task.works and task.thread == thread for task in self.tasks.values())

    def waits_for_task(self, thread: str) -> bool:
        """Return True for an agent with a paused task, or with an item that waits for room in its
        job.
        """
        return any((task.paused or task.retried) and task.thread == thread for task in self.tasks.values())

    def _work(self, rows: dict[tuple[str, str], Row]) -> Iterable[tuple[str, str]]:
        board = {key: row for (panel, key), row in rows.items() if panel == "tasks"}
        for key, row in board.items():
            if row["status"] == "running" and not self._is_worked_on(key, board):
                yield WORK, f"{_only(row, 'key', 'title', 'status', 'assignee', 'attempts')}, {self.agents}"
        for (panel, _), row in rows.items():
            first, lead = next(iter(self.agents.items()))
            leads = any(agent.parent == first for agent in self.agents.values())
            if panel == "team" and row["team_phase"] == "done" and leads and lead.unread:
                yield TEAM, f"{lead}"

    def _is_worked_on(self, key: str, board: dict[str, Row]) -> bool:
        task = self.tasks.get(key)
        agent = self.agents.get(task.thread) if task is not None else None
        if agent is not None and (agent.run or agent.queue or agent.slot or agent.kind == "human"):
            return True
        if any(agent.name == board[key]["assignee"] and agent.kind == "human" for agent in self.agents.values()):
            return True
        # A task continues with its parts. An item of a job waits for those before it.
        parts = [part for part, row in board.items() if row["parent_task"] == key]
        return any(board[part]["status"] not in ("done", "cancelled") for part in parts)


def _turn(agent: Agent, kind: str, scope: dict[str, str], fact: dict[str, Any]) -> None:
    turn = scope.get("turn", "")
    match kind:
        case "turn.started":
            agent.run, agent.slot, agent.sleeps = turn, False, False
            agent.queue = [queued for queued in agent.queue if queued != turn]
        case "turn.completed" | "turn.failed" | "turn.interrupted":
            agent.run = ""
        case "queue.added":
            agent.queue.append(turn)
        case "queue.removed":
            agent.queue = [queued for queued in agent.queue if queued != turn]
        case "agent.slept":
            agent.sleeps = bool(fact.get("wake_at"))
        case "agent.woke":
            agent.sleeps = False
        case "thread.paused":
            agent.paused = fact["cause"]
        case "thread.resumed":
            agent.paused = ""
        case "subagent.queued":
            agent.slot = True
        case "subagent.started" | "subagent.continued":
            agent.slot, agent.ended = False, ""
        case "subagent.completed" | "subagent.failed" | "subagent.cancelled" | "subagent.closed":
            agent.slot, agent.ended = False, kind.split(".")[1]
        case _:
            pass


def _only(row: Row, *names: str) -> Row:
    return {name: row.get(name) for name in names}
