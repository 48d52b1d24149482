"""Git in a hostile folder: its programs do not run, and files outside are not written."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest
import uvloop

from callboard.runtime.worktrees.git import GitResult, git, locate_repository, read_git_paths

ALONE = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
ME = ("-c", "user.name=Ann", "-c", "user.email=ann@localhost")


def run_plain_git(folder: Path, *arguments: str) -> str:
    """Run git as a person does."""
    done = subprocess.run(["git", *ME, *arguments], cwd=folder, env=ALONE, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """Return the folder in which every program that runs leaves its name."""
    (tmp_path / "marks").mkdir()
    return tmp_path / "marks"


def marking_command(marks: Path, name: str, then: str = "cat") -> str:
    return f"touch {marks}/{name}; {then}"


def list_marks(marks: Path) -> list[str]:
    return sorted(path.name for path in marks.iterdir())


@pytest.fixture
def hostile(tmp_path: Path, marks: Path) -> Path:
    """Return a repository in which every program setting names a program. Its branches `other` and
    `main` changed the same line."""
    folder = tmp_path / "repository"
    folder.mkdir()
    run_plain_git(folder, "init", "--quiet", "-b", "main")
    (folder / "a.txt").write_text("1\n2\n3\n4\n5\n")
    (folder / ".gitattributes").write_text("*.txt filter=evil merge=evil diff=evil\n")
    run_plain_git(folder, "add", "--all")
    run_plain_git(folder, "commit", "--quiet", "-m", "one")
    run_plain_git(folder, "checkout", "--quiet", "-b", "other")
    (folder / "a.txt").write_text("1\n2\n3\n4\nfive\n")
    run_plain_git(folder, "commit", "--quiet", "-am", "two")
    run_plain_git(folder, "checkout", "--quiet", "main")
    (folder / "a.txt").write_text("one\n2\n3\n4\n5\n")
    run_plain_git(folder, "commit", "--quiet", "-am", "three")
    settings = {
        "core.fsmonitor": marking_command(marks, "fsmonitor", "false"),
        "core.editor": marking_command(marks, "editor", "true"),
        "filter.evil.clean": marking_command(marks, "clean"),
        "filter.evil.smudge": marking_command(marks, "smudge"),
        "filter.evil.required": "true",
        "merge.evil.driver": marking_command(marks, "driver", "false"),
        "diff.evil.textconv": marking_command(marks, "textconv"),
        "diff.external": marking_command(marks, "external", "true"),
        "gpg.program": marking_command(marks, "gpg", "false"),
        "commit.gpgsign": "true",
        "merge.verifySignatures": "true",
        "remote.origin.url": f"ext::sh -c 'touch {marks}/transport'",
        "remote.origin.promisor": "true",
        "protocol.ext.allow": "always",
    }
    for key, value in settings.items():
        run_plain_git(folder, "config", key, value)
    for name in (
        "post-checkout",
        "pre-commit",
        "post-commit",
        "post-merge",
        "pre-merge-commit",
        "reference-transaction",
    ):
        hook = folder / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {marks}/{name}\n")
        hook.chmod(0o755)
    return folder


def test_a_hostile_repository_runs_its_programs_in_plain_git(hostile: Path, marks: Path):
    """The tests below need this."""
    (hostile / "a.txt").write_text("one\n2\nthree\n4\n5\n")
    for command in ("status", "add --all", "diff --stat HEAD", "diff HEAD", "worktree add --quiet ../there other"):
        run_plain_git(hostile, *command.split())

    assert set(list_marks(marks)) >= {"fsmonitor", "clean", "smudge", "external", "post-checkout"}


async def test_no_program_of_a_repository_runs(hostile: Path, marks: Path):
    """SAFE-08: in every git command of the runtime."""
    there = hostile.parent / "there"
    assert (await git(str(hostile), "worktree", "add", "--quiet", "-B", "child", str(there), "other")).code == 0
    (there / "b.txt").write_text("new\n")
    (there / "a.txt").write_text("1\n2\n3\n4\nFIVE\n")
    assert await read_git_paths(str(there), "status", "--porcelain", "-z") == (" M a.txt", "?? b.txt")
    assert (await git(str(there), "add", "--all")).code == 0
    assert (await git(str(there), "commit", "--quiet", "-m", "four")).code == 0

    merged = await git(str(hostile), "merge", "--no-ff", "--no-edit", "-m", "all", "child")

    assert merged.code == 0, merged
    assert (hostile / "a.txt").read_text() == "one\n2\n3\n4\nFIVE\n"
    assert (await git(str(hostile), "diff", "--stat", "HEAD^1", "HEAD")).code == 0
    assert (await git(str(hostile), "worktree", "remove", "--force", str(there))).code == 0
    assert (await git(str(hostile), "cat-file", "-p", "0" * 39 + "1")).code != 0
    assert list_marks(marks) == []


async def test_a_repository_whose_programs_cannot_be_disabled_is_refused(hostile: Path, marks: Path):
    """SAFE-08: an override's name ends at its first equals sign."""
    (hostile / ".gitattributes").write_text("*.txt filter=e=vil\n")
    run_plain_git(hostile, "config", "filter.e=vil.clean", marking_command(marks, "clean"))
    (hostile / "b.txt").write_text("new\n")

    result = await git(str(hostile), "add", "b.txt")

    assert (result.code, "programs" in result.text) == (128, True)
    assert (await locate_repository(str(hostile))).code == 128
    assert await read_git_paths(str(hostile), "status", "--porcelain", "-z") == ()
    assert list_marks(marks) == []


