"""Retries of failed model calls. Pure: the caller provides the random number."""

from __future__ import annotations

import msgspec

from callboard.contracts.ports.model import ModelFailure

#: Temporary failures of the provider: overloaded or not reachable.
_OVERLOADED: frozenset[str] = frozenset({"model_unavailable", "model_rate_limited"})


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of retries. Times are in milliseconds.

    Calls to an overloaded or unreachable provider are repeated until they have waited `patience_ms` in total. Calls with other
    temporary failures, such as an interrupted stream, have at most `max_attempts`. The wait after failure n is random between
    0 and `first_ms` × 2ⁿ⁻¹, at most `longest_ms` (full jitter, so that agents of a team do not retry at the same time).
    A wait that the provider requests takes precedence, with up to a tenth added, unless it exceeds the rest of `patience_ms`.
    """

    max_attempts: int = 4
    first_ms: int = 1_000
    longest_ms: int = 30_000
    patience_ms: int = 300_000


DEFAULT = RetryPolicy()


def is_overload(failure: ModelFailure) -> bool:
    """Return whether patience limits the retries of a failure.

    Attempts limit those of all others, and of an unreachable server on this machine.
    """
    return failure.code in _OVERLOADED and not failure.is_local


def retry_in_ms(
    failure: ModelFailure, failures: int, chance: float, policy: RetryPolicy = DEFAULT, *, waited_ms: int = 0
) -> int | None:
    """Return the wait before the next attempt in milliseconds, or None if the call is not repeated.

    Args:
        failures: Number of failures of this call of the same kind (overload or other), with this one.
        chance: A new random number for each failure, from 0 to 1.
        waited_ms: Total of earlier waits of this call.
    """
    if not failure.retryable:
        return None
    overloaded = is_overload(failure)
    if not overloaded and failures >= policy.max_attempts:
        return None
    remaining = policy.patience_ms - (waited_ms if overloaded else 0)
    if failure.retry_after:
        requested = round(failure.retry_after * 1000)
        return min(remaining, requested + round(requested * chance / 10)) if requested <= remaining else None
    # The exponent is limited so that many failures do not result in a huge integer.
    wait = round(min(policy.longest_ms, policy.first_ms * 2 ** min(failures - 1, 30)) * chance)
    if not overloaded:
        return wait
    # Each wait has a minimum, so that the patience ends.
    return min(remaining, max(10, wait)) if remaining > 0 else None
