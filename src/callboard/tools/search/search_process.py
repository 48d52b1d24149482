"""Start, response and end of a search process."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from callboard.contracts.errors import Code

from ..shielded_wait import kill, wait_shielded
from .child import GRACE
from .file_search import Search

log = logging.getLogger(__name__)

SECONDS = 20.0

_START = "import sys; sys.path[:0] = {path!r}; from {module} import main; main()"


class SearchResponse(msgspec.Struct, frozen=True):
    """Result of a search, or its failure. `code` is None on success."""

    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    code: Code | None = None
    message: str = ""


async def run_search(folder: str, hidden: Sequence[str], query: Search, seconds: float = SECONDS) -> SearchResponse:
    """Run a search. The process has ended when this returns, also after a cancellation."""
    request: dict[str, Any] = {
        "folder": folder,
        "hidden": list(hidden),
        "search": list(query),
        "seconds": seconds,
    }
    start = _START.format(
        path=[entry for entry in sys.path if Path(entry).is_absolute()], module=f"{__package__}.child"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-S",
        "-c",
        start,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"LANG": "C.UTF-8"},
        cwd="/",
    )
    stdin, stdout = process.stdin, process.stdout
    data = b""
    try:
        if stdin is not None and stdout is not None:
            stdin.write(json.dumps(request).encode() + b"\n")
            data = await asyncio.wait_for(stdout.read(), seconds + 2 * GRACE)
            await process.wait()
    except (TimeoutError, ConnectionError) as error:
        log.info("a search did not respond: %r", error)
    finally:
        kill(process)
        _, cancelled = await wait_shielded(process.wait())
    if cancelled:
        raise asyncio.CancelledError
    if process.returncode in {-signal.SIGALRM, -signal.SIGKILL}:
        message = f"The search did not finish within {seconds:g} s. Use a simpler pattern or search fewer files."
        return SearchResponse(code="tool_timeout", message=message)
    if process.returncode != 0:
        return SearchResponse(
            code="tool_failed", message=f"The search failed ({process.returncode}). Try another pattern."
        )
    return msgspec.json.decode(data, type=SearchResponse)