def test_git_that_ignores_its_input_runs_on_the_products_event_loop(tmp_path: Path):
    run_plain_git(tmp_path, "init", "--quiet")
    run_plain_git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "first")

    async def run_many() -> list[GitResult]:
        results = [await locate_repository(str(tmp_path)) for _ in range(3)]
        return [*results, await git(str(tmp_path), "rev-parse", "HEAD", stdin="x" * 200_000)]

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert [fact.code for fact in runner.run(run_many())] == [0, 0, 0, 0]


async def test_a_users_global_settings_apply(
    hostile: Path, marks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A user may name a filter; the repository may not change it."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text('[filter "evil"]\n\tclean = tr a-z A-Z\n\tsmudge = cat\n')
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (hostile / "b.txt").write_text("loud\n")

    assert (await git(str(hostile), "add", "b.txt")).code == 0

    assert (await git(str(hostile), "show", ":b.txt")).text == "LOUD"
    assert list_marks(marks) == []


async def test_a_repository_with_files_elsewhere_is_refused(hostile: Path, tmp_path: Path):
    """SAFE-01: a merge would write there."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run_plain_git(elsewhere, "init", "--quiet")
    assert (await locate_repository(str(hostile))).code == 0

    run_plain_git(hostile, "config", "core.worktree", str(elsewhere))

    assert await locate_repository(str(hostile)) == GitResult(
        128, "the repository's settings place its files in other folders"
    )


async def test_a_worktree_and_a_subfolder_belong_to_their_repository(hostile: Path):
    there = hostile.parent / "there"
    (hostile / "below").mkdir()
    assert (await git(str(hostile), "worktree", "add", "--quiet", "-B", "child", str(there), "other")).code == 0
    newest = (await git(str(hostile), "rev-parse", "HEAD")).text

    repositories = [(await locate_repository(str(folder))).text.splitlines() for folder in (hostile / "below", there)]

    assert repositories == [
        [str(hostile), "below/", newest],
        [str(there), "", (await git(str(hostile), "rev-parse", "other")).text],
    ]


async def test_names_are_returned_unchanged(hostile: Path):
    """SAFE-06"""
    names = ["a\nb.md", "-rf", "\x1b[31mred", "ä.md", " blank ", "$(touch x)"]
    for name in names:
        (hostile / name).write_text("x\n")

    paths = await read_git_paths(str(hostile), "status", "--porcelain", "-z", "--untracked-files=all")

    assert sorted(entry[3:] for entry in paths) == sorted(names)
