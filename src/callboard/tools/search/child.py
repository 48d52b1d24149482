"""The search process: one JSON request on its input, one JSON response on its output.

An alarm ends it at the deadline, even inside a regular expression. It also ends when the host
closes its input.
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

#: Seconds after the deadline until the alarm.
GRACE = 2.0


def main() -> None:
    """Run the request."""
    request = json.loads(sys.stdin.buffer.readline())
    signal.setitimer(signal.ITIMER_REAL, request["seconds"] + GRACE)
    _end_with_input()
    sys.stdout.buffer.write(json.dumps(_run_request(request)).encode())


def _run_request(request: dict[str, Any]) -> dict[str, Any]:
    query = Search(*request["search"])
    try:
        with Folder(request["folder"], request["hidden"]) as folder:
            # A person who mentions a file means one that people wrote. Other searches cover all files.
            generated = GENERATED if query.tool == "Name" else frozenset[str]()
            walk = Walk(folder, query.start, time.monotonic() + request["seconds"], generated)
            result = search(walk, query)
    except PathDenied as error:
        return {"code": "path_denied", "message": error.message}
    except re.error as error:
        return {"code": "tool_arguments", "message": f"pattern: invalid regular expression: {error}."}
    except (RecursionError, OverflowError, MemoryError):
        return {"code": "tool_arguments", "message": "pattern: is too complex. Simplify it."}
    except InvalidGlobError as error:
        return {"code": "tool_arguments", "message": f"pattern: {error}"}
    except (FileNotFoundError, NotADirectoryError):
        return {"code": "tool_failed", "message": f"There is no file or folder {display(query.start)}."}
    except OSError as error:
        return {"code": "tool_failed", "message": f"The folder cannot be read: {error.strerror}."}
    return {"lines": result.lines, "notes": result.notes}


def _end_with_input() -> None:
    """Make the kernel end this process when its input closes."""
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([0], [], [], 0)[0]:
        sys.exit(1)


if __name__ == "__main__":
    main()
