"""What to type so that this very installation gets a library that it lacks."""

from __future__ import annotations

import importlib.util
import shlex
import sys

#: What the extras of the package bring, by their name.
EXTRAS = {
    "acp": "agent-client-protocol>=0.12,<0.13",
    "a2a": "a2a-sdk[http-server]>=1.3,<1.4",
}


def install_command(extra: str) -> str:
    """The command for a shell. It names the Python that runs, since the one on PATH may be another, and the libraries
    themselves, since Callboard itself need not be on an index. An environment without pip is one that uv made."""
    python = sys.executable or "python3"
    if importlib.util.find_spec("pip") is None:
        return shlex.join(["uv", "pip", "install", "--python", python, EXTRAS[extra]])
    return shlex.join([python, "-m", "pip", "install", EXTRAS[extra]])
