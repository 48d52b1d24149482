"""Random commands and run ends of tasks: every running task has a worker, and an ended one no more facts."""

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
from callboard.control.state.team import OpenTask
from callboard.control.task_status import is_at_work, list_parts, task_run, task_worker, was_stopped
from tests.control.rigs.decisions import Step
from tests.control.rigs.examples import SESSION, interrupt, submit
from tests.control.rigs.tasks import board, cancel, create, link, pause, resume, retry, start

TASKS = st.sampled_from(["tsk_a", "tsk_b", "tsk_c", "tsk_d"])
WHO = st.sampled_from([None, "lead", "critic", "worker", "worker", "worker-1", "worker-2", "owner"])
AGENTS = st.sampled_from(["lead", "critic", "worker-1", "worker-2", "worker-3"])
PICK = st.integers(0, 9)


class TaskMachine(RuleBasedStateMachine):
    """A board, a lead, another main agent, children and a person."""

    def __init__(self) -> None:
        super().__init__()
        self.session = board("tsk_a", "tsk_b", budget=2)
        self.session.when(create("tsk_c", parent_task="tsk_a"))
        self.session.when(create("tsk_d", depends_on=("tsk_b",)))
        self.over: set[str] = set()
        self.attempts: dict[str, int] = {}

    def _take(self, step: Step) -> bool:
        before = self.session.state
        try:
            then = self.session.when(step)
        except Refusal:
            assert self.session.state == before
            return False
        self._see(then.decision.facts)
        return True

    def _see(self, facts: tuple[NewFact, ...]) -> None:
        for new in facts:
            task = new.scope.task
            if not task or not new.fact.type.startswith("task."):
                continue
            assert task not in self.over, f"{new.fact.type} of {task}, which has ended"
            if isinstance(new.fact, TaskStarted):
                assert new.scope.attempt > self.attempts.get(task, 0), "each attempt has a new number"
                self.attempts[task] = new.scope.attempt
            if _ends(new.fact):
                self.over.add(task)

    # Commands.

    @rule(name=TASKS, who=WHO)
    def start(self, name: str, who: str | None) -> None:
        self._take(start(name, assignee=who))

    @rule(name=TASKS, who=WHO)
    def retry(self, name: str, who: str | None) -> None:
        self._take(retry(name, assignee=who))

    @rule(name=TASKS)
    def pause(self, name: str) -> None:
        self._take(pause(name))

    @rule(name=TASKS)
    def resume(self, name: str) -> None:
        self._take(resume(name))

    @rule(name=TASKS, pick=PICK)
    def cancel(self, name: str, pick: int) -> None:
        if pick < 3:
            self._take(cancel(name))

    @rule(name=TASKS, pick=PICK, done=st.booleans())
    def report(self, name: str, pick: int, done: bool) -> None:
        if pick < 3:
            said = FailTask(session_id=SESSION, task_id=name, message="no")
            self._take(CompleteTask(session_id=SESSION, task_id=name) if done else said)

    @rule(name=TASKS, other=TASKS, part=st.booleans())
    def link(self, name: str, other: str, part: bool) -> None:
        more = {"parent_task": other} if part else {"depends_on": (other,)}
        self._take(link(name, **more))

    @rule(agent=AGENTS, kind=st.sampled_from([CancelSubagent, CloseSubagent, SendSubagentInput]), pick=PICK)
    def of_a_child(self, agent: str, kind: type, pick: int) -> None:
        if pick < 4:
            more = {"text": "more"} if kind is SendSubagentInput else {}
            self._take(kind(session_id=SESSION, agent=agent, **more))

    @rule(agent=AGENTS, cascade=st.booleans(), clear=st.booleans())
    def interrupt(self, agent: str, cascade: bool, clear: bool) -> None:
        thread = next((thread for thread in self.session.state.threads.values() if thread.agent == agent), None)
        if thread is not None:
            queued = "clear" if clear else "keep"
            self._take(interrupt(thread_id=thread.thread, cascade=cascade, queued=queued))

    @rule()
    def a_person_says_something(self) -> None:
        self._take(submit("and you?", session_id=SESSION))

    @rule(agent=AGENTS, tree=st.booleans())
    def thread_resumes(self, agent: str, tree: bool) -> None:
        thread = next((thread for thread in self.session.state.threads.values() if thread.agent == agent), None)
        if thread is not None:
            self._take(ResumeThread(session_id=SESSION, thread_id=thread.thread, tree=tree))

    # Outcomes.

    @precondition(lambda self: self.session.running_agents())
    @rule(pick=PICK, how=st.sampled_from(["says", "says", "says", "fails", "spawns", "stops", "stops", "crashes"]))
    def goes_on(self, pick: int, how: str) -> None:
        agents = self.session.running_agents()
        self._goes_on(agents[pick % len(agents)], how)

    def _goes_on(self, agent: str, how: str) -> None:
        session = self.session
        run = session.run_of(agent)
        if run.stopping or how == "crashes":
            then = session.stopped(agent, "crash" if how == "crashes" else "person")
        elif how == "fails":
            then = session.fails(agent)
        elif how == "spawns":
            then = session.uses(agent, "spawn_subagent", agent="worker", objective="a part")
        else:
            then = session.answers(agent)
        self._see(then.decision.facts)

    @rule(pick=PICK)
    def the_process_ends(self, pick: int) -> None:
        if pick < 2:
            self.session.epoch += 1
            self._take(HostTakenOver(partials=()))

    @rule()
    def all_comes_to_rest(self) -> None:
        """Check that no task waits for an end that never comes."""
        for _ in range(200):
            agents = self.session.running_agents()
            if not agents:
                break
            self._goes_on(agents[0], "says")
        assert self.session.running_agents() == []
        for task in self.session.state.tasks.values():
            assert not task.cancelling, f"{task.task} waits to be cancelled"

    # Invariants.

    @invariant()
    def nobody_works_on_what_is_paused(self) -> None:
        for task in self.session.state.tasks.values():
            found = task_run(self.session.state, task)
            if found is not None and (task.paused or task.cancelling):
                assert found[1].stopping, f"{found[0].agent} works on {task.task}"

    @invariant()
    def what_is_at_work_has_somebody_who_works_on_it(self) -> None:
        for task in self.session.state.tasks.values():
            if task.work == "running" and not task.paused and not task.cancelling:
                assert self._has_somebody(task), f"no agent works on {task}"

    @invariant()
    def who_works_on_a_task_is_not_joined_by_another_attempt(self) -> None:
        state = self.session.state
        for task in state.tasks.values():
            found = task_run(state, task)
            assert found is None or is_at_work(state, task), f"{found[0].agent} works on {task.task}"

    def _has_somebody(self, task: OpenTask) -> bool:
        state = self.session.state
        thread = state.threads.get(task.thread)
        if thread is None:
            return False
        if thread.kind == "human" or task_run(state, task) is not None:
            return True
        worker = task_worker(state, task)
        if worker is not None:
            return worker[1].status in ("queued", "running") or not was_stopped(worker[0])
        if any(queued.turn == task.turn for queued in thread.queue):
            return True
        # It delegated subtasks: they run, or the agent has not read their results yet.
        untold = bool(thread.inbox) or thread.run is not None or find_startable(state, thread) is not None
        parts = any(part.work == "running" for part in list_parts(state, task.task))
        return parts or ((task.delegated or task.implied) and untold)


def _ends(fact: Fact) -> bool:
    return isinstance(fact, TaskCompleted | TaskCancelled) and not isinstance(fact, SnapshotUpdated)


TaskMachine.TestCase.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
TestTasks = TaskMachine.TestCase
