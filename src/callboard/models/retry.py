"""Whether a failed model call is tried again, and after how long. Pure: the chance comes in from outside."""

from __future__ import annotations

import msgspec

from callboard.contracts.ports.model import ModelFailure

#: Failures that pass without a change of the request: the provider has too much to do, or is not there yet.
_OVERLOADED: frozenset[str] = frozenset({"model_unavailable", "model_rate_limited"})


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How often and how patiently. Times are in milliseconds.

    An overloaded or unreachable provider is asked again until a call has waited `patience_ms` in all. Other failures that may
    pass, such as a broken stream, are tried `max_attempts` times. The wait after failure n is drawn evenly from 0 up to
    `first_ms` × 2ⁿ⁻¹, at most `longest_ms`: full jitter, so that a team that failed together does not come back together.
    A wait that the provider names is taken instead, with up to a tenth more, unless it exceeds what is left of `patience_ms`.
    """

    max_attempts: int = 4
    first_ms: int = 1_000
    longest_ms: int = 30_000
    patience_ms: int = 300_000


DEFAULT = RetryPolicy()


def is_overload(failure: ModelFailure) -> bool:
    """Return True for a failure that patience bounds; attempts bound the others, a server of this machine that is not there
    among them.
    """
    return failure.code in _OVERLOADED and not failure.is_local


def retry_in_ms(
    failure: ModelFailure, failures: int, chance: float, policy: RetryPolicy = DEFAULT, *, waited_ms: int = 0
) -> int | None:
    """Return the wait before the next attempt in milliseconds, or None where the failure stands.

    Args:
        failures: Failures of this call so far of the same kind (overload or other), this one included.
        chance: Drawn anew for each failure, from 0 up to 1.
        waited_ms: What this call waited before.
    """
    if not failure.retryable:
        return None
    overloaded = is_overload(failure)
    if not overloaded and failures >= policy.max_attempts:
        return None
    left = policy.patience_ms - (waited_ms if overloaded else 0)
    if failure.retry_after:
        asked = round(failure.retry_after * 1000)
        return min(left, asked + round(asked * chance / 10)) if asked <= left else None
    # The exponent is bounded before it is used, so that no number of failures makes a huge integer.
    wait = round(min(policy.longest_ms, policy.first_ms * 2 ** min(failures - 1, 30)) * chance)
    if not overloaded:
        return wait
    # At least a moment, so that the patience ends.
    return min(left, max(10, wait)) if left > 0 else None
