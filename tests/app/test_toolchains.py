"""Folders of a home that the sandbox shows."""

from __future__ import annotations

from pathlib import Path

from callboard.app.wiring import list_toolchains
from callboard.tools.protection.credentials import list_private


def test_the_sandbox_shows_only_programs_of_the_home(tmp_path: Path) -> None:
    """SAFE-02: no folder that keeps credentials is among them."""
    visible = list_toolchains(tmp_path)

    assert {str(tmp_path / ".pyenv"), str(tmp_path / ".cargo/bin")} <= set(visible)
    assert [
        folder
        for folder in visible
        for private in list_private(str(tmp_path))
        if f"{private}/".startswith(f"{folder}/")
    ] == []
