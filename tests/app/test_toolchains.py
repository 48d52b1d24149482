"""What of a person's home the sandbox shows."""

from __future__ import annotations

from pathlib import Path

from callboard.app.toolchains import toolchains


def test_only_programs_of_the_home_are_shown_and_only_those_that_are_there(tmp_path: Path) -> None:
    """SAFE-02: no folder that keeps credentials is among them."""
    for part in (".pyenv/versions", ".cargo/bin", ".ssh", ".aws", ".config/gh"):
        (tmp_path / part).mkdir(parents=True)
    (tmp_path / ".cargo" / "credentials.toml").touch()
    assert toolchains(tmp_path) == (str(tmp_path / ".pyenv"), str(tmp_path / ".cargo/bin"))
