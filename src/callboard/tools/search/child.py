"""The process that searches: one JSON request on its input, one JSON answer on its output.

It lives no longer than its time and its host: an alarm ends it even within a regular expression, and so does the end of
its input, which the host holds open for as long as it wants the answer.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import signal
import sys
import time
from typing import Any

from ..files.globs import InvalidGlobError
from ..files.handles import Folder
from ..files.paths import PathDenied, display
from .file_search import GENERATED, Search, search
from .walk import Walk

#: How long after its time is up a search that does not look at the clock is ended, in seconds.
GRACE = 2.0


def main() -> None:
    """Answers the one request."""
    asked = json.loads(sys.stdin.buffer.readline())
    signal.setitimer(signal.ITIMER_REAL, asked["seconds"] + GRACE)
    _end_with_input()
    sys.stdout.buffer.write(json.dumps(_answer(asked)).encode())


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    wanted = Search(*asked["search"])
    try:
        with Folder(asked["folder"], asked["hidden"]) as folder:
            # Whoever names a file to an agent means one that somebody wrote; whoever searches may mean any.
            generated = GENERATED if wanted.tool == "Name" else frozenset[str]()
            walk = Walk(folder, wanted.below, time.monotonic() + asked["seconds"], generated)
            found = search(walk, wanted)
    except PathDenied as error:
        return {"code": "path_denied", "message": error.message}
    except re.error as error:
        return {"code": "tool_arguments", "message": f"pattern: is not a regular expression: {error}."}
    except (RecursionError, OverflowError, MemoryError):
        return {"code": "tool_arguments", "message": "pattern: is too complex."}
    except InvalidGlobError as error:
        return {"code": "tool_arguments", "message": f"pattern: {error}"}
    except (FileNotFoundError, NotADirectoryError):
        return {"code": "tool_failed", "message": f"There is no file or folder {display(wanted.below)}."}
    except OSError as error:
        return {"code": "tool_failed", "message": f"The folder cannot be read: {error.strerror}."}
    return {"lines": found.lines, "notes": found.notes}


def _end_with_input() -> None:
    """Has the kernel end this process once nobody holds the other end of its input, whatever it is busy with."""
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([0], [], [], 0)[0]:
        sys.exit(1)


if __name__ == "__main__":
    main()
