"""The programs and abilities that work is done with."""

from __future__ import annotations

import contextlib
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from callboard.adapters import http
from callboard.contracts.errors import Refusal
from callboard.tools.sandbox.ability import detect_ability

from ..hosting.process import ROOT_RISK, is_root
from ..models.keys import open_keyring
from ..state_folder import StateFolder
from .finding import Finding, bad, install_command, ok, warn

_OLDEST = (3, 11)
_SECONDS = 5.0
_PAGE = Path(http.__file__).parent / "page" / "index.html"
#: Systems that keep unprivileged programs from making namespaces, by the switch, what it is then, and what lets them.
_SWITCHES = (
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl kernel.unprivileged_userns_clone=1"),
    ("/proc/sys/user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=10000"),
)
_UNHELD = "Every command asks for your approval, and an approved one may do whatever you may."


def check_machine(home: StateFolder) -> tuple[Finding, ...]:
    """Blocks while programs are tried."""
    return (
        _python(),
        *_user(),
        _page(),
        _sandbox(),
        _program("git", "git", "Agents cannot work in worktrees of their own, nor be merged."),
        _program("ripgrep", "rg", "Commands of agents that use it go without; Grep searches by itself."),
        _program("node", "node", "Agents and tool servers that are started with npx cannot be."),
        _keyring(home),
    )


def _python() -> Finding:
    said = f"Python {platform.python_version()} at {sys.executable}"
    if sys.version_info < _OLDEST:
        return bad("python", said, "Callboard needs Python 3.11 or newer.", install_command("python3.12"))
    return ok("python", said)


def _user() -> tuple[Finding, ...]:
    """Report a start as root. An ordinary user needs no line."""
    if not is_root():
        return ()
    return (warn("user", "Callboard runs as root", ROOT_RISK),)


def _page() -> Finding:
    if _PAGE.is_file():
        return ok("page", "the workbench's page is built")
    return bad("page", "the workbench's page is not built", "The browser shows nothing.", "make page")


def _sandbox() -> Finding:
    found = detect_ability("bwrap")
    if found.works and found.seccomp:
        return ok("sandbox", "commands run under bubblewrap with a seccomp filter")
    if found.works:
        means = "Commands are held in a sandbox that lets through system calls no agent needs."
        return warn("sandbox", found.problem, means, f"{sys.executable} -m pip install pyseccomp")
    if sys.platform != "linux":
        return warn("sandbox", found.problem, _UNHELD)
    if shutil.which("bwrap") is None:
        return warn("sandbox", found.problem, _UNHELD, install_command("bubblewrap"))
    return warn("sandbox", found.problem, _UNHELD, _switch())


def _switch() -> str:
    for name, off, on in _SWITCHES:
        with contextlib.suppress(OSError):
            if Path("/proc/sys", *name.split(".")).read_text().strip() == off:
                return f"sudo sysctl {name}={on}"
    return ""


def _program(name: str, program: str, means: str) -> Finding:
    path = shutil.which(program)
    if path is None:
        return warn(name, f"{program} is not installed", means, install_command("nodejs" if name == "node" else name))
    try:
        done = subprocess.run(
            [path, "--version"], check=False, capture_output=True, timeout=_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return warn(name, f"{path} does not start: {error}", means, install_command(name))
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return ok(name, f"{lines[0].strip() if lines else program} at {path}")


def _keyring(home: StateFolder) -> Finding:
    try:
        open_keyring(home).get("callboard-doctor")
    except Refusal as refusal:
        means = "Secrets can be kept in variables of the environment only."
        return warn("keyring", refusal.problem.message, means, refusal.problem.hint)
    return ok("keyring", "the system's keyring answers")
