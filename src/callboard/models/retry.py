"""Whether a failed model call is tried again, and after how long. Pure: the chance comes in from outside."""

from __future__ import annotations

import msgspec

from callboard.contracts.ports.model import ModelFailure


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How often and how patiently. Times are in milliseconds.

    The wait before attempt n + 1 is drawn evenly from 0 up to `first_ms` × 2ⁿ⁻¹, at most `longest_ms`: full jitter, so that a
    team that failed together does not come back together. A server's own `Retry-After` is taken instead, as it is, unless
    it exceeds `patience_ms`: then a person should hear of it rather than wait.
    """

    max_attempts: int = 5
    first_ms: int = 500
    longest_ms: int = 20_000
    patience_ms: int = 120_000


DEFAULT = RetryPolicy()


def retry_in_ms(failure: ModelFailure, attempt: int, chance: float, policy: RetryPolicy = DEFAULT) -> int | None:
    """The wait before the next attempt in milliseconds, or None where the failure stands.

    `attempt` counts from 1 and is the one that failed; `chance` is drawn anew for each, from 0 up to 1.
    """
    if not failure.retryable or attempt >= policy.max_attempts:
        return None
    if failure.retry_after is not None:
        asked = round(failure.retry_after * 1000)
        return asked if asked <= policy.patience_ms else None
    # The exponent is bounded before it is used, so that no number of attempts makes a huge integer.
    ceiling = min(policy.longest_ms, policy.first_ms * 2 ** min(attempt - 1, 30))
    return round(ceiling * chance)
