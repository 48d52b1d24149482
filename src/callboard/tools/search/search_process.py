"""The host's side of a search: start, answer and end of the process."""

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


class Answer(msgspec.Struct, frozen=True):
    """Result of a search, or why it failed. `code` is None on success."""

    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    code: Code | None = None
    message: str = ""


async def run_search(folder: str, hidden: Sequence[str], wanted: Search, seconds: float = SECONDS) -> Answer:
    """Run a search. If the task is cancelled, the process has ended when this returns."""
    request: dict[str, Any] = {
        "folder": folder,
        "hidden": list(hidden),
        "search": list(wanted),
        "seconds": seconds,
    }
    start = _START.format(path=[one for one in sys.path if Path(one).is_absolute()], module=f"{__package__}.child")
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
    to, of = process.stdin, process.stdout
    data = b""
    try:
        if to is not None and of is not None:
            to.write(json.dumps(request).encode() + b"\n")
            data = await asyncio.wait_for(of.read(), seconds + 2 * GRACE)
            await process.wait()
    except (TimeoutError, ConnectionError) as error:
        log.info("a search gave no answer: %r", error)
    finally:
        kill(process)
        _, cancelled = await wait_shielded(process.wait())
    if cancelled:
        raise asyncio.CancelledError
    if process.returncode in {-signal.SIGALRM, -signal.SIGKILL}:
        message = f"The search found no end within {seconds:g} s. Use a simpler pattern, or search less."
        return Answer(code="tool_timeout", message=message)
    if process.returncode != 0:
        return Answer(code="tool_failed", message=f"The search broke down ({process.returncode}). Try another one.")
    return msgspec.json.decode(data, type=Answer)
