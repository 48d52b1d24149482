"""A proof that repeats itself as an ordinary user if root started it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

#: A user without files.
USER = 65534


def again(module: str, *arguments: str, seconds: float = 300.0) -> tuple[int, str]:
    """Run a proof as an ordinary user, in a mount namespace in which that user can read this interpreter.

    Returns:
        The exit code and what it printed.
    """
    with tempfile.TemporaryDirectory(prefix="callboard-ordinary-") as home:
        os.chown(home, USER, USER)
        script = "\n".join(("set -e", *_opened(home), f"exec {shlex.join(_command(home, module, *arguments))}"))
        try:
            done = subprocess.run(
                ["unshare", "--mount", "sh", "-c", script],
                check=False,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired as error:
            return 1, f"not finished within {error.timeout:g} s"
    return done.returncode, done.stdout


def _opened(home: str) -> list[str]:
    """Return the commands that open the interpreter to the user if it is in a home that only root
    may enter.
    """
    prefix = Path(sys.base_prefix)
    closed = next((parent for parent in reversed(prefix.parents) if not parent.stat().st_mode & 0o001), None)
    if closed is None:
        return []
    held = shlex.quote(f"{home}/python")
    return [
        f"mkdir {held}",
        f"mount --bind {shlex.quote(str(prefix))} {held}",
        f"mount -t tmpfs -o mode=755 none {shlex.quote(str(closed))}",
        f"mkdir -p {shlex.quote(str(prefix))}",
        f"mount --move {held} {shlex.quote(str(prefix))}",
    ]


def _command(home: str, module: str, *arguments: str) -> list[str]:
    user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--inh-caps=-all"]
    environment = ["env", f"HOME={home}", f"TMPDIR={home}", f"PYTHONPYCACHEPREFIX={home}/pyc"]
    return [*user, *environment, sys.executable, "-m", module, *arguments]
