"""Seccomp filter of commands: system calls that change the machine, its namespaces or its keys."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
from functools import cache
from typing import Any

#: Refused: mounts and namespaces; the kernel; keys and files by handle; clocks and names of the
#: machine.
_REFUSED = """mount umount2 pivot_root chroot move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr unshare setns
init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct quotactl bpf perf_event_open
userfaultfd lookup_dcookie syslog iopl ioperm
add_key request_key keyctl open_by_handle_at
settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname"""
#: Reported as missing. Programs work without these calls, which could bypass the filter.
_MISSING = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register")
_NEW_USER_NAMESPACE = 0x10000000
#: Input into the terminal that started us.
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_AF_VSOCK = 40


@cache
def build_filter(*, network: bool) -> bytes:
    """Return the filter as a BPF program for bubblewrap.

    Without a network it also refuses Unix sockets, because a socket file in the folder would lead
    out of it.

    Raises:
        OSError, ImportError: This machine cannot build a filter.
    """
    seccomp: Any = _library()
    made = seccomp.SyscallFilter(seccomp.ALLOW)
    for name in _REFUSED.split():
        _add(made, seccomp.ERRNO(errno.EPERM), name)
    for name in _MISSING:
        _add(made, seccomp.ERRNO(errno.ENOSYS), name)
    masked = seccomp.MASKED_EQ
    denied = seccomp.ERRNO(errno.EPERM)
    made.add_rule(denied, "clone", seccomp.Arg(0, masked, _NEW_USER_NAMESPACE, _NEW_USER_NAMESPACE))
    for request in (_TIOCSTI, _TIOCLINUX):
        made.add_rule(denied, "ioctl", seccomp.Arg(1, masked, 0xFFFFFFFF, request))
    for family in (_AF_VSOCK,) if network else (_AF_VSOCK, socket.AF_UNIX):
        made.add_rule(denied, "socket", seccomp.Arg(0, masked, 0xFFFFFFFF, family))
    with tempfile.TemporaryFile() as file:
        made.export_bpf(file)
        file.seek(0)
        return file.read()


def open_filter(*, network: bool) -> int:
    """Return a descriptor from which the filter can be read once. The caller closes it."""
    descriptor = os.memfd_create("seccomp", 0)
    os.write(descriptor, build_filter(network=network))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _library() -> Any:
    try:
        import pyseccomp  # pyright: ignore[reportMissingTypeStubs]
    except RuntimeError as error:
        # The package is installed, but the C library that it binds is missing.
        raise OSError(str(error)) from error
    return pyseccomp


def _add(made: Any, action: Any, name: str) -> None:
    """Add a rule. Skip a call that this architecture or library version does not know."""
    try:
        made.add_rule(action, name)
    except (OSError, ValueError, RuntimeError):
        if name in {"mount", "unshare", "setns", "bpf", "keyctl"}:
            raise
