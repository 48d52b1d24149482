"""Children with their own git worktree in a real repository."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.facts.session import WarningRaised
from callboard.contracts.facts.subagent import SubagentClosed, SubagentFailed, SubagentIsolated, WorkerNotification
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed, ToolRefused
from tests.runtime.rigs.runtime_rig import PATIENCE, RuntimeRig, open_runtime, says, use_tool
from tests.runtime.rigs.team import list_facts, list_received_texts, plays, wait_fact, write_crew

SPAWN = use_tool("spawn_subagent", agent="worker", objective="alpha", isolation="worktree")
WAIT = use_tool("wait_subagents")
MERGE = use_tool("merge_subagent", agent="worker-1")
CLOSE = use_tool("close_subagent", agent="worker-1")


def git(folder: Path, *arguments: str) -> str:
    options = ("-c", "user.name=A Person", "-c", "user.email=person@localhost")
    done = subprocess.run(["git", "-C", str(folder), *options, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit_folder(rig: RuntimeRig) -> None:
    """Commit the folder with its agents and one file."""
    write_crew(rig)
    (rig.folder / "notes.md").write_text("one\n")
    git(rig.folder, "init", "--quiet", "--initial-branch=main")
    git(rig.folder, "add", "--all")
    git(rig.folder, "commit", "--quiet", "-m", "first")


async def wait_lead_end(rig: RuntimeRig, session: str) -> None:
    await wait_fact(
        rig, session, lambda record: record.header.type == "turn.completed" and record.scope.agent == "lead"
    )


def write_calls(content: str) -> list[list[dict[str, Any]]]:
    return [
        use_tool("Write", file_path="notes.md", content=content),
        use_tool("Bash", command="pwd; cat notes.md"),
        says("A."),
    ]


async def test_a_childs_worktree_is_merged_by_its_parent_and_removed(tmp_path: Path) -> None:
    """Control plane spec, spawn_subagent, isolation rules: tools and sandbox reach the worktree and
    nothing else."""
    scenario = plays(
        ("lead", "go", [SPAWN, WAIT, use_tool("Read", file_path="notes.md"), MERGE, CLOSE, says("Done.")]),
        ("worker", "alpha", write_calls("one\ntwo\n")),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        commit_folder(rig)
        turn = await rig.submit("go", permission_mode="full")
        await wait_lead_end(rig, turn.session_id)
        (apart,) = await list_facts(rig, turn.session_id, SubagentIsolated)
        assert Path(apart.path).parent == rig.folder.parent
        assert apart.base == git(rig.folder, "rev-parse", "HEAD^1")
        outputs = [fact.output.text for fact in await list_facts(rig, turn.session_id, ToolCompleted)]
        assert f"{apart.path}\none\ntwo\n" in outputs
        assert any(text.strip().endswith("one") for text in outputs), "the folder is as it was until the merge"
        assert (rig.folder / "notes.md").read_text() == "one\ntwo\n"
        assert git(rig.folder, "log", "-1", "--format=%s") == "Merge the work of worker-1"
        await wait_removed(rig.folder, Path(apart.path))


async def test_a_childs_nested_repository_is_ignored(tmp_path: Path) -> None:
    """SAFE-08: its settings name programs that git would run outside the sandbox."""
    marked = tmp_path / "ran"
    command = (
        "git init -q sub && cd sub && echo x > b && echo 'b filter=x' > .gitattributes && git add -A && "
        "git -c user.name=a -c user.email=a@b commit -qm one && "
        f"git config filter.x.clean 'touch {marked}; cat' && git config core.fsmonitor 'touch {marked}; false' && "
        "touch -d '1 hour ago' b && cd .. && echo mine > mine.md"
    )
    scenario = plays(
        ("lead", "go", [SPAWN, WAIT, MERGE, CLOSE, says("Done.")]),
        ("worker", "alpha", [use_tool("Bash", command=command), says("A.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        commit_folder(rig)
        turn = await rig.submit("go", permission_mode="full")
        await wait_lead_end(rig, turn.session_id)
        await wait_fact(rig, turn.session_id, lambda record: isinstance(record.fact, WarningRaised))

        (apart,) = await list_facts(rig, turn.session_id, SubagentIsolated)
        assert (rig.folder / "mine.md").read_text() == "mine\n"
        assert not [entry for entry in git(rig.folder, "ls-files").splitlines() if entry.startswith("sub")]
        assert (Path(apart.path) / "sub" / "b").exists()
        assert not marked.exists()


async def wait_removed(folder: Path, worktree: Path) -> None:
    """Wait until a child's worktree and branch are removed."""
    async with asyncio.timeout(PATIENCE):
        while worktree.exists() or git(folder, "branch", "--list", "callboard/*"):  # noqa: ASYNC110, ASYNC240 - git has no events
            await asyncio.sleep(0.01)


