"""Seccomp filter against system calls that change the machine, its namespaces or its keys."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
from functools import cache
from typing import Any

#: Denied: mounts and namespaces; the kernel; keys and files by handle; clocks and host names.
_DENIED = """mount umount2 pivot_root chroot move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr unshare setns
init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct quotactl bpf perf_event_open
userfaultfd lookup_dcookie syslog iopl ioperm
add_key request_key keyctl open_by_handle_at
settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname"""
#: Reported as missing. These calls could bypass the filter, and programs work without them.
_MISSING = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register")
_NEW_USER_NAMESPACE = 0x10000000
#: Requests that type into the terminal.
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_AF_VSOCK = 40


@cache
def build_filter(*, network: bool) -> bytes:
    """Return the filter as a BPF program. Raises OSError, ImportError if this machine cannot build it.

    Without a network it also denies Unix sockets, because a socket file in the folder leads out of it.
    """
    seccomp: Any = _load_library()
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for name in _DENIED.split():
        _add_rule(rules, seccomp.ERRNO(errno.EPERM), name)
    for name in _MISSING:
        _add_rule(rules, seccomp.ERRNO(errno.ENOSYS), name)
    masked = seccomp.MASKED_EQ
    deny = seccomp.ERRNO(errno.EPERM)
    rules.add_rule(deny, "clone", seccomp.Arg(0, masked, _NEW_USER_NAMESPACE, _NEW_USER_NAMESPACE))
    for request in (_TIOCSTI, _TIOCLINUX):
        rules.add_rule(deny, "ioctl", seccomp.Arg(1, masked, 0xFFFFFFFF, request))
    for family in (_AF_VSOCK,) if network else (_AF_VSOCK, socket.AF_UNIX):
        rules.add_rule(deny, "socket", seccomp.Arg(0, masked, 0xFFFFFFFF, family))
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def open_filter(*, network: bool) -> int:
    """Return a descriptor from which the filter can be read once. The caller closes it."""
    descriptor = os.memfd_create("seccomp", 0)
    os.write(descriptor, build_filter(network=network))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _load_library() -> Any:
    try:
        import pyseccomp  # pyright: ignore[reportMissingTypeStubs]
    except RuntimeError as error:
        # The package is installed without its C library.
        raise OSError(str(error)) from error
    return pyseccomp


def _add_rule(rules: Any, action: Any, name: str) -> None:
    """Add a rule. Skip a system call that this architecture or library does not have."""
    try:
        rules.add_rule(action, name)
    except (OSError, ValueError, RuntimeError):
        if name in {"mount", "unshare", "setns", "bpf", "keyctl"}:
            raise
