"""How long an agent elsewhere is waited for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Pace:
    """All in seconds. `card` is how long its card may take, `request` how long one request may, and how long a stream may be
    without a sign of life. A task whose stream ended is asked for after `first`, then more and more seldom, at least every
    `longest`; an agent that does not answer for `patience` is not reached."""

    card: float = 10.0
    request: float = 60.0
    first_pause: float = 0.5
    longest_pause: float = 15.0
    patience: float = 120.0
