"""The server of `asking.py` as one that speaks the newest protocol alone: it refuses the handshake and passes all else on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import IO


def refuse(message: dict[str, object]) -> None:
    """Answers with the protocol's error for a version that a server does not speak."""
    error = {"code": -32022, "message": "Unsupported protocol version", "data": {"supported": ["2026-07-28"]}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}) + "\n")
    sys.stdout.flush()


def begun() -> IO[str]:
    """Return the input of the server after its start."""
    asking = str(Path(__file__).with_name("asking.py"))
    given = subprocess.Popen((sys.executable, asking), stdin=subprocess.PIPE, text=True, bufsize=1).stdin
    assert given is not None
    return given


if __name__ == "__main__":
    behind: IO[str] | None = None
    for line in sys.stdin:
        told = json.loads(line)
        if told.get("method") == "initialize":
            refuse(told)
        else:
            behind = behind or begun()
            behind.write(line)
