"""The server of `elicitation_server.py` without the handshake, as with the newest protocol only."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import IO


def refuse(message: dict[str, object]) -> None:
    """Answer with the protocol's error for an unsupported version."""
    error = {"code": -32022, "message": "Unsupported protocol version", "data": {"supported": ["2026-07-28"]}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}) + "\n")
    sys.stdout.flush()


def start_server() -> IO[str]:
    """Start the server and return its input."""
    program = str(Path(__file__).with_name("elicitation_server.py"))
    stdin = subprocess.Popen((sys.executable, program), stdin=subprocess.PIPE, text=True, bufsize=1).stdin
    assert stdin is not None
    return stdin


if __name__ == "__main__":
    behind: IO[str] | None = None
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "initialize":
            refuse(message)
        else:
            behind = behind or start_server()
            behind.write(line)
