"""`make up` opens a copy of the sample, which keeps its changes. The project's files do not change."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Replaces the product: prints the folder of its start, and writes a file there.
CALLBOARD = '#!/bin/sh\npwd\necho "$@" >> left-behind\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "examples" / "sample", tmp_path / "examples" / "sample")
    program = tmp_path / ".venv" / "bin" / "callboard"
    program.parent.mkdir(parents=True)
    program.write_text(CALLBOARD)
    program.chmod(0o755)
    return tmp_path


def _up(project: Path, *variables: str) -> str:
    command = ["make", "-o", "page", "up", *variables]
    # Variables of the make that runs these tests do not apply to this one.
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(command, cwd=project, env=own, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_changes_in_the_sample_stay_and_change_no_file_of_the_project(project: Path):
    before = _files(project / "examples")

    assert [_up(project), _up(project, "ARGS=again")] == [str(project / "sample")] * 2

    assert _files(project / "examples") == before
    assert (project / "sample" / "left-behind").read_text() == "up\nup again\n"
    assert (project / "sample" / "README.md").read_bytes() == before["sample/README.md"]


def test_the_copy_of_the_sample_is_outside_the_project():
    assert "/sample/" in (ROOT / ".gitignore").read_text().splitlines()


def test_another_folder_is_opened_without_a_copy(project: Path, tmp_path_factory: pytest.TempPathFactory):
    other = tmp_path_factory.mktemp("other")

    assert _up(project, f"FOLDER={other}") == str(other)

    assert not (project / "sample").exists()
