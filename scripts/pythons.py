"""Runs the Python tests under every Python of this machine, 3.11 and newer: `pythons.py [PYTEST ARGUMENTS]`.

Each interpreter on PATH or in pyenv gets a virtualenv in `.venvs/` with the locked packages. The exit code is 1 if the tests
fail under any of them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venvs"
LOCK = ROOT / "requirements" / "dev.txt"
OLDEST = (3, 11)
NEWEST_MINOR = 20


def interpreters() -> dict[str, str]:
    """Return the interpreters of this machine by full version, such as `{"3.12.1": "/usr/bin/python3.12"}`."""
    names = ["python3", *(f"python3.{minor}" for minor in range(OLDEST[1], NEWEST_MINOR))]
    candidates = [Path(folder) / name for folder in os.get_exec_path() for name in names]
    candidates += sorted(Path.home().glob(".pyenv/versions/*/bin/python3"))
    by_version: dict[str, str] = {}
    for candidate in candidates:
        version = _version(candidate) if candidate.is_file() else None
        if version is not None and version >= OLDEST:
            by_version.setdefault(".".join(map(str, version)), str(candidate))
    return by_version


def _version(python: Path) -> tuple[int, ...] | None:
    """Return the version of a released CPython outside a virtualenv; None for any other."""
    code = "import sys; v = sys.version_info; sys.prefix == sys.base_prefix or sys.exit(1)"
    code += "; v.releaselevel == 'final' or sys.exit(1); print(*v[:3])"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else None


def prepared(version: str, python: str) -> Path:
    """Return the virtualenv of an interpreter with the locked packages, created if missing or outdated."""
    folder = FOLDER / version
    stamp = folder / ".stamp"
    digest = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != digest:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--require-hashes", "--requirement", str(LOCK)], check=True)
        subprocess.run([*pip, "--no-build-isolation", "--no-deps", "--editable", str(ROOT)], check=True)
        stamp.write_text(digest)
    return folder


def main(arguments: list[str]) -> int:
    """Run the tests under each interpreter in turn."""
    results: dict[str, int] = {}
    for version, python in sorted(interpreters().items()):
        print(f"callboard: Python {version}", file=sys.stderr, flush=True)
        program = prepared(version, python) / "bin" / "python"
        command = [str(program), "-m", "pytest", "-p", "no:cacheprovider", "--ignore=tests/prove", *arguments]
        results[version] = subprocess.run(command, cwd=ROOT, check=False).returncode
    for version, code in results.items():
        print(f"Python {version}: {'passed' if code == 0 else f'failed ({code})'}")
    return 1 if any(results.values()) or not results else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
