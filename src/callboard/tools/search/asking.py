"""The host's side of a search: starts the process, waits for its answer, and ends it when nobody wants it any more."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from callboard.contracts.errors import Code

from ..outlasting import outlast
from .child import GRACE
from .find import Search

log = logging.getLogger(__name__)

SECONDS = 20.0

_START = "import sys; sys.path[:0] = {path!r}; from {module} import main; main()"


class Answer(msgspec.Struct, frozen=True):
    """What the process found, or why it did not. `code` is None for success."""

    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    code: Code | None = None
    message: str = ""


async def ask(folder: str, hidden: Sequence[str], wanted: Search, seconds: float = SECONDS) -> Answer:
    """Carries a search out. When the task is cancelled the process has ended before this returns."""
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
    except (TimeoutError, ConnectionError) as error:
        log.debug("a search gave no answer: %r", error)
    finally:
        await _end(process)
    if not data:
        return Answer(
            code="tool_timeout",
            message=f"The search found no end within {seconds:g} s. Use a simpler pattern, or search less.",
        )
    return msgspec.json.decode(data, type=Answer)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    _, cancelled = await outlast(process.wait())
    if cancelled:
        raise asyncio.CancelledError
