"""The search process: one JSON request on its input, one JSON answer on its output.

An alarm ends it at its deadline, also within a regular expression. The end of its input, which the
host holds open, ends it too.
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

#: Seconds after the deadline until a search that does not check the clock is killed.
GRACE = 2.0


def main() -> None:
    """Answer the request."""
    asked = json.loads(sys.stdin.buffer.readline())
    signal.setitimer(signal.ITIMER_REAL, asked["seconds"] + GRACE)
    _end_with_input()
    sys.stdout.buffer.write(json.dumps(_answer(asked)).encode())


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    wanted = Search(*asked["search"])
    try:
        with Folder(asked["folder"], asked["hidden"]) as folder:
            # A person who mentions a file means a written one. A search may mean any file.
            generated = GENERATED if wanted.tool == "Name" else frozenset[str]()
            walk = Walk(folder, wanted.start, time.monotonic() + asked["seconds"], generated)
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
        return {"code": "tool_failed", "message": f"There is no file or folder {display(wanted.start)}."}
    except OSError as error:
        return {"code": "tool_failed", "message": f"The folder cannot be read: {error.strerror}."}
    return {"lines": found.lines, "notes": found.notes}


def _end_with_input() -> None:
    """Let the kernel end this process when its input closes."""
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([0], [], [], 0)[0]:
        sys.exit(1)


if __name__ == "__main__":
    main()
