"""Fixtures for tests of tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.rigs.calls import Agent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a workspace beside a folder that no tool may reach."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("the secret\n")
    inside = tmp_path / "workspace"
    (inside / "src").mkdir(parents=True)
    (inside / "src" / "app.py").write_text("print('one')\nprint('two')\n")
    (inside / "README.md").write_text("# Tide\n\nReads gauges.\n")
    return inside


@pytest.fixture
def agent(folder: Path) -> Agent:
    return Agent(folder)


@pytest.fixture
def mark(tmp_path: Path) -> str:
    """Return a sleep duration that identifies a process in the process list."""
    return f"9{abs(hash(str(tmp_path))) % 10**8:08d}"
