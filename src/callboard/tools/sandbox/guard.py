"""The process between the host and a command: `guard.py STATUS BOUNDS COMMAND...`.

It runs as a script on the standard library alone. Its standard input is a pipe whose other end only
the host holds. When that end closes, because the call or the host ended, the guard kills every
process of the command and waits for them. It does the same when the command ends: no process
outlives its call. On systems with subreapers, processes that fork twice or leave their session
become children of the guard.

BOUNDS is a JSON object: `memory` and `file_size` in MiB, `processes`, `input` (the descriptor that
the command reads), and `keep` (more descriptors of the command). 0 or a missing key means no bound
and no input. The guard checks memory and processes of the whole tree about twenty times a second
and ends a tree above a bound. The kernel enforces the file size.

The guard writes one JSON line to the descriptor STATUS: {"exit": code}, {"limit": name} if it ended
the command at a bound, or {"error": text} if the command could not run.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
#: Seconds to wait for processes that it may not kill, and seconds after which it gives up on new
#: ones.
_PATIENCE, _LONGEST = 3.0, 20.0
#: Seconds between checks of the tree. A check that takes long delays the next one by this factor.
_EVERY, _SPARING = 0.05, 10
_MIB = 1 << 20
_PAGE = os.sysconf("SC_PAGE_SIZE")

Bounds: TypeAlias = "dict[str, Any]"


def main() -> None:
    """Run the command until it ends, the input ends, or a bound is exceeded."""
    status, bounds, command = int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:]
    _close_others({0, 1, 2, status, bounds.get("input", 0), *bounds.get("keep", ())})
    os.set_inheritable(status, False)
    _to_kernel(_PR_SET_CHILD_SUBREAPER, 1)
    _come_first()
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    child = _start(command, status, bounds)
    poller = select.poll()
    poller.register(0, select.POLLIN)
    poller.register(woken, select.POLLIN)
    watched = bool(bounds.get("memory") or bounds.get("processes"))
    code, over, look = None, "", time.monotonic() + _EVERY
    while code is None and not over:
        left = max(0.0, look - time.monotonic()) * 1000 if watched else None
        ready = dict(poller.poll(left))
        if woken in ready:
            os.read(woken, 4096)
        code = _reap(child)
        if 0 in ready:
            break
        now = time.monotonic()
        if watched and code is None and now >= look:
            over = _over(bounds)
            ended = time.monotonic()
            look = ended + max(_EVERY, (ended - now) * _SPARING)
    _end_all(child)
    if over:
        os.write(status, json.dumps({"limit": over}).encode() + b"\n")
    elif code is not None:
        os.write(status, json.dumps({"exit": code}).encode() + b"\n")


def _close_others(kept: set[int]) -> None:
    """Close descriptors that the starter left open. Some event loops do."""
    for name in os.listdir("/dev/fd"):  # noqa: PTH208
        if int(name) not in kept:
            with suppress(OSError):
                os.close(int(name))


def _come_first() -> None:
    """Run before every process of the command, if permitted. Otherwise thousands of them would
    leave no time to end them.

    The command does not inherit the priority.
    """
    if hasattr(os, "SCHED_RESET_ON_FORK"):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def _start(command: list[str], status: int, bounds: Bounds) -> int:
    child = os.fork()
    if child:
        if bounds.get("input"):
            os.close(bounds["input"])
        _leave_output()
        return child
    try:
        os.setsid()
        _to_kernel(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # A program would inherit the signals that the interpreter ignores.
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        source = bounds.get("input") or os.open(os.devnull, os.O_RDONLY)
        os.dup2(source, 0)
        if source:
            os.close(source)
        _bind(bounds)
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        os.write(status, json.dumps({"error": f"{command[0]}: {error.strerror}"}).encode() + b"\n")
    finally:
        os._exit(127)


def _leave_output() -> None:
    """Close the command's output here, so its reader sees the end when the command closes it.

    Standard error stays open for failures of the guard itself.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _bind(bounds: Bounds) -> None:
    """Set the kernel's limits. If memory runs out, the kernel ends these processes first. No
    program dumps core.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    size = bounds.get("file_size", 0) * _MIB
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    if size and (most == resource.RLIM_INFINITY or size < most):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    with suppress(OSError):
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(descriptor, b"1000")
        os.close(descriptor)


def _reap(child: int) -> int | None:
    """Reap every dead process. Return the exit code of the command if it is among them."""
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


def _over(bounds: Bounds) -> str:
    """Return the exceeded bound; empty if none."""
    tree = _descendants(os.getpid())
    if bounds.get("processes") and len(tree) > bounds["processes"]:
        return "processes"
    most = bounds.get("memory", 0) * _MIB
    # Shared pages count for each process first. The exact count follows only if that sum is too
    # large.
    if most and sum(map(_own, tree)) > most and sum(map(_share, tree)) > most:
        return "memory"
    return ""


def _own(process: int) -> int:
    """Return the memory of a process without file pages, in bytes."""
    with suppress(OSError, ValueError, IndexError):
        pages = _read(f"/proc/{process}/statm").split()
        return (int(pages[1]) - int(pages[2])) * _PAGE
    return 0


def _share(process: int) -> int:
    """Return the same, with a proportional part of shared memory, where the system reports it."""
    with suppress(OSError):
        lines = [line.split() for line in _read(f"/proc/{process}/smaps_rollup").splitlines()]
        found = [int(line[1]) << 10 for line in lines if line[0] in (b"Pss_Anon:", b"Pss_Shmem:")]
        if found:
            return sum(found)
    return _own(process)


def _end_all(child: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    begun = until = time.monotonic()
    seen: set[int] = set()
    while time.monotonic() < until + _PATIENCE:
        living = _living(os.getpid())
        for process in living:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        if not seen.issuperset(living) and time.monotonic() < begun + _LONGEST:
            until = time.monotonic()
        seen.update(living)
        try:
            # A process that was missed is a child of the guard by then, and the next round kills
            # it.
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _descendants(root: int) -> list[int]:
    """Return every process below `root`, as the kernel lists children."""
    if not os.path.exists("/proc/self/task"):  # noqa: PTH110 - pathlib would double the time to start
        return []
    found: list[int] = []
    left = [root]
    while left:
        below = [child for process in left for child in _children(process)]
        found += below
        left = below
    return found


def _children(process: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208
            with suppress(OSError):
                found += map(int, _read(f"/proc/{process}/task/{thread}/children").split())
    return found


def _living(root: int) -> list[int]:
    """Return every living process below `root`, also if its parents ended, where the system shows it."""
    parents: dict[int, int] = {}
    with suppress(FileNotFoundError):
        for name in os.listdir("/proc"):  # noqa: PTH208
            if name.isdigit():
                with suppress(OSError, IndexError, ValueError):
                    state, parent = _read(f"/proc/{name}/stat").rpartition(b")")[2].split()[:2]
                    if state != b"Z":
                        parents[int(name)] = int(parent)
    found: list[int] = []
    above = {root}
    while above:
        above = {process for process, parent in parents.items() if parent in above and process != root}
        found += above
    return found


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)


def _to_kernel(option: int, value: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel does not take it")


if __name__ == "__main__":
    main()
