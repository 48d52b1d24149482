"""The process between the host and a command: `guard.py STATUS BOUNDS COMMAND...`.

It runs as a script on the standard library. Only the host has the other end of its standard input.
When the call or the host ends, that end closes, and the guard kills all processes of the command
and waits for them. It does the same when the command ends. On systems with subreapers, processes
that fork twice or leave their session become children of the guard.

BOUNDS is a JSON object: `memory` and `file_size` in MiB, `processes`, `input` (the command's input
descriptor), and `keep` (more descriptors of the command). 0 or a missing key means no bound and no
input. About twenty times a second the guard checks memory and processes of the whole tree, and ends
a tree above a bound. The kernel enforces the file size.

The guard writes one JSON line to the descriptor STATUS: {"exit": code}, {"limit": name} if the
command exceeded a bound, or {"error": text} if it could not run.
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
#: Seconds to wait for processes that it cannot kill, and until it gives up on new processes.
_PATIENCE, _MAX_END_SECONDS = 3.0, 20.0
#: Seconds between checks of the tree. A slow check delays the next one by this factor.
_CHECK_INTERVAL, _CHECK_SPACING = 0.05, 10
_MIB = 1 << 20
_PAGE = os.sysconf("SC_PAGE_SIZE")

Bounds: TypeAlias = "dict[str, Any]"


def main() -> None:
    """Run the command until it ends, the input ends, or a bound is exceeded."""
    status, bounds, command = int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:]
    _close_others({0, 1, 2, status, bounds.get("input", 0), *bounds.get("keep", ())})
    os.set_inheritable(status, False)
    _set_process_option(_PR_SET_CHILD_SUBREAPER, 1)
    _raise_priority()
    wake_read, wake_write = os.pipe()
    for end in (wake_read, wake_write):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    child = _start(command, status, bounds)
    poller = select.poll()
    poller.register(0, select.POLLIN)
    poller.register(wake_read, select.POLLIN)
    watched = bool(bounds.get("memory") or bounds.get("processes"))
    code, exceeded, next_check = None, "", time.monotonic() + _CHECK_INTERVAL
    while code is None and not exceeded:
        timeout = max(0.0, next_check - time.monotonic()) * 1000 if watched else None
        ready = dict(poller.poll(timeout))
        if wake_read in ready:
            os.read(wake_read, 4096)
        code = _reap(child)
        if 0 in ready:
            break
        now = time.monotonic()
        if watched and code is None and now >= next_check:
            exceeded = _find_exceeded(bounds)
            ended = time.monotonic()
            next_check = ended + max(_CHECK_INTERVAL, (ended - now) * _CHECK_SPACING)
    _end_all(child)
    if exceeded:
        os.write(status, json.dumps({"limit": exceeded}).encode() + b"\n")
    elif code is not None:
        os.write(status, json.dumps({"exit": code}).encode() + b"\n")


def _close_others(keep: set[int]) -> None:
    """Close descriptors that the starter left open, as some event loops do."""
    for name in os.listdir("/dev/fd"):  # noqa: PTH208
        if int(name) not in keep:
            with suppress(OSError):
                os.close(int(name))


def _raise_priority() -> None:
    """Raise the priority of this process, if permitted, so that it can end thousands of processes."""
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
        _set_process_option(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # The command would inherit the signals that the interpreter ignores.
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        source = bounds.get("input") or os.open(os.devnull, os.O_RDONLY)
        os.dup2(source, 0)
        if source:
            os.close(source)
        _set_limits(bounds)
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        os.write(status, json.dumps({"error": f"{command[0]}: {error.strerror}"}).encode() + b"\n")
    finally:
        os._exit(127)


def _leave_output() -> None:
    """Close the command's output here, so that its reader sees the end. Keep standard error for the guard's failures."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _set_limits(bounds: Bounds) -> None:
    """Set the kernel's limits: no core dumps, and first to end if memory runs out."""
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
    """Reap all dead processes. Return the exit code of the command if it is one of them."""
    code: int | None = None
    with suppress(ChildProcessError):
        while True:
            dead, status = os.waitpid(-1, os.WNOHANG)
            if dead == 0:
                break
            if dead == child:
                code = _to_exit_code(status)
    return code


def _to_exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _find_exceeded(bounds: Bounds) -> str:
    """Return the exceeded bound; empty if none."""
    tree = _list_descendants(os.getpid())
    if bounds.get("processes") and len(tree) > bounds["processes"]:
        return "processes"
    most = bounds.get("memory", 0) * _MIB
    # The first sum counts shared pages for each process. Only if it is too large is the exact count needed.
    if most and sum(map(_read_private_memory, tree)) > most and sum(map(_read_proportional_memory, tree)) > most:
        return "memory"
    return ""


def _read_private_memory(process: int) -> int:
    """Return the memory of a process without file pages, in bytes."""
    with suppress(OSError, ValueError, IndexError):
        pages = _read(f"/proc/{process}/statm").split()
        return (int(pages[1]) - int(pages[2])) * _PAGE
    return 0


def _read_proportional_memory(process: int) -> int:
    """Return the memory with a proportional part of shared pages, if the system reports it."""
    with suppress(OSError):
        lines = [line.split() for line in _read(f"/proc/{process}/smaps_rollup").splitlines()]
        amounts = [int(line[1]) << 10 for line in lines if line[0] in (b"Pss_Anon:", b"Pss_Shmem:")]
        if amounts:
            return sum(amounts)
    return _read_private_memory(process)


def _end_all(child: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    started = since_new = time.monotonic()
    known_processes: set[int] = set()
    while time.monotonic() < since_new + _PATIENCE:
        living = _list_living(os.getpid())
        for process in living:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        if not known_processes.issuperset(living) and time.monotonic() < started + _MAX_END_SECONDS:
            since_new = time.monotonic()
        known_processes.update(living)
        try:
            # A missed process becomes a child of the guard, and the next round kills it.
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _list_descendants(root: int) -> list[int]:
    """Return all processes below `root`, from the kernel's lists of children."""
    if not os.path.exists("/proc/self/task"):  # noqa: PTH110 - pathlib would double the time to start
        return []
    descendants: list[int] = []
    parents = [root]
    while parents:
        children = [child for process in parents for child in _list_children(process)]
        descendants += children
        parents = children
    return descendants


def _list_children(process: int) -> list[int]:
    children: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208
            with suppress(OSError):
                children += map(int, _read(f"/proc/{process}/task/{thread}/children").split())
    return children


def _list_living(root: int) -> list[int]:
    """Return all living processes below `root` from the process table, also those whose parents ended."""
    parents: dict[int, int] = {}
    with suppress(FileNotFoundError):
        for name in os.listdir("/proc"):  # noqa: PTH208
            if name.isdigit():
                with suppress(OSError, IndexError, ValueError):
                    state, parent = _read(f"/proc/{name}/stat").rpartition(b")")[2].split()[:2]
                    if state != b"Z":
                        parents[int(name)] = int(parent)
    living: list[int] = []
    generation = {root}
    while generation:
        generation = {process for process, parent in parents.items() if parent in generation and process != root}
        living += generation
    return living


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)


def _set_process_option(option: int, value: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refused the option")


if __name__ == "__main__":
    main()
