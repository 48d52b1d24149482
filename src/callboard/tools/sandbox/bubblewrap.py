"""Command line of bubblewrap."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

#: System folders, mounted read-only.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store")
#: Entries of /etc that programs need. Passwords, keys and machine settings are left out.
_ETC = """alternatives bash.bashrc bash_completion ca-certificates crypto-policies fonts gai.conf group host.conf hosts inputrc
ld.so.cache ld.so.conf ld.so.conf.d locale.alias locale.conf localtime login.defs magic mime.types nsswitch.conf os-release
passwd pki/ca-trust pki/tls/certs profile protocols resolv.conf rpc services shells ssl/certs ssl/openssl.cnf terminfo
timezone"""
#: Kernel files. Root can write them without any capability, even in a separate /proc.
_READ_ONLY_PROC = ("sys", "sysrq-trigger", "irq", "bus", "fs", "pressure", "mtrr")
_MASKED_PROC = ("kcore", "kmem", "kmsg", "keys", "key-users", "timer_list", "sched_debug", "latency_stats")
_MASKED_PROC_FOLDERS = ("acpi", "scsi", "asound", "driver")
#: File systems in memory for the duration of the call.
_TMP, _SHARED, _HOME = "/tmp", "/dev/shm", "/home/callboard"  # noqa: S108

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class SandboxView(NamedTuple):
    """File system view of one call.

    Attributes:
        programs: Additional toolchain folders: readable, and on the search path.
        protected: Paths in the folder that are mounted read-only.
        protected_if_present: More read-only paths, mounted if they exist.
        hidden: Folders that appear empty.
        masked: Files that appear empty.
        scratch: Maximum size of each file system in memory, in MiB.
    """

    folder: str
    writable: bool
    network: bool
    programs: Sequence[str] = ()
    protected: Sequence[str] = ()
    protected_if_present: Sequence[str] = ()
    hidden: Sequence[str] = ()
    masked: Sequence[str] = ()
    scratch: int = 64


def build_namespace_options(*, network: bool, userns_off: bool) -> list[str]:
    """Return the options that isolate a command from processes, users and networks."""
    return [
        "--unshare-user",
        *(["--disable-userns"] if userns_off else []),
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        *([] if network else ["--unshare-net"]),
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
    ]


def build_mount_options(view: SandboxView) -> list[str]:
    """Return the options that build the command's file system."""
    bind = "--bind" if view.writable else "--ro-bind"
    options = [*_build_system_options(), "--proc", "/proc", *_build_proc_options(), "--dev", "/dev"]
    for path in (_TMP, _SHARED, _HOME):
        options += ["--size", str(view.scratch << 20), "--tmpfs", path]
    options += ["--remount-ro", "/dev"]
    for path in view.programs:
        options += ["--ro-bind", path, path]
    options += [bind, view.folder, view.folder]
    for path in view.protected:
        options += ["--ro-bind", path, path]
    for path in view.protected_if_present:
        options += ["--ro-bind-try", path, path]
    for path in view.hidden:
        options += ["--tmpfs", path, "--remount-ro", path]
    for path in view.masked:
        options += ["--ro-bind", "/dev/null", path]
    return [*options, "--remount-ro", "/", "--chdir", view.folder]


def build_environment_options(view: SandboxView, search: str) -> list[str]:
    """Return the options that set the command's environment. `search` is the host's search path."""
    values = {
        "PATH": build_search_path(view, search),
        "HOME": _HOME,
        "TMPDIR": _TMP,
        "PWD": view.folder,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
    }
    return ["--clearenv", *(part for name, value in values.items() for part in ("--setenv", name, value))]


def build_search_path(view: SandboxView, search: str) -> str:
    """Return the command's search path: entries of `search` in toolchain folders, then the system's."""
    toolchain = [
        entry
        for entry in search.split(":")
        if any(entry == path or entry.startswith(path + "/") for path in view.programs)
    ]
    return ":".join([*toolchain, PATH])


def build_kernel_write_test() -> str:
    """Return a shell command that exits with 3 if a kernel file is writable. It writes nothing."""
    files = "/proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches /proc/sysrq-trigger /proc/irq/default_smp_affinity"
    return f'for file in {files}; do [ ! -w "$file" ] || exit 3; done'


def _build_proc_options() -> list[str]:
    """Return the options that make kernel files read-only and hide files that expose memory."""
    options: list[str] = []
    for name in _READ_ONLY_PROC:
        options += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    for name in _MASKED_PROC:
        if Path(f"/proc/{name}").exists():
            options += ["--ro-bind", "/dev/null", f"/proc/{name}"]
    for name in _MASKED_PROC_FOLDERS:
        if Path(f"/proc/{name}").is_dir():
            options += ["--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}"]
    return options


def _build_system_options() -> list[str]:
    options: list[str] = []
    for path in _SYSTEM:
        if Path(path).is_symlink():
            options += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).is_dir():
            options += ["--ro-bind", path, path]
    for name in _ETC.split():
        path = f"/etc/{name}"
        if Path(path).exists():
            options += ["--ro-bind", path, path]
    return options
