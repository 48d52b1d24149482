"""The process between the host and a command. Run as a script: `guard.py STATUS COMMAND...`, on the standard library alone.

Its standard input is a pipe whose other end only the host holds. When that end closes, because the call is over or
because the host is gone, the guard kills every process that came of the command and waits until all of them are dead. It does
so as well when the command itself ends: nothing outlives its call. What double-forks, or leaves its session, comes back to the
guard as a child, where the system has subreapers.

On the descriptor STATUS it writes one JSON line: {"exit": code}, or {"error": text} where the command could not be run.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress

_PR_SET_CHILD_SUBREAPER = 36
#: How long processes are waited for that this one may not kill, in seconds.
_PATIENCE = 3.0


def main() -> None:
    """Runs the command to its end, or to the end of the input."""
    status, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(status, False)
    _take_orphans()
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    child = _start(command, status)
    poller = select.poll()
    poller.register(0, select.POLLIN)
    poller.register(woken, select.POLLIN)
    code: int | None = None
    while code is None:
        ready = dict(poller.poll())
        if woken in ready:
            os.read(woken, 4096)
        code = _reap(child)
        if 0 in ready:
            break
    _end_all(child)
    if code is not None:
        os.write(status, json.dumps({"exit": code}).encode() + b"\n")


def _start(command: list[str], status: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        os.write(status, json.dumps({"error": f"{command[0]}: {error.strerror}"}).encode() + b"\n")
    finally:
        os._exit(127)


def _reap(child: int) -> int | None:
    """Takes in every process that is dead; the exit code of the command once it is among them."""
    code: int | None = None
    with suppress(ChildProcessError):
        while True:
            dead, status = os.waitpid(-1, os.WNOHANG)
            if dead == 0:
                break
            if dead == child:
                code = _code(status)
    return code


def _code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _end_all(child: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        killed = False
        for process in _descendants(os.getpid()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
                killed = True
        try:
            # One that was killed dies at once; one that slipped through is a child of ours by then, and is found next time.
            if os.waitpid(-1, 0 if killed else os.WNOHANG) == (0, 0):
                time.sleep(0.005)
        except ChildProcessError:
            return


def _descendants(root: int) -> list[int]:
    """Every living process below `root`, as far as the system tells."""
    parents: dict[int, int] = {}
    with suppress(FileNotFoundError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib would double the time to start
            if name.isdigit():
                with suppress(OSError, IndexError, ValueError):
                    state, parent = _status_of(name)
                    if state != b"Z":
                        parents[int(name)] = int(parent)
    found: list[int] = []
    above = {root}
    while above:
        above = {process for process, parent in parents.items() if parent in above and process != root}
        found += above
    return found


def _status_of(process: str) -> tuple[bytes, bytes]:
    descriptor = os.open(f"/proc/{process}/stat", os.O_RDONLY)
    try:
        state, parent = os.read(descriptor, 4096).rpartition(b")")[2].split()[:2]
    finally:
        os.close(descriptor)
    return state, parent


def _take_orphans() -> None:
    if sys.platform != "linux":
        return
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no subreaper")


if __name__ == "__main__":
    main()
