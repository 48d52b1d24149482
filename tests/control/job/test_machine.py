"""Random commands and run ends of a job: its parallel limit, its waiting items and its end."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from callboard.contracts.commands.job import CancelJob, PauseJob, ResumeJob
from callboard.contracts.commands.subagent import CloseSubagent, SendSubagentInput
from callboard.control.state.job import OpenJob
from callboard.control.state.task import OpenTask
from tests.control.rigs.decisions import Step
from tests.control.rigs.examples import SESSION
from tests.control.rigs.jobs import JOB, create_job, retry_item
from tests.control.rigs.tasks import cancel, pause, resume
from tests.control.task.test_machine import PICK, TaskMachine

PARALLEL = 2
ITEMS = st.integers(0, 4)


class JobMachine(TaskMachine):
    """The board of tasks, with a job of five items."""

    def __init__(self) -> None:
        super().__init__()
        before = set(self.session.state.tasks)
        result = self.session.when(create_job(*"12345", parallel=PARALLEL))
        self._check_facts(result.decision.facts)
        job_task, *self.items = (task for task in self.session.state.tasks if task not in before)
        self.job_task = job_task
        self.paused: set[str] = set()

    @rule()
    def the_job_is_paused(self) -> None:
        self.paused.update(item.task for item in self._open_items())
        self._apply(PauseJob(session_id=SESSION, job_id=JOB))

    @rule()
    def the_job_is_resumed(self) -> None:
        self._apply(ResumeJob(session_id=SESSION, job_id=JOB))

    @rule(pick=PICK)
    def the_job_is_cancelled(self, pick: int) -> None:
        if pick < 2:
            self._apply(CancelJob(session_id=SESSION, job_id=JOB))

    @rule(item=st.one_of(st.none(), ITEMS))
    def an_item_is_retried(self, item: int | None) -> None:
        self._apply(retry_item(None if item is None else self.items[item]))

    @rule(item=ITEMS, how=st.sampled_from([pause, resume, resume, cancel]))
    def an_item_changes_alone(self, item: int, how: Callable[[str], Step]) -> None:
        self.paused.add(self.items[item])
        self._apply(how(self.items[item]))

    @rule(item=ITEMS, close=st.booleans(), pick=PICK)
    def a_worker_gets_input_or_is_closed(self, item: int, close: bool, pick: int) -> None:
        threads = self.session.state.threads.values()
        workers = [
            thread.agent for thread in threads if thread.child is not None and thread.child.task == self.items[item]
        ]
        if workers and pick < 4:
            more = SendSubagentInput(session_id=SESSION, agent=workers[0], text="more")
            self._apply(CloseSubagent(session_id=SESSION, agent=workers[0]) if close else more)
            self.paused.add(self.items[item])

    @rule()
    def all_runs_end(self) -> None:
        super().all_runs_end()
        job = self._job()
        if job is None:
            return
        job_task = self.session.state.tasks[job.task]
        if job_task.paused:
            return
        open_items = self._open_items()
        assert open_items, "a job without open items has ended"
        for item in open_items:
            can_wait = item.paused or item.work == "over" or set(item.depends_on) - set(item.done_dependencies)
            assert can_wait, f"no worker starts {item.title}"
        assert (job_task.work == "over") == all(item.work == "over" for item in open_items)

    @invariant()
    def at_most_the_parallel_limit_runs(self) -> None:
        """Items that a person changed do not count: they resume outside of the limit."""
        at_work = [item for item in self._open_items() if item.work == "running" and item.task not in self.paused]
        begun = [item for item in at_work if self.attempts.get(item.task, 0) <= 1]
        assert len(begun) <= PARALLEL

    @invariant()
    def one_child_at_a_time_works_on_an_item(self) -> None:
        threads = self.session.state.threads.values()
        at_work = [
            thread.child.task
            for thread in threads
            if thread.child is not None and thread.child.job and thread.run is not None
        ]
        assert len(at_work) == len(set(at_work))

    @invariant()
    def workers_end_with_their_job(self) -> None:
        threads = self.session.state.threads.values()
        workers = [
            thread.agent
            for thread in threads
            if thread.child is not None and thread.child.job not in ("", *self.session.state.jobs)
        ]
        assert workers == []

    @invariant()
    def a_job_exists_as_long_as_its_task(self) -> None:
        assert (self._job() is not None) == (self.job_task in self.session.state.tasks)

    def _job(self) -> OpenJob | None:
        return self.session.state.jobs.get(JOB)

    def _open_items(self) -> list[OpenTask]:
        return [self.session.state.tasks[item] for item in self.items if item in self.session.state.tasks]

    def _has_worker(self, task: OpenTask) -> bool:
        return bool(self._open_items()) if task.task == self.job_task else super()._has_worker(task)


JobMachine.TestCase.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
TestJobs = JobMachine.TestCase
