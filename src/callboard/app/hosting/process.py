"""Rights, memory and scheduling of the serving process."""

from __future__ import annotations

import gc
import os
import resource
import sys
from typing import Final

#: Seconds that another thread may keep the event loop waiting for the interpreter. With Python's default of 0.005, each
#: wakeup of the loop is delayed by that much while a thread decodes facts.
SWITCH_SECONDS: Final = 0.0005
#: New objects between two garbage collections. Python's 700 are three turns, whose objects mostly still live.
NEW_OBJECTS: Final = 10_000
ROOT_RISK: Final = (
    "Hooks, tool servers, external agents and every command outside the sandbox run with all rights. "
    "Use an ordinary user, or a container that you can lose."
)


def is_root() -> bool:
    """Return True if this process has the rights of root."""
    return os.geteuid() == 0


def share_time() -> None:
    """Let the event loop continue soon while other threads work."""
    sys.setswitchinterval(SWITCH_SECONDS)


def settle_heap() -> None:
    """Exclude all present objects, such as modules and libraries, from later garbage collections, and collect less often.

    A full collection visits every object. With the model libraries loaded that takes 0.2 s, in the middle of a request.
    """
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])


def forbid_core_dumps() -> None:
    """Keep the memory of this process and its children, with the values of secrets, out of core files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
