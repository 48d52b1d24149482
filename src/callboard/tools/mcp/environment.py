"""What a program that is a server gets of our environment: where programs are and where the person's home is, no more."""

from __future__ import annotations

import os

_PASSED_ON = ("PATH", "HOME")
_PATH = "/usr/local/bin:/usr/bin:/bin"


def base_environment() -> dict[str, str]:
    """The variables that every server gets, beside those that its settings name."""
    return {"PATH": _PATH, **{name: os.environ[name] for name in _PASSED_ON if name in os.environ}}
