"""What a long verb prints while it works."""

from __future__ import annotations

import sys
import time

from ..terminal.output import Style, err

#: How many seconds pass between two lines.
_EVERY_S = 2.0


class Progress:
    """Prints a line now and then, and nothing for work that ends at once."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._last = time.monotonic()
        self._style = Style(sys.stderr)

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        if not self._quiet and now - self._last >= _EVERY_S:
            self._last = now
            err(self._style.dim(f"… {text}"))
