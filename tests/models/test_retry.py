"""Waits before another attempt of a model call."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callboard.contracts.errors import Code
from callboard.contracts.ports.model import ModelFailure
from callboard.models.retry import DEFAULT, RetryPolicy, retry_in_ms


def make_failure(
    *,
    retryable: bool = True,
    retry_after: float | None = None,
    code: Code = "model_unavailable",
    is_local: bool = False,
) -> ModelFailure:
    return ModelFailure(code, "down", retryable=retryable, retry_after=retry_after, is_local=is_local)


def test_the_ceiling_of_the_wait_doubles_up_to_its_limit():
    policy = RetryPolicy(max_attempts=9, first_ms=100, longest_ms=1000)
    assert [retry_in_ms(make_failure(), attempt, 1.0, policy) for attempt in range(1, 9)] == [
        100,
        200,
        400,
        800,
        1000,
        1000,
        1000,
        1000,
    ]


def test_the_last_attempt_is_not_followed_by_another():
    policy = RetryPolicy(max_attempts=3)
    assert [
        retry_in_ms(make_failure(code="model_cut_stream"), attempt, 0.5, policy) is None for attempt in (1, 2, 3, 4)
    ] == [
        False,
        False,
        True,
        True,
    ]


def test_a_permanent_failure_is_not_retried():
    assert retry_in_ms(make_failure(retryable=False, retry_after=1.0), 1, 0.5) is None


def test_the_wait_of_the_server_overrides_the_policy():
    assert retry_in_ms(make_failure(retry_after=30.0), 1, 0.0, RetryPolicy(longest_ms=1000)) == 30_000


def test_m4_calls_to_an_overloaded_provider_are_retried_until_the_patience_ends():
    """M4: the patience in minutes limits the wait, not the number of attempts."""
    policy, waits = RetryPolicy(), list[int]()
    while (wait := retry_in_ms(make_failure(), len(waits) + 1, 0.5, policy, waited_ms=sum(waits))) is not None:
        waits.append(wait)
    assert waits[:6] == [500, 1_000, 2_000, 4_000, 8_000, 15_000]
    assert sum(waits) == policy.patience_ms


def test_m4_a_missing_local_server_is_retried_a_few_times_only():
    policy = RetryPolicy(max_attempts=3)
    assert retry_in_ms(make_failure(is_local=True), 2, 0.5, policy) == 1_000
    assert retry_in_ms(make_failure(is_local=True), 3, 0.5, policy) is None


def test_m4_a_requested_wait_counts_against_the_patience():
    policy = RetryPolicy(patience_ms=60_000)
    assert retry_in_ms(make_failure(retry_after=40.0), 1, 0.0, policy) == 40_000
    assert retry_in_ms(make_failure(retry_after=40.0), 2, 0.0, policy, waited_ms=40_000) is None
    assert retry_in_ms(make_failure(retry_after=20.0), 2, 0.9, policy, waited_ms=40_000) == 20_000


def test_a_wait_beyond_the_patience_is_reported_at_once():
    assert retry_in_ms(make_failure(retry_after=3600.0), 1, 0.5) is None


@given(
    attempt=st.integers(1, 10_000),
    chance=st.floats(0, 1, exclude_max=True),
    requested=st.none() | st.floats(0, 1e9),
    attempts=st.integers(1, 10_000),
)
def test_a_wait_is_never_negative_and_never_past_the_policys_limits(
    attempt: int, chance: float, requested: float | None, attempts: int
):
    policy = RetryPolicy(max_attempts=attempts)
    wait = retry_in_ms(make_failure(retry_after=requested, code="model_timeout"), attempt, chance, policy)
    assert wait is None or 0 <= wait <= (policy.patience_ms if requested else policy.longest_ms)
    assert wait is None or attempt < attempts


def test_jitter_spreads_over_the_whole_interval():
    assert [retry_in_ms(make_failure(), 1, chance) for chance in (0.0, 0.5, 0.999)] == [10, DEFAULT.first_ms // 2, 999]
