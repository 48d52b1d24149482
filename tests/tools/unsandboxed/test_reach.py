"""Which programs agents could change, by every way that leads to them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from callboard.contracts.entities import worktree as worktrees
from callboard.tools.unsandboxed.reach import ExposedProgram, Reach, ReachLookup, check_program


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder in which others work, with a program."""
    (tmp_path / "theirs" / "bin").mkdir(parents=True)
    _program(tmp_path / "theirs" / "bin" / "check")
    return tmp_path / "theirs"


@pytest.fixture
def safe(tmp_path: Path) -> Path:
    """One in which no agent works, with a program."""
    (tmp_path / "safe").mkdir()
    _program(tmp_path / "safe" / "check")
    return tmp_path / "safe"


def _program(path: Path) -> None:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


def _seen(*command: str, start: Path, reach: Reach, search: str = "/usr/bin:/bin") -> ExposedProgram | None:
    return check_program(command, str(start), search, reach).exposed


def test_whatever_a_command_names_in_a_folder_where_agents_work_is_exposed(theirs: Path, safe: Path) -> None:
    """SAFE-08: the program, a script that an interpreter is given, and what an option is set to."""
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
        # Whoever can put a file there can put it there in time.
        (sys.executable, f"{theirs}/gone.py"),
    ]
    found = [_seen(*one, start=safe, reach=reach, search=os.environ["PATH"]) for one in commands]
    assert found == [ExposedProgram(check, str(theirs))] * 8 + [ExposedProgram(f"{theirs}/gone.py", str(theirs))]


def test_of_a_command_that_is_given_data_the_program_and_its_scripts_count(theirs: Path, safe: Path) -> None:
    """SAFE-08: what a server of tools works on lies where agents work."""
    reach, check, data = Reach((str(theirs),)), str(theirs / "bin" / "check"), f"{theirs}/a.db"
    (theirs / "a.db").touch()
    script = f"{theirs}/run.py"

    def seen(*command: str) -> bool:
        return check_program(command, str(safe), os.environ["PATH"], reach, given_data=True).exposed is not None

    runs = [(check, data), ("python3", "-I", check), ("sh", check), ("env", script), ("cat", f"--import={script}")]
    runs += [("sh", "-c", f"exec {script} --fast"), ("env", "-S", f"sh {script}")]
    works = [
        ("cat", "--db", data),
        ("python3", "-m", "serve", data),
        ("python3", str(safe / "check"), data),
        ("sh", "-c", data),
    ]
    assert [seen(*one) for one in runs] == [True] * 7
    assert [seen(*one) for one in works] == [False, False, False, True]


def test_what_is_elsewhere_or_takes_a_persons_yes_to_change_is_not(theirs: Path, safe: Path) -> None:
    reach = Reach((str(theirs),))
    (theirs / ".callboard").mkdir()
    _program(theirs / ".callboard" / "check")
    for command in (
        (str(safe / "check"), "-c", "pass", "", "a\0b"),
        (str(theirs / ".callboard" / "check"),),
        # What a program works on is a folder: none is run as it is.
        (str(safe / "check"), str(theirs), f"--root={theirs}/bin"),
        (str(safe / "check"), f"url={theirs}/bin/check"),
    ):
        assert _seen(*command, start=safe, reach=reach) is None


def test_every_link_on_the_way_counts(theirs: Path, safe: Path, tmp_path: Path) -> None:
    """SAFE-08: who can turn one leads to another program, wherever it leads today, and whoever can put a folder in place of one
    that the way goes up from can as well."""
    reach = Reach((str(theirs),))
    (theirs / "to-safe").symlink_to(safe)
    (tmp_path / "to-theirs").symlink_to(theirs / "to-safe")
    (tmp_path / "program").symlink_to(tmp_path / "to-theirs" / "check")
    (tmp_path / "straight").symlink_to(safe)
    found = [
        _seen(f"{tmp_path}/{one}", start=safe, reach=reach)
        for one in ("to-theirs/check", "program", "theirs/bin/../../safe/check", "straight/check")
    ]
    link = ExposedProgram(f"{theirs}/to-safe", str(theirs))
    assert found == [link, link, ExposedProgram(f"{theirs}/bin", str(theirs)), None]


def test_links_that_lead_in_a_circle_end(theirs: Path, safe: Path, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert _seen(f"{tmp_path}/a/check", start=safe, reach=Reach((str(theirs),))) is None


def test_a_folder_within_another_is_open_to_the_agents_of_both(theirs: Path, safe: Path) -> None:
    """SAFE-08: what is kept from the inner one's agents is not from the outer one's, and the outermost is told."""
    inner = theirs / "inner"
    (inner / ".callboard").mkdir(parents=True)
    _program(inner / ".callboard" / "check")
    program = str(inner / ".callboard" / "check")
    both = Reach((str(inner), str(theirs)))
    assert _seen(program, start=safe, reach=both) == ExposedProgram(program, str(theirs))
    assert _seen(program, start=safe, reach=Reach((str(inner),))) is None


def test_the_worktree_of_a_child_is_open_to_it(theirs: Path, safe: Path, tmp_path: Path) -> None:
    """SAFE-08"""
    worktree = tmp_path / worktrees.name("theirs", "ses_1a2b3c", "maker-1")
    (worktree / ".git").mkdir(parents=True)
    _program(worktree / "check")
    _program(worktree / ".git" / "check")
    reach = Reach((str(theirs),))
    assert _seen(str(worktree / "check"), start=safe, reach=reach) == ExposedProgram(
        str(worktree / "check"), str(theirs)
    )
    assert _seen(str(worktree / ".git" / "check"), start=safe, reach=reach) is None


def test_what_a_trusted_folder_names_of_itself_is_left_to_that_trust(theirs: Path, safe: Path) -> None:
    """SAFE-08: which is bound to it; not so what a search path finds there, nor what is named by another way."""
    reach = Reach((str(theirs),), trusted=str(theirs))
    (theirs / "to-safe").symlink_to(safe)
    for word in ("bin/check", str(theirs / "bin" / "check"), "to-safe/check"):
        assert _seen(word, start=theirs, reach=reach) is None
    check = ExposedProgram(str(theirs / "bin" / "check"), str(theirs))
    assert _seen("check", start=theirs, reach=reach, search=f"{theirs}/bin") == check
    assert _seen("bin/../bin/check", start=theirs, reach=reach) == check
    other = Reach((str(theirs), str(safe)), trusted=str(safe))
    assert _seen("../theirs/bin/check", start=safe, reach=other) == check


def test_the_program_that_was_looked_at_is_the_one_that_is_run(theirs: Path, safe: Path) -> None:
    """SAFE-08: a name is searched for once, so that nobody puts another first meanwhile."""
    search = f"{theirs}:{safe}"
    assert check_program(("check", "-v"), "/", search, Reach((str(theirs),))) == ReachLookup(
        (str(safe / "check"), "-v"), None
    )
    assert check_program(("./check",), str(safe), search).command == ("./check",)
    with pytest.raises(FileNotFoundError) as missing:
        check_program(("no-such-program",), "/", search)
    assert (missing.value.filename, missing.value.strerror) == ("no-such-program", "No such file or directory")
