"""Faults that are planted so that a proof can be seen to fail. Never set outside such a proof.

`CALLBOARD_SABOTAGE` is a comma-separated list of:

    ack-before-commit   an append is acknowledged, and only a moment later committed
    drop-partial        text in the making is accepted and not kept
    skip-fence          an append is not checked against the store's epoch
    skip-op, repeat-op  not the store's: a returning viewer misses an operation, or gets one again (`runtime.views`)
"""

from __future__ import annotations

import os
import sys
import time
from typing import NamedTuple

VARIABLE = "CALLBOARD_SABOTAGE"
#: How long an acknowledged transaction stays uncommitted, in seconds: long enough for a kill to fall into it.
LINGER = 0.05
_KNOWN = ("ack-before-commit", "drop-partial", "skip-fence")
_ELSEWHERE = ("skip-op", "repeat-op")


class Sabotage(NamedTuple):
    """Which faults are planted."""

    ack_before_commit: bool = False
    drop_partial: bool = False
    skip_fence: bool = False

    def linger(self) -> None:
        """The moment between the false acknowledgement and the commit."""
        time.sleep(LINGER)


def from_environment() -> Sabotage:
    """The faults that the environment asks for, said loudly on stderr. Raises ValueError for an unknown one."""
    wanted = [name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip()]
    for name in wanted:
        if name not in _KNOWN + _ELSEWHERE:
            raise ValueError(f"{VARIABLE} knows {', '.join(_KNOWN + _ELSEWHERE)}; not {name}")
    if wanted:
        print(
            f"SABOTAGE: {', '.join(wanted)}. This store is broken on purpose ({VARIABLE}).", file=sys.stderr, flush=True
        )
    return Sabotage(*(name in wanted for name in _KNOWN))
