"""Installation commands for missing libraries."""

from __future__ import annotations

import importlib.util
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from callboard.runtime.workspaces.installation import EXTRAS, build_install_command

PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


def test_an_extra_installs_its_declared_requirements():
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]

    assert {name: extras[name][0] for name in EXTRAS} == EXTRAS
    for name, library in EXTRAS.items():
        brought = {Requirement(line).name for line in requires(Requirement(library).name) or ()}
        assert {Requirement(line).name for line in extras[name][1:]} <= brought


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_command_uses_the_running_python(extra: str):
    """The command runs in a shell and finds the installed libraries."""
    words = shlex.split(
        subprocess.check_output(["sh", "-c", f"printf '%s\\n' {build_install_command(extra)}"], text=True)
    )
    assert (words[0], words[-1]) == (sys.executable, EXTRAS[extra])
    dry = [*words[:-1], "--dry-run", "--no-index", "--no-deps", words[-1]]
    assert subprocess.run(dry, check=False, capture_output=True).returncode == 0


def test_without_pip_uv_receives_the_python(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert shlex.split(build_install_command("a2a")) == [
        "uv",
        "pip",
        "install",
        "--python",
        sys.executable,
        EXTRAS["a2a"],
    ]
