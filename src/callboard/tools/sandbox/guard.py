"""The process between the host and a command. Run as a script on the standard library alone:
`guard.py STATUS BOUNDS COMMAND...`.

Its standard input is a pipe whose other end only the host holds. When that end closes, because the call is over or
because the host is gone, the guard kills every process that came of the command and waits until all of them are dead. It does
so as well when the command itself ends: nothing outlives its call. What double-forks, or leaves its session, comes back to the
guard as a child, where the system has subreapers.

BOUNDS is a JSON object: `memory` and `file_size` in MiB, `processes`, and `input`, the descriptor that the command reads from;
0 or nothing for no bound and no input. The command has no other descriptors than that, its outputs, and those in `keep`. The
guard looks at the whole tree for memory and processes, some twenty times a second, and ends it when it is over; the size of a
file is left to the kernel.

On the descriptor STATUS it writes one JSON line: {"exit": code}, {"limit": name} where it ended the command for a bound, or
{"error": text} where the command could not be run.
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
#: How long processes are waited for that this one may not kill, and how long it goes on against new ones, in seconds.
_PATIENCE, _LONGEST = 3.0, 20.0
#: How often the tree is looked at, in seconds, and how many times longer than a look took the next one waits.
_EVERY, _SPARING = 0.05, 10
_MIB = 1 << 20
_PAGE = os.sysconf("SC_PAGE_SIZE")

Bounds: TypeAlias = "dict[str, Any]"


def main() -> None:
    """Runs the command to its end, to the end of the input, or to a bound."""
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
    """Closes what whoever started this left open by accident: some event loops do."""
    for name in os.listdir("/dev/fd"):  # noqa: PTH208
        if int(name) not in kept:
            with suppress(OSError):
                os.close(int(name))


def _come_first() -> None:
    """Run before every process of the command, where the system permits it: thousands of them would leave no time to end them.

    The command does not inherit it.
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
        # What the interpreter ignores, every program after it would.
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
    """Let go of the command's output, so that its reader sees the end when the command closes it and lives on.

    The errors stay: they are where a failure of the guard itself is seen.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _bind(bounds: Bounds) -> None:
    """What the kernel holds each process to. Where memory runs out it is to end these first, and no program leaves its
    memory in a file."""
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


def _over(bounds: Bounds) -> str:
    """The bound that the tree is over; the empty text while it is within all."""
    tree = _descendants(os.getpid())
    if bounds.get("processes") and len(tree) > bounds["processes"]:
        return "processes"
    most = bounds.get("memory", 0) * _MIB
    # Pages that several have are counted for each of them first, and only where that is too much looked at more closely.
    if most and sum(map(_own, tree)) > most and sum(map(_share, tree)) > most:
        return "memory"
    return ""


def _own(process: int) -> int:
    """The bytes of memory of a process that are no file's."""
    with suppress(OSError, ValueError, IndexError):
        pages = _read(f"/proc/{process}/statm").split()
        return (int(pages[1]) - int(pages[2])) * _PAGE
    return 0


def _share(process: int) -> int:
    """The same, with its part only of what it shares; where the system does not tell, all of it."""
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
            # One that slipped through is a child of ours by then, and is found next time.
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _descendants(root: int) -> list[int]:
    """Every process below `root`, of those that look after their children as the kernel tells it."""
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
    """Every living process below `root`, whatever became of its parents in between, as far as the system tells."""
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
