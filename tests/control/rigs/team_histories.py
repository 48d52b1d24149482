"""Random histories of a team: one step after another, each chosen by three small numbers, as tests and proofs draw them.

Beside models of ours it has an agent that sleeps and one that is a program of its own; calls wait for answers or run out.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.agent import AddAgent
from callboard.contracts.commands.handoff import RespondHandoff, SendHandoff, SendMessage
from callboard.contracts.commands.job import CancelJob, PauseJob, ResumeJob
from callboard.contracts.commands.subagent import CancelSubagent, CloseSubagent, SendSubagentInput
from callboard.contracts.commands.task import CompleteTask, FailTask
from callboard.contracts.commands.turn import RemoveQueuedTurn, ResumeThread
from callboard.contracts.entities.team import Edge
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import ThreadResumed
from callboard.contracts.facts.turn import Mode
from callboard.contracts.ports.agents import Schedule
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Row, Upsert
from callboard.control.decide import decide_command
from callboard.control.outcomes import (
    ActionTimedOut,
    ExternalCallReported,
    ExternalConnected,
    ExternalDisconnected,
    HostTakenOver,
    PartEnded,
    RequestedCall,
    ToolEnded,
    WakeTimeReached,
)
from callboard.control.state.session import Session, Thread
from callboard.control.state.turn import OpenCall
from callboard.projection.view import SessionView
from tests.control.rigs.decisions import Step
from tests.control.rigs.examples import ALLOW, ASK, SESSION, answered, interrupt, submit, text
from tests.control.rigs.jobs import JOB, again, job
from tests.control.rigs.sleepers import Sleepers
from tests.control.rigs.tasks import HUMAN, cancel, create, pause, resume, retry, start
from tests.control.rigs.team import Team, agent

LEAD = agent("lead", edges=(Edge(to="critic", direction="both", ownership=True), Edge(to="coder", direction="both")))
CRITIC = agent("critic", edges=(Edge(to="clerk", direction="both", confirm=True),))
CLERK = agent("clerk")
WORKER = agent("worker", kind="subagent")
#: A program of its own, and an agent that sleeps.
CODER = agent("coder", model="acp")
WATCHER = agent(
    "watcher",
    kind="background",
    policy=(),
    schedule=Schedule(every=60, wake_on=("task.completed",)),
    edges=(Edge(to="lead", kind="report"),),
)
TASKS = ("tsk_a", "tsk_b", "tsk_c", "tsk_d")
ASSIGNEES = (None, "lead", "critic", "worker", "worker", "worker-1", "owner", "coder")
SECOND = 1_000_000


class History:
    """A session with a lead, three other main agents, one that sleeps, children, an agent who is a person, a board, a job."""

    def __init__(self, mode: Mode = "chat") -> None:
        definitions = (LEAD, CRITIC, CLERK, CODER, WATCHER, WORKER, HUMAN)
        self.given: Team = Sleepers(*definitions, budget=2, expiry=90 * SECOND)
        self.given.when(submit("the objective", mode=mode))
        for name in ("watcher", "coder"):
            self.given.when(AddAgent(session_id=SESSION, agent=name))
        self._programs = 0
        self.steps: list[str] = []
        for name in TASKS[:2]:
            self.given.when(create(name))
        self.given.when(create("tsk_c", parent_task="tsk_a"))
        self.given.when(create("tsk_d", depends_on=("tsk_b",)))

    def take(self, name: str, a: int, b: int, c: int) -> None:
        """Takes one step; what is refused changes nothing."""
        before = self.given.state
        self.steps.append(f"{name} {a} {b} {c}")
        try:
            STEPS[name](self, a, b, c)
        except Refusal:
            assert self.given.state == before

    def resumes(self, thread: str) -> str:
        """What `resume_thread` would make of that thread, without taking it: empty where it gives it a run or a slot."""
        given = self.given
        known = given._known(None)
        try:
            decision, _ = decide_command(given.state, ResumeThread(session_id=SESSION, thread_id=thread), known)
        except Refusal as refusal:
            return refusal.code
        told = [(new.fact.type, new.scope.thread) for new in decision.facts]
        begins = any((kind, thread) in told for kind in ("turn.started", "subagent.queued"))
        return "" if begins else f"{ThreadResumed.type} begins nothing: {told}"

    @property
    def state(self) -> Session:
        return self.given.state

    # Each step takes three numbers, and what it does not need it leaves.

    def _working(self, number: int) -> str:
        agents = self.given.works()
        if not agents:
            raise Refusal("nothing_running", "No agent is at work.")
        return agents[number % len(agents)]

    def _agent(self, number: int) -> str:
        names = [one.agent for one in self.state.threads.values()]
        return names[number % len(names)]

    def _when(self, step: Step) -> None:
        self.given.when(step)

    def says(self, a: int, b: int, c: int) -> None:
        name = self._working(a)
        if self.given.run_of(name).stopping:
            self.given.stopped(name)
        else:
            self.given.says(name)

    def fails(self, a: int, b: int, c: int) -> None:
        name = self._working(a)
        if not self.given.run_of(name).calls:
            self.given.fails(name)

    def stops(self, a: int, b: int, c: int) -> None:
        causes = ("person", "crash", "shutdown", "person")
        self.given.stopped(self._working(a), causes[b % len(causes)])

    def interrupts(self, a: int, b: int, c: int) -> None:
        thread = self.given.of(self._agent(a)).thread
        queued = "clear" if b % 2 else "keep"
        self._when(interrupt(thread_id=thread, cascade=c % 3 == 0, queued=queued))

    def submits(self, a: int, b: int, c: int) -> None:
        thread = self.given.of(self._agent(a)).thread
        when_busy = ("queue", "interrupt", "queue", "refuse")[b % 4]
        self._when(submit("and you?", session_id=SESSION, thread_id=thread, when_busy=when_busy))

    def unqueues(self, a: int, b: int, c: int) -> None:
        queued = [turn.turn for thread in self.state.threads.values() for turn in thread.queue]
        if queued:
            self._when(RemoveQueuedTurn(session_id=SESSION, turn_id=queued[a % len(queued)]))

    def messages(self, a: int, b: int, c: int) -> None:
        sender = self.given.of(self._agent(a)).thread
        to = ("lead", "critic", "clerk", "worker-1", "coder", "watcher")[b % 6]
        self._when(SendMessage(session_id=SESSION, thread_id=sender, to=(to,), text="hello"))

    def hands(self, a: int, b: int, c: int) -> None:
        sender = self.given.of(self._agent(a)).thread
        to = ("lead", "critic", "clerk", "coder")[b % 4]
        response = {"response": {"expectation": "required", "withinS": 60}} if c % 3 == 0 else {}
        fields = {"sessionId": SESSION, "threadId": sender, "to": to, "message": "take it", "ownership": c % 4 == 0}
        self._when(msgspec.convert({**fields, **response}, SendHandoff))

    def answers(self, a: int, b: int, c: int) -> None:
        handoffs = list(self.state.handoffs)
        if handoffs:
            decision = ("accept", "reject", "complete")[b % 3]
            self._when(RespondHandoff(session_id=SESSION, handoff_id=handoffs[a % len(handoffs)], decision=decision))

    def spawns(self, a: int, b: int, c: int) -> None:
        name = self._working(a)
        if not self.given.run_of(name).calls:
            self.given.uses(name, "spawn_subagent", agent="worker", objective="a part", review=b % 4 == 0)

    def waits(self, a: int, b: int, c: int) -> None:
        name = self._working(a)
        if not self.given.run_of(name).calls:
            self.given.uses(name, "wait_subagents")

    def child(self, a: int, b: int, c: int) -> None:
        name = f"worker-{a % 4 + 1}"
        if b % 3 == 0:
            self._when(SendSubagentInput(session_id=SESSION, agent=name, text="more"))
        elif c % 2:
            self._when((CancelSubagent if b % 3 == 1 else CloseSubagent)(session_id=SESSION, agent=name))

    def resumes_thread(self, a: int, b: int, c: int) -> None:
        thread = self.given.of(self._agent(a)).thread
        self._when(ResumeThread(session_id=SESSION, thread_id=thread, tree=b % 2 == 0))

    def crash(self, a: int, b: int, c: int) -> None:
        if a % 2:
            self.given.epoch += 1
            self._when(HostTakenOver(partials=()))

    def time(self, a: int, b: int, c: int) -> None:
        self.given.now += 61 * SECOND
        self._when(WakeTimeReached(at=self.given.now))
        for thread, call in self._calls("waiting"):
            if call.expires_at:
                self._when(ActionTimedOut(thread=thread.thread, action=call.action))

    def begins(self, a: int, b: int, c: int) -> None:
        name, who = TASKS[a % 4], ASSIGNEES[b % len(ASSIGNEES)]
        self._when((start if c % 2 else retry)(name, assignee=who))

    def task(self, a: int, b: int, c: int) -> None:
        how: tuple[Callable[[str], Step], ...] = (pause, resume, resume, pause, cancel)
        self._when(how[b % len(how)](TASKS[a % 4]))

    def reports(self, a: int, b: int, c: int) -> None:
        failed = FailTask(session_id=SESSION, task_id=TASKS[a % 4], message="no")
        self._when(failed if b % 2 else CompleteTask(session_id=SESSION, task_id=TASKS[a % 4]))

    def job(self, a: int, b: int, c: int) -> None:
        if not self.state.jobs:
            if "job" in " ".join(self.steps[:-1]):
                return
            self._when(job("one", "two", "three", parallel=2))
            return
        match b % 6:
            case 0:
                self._when(PauseJob(session_id=SESSION, job_id=JOB))
            case 1 | 2:
                self._when(ResumeJob(session_id=SESSION, job_id=JOB))
            case 3 if c % 3 == 0:
                self._when(CancelJob(session_id=SESSION, job_id=JOB))
            case _:
                self._when(again())

    def asks(self, a: int, b: int, c: int) -> None:
        """A model wants a call that a person is asked about; of a program the call is one of its own, seen as it goes on."""
        name = self._working(a)
        run = self.given.run_of(name)
        if run.stopping or not run.model_step or (run.calls and not self._is_program(name)):
            return
        self._programs += 1
        evaluation = ASK if b % 3 else ALLOW
        call = RequestedCall(
            call=f"cal_p{self._programs}",
            step=run.next_step,
            tool="Write",
            arguments=evaluation.arguments,
            provider_call_id=f"call-p{self._programs}",
            evaluation=evaluation,
        )
        thread = self.given.of(name).thread
        if self._is_program(name):
            self._when(ExternalCallReported(thread=thread, run=run.run, prompt=run.model_step, call=call))
        else:
            number = int(run.run.removeprefix("run_"))
            self._when(answered(call, run=number, step=run.model_step, thread=thread))

    def decides(self, a: int, b: int, c: int) -> None:
        """A person answers a call that waits."""
        waiting = self._calls("waiting")
        if waiting:
            _, call = waiting[a % len(waiting)]
            decision = ("approve", "reject", "approve")[b % 3]
            if decision in call.decisions:
                self._when(RespondAction(session_id=SESSION, action_id=call.action, decision=decision))

    def ends(self, a: int, b: int, c: int) -> None:
        """A call that runs ends, well or not."""
        running = [one for one in self._calls("running") if not one[1].awaits]
        if running:
            thread, call = running[a % len(running)]
            assert thread.run is not None
            outcome = ToolOutcome(output="done", code="tool_failed" if b % 3 == 0 else None, message="", duration_ms=4)
            self._when(ToolEnded(thread=thread.thread, run=thread.run.run, call=call.call, outcome=outcome))

    def program(self, a: int, b: int, c: int) -> None:
        """The program is there, says a part, or is gone."""
        thread = self.given.of("coder")
        run = thread.run
        if b % 3 == 0 or run is None:
            self._when(ExternalDisconnected(thread=thread.thread, reason="it ended"))
        elif b % 3 == 1:
            there = ExternalConnected(
                thread=thread.thread, provider_session=f"s-{c}", name="Coder", version="2", resumed=bool(c % 2)
            )
            self._when(there)
        elif not run.stopping and run.model_step:
            piece = text(run.next_step, "So.")
            self._when(PartEnded(thread=thread.thread, run=run.run, prompt=run.model_step, piece=piece))

    def _is_program(self, name: str) -> bool:
        return self.given.of(name).definition == "coder"

    def _calls(self, phase: str) -> list[tuple[Thread, OpenCall]]:
        return [
            (thread, call)
            for thread in self.state.threads.values()
            if thread.run is not None
            for call in thread.run.calls
            if call.phase == phase
        ]


Taken = Callable[[History, int, int, int], None]
STEPS: dict[str, Taken] = {
    "says": History.says,
    "fails": History.fails,
    "stops": History.stops,
    "interrupts": History.interrupts,
    "submits": History.submits,
    "unqueues": History.unqueues,
    "messages": History.messages,
    "hands": History.hands,
    "answers": History.answers,
    "spawns": History.spawns,
    "waits": History.waits,
    "child": History.child,
    "resumes": History.resumes_thread,
    "crash": History.crash,
    "time": History.time,
    "begins": History.begins,
    "task": History.task,
    "reports": History.reports,
    "job": History.job,
    "asks": History.asks,
    "decides": History.decides,
    "ends": History.ends,
    "program": History.program,
}


class Rows:
    """The rows of a session as a page has them, by panel and key."""

    def __init__(self) -> None:
        self._view = SessionView()
        self.rows: dict[tuple[str, str], Row] = {}

    def take(self, record: Record) -> None:
        """Takes the next fact."""
        for op in self._view.apply(record):
            if isinstance(op, Upsert):
                self.rows[op.panel, op.row.key] = op.row
            else:
                self.rows.pop((op.panel, op.key), None)
