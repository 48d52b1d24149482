"""Git in a hostile folder: what its settings name is not run, and what they say lies elsewhere is not written."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest
import uvloop

from callboard.runtime.worktrees.git import GitResult, git, git_paths, locate_repository

ALONE = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
ME = ("-c", "user.name=Ann", "-c", "user.email=ann@localhost")


def plain(folder: Path, *arguments: str) -> str:
    """Git as a person runs it."""
    done = subprocess.run(["git", *ME, *arguments], cwd=folder, env=ALONE, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """Where whatever is run leaves its name."""
    (tmp_path / "marks").mkdir()
    return tmp_path / "marks"


def leaves(marks: Path, name: str, then: str = "cat") -> str:
    return f"touch {marks}/{name}; {then}"


def ran(marks: Path) -> list[str]:
    return sorted(one.name for one in marks.iterdir())


@pytest.fixture
def hostile(tmp_path: Path, marks: Path) -> Path:
    """A repository in which everything that can name a program names one. Its branch `other` changed what `main` changed."""
    folder = tmp_path / "repository"
    folder.mkdir()
    plain(folder, "init", "--quiet", "-b", "main")
    (folder / "a.txt").write_text("1\n2\n3\n4\n5\n")
    (folder / ".gitattributes").write_text("*.txt filter=evil merge=evil diff=evil\n")
    plain(folder, "add", "--all")
    plain(folder, "commit", "--quiet", "-m", "one")
    plain(folder, "checkout", "--quiet", "-b", "other")
    (folder / "a.txt").write_text("1\n2\n3\n4\nfive\n")
    plain(folder, "commit", "--quiet", "-am", "two")
    plain(folder, "checkout", "--quiet", "main")
    (folder / "a.txt").write_text("one\n2\n3\n4\n5\n")
    plain(folder, "commit", "--quiet", "-am", "three")
    settings = {
        "core.fsmonitor": leaves(marks, "fsmonitor", "false"),
        "core.editor": leaves(marks, "editor", "true"),
        "filter.evil.clean": leaves(marks, "clean"),
        "filter.evil.smudge": leaves(marks, "smudge"),
        "filter.evil.required": "true",
        "merge.evil.driver": leaves(marks, "driver", "false"),
        "diff.evil.textconv": leaves(marks, "textconv"),
        "diff.external": leaves(marks, "external", "true"),
        "gpg.program": leaves(marks, "gpg", "false"),
        "commit.gpgsign": "true",
        "merge.verifySignatures": "true",
        "remote.origin.url": f"ext::sh -c 'touch {marks}/transport'",
        "remote.origin.promisor": "true",
        "protocol.ext.allow": "always",
    }
    for key, value in settings.items():
        plain(folder, "config", key, value)
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


def test_a_hostile_repository_runs_its_programs_where_nobody_stops_it(hostile: Path, marks: Path):
    """What follows says something only where it would."""
    (hostile / "a.txt").write_text("one\n2\nthree\n4\n5\n")
    for command in ("status", "add --all", "diff --stat HEAD", "diff HEAD", "worktree add --quiet ../there other"):
        plain(hostile, *command.split())

    assert set(ran(marks)) >= {"fsmonitor", "clean", "smudge", "external", "post-checkout"}


async def test_nothing_that_a_repository_names_is_run(hostile: Path, marks: Path):
    """SAFE-08: by no command that the runtime gives."""
    there = hostile.parent / "there"
    assert (await git(str(hostile), "worktree", "add", "--quiet", "-B", "child", str(there), "other")).code == 0
    (there / "b.txt").write_text("new\n")
    (there / "a.txt").write_text("1\n2\n3\n4\nFIVE\n")
    assert await git_paths(str(there), "status", "--porcelain", "-z") == (" M a.txt", "?? b.txt")
    assert (await git(str(there), "add", "--all")).code == 0
    assert (await git(str(there), "commit", "--quiet", "-m", "four")).code == 0

    merged = await git(str(hostile), "merge", "--no-ff", "--no-edit", "-m", "all", "child")

    assert merged.code == 0, merged
    assert (hostile / "a.txt").read_text() == "one\n2\n3\n4\nFIVE\n"
    assert (await git(str(hostile), "diff", "--stat", "HEAD^1", "HEAD")).code == 0
    assert (await git(str(hostile), "worktree", "remove", "--force", str(there))).code == 0
    assert (await git(str(hostile), "cat-file", "-p", "0" * 39 + "1")).code != 0
    assert ran(marks) == []


async def test_a_repository_that_git_cannot_be_kept_from_running_programs_of_is_left_alone(hostile: Path, marks: Path):
    """SAFE-08: what switches a setting off ends its name at the first sign of equality."""
    (hostile / ".gitattributes").write_text("*.txt filter=e=vil\n")
    plain(hostile, "config", "filter.e=vil.clean", leaves(marks, "clean"))
    (hostile / "b.txt").write_text("new\n")

    said = await git(str(hostile), "add", "b.txt")

    assert (said.code, "programs" in said.text) == (128, True)
    assert (await locate_repository(str(hostile))).code == 128
    assert await git_paths(str(hostile), "status", "--porcelain", "-z") == ()
    assert ran(marks) == []


def test_git_that_reads_nothing_of_its_input_is_run_on_the_loop_that_the_product_has(tmp_path: Path):
    plain(tmp_path, "init", "--quiet")
    plain(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "first")

    async def often() -> list[GitResult]:
        told = [await locate_repository(str(tmp_path)) for _ in range(3)]
        return [*told, await git(str(tmp_path), "rev-parse", "HEAD", stdin="x" * 200_000)]

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert [said.code for said in runner.run(often())] == [0, 0, 0, 0]


async def test_what_a_user_set_for_all_repositories_holds(
    hostile: Path, marks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A filter of the user's own is theirs to name; the repository's word on it does not count."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text('[filter "evil"]\n\tclean = tr a-z A-Z\n\tsmudge = cat\n')
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (hostile / "b.txt").write_text("loud\n")

    assert (await git(str(hostile), "add", "b.txt")).code == 0

    assert (await git(str(hostile), "show", ":b.txt")).text == "LOUD"
    assert ran(marks) == []


async def test_a_repository_whose_files_lie_elsewhere_is_none(hostile: Path, tmp_path: Path):
    """SAFE-01: a merge would write there."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    plain(elsewhere, "init", "--quiet")
    assert (await locate_repository(str(hostile))).code == 0

    plain(hostile, "config", "core.worktree", str(elsewhere))

    assert await locate_repository(str(hostile)) == GitResult(
        128, "the repository's settings say that its files lie elsewhere"
    )


async def test_a_worktree_and_a_folder_below_are_of_their_repository(hostile: Path):
    there = hostile.parent / "there"
    (hostile / "below").mkdir()
    assert (await git(str(hostile), "worktree", "add", "--quiet", "-B", "child", str(there), "other")).code == 0
    newest = (await git(str(hostile), "rev-parse", "HEAD")).text

    found = [(await locate_repository(str(folder))).text.splitlines() for folder in (hostile / "below", there)]

    assert found == [
        [str(hostile), "below/", newest],
        [str(there), "", (await git(str(hostile), "rev-parse", "other")).text],
    ]


async def test_names_come_as_they_are(hostile: Path):
    """SAFE-06"""
    names = ["a\nb.md", "-rf", "\x1b[31mred", "ä.md", " blank ", "$(touch x)"]
    for name in names:
        (hostile / name).write_text("x\n")

    told = await git_paths(str(hostile), "status", "--porcelain", "-z", "--untracked-files=all")

    assert sorted(one[3:] for one in told) == sorted(names)
