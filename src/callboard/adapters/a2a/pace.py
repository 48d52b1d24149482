"""Timeouts and polling intervals for remote agents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Timeouts and polling intervals, in seconds.

    Attributes:
        card: Time limit for reading a card.
        request: Time limit of a request, and of silence on a stream.
        first_pause: Pause before the first poll of a task whose stream ended. Each later pause is longer.
        longest_pause: The longest pause between two polls.
        patience: Time without a response after which an agent counts as unreachable.
    """

    card: float = 10.0
    request: float = 60.0
    first_pause: float = 0.5
    longest_pause: float = 15.0
    patience: float = 120.0
