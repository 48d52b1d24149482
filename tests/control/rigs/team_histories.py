"""Random histories of a team. Tests and proofs draw the three small numbers of each step.

The team includes a sleeping agent and an external agent. Calls wait for a person or expire.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.agent import AddAgent
from callboard.contracts.commands.exchange.handoff import RespondHandoff, SendHandoff
from callboard.contracts.commands.exchange.message import SendMessage
from callboard.contracts.commands.job import CancelJob, PauseJob, ResumeJob
from callboard.contracts.commands.queue import RemoveQueuedTurn
from callboard.contracts.commands.subagent import CancelSubagent, CloseSubagent, SendSubagentInput
from callboard.contracts.commands.task import CompleteTask, FailTask
from callboard.contracts.commands.turn import ResumeThread
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
from tests.control.rigs.examples import ALLOW, ASK, SESSION, interrupt, model_response, submit, text_part
from tests.control.rigs.jobs import JOB, create_job, retry_item
from tests.control.rigs.sleepers import SleepingTeam
from tests.control.rigs.tasks import HUMAN, cancel, create, pause, resume, retry, start
from tests.control.rigs.team import Team, agent_definition

LEAD = agent_definition(
    "lead", edges=(Edge(to="critic", direction="both", ownership=True), Edge(to="coder", direction="both"))
)
CRITIC = agent_definition("critic", edges=(Edge(to="clerk", direction="both", confirm=True),))
CLERK = agent_definition("clerk")
WORKER = agent_definition("worker", kind="subagent")
#: An external agent and a sleeping agent.
CODER = agent_definition("coder", model="acp")
WATCHER = agent_definition(
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
    """A session with main agents, a sleeping agent, children, a person, a board and a job."""

    def __init__(self, mode: Mode = "chat") -> None:
        definitions = (LEAD, CRITIC, CLERK, CODER, WATCHER, WORKER, HUMAN)
        self.session: Team = SleepingTeam(*definitions, budget=2, expiry=90 * SECOND)
        self.session.when(submit("the objective", mode=mode))
        for name in ("watcher", "coder"):
            self.session.when(AddAgent(session_id=SESSION, agent=name))
        self._reported_calls = 0
        self.steps: list[str] = []
        for name in TASKS[:2]:
            self.session.when(create(name))
        self.session.when(create("tsk_c", parent_task="tsk_a"))
        self.session.when(create("tsk_d", depends_on=("tsk_b",)))

    def apply(self, name: str, a: int, b: int, c: int) -> None:
        """Apply one step. A refused step must change nothing."""
        before = self.session.state
        self.steps.append(f"{name} {a} {b} {c}")
        try:
            STEPS[name](self, a, b, c)
        except Refusal:
            assert self.session.state == before

    def resume_failure(self, thread: str) -> str:
        """Return why `resume_thread` would not start that thread. Empty if it gets a run or a slot."""
        session = self.session
        inputs = session._decision_inputs(None)
        try:
            decision, _ = decide_command(session.state, ResumeThread(session_id=SESSION, thread_id=thread), inputs)
        except Refusal as refusal:
            return refusal.code
        starts = [(new.fact.type, new.scope.thread) for new in decision.facts]
        begins = any((kind, thread) in starts for kind in ("turn.started", "subagent.queued"))
        return "" if begins else f"{ThreadResumed.type} starts nothing: {starts}"

    @property
    def state(self) -> Session:
        return self.session.state

    # Each step has three numbers and ignores the unneeded ones.

    def _pick_running(self, number: int) -> str:
        agents = self.session.running_agents()
        if not agents:
            raise Refusal("nothing_running", "No agent runs.")
        return agents[number % len(agents)]

    def _pick_agent(self, number: int) -> str:
        names = [thread.agent for thread in self.state.threads.values()]
        return names[number % len(names)]

    def _when(self, step: Step) -> None:
        self.session.when(step)

    def finishes(self, a: int, b: int, c: int) -> None:
        name = self._pick_running(a)
        if self.session.run_of(name).stopping:
            self.session.stops(name)
        else:
            self.session.responds(name)

    def fails(self, a: int, b: int, c: int) -> None:
        name = self._pick_running(a)
        if not self.session.run_of(name).calls:
            self.session.fails(name)

    def stops(self, a: int, b: int, c: int) -> None:
        causes = ("person", "crash", "shutdown", "person")
        self.session.stops(self._pick_running(a), causes[b % len(causes)])

    def interrupts(self, a: int, b: int, c: int) -> None:
        thread = self.session.thread_of(self._pick_agent(a)).thread
        queued = "clear" if b % 2 else "keep"
        self._when(interrupt(thread_id=thread, cascade=c % 3 == 0, queued=queued))

    def submits(self, a: int, b: int, c: int) -> None:
        thread = self.session.thread_of(self._pick_agent(a)).thread
        when_busy = ("queue", "interrupt", "queue", "refuse")[b % 4]
        self._when(submit("and you?", session_id=SESSION, thread_id=thread, when_busy=when_busy))

    def removes_queued(self, a: int, b: int, c: int) -> None:
        queued = [turn.turn for thread in self.state.threads.values() for turn in thread.queue]
        if queued:
            self._when(RemoveQueuedTurn(session_id=SESSION, turn_id=queued[a % len(queued)]))

    def messages(self, a: int, b: int, c: int) -> None:
        sender = self.session.thread_of(self._pick_agent(a)).thread
        to = ("lead", "critic", "clerk", "worker-1", "coder", "watcher")[b % 6]
        self._when(SendMessage(session_id=SESSION, thread_id=sender, to=(to,), text="hello"))

    def hands_over(self, a: int, b: int, c: int) -> None:
        sender = self.session.thread_of(self._pick_agent(a)).thread
        to = ("lead", "critic", "clerk", "coder")[b % 4]
        response = {"response": {"expectation": "required", "withinS": 60}} if c % 3 == 0 else {}
        fields = {"sessionId": SESSION, "threadId": sender, "to": to, "message": "take it", "ownership": c % 4 == 0}
        self._when(msgspec.convert({**fields, **response}, SendHandoff))

    def answers_handoff(self, a: int, b: int, c: int) -> None:
        handoffs = list(self.state.handoffs)
        if handoffs:
            decision = ("accept", "reject", "complete")[b % 3]
            self._when(RespondHandoff(session_id=SESSION, handoff_id=handoffs[a % len(handoffs)], decision=decision))

    def spawns(self, a: int, b: int, c: int) -> None:
        name = self._pick_running(a)
        if not self.session.run_of(name).calls:
            self.session.uses(name, "spawn_subagent", agent="worker", objective="a part", review=b % 4 == 0)

    def waits_for_children(self, a: int, b: int, c: int) -> None:
        name = self._pick_running(a)
        if not self.session.run_of(name).calls:
            self.session.uses(name, "wait_subagents")

    def changes_child(self, a: int, b: int, c: int) -> None:
        name = f"worker-{a % 4 + 1}"
        if b % 3 == 0:
            self._when(SendSubagentInput(session_id=SESSION, agent=name, text="more"))
        elif c % 2:
            self._when((CancelSubagent if b % 3 == 1 else CloseSubagent)(session_id=SESSION, agent=name))

    def resumes(self, a: int, b: int, c: int) -> None:
        thread = self.session.thread_of(self._pick_agent(a)).thread
        self._when(ResumeThread(session_id=SESSION, thread_id=thread, tree=b % 2 == 0))

    def crashes(self, a: int, b: int, c: int) -> None:
        if a % 2:
            self.session.epoch += 1
            self._when(HostTakenOver(partials=()))

    def passes_time(self, a: int, b: int, c: int) -> None:
        self.session.now += 61 * SECOND
        self._when(WakeTimeReached(at=self.session.now))
        for thread, call in self._calls("waiting"):
            if call.expires_at:
                self._when(ActionTimedOut(thread=thread.thread, action=call.action))

    def starts_task(self, a: int, b: int, c: int) -> None:
        name, assignee = TASKS[a % 4], ASSIGNEES[b % len(ASSIGNEES)]
        self._when((start if c % 2 else retry)(name, assignee=assignee))

    def changes_task(self, a: int, b: int, c: int) -> None:
        commands: tuple[Callable[[str], Step], ...] = (pause, resume, resume, pause, cancel)
        self._when(commands[b % len(commands)](TASKS[a % 4]))

    def reports_task(self, a: int, b: int, c: int) -> None:
        failed = FailTask(session_id=SESSION, task_id=TASKS[a % 4], message="no")
        self._when(failed if b % 2 else CompleteTask(session_id=SESSION, task_id=TASKS[a % 4]))

    def changes_job(self, a: int, b: int, c: int) -> None:
        if not self.state.jobs:
            if "changes_job" in " ".join(self.steps[:-1]):
                return
            self._when(create_job("one", "two", "three", parallel=2))
            return
        match b % 6:
            case 0:
                self._when(PauseJob(session_id=SESSION, job_id=JOB))
            case 1 | 2:
                self._when(ResumeJob(session_id=SESSION, job_id=JOB))
            case 3 if c % 3 == 0:
                self._when(CancelJob(session_id=SESSION, job_id=JOB))
            case _:
                self._when(retry_item())

    def calls_tool(self, a: int, b: int, c: int) -> None:
        """Apply a tool call of a model, or report one of the external agent. Some wait for a person."""
        name = self._pick_running(a)
        run = self.session.run_of(name)
        if run.stopping or not run.model_step or (run.calls and not self._is_program(name)):
            return
        self._reported_calls += 1
        evaluation = ASK if b % 3 else ALLOW
        call = RequestedCall(
            call=f"cal_p{self._reported_calls}",
            step=run.next_step,
            tool="Write",
            arguments=evaluation.arguments,
            provider_call_id=f"call-p{self._reported_calls}",
            evaluation=evaluation,
        )
        thread = self.session.thread_of(name).thread
        if self._is_program(name):
            self._when(ExternalCallReported(thread=thread, run=run.run, prompt=run.model_step, call=call))
        else:
            number = int(run.run.removeprefix("run_"))
            self._when(model_response(call, run=number, step=run.model_step, thread=thread))

    def answers_action(self, a: int, b: int, c: int) -> None:
        """Apply a person's answer to a pending action."""
        waiting = self._calls("waiting")
        if waiting:
            _, call = waiting[a % len(waiting)]
            decision = ("approve", "reject", "approve")[b % 3]
            if decision in call.decisions:
                self._when(RespondAction(session_id=SESSION, action_id=call.action, decision=decision))

    def ends_call(self, a: int, b: int, c: int) -> None:
        """Apply the end of a running call, with success or failure."""
        running = [call for call in self._calls("running") if not call[1].awaits]
        if running:
            thread, call = running[a % len(running)]
            assert thread.run is not None
            outcome = ToolOutcome(output="done", code="tool_failed" if b % 3 == 0 else None, message="", duration_ms=4)
            self._when(ToolEnded(thread=thread.thread, run=thread.run.run, call=call.call, outcome=outcome))

    def changes_connection(self, a: int, b: int, c: int) -> None:
        """Connect the external agent, disconnect it, or report a part of its answer."""
        thread = self.session.thread_of("coder")
        run = thread.run
        if b % 3 == 0 or run is None:
            self._when(ExternalDisconnected(thread=thread.thread, reason="it ended"))
        elif b % 3 == 1:
            connected = ExternalConnected(
                thread=thread.thread, provider_session=f"s-{c}", name="Coder", version="2", resumed=bool(c % 2)
            )
            self._when(connected)
        elif not run.stopping and run.model_step:
            piece = text_part(run.next_step, "So.")
            self._when(PartEnded(thread=thread.thread, run=run.run, prompt=run.model_step, piece=piece))

    def _is_program(self, name: str) -> bool:
        return self.session.thread_of(name).definition == "coder"

    def _calls(self, phase: str) -> list[tuple[Thread, OpenCall]]:
        return [
            (thread, call)
            for thread in self.state.threads.values()
            if thread.run is not None
            for call in thread.run.calls
            if call.phase == phase
        ]


