"""Import contracts fail for a forbidden import, also for a lazy or type-checking one."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT = Path(sys.executable).parent / "lint-imports"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "page")
    shutil.copytree(ROOT / "src" / "callboard", tmp_path / "callboard", ignore=ignored)
    return tmp_path


def _lint(project: Path) -> tuple[int, str]:
    done = subprocess.run(
        [LINT, "--no-cache", "--no-logo"],
        cwd=project,
        env={"PYTHONPATH": str(project), "PATH": "/usr/bin:/bin", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_the_package_keeps_its_import_contracts(project: Path):
    code, printed = _lint(project)

    assert code == 0, printed


@pytest.mark.parametrize(
    ("room", "line", "broken"),
    [
        ("control", "def now():\n    import time\n    return time", "loop BROKEN"),
        ("projection", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import asyncio", "loop BROKEN"),
        ("log", "import callboard.runtime.arrow_probe", "-> contracts BROKEN"),
        ("control", "def late():\n    import callboard.projection.arrow_probe", "-> contracts BROKEN"),
        ("runtime", "import callboard.log.sqlite.arrow_probe", "concrete store BROKEN"),
        ("adapters", "import callboard.adapters.http.arrow_probe", "another BROKEN"),
    ],
)
def test_a_forbidden_import_is_named(project: Path, room: str, line: str, broken: str):
    target = line.rpartition("import callboard.")[2] if "import callboard." in line else ""
    if target:
        probe = project / "callboard" / Path(*target.split(".")).with_suffix(".py")
        _package(probe.parent, project / "callboard")
        probe.write_text("")
    source = project / "callboard" / room / ("other" if room == "adapters" else "") / "arrow_source.py"
    _package(source.parent, project / "callboard")
    source.write_text(line + "\n")

    code, printed = _lint(project)

    assert code == 1
    assert broken in printed


def _package(folder: Path, top: Path) -> None:
    while folder != top:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()
        folder = folder.parent
