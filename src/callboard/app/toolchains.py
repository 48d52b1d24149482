"""Where programs lie in a person's home. The sandbox hides the home; these parts of it hold programs and no secrets."""

from __future__ import annotations

from pathlib import Path

#: Relative to the home. Of folders that keep credentials beside programs only the programs are named.
TOOLCHAINS = (
    ".pyenv",
    ".local/share/uv/python",
    ".local/share/mise/installs",
    ".asdf/installs",
    ".nvm/versions",
    ".volta/tools",
    ".bun/bin",
    ".rustup/toolchains",
    ".cargo/bin",
    ".sdkman/candidates",
    "go/bin",
)


def toolchains(home: Path) -> tuple[str, ...]:
    """Return all of them as absolute paths, there or not: what is missing must not be made by a command."""
    return tuple(str(home / part) for part in TOOLCHAINS)
