"""Detection of the sandbox on this machine. It is tried, because an installed program may not be
allowed to work.
"""

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
        program: Path of bubblewrap; empty if commands cannot run in a sandbox.
        problem: Why not, or what is missing.
    """

    program: str
    userns_off: bool = False
    seccomp: bool = False
    problem: str = ""

    @property
    def works(self) -> bool:
        """True if commands run in a sandbox."""
        return bool(self.program)


@cache
def detect_ability(bwrap: str) -> SandboxAbility:
    """Try bubblewrap, given as a path or a name. The result is cached for this process.

    The first call takes some tens of milliseconds.
    """
    program = shutil.which(bwrap)
    if sys.platform != "linux":
        return SandboxAbility("", problem=f"there is no bubblewrap for {sys.platform}")
    if program is None:
        return SandboxAbility("", problem=f"bubblewrap ({bwrap}) is not installed")
    refused = ""
    for userns_off in (True, False):
        refused = _attempt(program, userns_off=userns_off, filtered=False)
        if not refused:
            break
    else:
        return SandboxAbility("", problem=f"bubblewrap does not work here: {refused}")
    try:
        refused = _attempt(program, userns_off=userns_off, filtered=True)
    except (OSError, ImportError) as error:
        refused = str(error)
    why = f"no seccomp filter: {refused}" if refused else ""
    return SandboxAbility(program, userns_off=userns_off, seccomp=not refused, problem=why)


def _attempt(program: str, *, userns_off: bool, filtered: bool) -> str:
    """Run a program that tests for a writable kernel. Return what failed; empty on success."""
    view = bubblewrap.SandboxView(folder="/usr", writable=False, network=False)
    command = [
        program,
        *bubblewrap.namespace_options(network=False, userns_off=userns_off),
        *bubblewrap.mount_options(view),
    ]
    descriptors: list[int] = []
    if filtered:
        descriptors.append(seccomp.open_filter(network=False))
        command += ["--seccomp", str(descriptors[0])]
    try:
        done = subprocess.run(
            [*command, "--", "/bin/sh", "-c", bubblewrap.kernel_write_test()],
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
    if done.returncode == 0:
        return ""
    if done.returncode == _KERNEL_WRITABLE:
        return "a command in it could write the kernel's settings in /proc/sys"
    return done.stderr.decode("utf-8", "replace").strip() or f"it ended with {done.returncode}"
