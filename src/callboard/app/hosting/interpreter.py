"""How the interpreter shares its time between the event loop and everything else in the process."""

from __future__ import annotations

import gc
import sys
from typing import Final

#: Seconds that a thread may keep the event loop waiting for the interpreter. Python's own 0.005 delays each wakeup of the
#: loop by that much while a thread decodes facts.
SWITCH_S: Final = 0.0005


def share_time() -> None:
    """Let the event loop go on soon while other threads work."""
    sys.setswitchinterval(SWITCH_S)


def settle_heap() -> None:
    """Leave all that exists out of garbage collections from here on: modules and libraries, which stay until the process ends.

    A full collection visits every object at once. With the libraries of models that takes 0.2 s, in the middle of a request.
    """
    gc.freeze()
