"""Interpreter settings that keep the event loop responsive (R4)."""

from __future__ import annotations

import subprocess
import sys

from callboard.app.hosting.process import NEW_OBJECTS

SETTLES = """
import gc, sys, json
from callboard.app.hosting.process import SWITCH_SECONDS, settle_heap, share_time
before = len(gc.get_objects())
share_time()
settle_heap()
# What this line itself makes is all that a collection has to look at.
print(json.dumps([before, len(gc.get_objects()), gc.get_threshold()[0], sys.getswitchinterval() <= SWITCH_SECONDS]))
"""


def test_r4_collections_skip_startup_objects_and_threads_switch_soon() -> None:
    done = subprocess.run([sys.executable, "-c", SETTLES], capture_output=True, text=True, check=True)
    before, after, threshold, shares = done.stdout.strip().strip("[]").split(", ")
    assert int(before) > 1_000
    assert int(after) < 100
    assert int(threshold) == NEW_OBJECTS
    assert shares == "true"