async def test_a_conflict_names_its_files_and_nothing_is_partly_merged(tmp_path: Path) -> None:
    scenario = plays(
        (
            "lead",
            "go",
            [
                SPAWN,
                WAIT,
                use_tool("Write", file_path="notes.md", content="mine\n"),
                [{"wait_for": "committed"}, *MERGE],
                CLOSE,
                says("It does not fit."),
            ],
        ),
        ("worker", "alpha", write_calls("theirs\n")),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        commit_folder(rig)
        turn = await rig.submit("go", permission_mode="full")
        await rig.until(turn.session_id, "subagent.completed")
        await wait_fact(
            rig,
            turn.session_id,
            lambda record: (
                record.header.type == "tool.completed"
                and "notes.md" in str(record.fact)
                and record.scope.agent == "lead"
            ),
        )
        git(rig.folder, "commit", "--quiet", "-am", "second")
        (tmp_path / "committed").touch()
        await wait_lead_end(rig, turn.session_id)
        (failed,) = await list_facts(rig, turn.session_id, ToolFailed)
        assert (failed.code, failed.message) == (
            "merge_failed",
            "Nothing was merged because of conflicts in: notes.md.",
        )
        assert (rig.folder / "notes.md").read_text() == "mine\n"
        assert git(rig.folder, "status", "--porcelain") == ""
        warning = await rig.until(turn.session_id, "warning.raised")
        assert isinstance(warning.fact, WarningRaised)
        (apart,) = await list_facts(rig, turn.session_id, SubagentIsolated)
        assert warning.fact.code == "worktree_kept"
        assert git(Path(apart.path), "log", "-1", "--format=%s") == "The work of worker-1"
        assert (
            warning.fact.message
            == f"The worktree of worker-1 was kept in {apart.path}: 1 of its commits are not merged."
        )


async def test_a_folder_without_a_repository_fails_the_child_and_informs_its_parent(tmp_path: Path) -> None:
    scenario = plays(("lead", "go", [SPAWN, WAIT, MERGE, CLOSE, says("Then not.")]))
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        turn = await rig.submit("go", permission_mode="full")
        await wait_lead_end(rig, turn.session_id)
        (failed,) = await list_facts(rig, turn.session_id, SubagentFailed)
        assert failed.code == "worktree_failed"
        assert "not a git repository" in failed.message
        assert [fact.status for fact in await list_facts(rig, turn.session_id, WorkerNotification)] == ["failed"]
        assert [fact.code for fact in await list_facts(rig, turn.session_id, ToolRefused)] == ["merge_failed"]
        assert len(await list_facts(rig, turn.session_id, SubagentClosed)) == 1


async def test_an_unexpected_worktree_error_fails_the_child(tmp_path: Path) -> None:
    """No agent may wait forever for it."""
    scenario = plays(("lead", "go", [SPAWN, WAIT, says("It did not work.")]))
    place = tmp_path / ("r" * 250)
    place.mkdir()
    async with open_runtime(place, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        git(place, "init", "--quiet")
        git(place, "commit", "--quiet", "--allow-empty", "-m", "first")
        turn = await rig.submit("go", permission_mode="full")
        await wait_lead_end(rig, turn.session_id)
        (failed,) = await list_facts(rig, turn.session_id, SubagentFailed)
        assert failed.code == "worktree_failed"
        # Newer git releases detect it before the runtime fails.
        found_by = failed.message.removeprefix("git created no worktree: ")
        assert found_by == "the runtime failed (OSError)" or found_by.endswith("File name too long"), failed.message


async def test_a_child_of_a_repository_subfolder_works_in_that_subfolder(tmp_path: Path) -> None:
    scenario = plays(("lead", "go", [SPAWN, WAIT, MERGE, says("Done.")]), ("worker", "alpha", write_calls("two\n")))
    (tmp_path / "outer").mkdir()
    async with open_runtime(tmp_path / "outer", scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        (rig.folder / "notes.md").write_text("one\n")
        git(rig.folder.parent, "init", "--quiet", "--initial-branch=main")
        git(rig.folder.parent, "add", "work")
        git(rig.folder.parent, "commit", "--quiet", "-m", "first")
        turn = await rig.submit("go", permission_mode="full")
        await wait_lead_end(rig, turn.session_id)
        (apart,) = await list_facts(rig, turn.session_id, SubagentIsolated)
        assert Path(apart.path).name == "work"
        assert Path(apart.path).parent.parent == tmp_path
        assert (rig.folder / "notes.md").read_text() == "two\n"
        assert f"your own git worktree, {apart.path}." in await list_received_texts(rig, turn.session_id, "worker-1")
