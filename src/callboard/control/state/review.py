"""State of reviews."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.exchange.review import ReviewFix


class OpenReview(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A review that was not applied. `reviewer` and `target` are agents. `asker` is the thread that
    requested it, empty for a parent's review of its child. `judged`: it has a verdict."""

    review: str
    task: str
    reviewer: str
    target: str
    asker: str = ""
    judged: bool = False
    fixes: tuple[ReviewFix, ...] = ()
    summary: str = ""
