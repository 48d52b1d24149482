"""Sets up the requirements of Makefile targets: `setup.py run | dev | test | bench | docs`.

Needs only the standard library. `run` is the product and the build of its page, `dev` adds the tools, `test` adds
Chromium, bubblewrap and strace to `dev`, and `bench` adds the peers to `run`. `docs` builds the docs site and needs no
other level. Packages come from the lock files in `requirements/`, which name every version with its hashes (`make
lock` writes them). The peers of `bench` are not locked. A stamp per level in `.venv`, keyed on the installed packages,
makes a second run take milliseconds. `page.py install` installs the page's packages.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections import deque
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: The lock file of each level.
LOCKS = {"run": "run.txt", "dev": "dev.txt", "test": "dev.txt", "bench": "run.txt", "docs": "docs.txt"}
PROGRESS_EVERY_S = 3.0
#: Levels, and for each the levels that include it.
HELD_BY = {
    "run": ("run", "dev", "test", "bench"),
    "dev": ("dev", "test"),
    "test": ("test",),
    "bench": ("bench",),
    "docs": ("docs",),
}


class SetupError(Exception):
    """The set-up failed. The message explains what to do."""


def setup(level: str) -> None:
    """Bring `.venv` (and for `test` the machine) to `level`. Raises SetupError."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    if _is_set_up(project, level):
        return
    with (ROOT / "pyproject.toml").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if _is_set_up(project, level):
            return
        started = time.monotonic()
        _ensure_venv()
        _install(project, level)
        if level == "test":
            _ensure_test_programs()
        (VENV / f".stamp-{level}").write_text(stamp_of(project, level))
    _say(f"{level} is set up, {time.monotonic() - started:.0f} s")


def stamp_of(project: dict[str, Any], level: str) -> str:
    """Return a digest of what the level installs; tool settings do not change it."""
    locked = (ROOT / "requirements" / LOCKS[level]).read_text()
    decides = [project["build-system"], project["project"], project["dependency-groups"], level, str(ROOT), locked]
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()


def _is_set_up(project: dict[str, Any], level: str) -> bool:
    stamps = {held_by: VENV / f".stamp-{held_by}" for held_by in HELD_BY[level]}
    return _works(PYTHON) and any(
        stamp.is_file() and stamp.read_text() == stamp_of(project, held_by) for held_by, stamp in stamps.items()
    )


def _works(python: Path) -> bool:
    """Return True if the virtualenv's interpreter still exists and runs."""
    if not python.exists():
        return False
    command = [str(python), "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    return _succeeds(command)


def _succeeds(command: list[str]) -> bool:
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def _ensure_venv() -> None:
    if _works(PYTHON) and (VENV / "bin" / "pip").exists():
        return
    _say(f"creating .venv with Python {sys.version.split()[0]}")
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    if not _succeeds([sys.executable, "-c", "import ensurepip"]):
        # Debian has this part of the standard library in a separate package.
        install_system_packages([f"python{sys.version_info.major}.{sys.version_info.minor}-venv"])
    _run(command, "python -m venv")


def _install(project: dict[str, Any], level: str) -> None:
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar=off"]
    lock = LOCKS[level]
    _say(f"installing requirements/{lock}")
    _run([*pip, "--require-hashes", "--requirement", str(ROOT / "requirements" / lock)], "pip install")
    if level == "docs":
        return
    _say("installing callboard")
    _run([*pip, "--no-build-isolation", "--no-deps", "--editable", str(ROOT)], "pip install")
    if level == "bench":
        _say("installing the peers of the benchmarks")
        _run([*pip, *_requirements(project, "bench")], "pip install")


def _requirements(project: dict[str, Any], group: str) -> list[str]:
    packages: list[str] = []
    for entry in project["dependency-groups"][group]:
        packages += _requirements(project, entry["include-group"]) if isinstance(entry, dict) else [entry]
    return packages


def _ensure_test_programs() -> None:
    missing: list[str] = []
    if not any(shutil.which(browser) for browser in BROWSERS):
        missing += ["chromium", "fonts-liberation"]
    if sys.platform == "linux":
        programs = {"bwrap": "bubblewrap", "strace": "strace"}
        missing += [package for program, package in programs.items() if shutil.which(program) is None]
    if missing:
        install_system_packages(missing)


def install_system_packages(packages: list[str]) -> None:
    by_hand = f"sudo apt-get install {' '.join(packages)}"
    apt = shutil.which("apt-get")
    if apt is None:
        raise SetupError(f"{', '.join(packages)} missing; install them as this system does (on Debian: {by_hand})")
    sudo: list[str] = []
    if os.geteuid() != 0:
        sudo = ["sudo", "-n"]
        if not (shutil.which("sudo") and _succeeds([*sudo, "true"])):
            raise SetupError(f"{', '.join(packages)} missing; run: {by_hand}")
    _say(f"installing {', '.join(packages)} with apt-get")
    quiet = [*sudo, "env", "DEBIAN_FRONTEND=noninteractive", apt, "-o", "DPkg::Lock::Timeout=300"]
    _run([*quiet, "update"], "apt-get update")
    _run([*quiet, "install", "--yes", "--no-install-recommends", *packages], f"{by_hand}")


def _run(command: list[str], name: str) -> None:
    """Run a command with progress every few seconds; after a failure print its last lines."""
    tail: deque[str] = deque(maxlen=40)
    last_sign = time.monotonic()
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            tail.append(line.rstrip())
            if time.monotonic() - last_sign >= PROGRESS_EVERY_S:
                last_sign = time.monotonic()
                _say("  " + tail[-1].strip()[:100])
    if process.returncode != 0:
        raise SetupError(f"`{name}` ended with {process.returncode}:\n" + "\n".join(tail))


def _say(line: str) -> None:
    print(f"callboard: {line}", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in HELD_BY:
        _say("usage: setup.py run | dev | test | bench | docs")
        return 2
    try:
        setup(arguments[0])
    except SetupError as error:
        _say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
