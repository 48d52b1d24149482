"""Shell commands that install missing libraries."""

from __future__ import annotations

import importlib.util
import shlex
import sys

#: Requirements of the package's extras.
EXTRAS = {
    "acp": "agent-client-protocol>=0.12,<0.13",
    "a2a": "a2a-sdk[http-server]>=1.3,<1.4",
}


def build_install_command(extra: str) -> str:
    """Return the shell command that installs an extra into this environment.

    It names the running Python, because the one on PATH can differ, and the libraries, because
    Callboard may not be on an index. An environment without pip was created by uv.
    """
    python = sys.executable or "python3"
    if importlib.util.find_spec("pip") is None:
        return shlex.join(["uv", "pip", "install", "--python", python, EXTRAS[extra]])
    return shlex.join([python, "-m", "pip", "install", EXTRAS[extra]])
