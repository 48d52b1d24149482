"""Random commands and run ends of tasks: a worker for each running task, no fact after its end."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from callboard.contracts.commands.subagent import CancelSubagent, CloseSubagent, SendSubagentInput
from callboard.contracts.commands.task import CompleteTask, FailTask
from callboard.contracts.commands.turn import ResumeThread
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.task import SnapshotUpdated, TaskCancelled, TaskCompleted, TaskStarted
from callboard.contracts.record import NewFact
from callboard.control.decide.turn.queue_eligibility import find_startable
from callboard.control.outcomes import HostTakenOver
from callboard.control.state.task import OpenTask
from callboard.control.task_status import find_task_run, find_task_worker, is_at_work, list_subtasks, was_stopped
from tests.control.rigs.decisions import Step
from tests.control.rigs.examples import SESSION, interrupt, submit
from tests.control.rigs.tasks import board, cancel, create, link, pause, resume, retry, start

TASKS = st.sampled_from(["tsk_a", "tsk_b", "tsk_c", "tsk_d"])
ASSIGNEES = st.sampled_from([None, "lead", "critic", "worker", "worker", "worker-1", "worker-2", "owner"])
AGENTS = st.sampled_from(["lead", "critic", "worker-1", "worker-2", "worker-3"])
PICK = st.integers(0, 9)


class TaskMachine(RuleBasedStateMachine):
    """A board, a lead, another main agent, children and a person."""

    def __init__(self) -> None:
        super().__init__()
        self.session = board("tsk_a", "tsk_b", budget=2)
        self.session.when(create("tsk_c", parent_task="tsk_a"))
        self.session.when(create("tsk_d", depends_on=("tsk_b",)))
        self.ended: set[str] = set()
        self.attempts: dict[str, int] = {}

    def _apply(self, step: Step) -> bool:
        before = self.session.state
        try:
            result = self.session.when(step)
        except Refusal:
            assert self.session.state == before
            return False
        self._check_facts(result.decision.facts)
        return True

    def _check_facts(self, facts: tuple[NewFact, ...]) -> None:
        for new in facts:
            task = new.scope.task
            if not task or not new.fact.type.startswith("task."):
                continue
            assert task not in self.ended, f"{new.fact.type} of {task}, which has ended"
            if isinstance(new.fact, TaskStarted):
                assert new.scope.attempt > self.attempts.get(task, 0), "each attempt has a new number"
                self.attempts[task] = new.scope.attempt
            if _ends(new.fact):
                self.ended.add(task)

    # Commands.

    @rule(name=TASKS, assignee=ASSIGNEES)
    def start(self, name: str, assignee: str | None) -> None:
        self._apply(start(name, assignee=assignee))

    @rule(name=TASKS, assignee=ASSIGNEES)
    def retry(self, name: str, assignee: str | None) -> None:
        self._apply(retry(name, assignee=assignee))

    @rule(name=TASKS)
    def pause(self, name: str) -> None:
        self._apply(pause(name))

    @rule(name=TASKS)
    def resume(self, name: str) -> None:
        self._apply(resume(name))

    @rule(name=TASKS, pick=PICK)
    def cancel(self, name: str, pick: int) -> None:
        if pick < 3:
            self._apply(cancel(name))

    @rule(name=TASKS, pick=PICK, done=st.booleans())
    def report(self, name: str, pick: int, done: bool) -> None:
        if pick < 3:
            failure = FailTask(session_id=SESSION, task_id=name, message="no")
            self._apply(CompleteTask(session_id=SESSION, task_id=name) if done else failure)

    @rule(name=TASKS, other=TASKS, part=st.booleans())
    def link(self, name: str, other: str, part: bool) -> None:
        more = {"parent_task": other} if part else {"depends_on": (other,)}
        self._apply(link(name, **more))

    @rule(agent=AGENTS, kind=st.sampled_from([CancelSubagent, CloseSubagent, SendSubagentInput]), pick=PICK)
    def change_child(self, agent: str, kind: type, pick: int) -> None:
        if pick < 4:
            more = {"text": "more"} if kind is SendSubagentInput else {}
            self._apply(kind(session_id=SESSION, agent=agent, **more))

    @rule(agent=AGENTS, cascade=st.booleans(), clear=st.booleans())
    def interrupt(self, agent: str, cascade: bool, clear: bool) -> None:
        thread = next((thread for thread in self.session.state.threads.values() if thread.agent == agent), None)
        if thread is not None:
            queued = "clear" if clear else "keep"
            self._apply(interrupt(thread_id=thread.thread, cascade=cascade, queued=queued))

    @rule()
    def a_person_submits(self) -> None:
        self._apply(submit("and you?", session_id=SESSION))

    @rule(agent=AGENTS, tree=st.booleans())
    def thread_resumes(self, agent: str, tree: bool) -> None:
        thread = next((thread for thread in self.session.state.threads.values() if thread.agent == agent), None)
        if thread is not None:
            self._apply(ResumeThread(session_id=SESSION, thread_id=thread.thread, tree=tree))

    # Outcomes.

    @precondition(lambda self: self.session.running_agents())
    @rule(pick=PICK, how=st.sampled_from(["says", "says", "says", "fails", "spawns", "stops", "stops", "crashes"]))
    def a_run_continues(self, pick: int, how: str) -> None:
        agents = self.session.running_agents()
        self._continue_run(agents[pick % len(agents)], how)

    def _continue_run(self, agent: str, how: str) -> None:
        session = self.session
        run = session.run_of(agent)
        if run.stopping or how == "crashes":
            result = session.stops(agent, "crash" if how == "crashes" else "person")
        elif how == "fails":
            result = session.fails(agent)
        elif how == "spawns":
            result = session.uses(agent, "spawn_subagent", agent="worker", objective="a part")
        else:
            result = session.responds(agent)
        self._check_facts(result.decision.facts)

    @rule(pick=PICK)
    def the_process_ends(self, pick: int) -> None:
        if pick < 2:
            self.session.epoch += 1
            self._apply(HostTakenOver(partials=()))

    @rule()
    def all_runs_end(self) -> None:
        """Check that no task waits for an end that never comes."""
        for _ in range(200):
            agents = self.session.running_agents()
            if not agents:
                break
            self._continue_run(agents[0], "says")
        assert self.session.running_agents() == []
        for task in self.session.state.tasks.values():
            assert not task.cancelling, f"{task.task} waits to be cancelled"

    # Invariants.

    @invariant()
    def no_agent_works_on_a_paused_task(self) -> None:
        for task in self.session.state.tasks.values():
            worker_run = find_task_run(self.session.state, task)
            if worker_run is not None and (task.paused or task.cancelling):
                assert worker_run[1].stopping, f"{worker_run[0].agent} works on {task.task}"

    @invariant()
    def every_running_task_has_a_worker(self) -> None:
        for task in self.session.state.tasks.values():
            if task.work == "running" and not task.paused and not task.cancelling:
                assert self._has_worker(task), f"no agent works on {task}"

    @invariant()
    def a_task_with_a_run_counts_as_running(self) -> None:
        state = self.session.state
        for task in state.tasks.values():
            worker_run = find_task_run(state, task)
            assert worker_run is None or is_at_work(state, task), f"{worker_run[0].agent} works on {task.task}"

    def _has_worker(self, task: OpenTask) -> bool:
        state = self.session.state
        thread = state.threads.get(task.thread)
        if thread is None:
            return False
        if thread.kind == "human" or find_task_run(state, task) is not None:
            return True
        worker = find_task_worker(state, task)
        if worker is not None:
            return worker[1].status in ("queued", "running") or not was_stopped(worker[0])
        if any(queued.turn == task.turn for queued in thread.queue):
            return True
        # It delegated subtasks: they run, or the agent has not read their results yet.
        may_wake = bool(thread.inbox) or thread.run is not None or find_startable(state, thread) is not None
        has_running_subtask = any(part.work == "running" for part in list_subtasks(state, task.task))
        return has_running_subtask or ((task.delegated or task.implied) and may_wake)


def _ends(fact: Fact) -> bool:
    return isinstance(fact, TaskCompleted | TaskCancelled) and not isinstance(fact, SnapshotUpdated)


TaskMachine.TestCase.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
TestTasks = TaskMachine.TestCase
