"""Jobs with items that run, are cancelled, retried and resumed after a restart."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from callboard.agents.folder import FolderDefinitions
from callboard.app.settings.settings_files import SettingsFiles
from callboard.app.state_folder import StateFolder
from callboard.contracts.commands.artifact import ListArtifacts
from callboard.contracts.commands.evidence import ExportEvidence
from callboard.contracts.commands.job import (
    CancelJob,
    CreateJob,
    GetJob,
    JobChanged,
    JobItemInput,
    JobRead,
    ResumeJob,
    RetryJobItem,
)
from callboard.contracts.commands.permission import GetTrust, RevokeTrust, TrustWorkspace
from callboard.contracts.commands.session import ListSessions, UpdateSession
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.job import JobCreated
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.facts.subagent import SubagentStarted
from callboard.contracts.facts.task import TaskCompleted, TaskStarted
from callboard.contracts.rows.task import JobItems, TaskRow
from tests.runtime.rigs.runtime_rig import PATIENCE, RuntimeRig, open_runtime, says, use_tool
from tests.runtime.rigs.team import find_marked, list_facts, plays, wait_fact, wait_state, write_crew
from tests.runtime.test_evidence import read_manifest, read_pack

FAILING: list[dict[str, Any]] = [{"fail": {"code": "model_refused_request", "message": "no"}}]


def write_call(name: str, content: str) -> list[dict[str, Any]]:
    return use_tool("Write", file_path=name, content=content)


async def start_job(rig: RuntimeRig, *items: str, **rest: Any) -> JobChanged:
    """Return a session whose lead has answered, with a running job."""
    write_crew(rig)
    turn = await rig.submit("hello", permission_mode="full")
    await rig.until(turn.session_id, "turn.completed")
    job_items = tuple(JobItemInput(input=item) for item in items)
    created: JobChanged = await rig.do(
        CreateJob(session_id=turn.session_id, title="All of them", items=job_items, **rest)
    )
    return created


async def read(rig: RuntimeRig, job: JobChanged) -> JobRead:
    job_read: JobRead = await rig.do(GetJob(session_id=job.session_id, job_id=job.job_id))
    return job_read


async def wait_job_end(rig: RuntimeRig, job: JobChanged) -> JobRead:
    """Return the job when it has ended."""
    await wait_fact(
        rig, job.session_id, lambda record: record.header.type == "task.completed" and record.scope.task == job.task_id
    )
    return await read(rig, job)


async def test_a_retried_item_has_one_output_and_finished_items_do_not_rerun(tmp_path: Path) -> None:
    """CTL-11: the worker that failed continues in the same conversation.

    The file is one artifact, retrying a finished item is refused, and a repeated retry is one
    attempt.
    """
    scenario = plays(
        ("lead", "hello", [says("Hello.")]),
        ("worker", "attempt 2", [write_call("beta.md", "beta, whole\n"), says("Beta is done.")]),
        ("worker", "alpha", [write_call("alpha.md", "alpha\n"), says("Alpha is done.")]),
        ("worker", "beta", [write_call("beta.md", "beta\n"), FAILING]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        job = await start_job(rig, "alpha", "beta")
        await wait_fact(
            rig,
            job.session_id,
            lambda record: record.header.type == "task.failed" and record.scope.task == job.task_id,
        )
        failed = await read(rig, job)
        assert (failed.status, failed.counts) == ("failed", JobItems(completed=1, failed=1))
        alpha, beta = failed.items
        assert (alpha.status, alpha.attempts, alpha.output) == ("completed", 1, "Alpha is done.")
        assert (beta.status, beta.attempts, beta.output, beta.problem) == ("failed", 1, "", "no")

        for item, code in ((alpha.item_id, "job_item_done"), ("tsk_none", "unknown_task")):
            with pytest.raises(Refusal) as refused:
                await rig.do(RetryJobItem(session_id=job.session_id, job_id=job.job_id, item_id=item))
            assert refused.value.code == code
        again = RetryJobItem(session_id=job.session_id, job_id=job.job_id, item_id=beta.item_id)
        answers = await asyncio.gather(*(rig.do(again, key="once") for _ in range(5)))
        assert all(answer == answers[0] for answer in answers)

        done = await wait_job_end(rig, job)
        assert (done.status, done.counts) == ("completed", JobItems(completed=2))
        assert [(item.attempts, item.output) for item in done.items] == [(1, "Alpha is done."), (2, "Beta is done.")]
        assert done.items[1].agent_id == beta.agent_id
        listed = await rig.do(ListArtifacts(session_id=job.session_id))
        assert sorted(artifact.path for artifact in listed.artifacts) == ["alpha.md", "beta.md"]
        completed = [record for record in await rig.facts(job.session_id) if isinstance(record.fact, TaskCompleted)]
        assert sorted(record.scope.task for record in completed) == sorted([alpha.item_id, beta.item_id, job.task_id])
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        assert await read(rig, job) == done, "and so it reads after a restart"
        with pytest.raises(Refusal) as gone:
            await rig.do(CancelJob(session_id=job.session_id, job_id=job.job_id))
        assert gone.value.code == "unknown_job"


async def test_cancelling_a_job_ends_running_items_and_keeps_finished_ones(tmp_path: Path) -> None:
    """CTL-11: no process of its workers stays, the finished item is unchanged, and nothing more
    starts."""
    mark = f"mark-{tmp_path.name}-{id(tmp_path)}"
    scenario = plays(
        ("lead", "hello", [says("Hello.")]),
        ("worker", "alpha", [says("Alpha is done.")]),
        ("worker", "beta", [use_tool("Bash", command=f"touch began; sleep 600 # {mark}"), says("never")]),
        ("worker", "gamma", [says("never")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        job = await start_job(rig, "alpha", "beta", "gamma", parallel=1)
        await rig.wait_file("began")
        before = await read(rig, job)
        await rig.do(CancelJob(session_id=job.session_id, job_id=job.job_id, reason="enough"))
        await wait_fact(
            rig,
            job.session_id,
            lambda record: record.header.type == "task.cancelled" and record.scope.task == job.task_id,
        )
        async with asyncio.timeout(PATIENCE):
            while find_marked(mark):  # noqa: ASYNC110 - the process list has no events
                await asyncio.sleep(0.02)
        after = await read(rig, job)
        assert (after.status, after.counts) == ("cancelled", JobItems(completed=1, cancelled=2))
        assert after.items[0] == before.items[0]
        assert [item.status for item in after.items] == ["completed", "cancelled", "cancelled"]
        assert [item.attempts for item in after.items] == [1, 1, 0]


async def test_a_job_continues_after_a_restart_when_resumed(tmp_path: Path) -> None:
    """Finished items do not rerun, interrupted ones are resumed, and waiting ones start."""
    cut = plays(
        ("lead", "hello", [says("Hello.")]),
        ("worker", "alpha", [says("Alpha is done.")]),
        ("worker", "beta", [use_tool("Bash", command="touch began; sleep 600"), says("never")]),
    )
    goes_on = plays(
        ("worker", "You were paused", [says("Beta is done.")]), ("worker", "gamma", [says("Gamma is done.")])
    )
    async with open_runtime(tmp_path, cut, FolderDefinitions()) as rig:
        job = await start_job(rig, "alpha", "beta", "gamma", parallel=1)
        await rig.wait_file("began")
    async with open_runtime(tmp_path, goes_on, FolderDefinitions()) as rig:
        waits = await read(rig, job)
        assert (waits.status, waits.counts) == ("paused", JobItems(waiting=2, completed=1))
        await rig.do(ResumeJob(session_id=job.session_id, job_id=job.job_id))
        done = await wait_job_end(rig, job)
        assert [(item.attempts, item.output) for item in done.items] == [
            (1, "Alpha is done."),
            (1, "Beta is done."),
            (1, "Gamma is done."),
        ]


async def test_a_hundred_items_run_in_order_within_the_limit_and_wake_no_agent(tmp_path: Path) -> None:
    scenario = plays(("lead", "hello", [says("Hello.")]), ("worker", "", [says("Done.")]))
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        job = await start_job(rig, *(f"item {number}" for number in range(100)), parallel=4)
        done = await wait_job_end(rig, job)
        assert (done.status, done.counts) == ("completed", JobItems(completed=100))
        assert [item.title for item in done.items] == [f"item {number}" for number in range(100)]
        at_work, most = 0, 0
        order: list[str] = []
        for record in await rig.facts(job.session_id):
            at_work += isinstance(record.fact, SubagentStarted)
            at_work -= record.header.type == "subagent.completed"
            most = max(most, at_work)
            if isinstance(record.fact, TaskStarted) and record.scope.task != job.task_id:
                order.append(record.scope.task)
        assert (most, order) == (4, list(job.items))
        state = await wait_state(rig, job.session_id, lambda state: not state.tasks)
        assert (list(state.threads), state.jobs) == ([state.lead], {}), "nothing of it is left to keep"
        requests = [record for record in await rig.facts(job.session_id) if isinstance(record.fact, ModelRequested)]
        assert sum(record.scope.thread == state.lead for record in requests) == 1
        assert await list_facts(rig, job.session_id, TaskCompleted)


async def test_a_job_in_a_new_session_is_created_and_listed_once(tmp_path: Path) -> None:
    """CTL-02: two concurrent equal requests make one session with one job."""
    scenario = plays(("worker", "", [says("Done.")]))
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        command = CreateJob(workspace_id=rig.workspace, title="All of them", items=(JobItemInput(input="alpha"),))
        created, again = await asyncio.gather(rig.do(command, key="k"), rig.do(command, key="k"))
        assert created == again
        assert (await wait_job_end(rig, created)).counts == JobItems(completed=1)
        (listed,) = (await rig.do(ListSessions(workspace_id=rig.workspace))).sessions
        assert (listed.key, listed.title) == (created.session_id, "All of them")
        with pytest.raises(Refusal) as refused:
            await rig.do(CreateJob(title="nowhere", items=command.items))
        assert (refused.value.code, refused.value.problem.field) == ("invalid_input", "workspaceId")
        await rig.do(UpdateSession(session_id=created.session_id, archived=True))
        with pytest.raises(Refusal) as closed:
            await rig.do(CreateJob(session_id=created.session_id, title="more", items=command.items))
        assert closed.value.code == "session_archived"


async def test_old_jobs_are_read_completely_after_a_restart(tmp_path: Path) -> None:
    """A window has the newest rows, and all open ones."""
    scenario = plays(
        ("lead", "hello", [says("Hello.")]), ("worker", "fails", [FAILING]), ("worker", "", [says("Done.")])
    )
    many = tuple(JobItemInput(input=f"item {number}") for number in range(500))
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        first = await start_job(rig, "fails", "one")
        session = first.session_id
        await wait_fact(
            rig, session, lambda record: record.header.type == "task.failed" and record.scope.task == first.task_id
        )
        jobs = [first]
        for _ in range(2):
            job = await rig.do(CreateJob(session_id=session, title="Many", items=many, parallel=1))
            await rig.do(CancelJob(session_id=session, job_id=job.job_id))
            await wait_state(rig, session, lambda state, job=job: job.job_id not in state.jobs)
            jobs.append(job)
        before = [await read(rig, job) for job in jobs]
        assert [len(entry.items) for entry in before] == [2, 500, 500]
        assert before[0].counts == JobItems(completed=1, failed=1)
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        assert [await read(rig, job) for job in jobs] == before
        opened = await rig.runtime.sessions.get(session)
        cards = {row.key: row for row in opened.views.rows(TaskRow)}
        assert cards[first.task_id].items == JobItems(completed=1, failed=1)
        again = RetryJobItem(session_id=session, job_id=first.job_id)
        assert (await rig.do(again)).items == (first.items[0],)


async def test_a_jobs_evidence_includes_work_after_its_resume(tmp_path: Path) -> None:
    """All facts of an item's worker belong to its task."""
    cut = plays(
        ("lead", "hello", [says("Hello.")]),
        ("worker", "beta", [use_tool("Bash", command="touch began; sleep 600"), says("never")]),
    )
    goes_on = plays(("worker", "You were paused", [write_call("beta.md", "beta\n"), says("Beta is done.")]))
    async with open_runtime(tmp_path, cut, FolderDefinitions()) as rig:
        job = await start_job(rig, "beta", parallel=1)
        await rig.wait_file("began")
    async with open_runtime(tmp_path, goes_on, FolderDefinitions()) as rig:
        await rig.do(ResumeJob(session_id=job.session_id, job_id=job.job_id))
        await wait_job_end(rig, job)
        packed = await rig.do(ExportEvidence(session_id=job.session_id, task_id=job.task_id))
        spans = read_manifest(await read_pack(rig, packed))["task"]["facts"]
        sequences = {number for first, last in spans for number in range(first, last + 1)}
        worker = [record for record in await rig.facts(job.session_id) if record.scope.agent == "worker-1"]
        assert [record.header.type for record in worker if record.sequence not in sequences] == []


