"""The tests run under released Pythons, 3.11 and newer, each once."""

from pathlib import Path

import pytest

from scripts import pythons


def _program(folder: Path, name: str, script: str) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_each_released_python_is_listed_once_and_others_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """P1: a virtualenv's Python, an older one and a program that does not run are ignored."""
    first, second = tmp_path / "first", tmp_path / "second"
    newer = _program(first, "python3.13", "echo 3 13 0")
    _program(first, "python3", "exit 127")
    _program(first, "python3.11", "exit 1")
    _program(second, "python3.13", "echo 3 13 0")
    _program(second, "python3.12", "echo 3 10 4")
    versions = tmp_path / ".pyenv" / "versions" / "3.14.1"
    versions.mkdir(parents=True)
    pyenvs = _program(versions / "bin", "python3", "echo 3 14 1")
    monkeypatch.setenv("PATH", f"{first}:{second}")
    monkeypatch.setenv("HOME", str(tmp_path))

    assert pythons.interpreters() == {"3.13.0": newer, "3.14.1": pyenvs}
