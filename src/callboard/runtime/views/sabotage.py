"""Faults in giving a returning client its place, planted so that the proof of reconnecting can be seen to fail.

`CALLBOARD_SABOTAGE` holds `skip-op` (what came next is left out) or `repeat-op` (what came last comes again). The store says
loudly what is planted, and refuses names that nobody knows. Never set outside such a proof.
"""

from __future__ import annotations

import os

_OFF = {"skip-op": 1, "repeat-op": -1}


def misplaced() -> int:
    """By how many operations a returning client is misplaced."""
    return sum(_OFF.get(name.strip(), 0) for name in os.environ.get("CALLBOARD_SABOTAGE", "").split(","))