async def test_no_command_runs_in_a_mode_whose_trust_was_revoked(tmp_path: Path) -> None:
    """SAFE-08: a later item asks for approval, although the lead ran in the wider mode."""
    scenario = plays(
        ("lead", "hello", [says("Hello.")]),
        ("worker", "", [use_tool("Bash", command="touch ran"), says("Done.")]),
    )
    user = StateFolder(tmp_path / "user")
    user.create()
    settings = SettingsFiles(user, {}, FolderDefinitions())
    async with open_runtime(tmp_path, scenario, FolderDefinitions(), settings=settings) as rig:
        write_crew(rig)
        own = rig.folder / ".callboard"
        own.mkdir()
        (own / "settings.toml").write_text('permission_mode = "full"\n')
        read_trust = await rig.do(GetTrust(workspace_id=rig.workspace))
        await rig.do(TrustWorkspace(workspace_id=rig.workspace, digest=read_trust.digest))
        turn = await rig.submit("hello")
        await rig.until(turn.session_id, "turn.completed")
        await rig.do(RevokeTrust(workspace_id=rig.workspace))
        command = CreateJob(
            session_id=turn.session_id, title="All", items=(JobItemInput(input="alpha"),), agent="worker"
        )
        await rig.do(command)
        await rig.until(turn.session_id, "action.required")
        (created,) = await list_facts(rig, turn.session_id, JobCreated)
        assert (created.permission_mode, (rig.folder / "ran").exists()) == ("ask", False)
