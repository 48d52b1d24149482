"""What of a person's home the sandbox shows."""

from __future__ import annotations

from pathlib import Path

from callboard.app.wiring import toolchains
from callboard.tools.protection.credentials import list_private


def test_only_programs_of_the_home_are_shown(tmp_path: Path) -> None:
    """SAFE-02: no folder that keeps credentials is among them."""
    shown = toolchains(tmp_path)

    assert {str(tmp_path / ".pyenv"), str(tmp_path / ".cargo/bin")} <= set(shown)
    assert [one for one in shown for kept in list_private(str(tmp_path)) if f"{kept}/".startswith(f"{one}/")] == []
