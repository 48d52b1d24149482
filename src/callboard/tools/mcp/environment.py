"""Environment variables that servers and hooks inherit."""

from __future__ import annotations

import os

_PASSED_ON = ("PATH", "HOME")
_PATH = "/usr/local/bin:/usr/bin:/bin"


def base_environment() -> dict[str, str]:
    """Return the variables of every server and hook. Those of its settings are added."""
    return {"PATH": _PATH, **{name: os.environ[name] for name in _PASSED_ON if name in os.environ}}