StepFunction = Callable[[History, int, int, int], None]
STEPS: dict[str, StepFunction] = {
    "finishes": History.finishes,
    "fails": History.fails,
    "stops": History.stops,
    "interrupts": History.interrupts,
    "submits": History.submits,
    "removes_queued": History.removes_queued,
    "messages": History.messages,
    "hands_over": History.hands_over,
    "answers_handoff": History.answers_handoff,
    "spawns": History.spawns,
    "waits_for_children": History.waits_for_children,
    "changes_child": History.changes_child,
    "resumes": History.resumes,
    "crashes": History.crashes,
    "passes_time": History.passes_time,
    "starts_task": History.starts_task,
    "changes_task": History.changes_task,
    "reports_task": History.reports_task,
    "changes_job": History.changes_job,
    "calls_tool": History.calls_tool,
    "answers_action": History.answers_action,
    "ends_call": History.ends_call,
    "changes_connection": History.changes_connection,
}


class Rows:
    """The rows of a session by panel and key, as a page stores them."""

    def __init__(self) -> None:
        self._view = SessionView()
        self.rows: dict[tuple[str, str], Row] = {}

    def apply(self, record: Record) -> None:
        """Apply the next fact."""
        for op in self._view.apply(record):
            if isinstance(op, Upsert):
                self.rows[op.panel, op.row.key] = op.row
            else:
                self.rows.pop((op.panel, op.key), None)
