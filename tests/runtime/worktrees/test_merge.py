"""A person's merge of a child's worktree."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.subagent import SpawnSubagent
from callboard.contracts.commands.task import ChildMerged, MergeSubagent
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.subagent import SubagentMerged, SubagentMergeRequested
from callboard.contracts.scope import PERSON
from callboard.control.state.session import Session
from tests.runtime.rigs.runtime_rig import RuntimeRig, open_runtime, says, use_tool
from tests.runtime.rigs.team import list_facts, plays, wait_state
from tests.runtime.worktrees.test_subagents import commit_folder, git

WROTE = plays(
    ("lead", "hello", [says("Hello.")]),
    ("worker", "alpha", [use_tool("Write", file_path="notes.md", content="one\ntwo\n"), says("A.")]),
    ("worker", "nothing", [says("Nothing to do.")]),
)


@asynccontextmanager
async def changed_worktree(place: Path, objective: str = "alpha") -> AsyncIterator[tuple[RuntimeRig, str]]:
    """Return a session whose child changed its worktree."""
    async with open_runtime(place, WROTE, FolderDefinitions()) as rig:
        commit_folder(rig)
        turn = await rig.submit("hello", permission_mode="full")
        await rig.until(turn.session_id, "turn.completed")
        spawned = SpawnSubagent(session_id=turn.session_id, agent="worker", objective=objective, isolation="worktree")
        await rig.do(spawned)
        await rig.until(turn.session_id, "subagent.completed")
        yield rig, turn.session_id


def merge(session: str, agent: str = "worker-1") -> MergeSubagent:
    return MergeSubagent(session_id=session, agent=agent, reason="it is good")


async def test_a_persons_merge_is_a_fact_before_and_after_it(tmp_path: Path) -> None:
    """SUB-06: the intent has an actor and a reason, and is durable before git runs."""
    async with changed_worktree(tmp_path) as (rig, session):
        done = await rig.do(merge(session))
        assert (done.status, done.files, done.conflict) == ("merged", ("notes.md",), ())
        assert (rig.folder / "notes.md").read_text() == "one\ntwo\n"
        assert git(rig.folder, "log", "-1", "--format=%s") == "Merge the work of worker-1"
        merges = [record for record in await rig.facts(session) if record.header.type.startswith("subagent.merge")]
        assert [record.fact for record in merges] == [
            SubagentMergeRequested(reason="it is good"),
            SubagentMerged(status="merged", files=("notes.md",)),
        ]
        first_sequence = merges[0].sequence
        assert [(record.header.actor, record.scope.agent, record.sequence) for record in merges] == [
            (PERSON, "worker-1", first_sequence),
            (PERSON, "worker-1", done.sequence),
        ]
        records = [fact for fact in await rig.facts(session) if first_sequence < fact.sequence < done.sequence]
        assert [record.header.type for record in records] == [
            "artifact.created",
            "artifact.version.created",
            "artifact.version.created",
        ]
        assert [getattr(record.fact, "version_origin", "") for record in records] == ["", "found", "merge"]
        again = await rig.do(merge(session))
        assert again.status == "nothing_to_merge"


async def test_a_conflict_names_its_files_and_nothing_is_merged(tmp_path: Path) -> None:
    async with changed_worktree(tmp_path) as (rig, session):
        (rig.folder / "notes.md").write_text("mine\n")
        git(rig.folder, "commit", "--quiet", "-am", "second")
        done = await rig.do(merge(session))
        assert (done.status, done.files, done.conflict) == ("conflict", (), ("notes.md",))
        assert (rig.folder / "notes.md").read_text() == "mine\n"
        assert not git(rig.folder, "status", "--porcelain")


async def test_a_merge_repeated_with_its_key_runs_once(tmp_path: Path) -> None:
    """CTL-01"""
    async with changed_worktree(tmp_path) as (rig, session):
        first, second = await asyncio.gather(rig.do(merge(session), "k1"), rig.do(merge(session), "k1"))
        assert first == second == await rig.do(merge(session), "k1")
        assert isinstance(first, ChildMerged)
        assert len(await list_facts(rig, session, SubagentMerged)) == 1


async def test_a_git_failure_is_reported_and_nothing_is_merged(tmp_path: Path) -> None:
    async with changed_worktree(tmp_path) as (rig, session):
        (rig.folder / "notes.md").write_text("not committed\n")
        with pytest.raises(Refusal) as refused:
            await rig.do(merge(session), "k1")
        assert refused.value.code == "merge_failed"
        assert (rig.folder / "notes.md").read_text() == "not committed\n"
        git(rig.folder, "checkout", "--quiet", "notes.md")
        assert (await rig.do(merge(session), "k1")).status == "merged", "a refusal is not kept"
        assert [fact.status for fact in await list_facts(rig, session, SubagentMerged)] == ["failed", "merged"]


@pytest.mark.parametrize(("agent", "code"), [("lead", "not_your_child"), ("ghost", "unknown_agent")])
async def test_only_children_with_a_worktree_can_be_merged(tmp_path: Path, agent: str, code: str) -> None:
    async with changed_worktree(tmp_path, "nothing") as (rig, session):
        with pytest.raises(Refusal) as refused:
            await rig.do(merge(session, agent))
        assert refused.value.code == code
        assert await list_facts(rig, session, SubagentMergeRequested) == []


def _merging(state: Session) -> bool:
    return any(thread.child is not None and thread.child.merging for thread in state.threads.values())


async def test_an_interrupted_merge_has_an_unknown_outcome_and_can_be_repeated(tmp_path: Path) -> None:
    async with changed_worktree(tmp_path) as (rig, session):
        # The intent is recorded, and the process ends before git runs.
        host = (await rig.runtime.sessions.get(session)).host
        await host.run_command(merge(session), PERSON)
        assert _merging(host.state)
        with pytest.raises(Refusal) as refused:
            await rig.do(merge(session))
        assert refused.value.code == "thread_busy"
    async with open_runtime(tmp_path, WROTE, FolderDefinitions()) as rig:
        await wait_state(rig, session, lambda state: not _merging(state))
        assert [fact.status for fact in await list_facts(rig, session, SubagentMerged)] == ["unknown"]
        assert (await rig.do(merge(session))).status == "merged"
