"""Checks of the programs and abilities of this machine."""

from __future__ import annotations

import contextlib
import platform
import runpy
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
from .finding import Finding, find_install_command, report_bad, report_ok, report_warning

_OLDEST = (3, 11)
_SECONDS = 5.0
PAGE = Path(http.__file__).parent / "page"
#: Builder of the page, below the root of a checkout. An installed wheel has none.
_BUILDER = Path("scripts", "page.py")
#: Switches that forbid namespaces to unprivileged programs: file, forbidding value, command that allows them.
_SWITCHES = (
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl kernel.unprivileged_userns_clone=1"),
    ("/proc/sys/user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=10000"),
)
_UNSANDBOXED = "Every command asks for your approval; an approved command has all your rights."


def check_machine(state_folder: StateFolder) -> tuple[Finding, ...]:
    """Run the checks. Blocks while it starts programs."""
    return (
        _check_python(),
        *_check_user(),
        _check_page(),
        _check_sandbox(),
        _check_program("git", "git", "Agents cannot work in their own worktrees, and worktrees cannot be merged."),
        _check_program("ripgrep", "rg", "Commands of agents cannot use it; Grep works without it."),
        _check_program("node", "node", "Agents and tool servers that use npx cannot start."),
        _check_keyring(state_folder),
    )


def _check_python() -> Finding:
    message = f"Python {platform.python_version()} at {sys.executable}"
    if sys.version_info < _OLDEST:
        return report_bad(
            "python", message, "Callboard needs Python 3.11 or newer.", find_install_command("python3.12")
        )
    return report_ok("python", message)


def _check_user() -> tuple[Finding, ...]:
    """Warn about root; an ordinary user gets no finding."""
    if not is_root():
        return ()
    return (report_warning("user", "Callboard runs as root", ROOT_RISK),)


def _check_page() -> Finding:
    root = PAGE.parents[4]
    is_checkout = (root / _BUILDER).is_file() and (root / "web").is_dir()
    fix = f"make -C {root} page" if is_checkout else "make page"
    if not (PAGE / "index.html").is_file():
        return report_bad("page", "the workbench page is not built", "The browser shows nothing.", fix)
    if is_checkout and not runpy.run_path(str(root / _BUILDER))["is_current"](root / "web", PAGE):
        return report_warning(
            "page", "the workbench page is older than web/", "The browser shows the former page.", fix
        )
    return report_ok("page", "the workbench page is built")


def _check_sandbox() -> Finding:
    sandbox = detect_ability("bwrap")
    if sandbox.works and sandbox.seccomp:
        return report_ok("sandbox", "commands run under bubblewrap with a seccomp filter")
    if sandbox.works:
        effect = "The sandbox does not filter system calls that no agent needs."
        return report_warning("sandbox", sandbox.problem, effect, f"{sys.executable} -m pip install pyseccomp")
    if sys.platform != "linux":
        return report_warning("sandbox", sandbox.problem, _UNSANDBOXED)
    if shutil.which("bwrap") is None:
        return report_warning("sandbox", sandbox.problem, _UNSANDBOXED, find_install_command("bubblewrap"))
    return report_warning("sandbox", sandbox.problem, _UNSANDBOXED, _find_switch())


def _find_switch() -> str:
    for file, forbidden, command in _SWITCHES:
        with contextlib.suppress(OSError):
            if Path(file).read_text().strip() == forbidden:
                return command
    return ""


def _check_program(name: str, program: str, effect: str) -> Finding:
    path = shutil.which(program)
    if path is None:
        return report_warning(
            name, f"{program} is not installed", effect, find_install_command("nodejs" if name == "node" else name)
        )
    try:
        done = subprocess.run(
            [path, "--version"], check=False, capture_output=True, timeout=_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return report_warning(name, f"{path} does not start: {error}", effect, find_install_command(name))
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return report_ok(name, f"{lines[0].strip() if lines else program} at {path}")


def _check_keyring(state_folder: StateFolder) -> Finding:
    try:
        open_keyring(state_folder).get("callboard-doctor")
    except Refusal as refusal:
        effect = "Only environment variables can hold secrets."
        return report_warning("keyring", refusal.problem.message, effect, refusal.problem.hint)
    return report_ok("keyring", "the system keyring works")
