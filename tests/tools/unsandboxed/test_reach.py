"""Programs that agents could change, by any path that leads to them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from callboard.contracts.entities.worktree import build_worktree_name
from callboard.tools.unsandboxed.reach import ExposedProgram, Reach, ReachLookup, check_program


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """Return a folder in which agents work, with a program."""
    (tmp_path / "theirs" / "bin").mkdir(parents=True)
    write_program(tmp_path / "theirs" / "bin" / "check")
    return tmp_path / "theirs"


@pytest.fixture
def safe(tmp_path: Path) -> Path:
    """Return a folder in which no agent works, with a program."""
    (tmp_path / "safe").mkdir()
    write_program(tmp_path / "safe" / "check")
    return tmp_path / "safe"


def write_program(path: Path) -> None:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


def find_exposed(*command: str, start: Path, reach: Reach, search: str = "/usr/bin:/bin") -> ExposedProgram | None:
    return check_program(command, str(start), search, reach).exposed


def test_every_named_file_in_an_agents_folder_is_exposed(theirs: Path, safe: Path) -> None:
    """SAFE-08: the program, a script of an interpreter, and the value of an option."""
    reach, check = Reach((str(theirs),)), str(theirs / "bin" / "check")
    commands = [
        (check,),
        ("../theirs/bin/check",),
        (sys.executable, "-u", check),
        (sys.executable, "../theirs/bin/check"),
        ("env", f"--import={check}"),
        ("sh", "-c", f"'{check}' --fast"),
        ("sh", "-c", "cd ../theirs/bin && ./check"),
        ("env", "-S", f"sh {check}"),
        # An agent could create the file in time.
        (sys.executable, f"{theirs}/gone.py"),
    ]
    exposed = [find_exposed(*command, start=safe, reach=reach, search=os.environ["PATH"]) for command in commands]
    assert exposed == [ExposedProgram(check, str(theirs))] * 8 + [ExposedProgram(f"{theirs}/gone.py", str(theirs))]


def test_data_arguments_are_not_checked_but_programs_and_scripts_are(theirs: Path, safe: Path) -> None:
    """SAFE-08: a tool server works on files of agents."""
    reach, check, data = Reach((str(theirs),)), str(theirs / "bin" / "check"), f"{theirs}/a.db"
    (theirs / "a.db").touch()
    script = f"{theirs}/run.py"

    def is_exposed(*command: str) -> bool:
        return check_program(command, str(safe), os.environ["PATH"], reach, given_data=True).exposed is not None

    runs = [(check, data), ("python3", "-I", check), ("sh", check), ("env", script), ("cat", f"--import={script}")]
    runs += [("sh", "-c", f"exec {script} --fast"), ("env", "-S", f"sh {script}")]
    works = [
        ("cat", "--db", data),
        ("python3", "-m", "serve", data),
        ("python3", str(safe / "check"), data),
        ("sh", "-c", data),
    ]
    assert [is_exposed(*command) for command in runs] == [True] * 7
    assert [is_exposed(*command) for command in works] == [False, False, False, True]


def test_outside_and_protected_files_are_not_exposed(theirs: Path, safe: Path) -> None:
    reach = Reach((str(theirs),))
    (theirs / ".callboard").mkdir()
    write_program(theirs / ".callboard" / "check")
    for command in (
        (str(safe / "check"), "-c", "pass", "", "a\0b"),
        (str(theirs / ".callboard" / "check"),),
        # Programs work on folders. A folder itself never runs.
        (str(safe / "check"), str(theirs), f"--root={theirs}/bin"),
        (str(safe / "check"), f"url={theirs}/bin/check"),
    ):
        assert find_exposed(*command, start=safe, reach=reach) is None


def test_every_link_of_a_path_is_checked(theirs: Path, safe: Path, tmp_path: Path) -> None:
    """SAFE-08: an agent that can replace a link, or a folder before `..`, chooses the program."""
    reach = Reach((str(theirs),))
    (theirs / "to-safe").symlink_to(safe)
    (tmp_path / "to-theirs").symlink_to(theirs / "to-safe")
    (tmp_path / "program").symlink_to(tmp_path / "to-theirs" / "check")
    (tmp_path / "straight").symlink_to(safe)
    exposed = [
        find_exposed(f"{tmp_path}/{path}", start=safe, reach=reach)
        for path in ("to-theirs/check", "program", "theirs/bin/../../safe/check", "straight/check")
    ]
    link = ExposedProgram(f"{theirs}/to-safe", str(theirs))
    assert exposed == [link, link, ExposedProgram(f"{theirs}/bin", str(theirs)), None]


def test_circular_links_end(theirs: Path, safe: Path, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert find_exposed(f"{tmp_path}/a/check", start=safe, reach=Reach((str(theirs),))) is None


def test_a_nested_folder_is_exposed_to_both_agents(theirs: Path, safe: Path) -> None:
    """SAFE-08: agents of the outer folder can change files that are protected in the inner one."""
    inner = theirs / "inner"
    (inner / ".callboard").mkdir(parents=True)
    write_program(inner / ".callboard" / "check")
    program = str(inner / ".callboard" / "check")
    both = Reach((str(inner), str(theirs)))
    assert find_exposed(program, start=safe, reach=both) == ExposedProgram(program, str(theirs))
    assert find_exposed(program, start=safe, reach=Reach((str(inner),))) is None


def test_a_subagents_worktree_is_exposed(theirs: Path, safe: Path, tmp_path: Path) -> None:
    """SAFE-08"""
    worktree = tmp_path / build_worktree_name("theirs", "ses_1a2b3c", "maker-1")
    (worktree / ".git").mkdir(parents=True)
    write_program(worktree / "check")
    write_program(worktree / ".git" / "check")
    reach = Reach((str(theirs),))
    assert find_exposed(str(worktree / "check"), start=safe, reach=reach) == ExposedProgram(
        str(worktree / "check"), str(theirs)
    )
    assert find_exposed(str(worktree / ".git" / "check"), start=safe, reach=reach) is None


def test_trust_covers_the_files_that_a_folder_names(theirs: Path, safe: Path) -> None:
    """SAFE-08: trust is bound to these files, not to files from the search path or under another name."""
    reach = Reach((str(theirs),), trusted=str(theirs))
    (theirs / "to-safe").symlink_to(safe)
    for word in ("bin/check", str(theirs / "bin" / "check"), "to-safe/check"):
        assert find_exposed(word, start=theirs, reach=reach) is None
    check = ExposedProgram(str(theirs / "bin" / "check"), str(theirs))
    assert find_exposed("check", start=theirs, reach=reach, search=f"{theirs}/bin") == check
    assert find_exposed("bin/../bin/check", start=theirs, reach=reach) == check
    other = Reach((str(theirs), str(safe)), trusted=str(safe))
    assert find_exposed("../theirs/bin/check", start=safe, reach=other) == check


def test_the_checked_program_is_the_one_that_runs(theirs: Path, safe: Path) -> None:
    """SAFE-08: the name is looked up once, so no later program replaces it."""
    search = f"{theirs}:{safe}"
    assert check_program(("check", "-v"), "/", search, Reach((str(theirs),))) == ReachLookup(
        (str(safe / "check"), "-v"), None
    )
    assert check_program(("./check",), str(safe), search).command == ("./check",)
    with pytest.raises(FileNotFoundError) as missing:
        check_program(("no-such-program",), "/", search)
    assert (missing.value.filename, missing.value.strerror) == ("no-such-program", "No such file or directory")
