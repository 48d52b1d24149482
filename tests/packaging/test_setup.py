"""Set-up repeats when its inputs change, and gives the next step when it fails."""

import subprocess
import sys
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from scripts import setup

FIND_PYTHON = setup.ROOT / "scripts" / "find-python"


@pytest.fixture
def project() -> dict[str, Any]:
    return tomllib.loads((setup.ROOT / "pyproject.toml").read_text())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def _program(path: Path, name: str, script: str) -> None:
    (path / name).write_text(f"#!/bin/sh\n{script}\n")
    (path / name).chmod(0o755)


def _find_python(path: Path) -> subprocess.CompletedProcess[str]:
    command = ["/bin/sh", str(FIND_PYTHON)]
    return subprocess.run(command, env={"PATH": str(path)}, capture_output=True, text=True, check=False)


def test_a_new_dependency_asks_for_set_up_again(project: dict[str, Any]):
    changed = deepcopy(project)
    changed["dependency-groups"]["dev"].append("another")

    assert setup.stamp_of(changed, "dev") != setup.stamp_of(project, "dev")


def test_the_setting_of_a_tool_asks_for_nothing(project: dict[str, Any]):
    changed = deepcopy(project)
    changed["tool"]["ruff"]["line-length"] = 1

    assert setup.stamp_of(changed, "dev") == setup.stamp_of(project, "dev")


def test_a_python_that_does_not_run_or_is_too_old_is_passed_over(path: Path):
    _program(path, "python3", "exit 127")
    _program(path, "python3.13", "exit 1")
    _program(path, "python3.12", f'exec {sys.executable} "$@"')

    result = _find_python(path)

    assert result.returncode == 0
    assert Path(result.stdout.strip()).samefile(sys.executable)


def test_without_a_python_the_error_names_the_required_version(path: Path):
    result = _find_python(path)

    assert result.returncode == 1
    assert result.stderr.startswith("callboard: Python 3.11 or newer is needed;")


def test_programs_that_this_system_cannot_install_are_named_with_the_command(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(path))

    with pytest.raises(setup.SetupError) as refused:
        setup.install_system_packages(["chromium", "bubblewrap"])

    assert str(refused.value) == (
        "chromium, bubblewrap missing; install them as this system does "
        "(on Debian: sudo apt-get install chromium bubblewrap)"
    )


def test_without_the_right_to_install_the_command_is_named(path: Path, monkeypatch: pytest.MonkeyPatch):
    _program(path, "apt-get", "exit 0")
    _program(path, "sudo", "exit 1")
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setattr(setup.os, "geteuid", lambda: 1000)

    with pytest.raises(setup.SetupError) as refused:
        setup.install_system_packages(["chromium"])

    assert str(refused.value) == "chromium missing; run: sudo apt-get install chromium"
