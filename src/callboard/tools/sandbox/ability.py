"""Detection of the sandbox by a trial run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from typing import NamedTuple

from . import bubblewrap, seccomp

_SECONDS = 10.0
_KERNEL_WRITABLE = 3


class SandboxAbility(NamedTuple):
    """Result of the detection.

    Attributes:
        program: Path of bubblewrap; empty if it does not work.
        problem: The reason, or what is missing.
    """

    program: str
    userns_off: bool = False
    seccomp: bool = False
    problem: str = ""

    @property
    def works(self) -> bool:
        """Return True if commands run in a sandbox."""
        return bool(self.program)


@cache
def detect_ability(bwrap: str) -> SandboxAbility:
    """Try bubblewrap, given as a path or a name. Cached for this process; the first call takes tens of milliseconds."""
    program = shutil.which(bwrap)
    if sys.platform != "linux":
        return SandboxAbility("", problem=f"bubblewrap is not available for {sys.platform}")
    if program is None:
        return SandboxAbility("", problem=f"bubblewrap ({bwrap}) is not installed")
    failure = ""
    for userns_off in (True, False):
        failure = _attempt(program, userns_off=userns_off, with_filter=False)
        if not failure:
            break
    else:
        return SandboxAbility("", problem=f"bubblewrap does not work here: {failure}")
    try:
        failure = _attempt(program, userns_off=userns_off, with_filter=True)
    except (OSError, ImportError) as error:
        failure = str(error)
    why = f"no seccomp filter: {failure}" if failure else ""
    return SandboxAbility(program, userns_off=userns_off, seccomp=not failure, problem=why)


def _attempt(program: str, *, userns_off: bool, with_filter: bool) -> str:
    """Run a program that tests for writable kernel files. Return what failed; empty on success."""
    view = bubblewrap.SandboxView(folder="/usr", writable=False, network=False)
    command = [
        program,
        *bubblewrap.build_namespace_options(network=False, userns_off=userns_off),
        *bubblewrap.build_mount_options(view),
    ]
    descriptors: list[int] = []
    if with_filter:
        descriptors.append(seccomp.open_filter(network=False))
        command += ["--seccomp", str(descriptors[0])]
    try:
        result = subprocess.run(
            [*command, "--", "/bin/sh", "-c", bubblewrap.build_kernel_write_test()],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=descriptors,
            env={"PATH": bubblewrap.PATH},
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    if result.returncode == 0:
        return ""
    if result.returncode == _KERNEL_WRITABLE:
        return "a command in it could write the kernel's settings in /proc/sys"
    return result.stderr.decode("utf-8", "replace").strip() or f"it exited with {result.returncode}"
