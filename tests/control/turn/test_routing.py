"""The model of a run, its fallbacks, and reported limits of a provider."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callboard.contracts.commands.turn import SteerTurn
from callboard.contracts.content import make_blob
from callboard.contracts.facts.context import ContextResolved
from callboard.contracts.facts.model import (
    Candidate,
    Limit,
    ModelFailed,
    ModelRequested,
    QuotaReported,
    RoutingResolved,
)
from callboard.contracts.facts.session import WarningRaised
from callboard.contracts.facts.turn import Mode, PermissionMode, TurnFailed
from callboard.contracts.ports.model import Quota
from callboard.contracts.refs import ContextRef, Omission
from callboard.control.decision_inputs import RunConfig
from callboard.control.outcomes import ModelAttemptFailed, Piece
from callboard.control.resolved_context import ResolvedContext
from callboard.control.state.context import ModelCapabilities
from tests.control.rigs.decisions import Scenario
from tests.control.rigs.examples import (
    RUN_CONFIG,
    at,
    attempt_failure,
    model_response,
    requested_call,
    submit,
    text_part,
)

BIG = Candidate(provider="cloud", model="big")
SMALL = Candidate(provider="local", model="small")
LAST = Candidate(provider="home", model="last")
RUN = at(turn=1, run=1)
PNG = make_blob(b"\x89PNG", "image/png").ref


def response_with_quota(*parts: Any, step: int = 1, quota: Quota | None = None) -> Any:
    return msgspec.structs.replace(model_response(*parts, step=step), quota=quota)


def failed_attempt(*pieces: Piece, step: int = 1, **fields: Any) -> ModelAttemptFailed:
    return msgspec.structs.replace(attempt_failure(*pieces, step=step), **fields)


def chain_run_config(definition: str, mode: Mode, permission_mode: PermissionMode) -> RunConfig:
    return msgspec.structs.replace(
        RUN_CONFIG, candidates=(BIG, SMALL, LAST), chosen=0, route_reason="It is the first.", fallbacks=(1, 2)
    )


def running_session(**inputs: Any) -> Scenario:
    session = Scenario(configure_run=chain_run_config)
    session.when(submit(), **inputs)
    return session


def recorded_facts(session: Scenario) -> list[Any]:
    return [record.fact for record in session.records]


def routes(session: Scenario) -> list[RoutingResolved]:
    return [record.fact for record in session.records if isinstance(record.fact, RoutingResolved)]


def test_a_run_records_its_chosen_model_and_the_fallbacks():
    (route,) = routes(running_session())
    assert route == RoutingResolved(
        candidates=(BIG, SMALL, LAST), chosen=BIG, reason="It is the first.", fallbacks=(SMALL, LAST)
    )


def test_a_failed_model_is_replaced_by_the_next_and_its_partial_response_is_dropped():
    session = running_session()
    result = session.when(
        failed_attempt(text_part(2, "Half"), code="model_auth", message="No such key.", retryable=False)
    )
    excluded = msgspec.structs.replace(BIG, excluded="It failed in this run: model_auth.")
    result.then(
        (ModelFailed(code="model_auth", message="No such key."), at(turn=1, run=1, step=1)),
        (
            RoutingResolved(
                candidates=(excluded, SMALL, LAST),
                chosen=SMALL,
                reason="cloud/big failed: No such key.",
                fallbacks=(LAST,),
            ),
            RUN,
        ),
        (
            WarningRaised(
                code="model_fell_back",
                message="cloud/big failed. local/small replaces it: No such key.",
            ),
            at(turn=1, run=1, step=1),
        ),
        (
            ModelRequested(provider="local", model="small", iteration=1, context_through=0),
            at(turn=1, run=1, step=2),
        ),
    )
    assert result.decision.ends == ("run_1.2.text",)
    assert session.run.iteration == 1
    session.when(response_with_quota(text_part(3, "Done."), step=2))
    assert session.thread.run is None


def test_a_turn_whose_models_all_failed_fails_with_the_error_of_the_last_one():
    session = running_session()
    session.when(failed_attempt(code="model_auth", message="No such key.", retryable=False))
    session.when(failed_attempt(code="model_quota", message="Nothing left.", retryable=False, step=2))
    result = session.when(failed_attempt(code="model_unavailable", message="Not there.", retryable=True, step=3))
    result.ends_with(
        (ModelFailed(code="model_unavailable", message="Not there."), at(turn=1, run=1, step=3)),
        (
            TurnFailed(
                code="model_unavailable",
                message="Not there.",
                hint="The models before it also failed. "
                "Check that the provider can be reached, then send the turn again.",
                retryable=True,
                iterations=1,
            ),
            RUN,
        ),
    )
    assert [route.chosen for route in routes(session)] == [BIG, SMALL, LAST]


@pytest.mark.parametrize("code", ["model_refused_request", "model_context_full", "internal", "bad_recording"])
def test_an_error_that_no_other_model_can_fix_ends_the_turn(code: Any):
    session = running_session()
    result = session.when(failed_attempt(code=code, message="No.", retryable=False))
    assert isinstance(result.facts[-1], TurnFailed)
    assert result.facts[-1].code == code
    assert len(routes(session)) == 1


def test_a_retried_failure_stays_with_its_model():
    session = running_session()
    result = session.when(failed_attempt(code="model_rate_limited", message="Later.", retry_in_ms=100))
    result.then(
        (ModelFailed(code="model_rate_limited", message="Later.", retry_in_ms=100), at(turn=1, run=1, step=1)),
    )


def test_the_next_turn_calls_the_first_model_again():
    session = running_session()
    session.when(failed_attempt(code="model_auth", message="No such key.", retryable=False))
    session.when(response_with_quota(text_part(3, "Done."), step=2))
    session.when(submit(session_id="ses_1"))
    assert routes(session)[-1].chosen == BIG


def capability_lookup(images: bool, window: int | None) -> Any:
    """Return a lookup with these capabilities for every model except the first."""
    return lambda provider, model: (
        ModelCapabilities(images=images, window=window) if provider != "cloud" else ModelCapabilities(images=True)
    )


def _image_inputs(**inputs: Any) -> dict[str, Any]:
    ref = ContextRef(ref="shot.png", kind="image", source="attached", content=PNG)
    return {"resolved_context": ResolvedContext(refs=(ref,)), **inputs}


def test_a_model_without_images_is_no_fallback_for_a_thread_with_images():
    inputs = _image_inputs(find_capabilities=capability_lookup(images=False, window=None))
    session = running_session(**inputs)
    result = session.when(
        failed_attempt(code="model_auth", message="No such key.", retryable=False),
        find_capabilities=inputs["find_capabilities"],
    )
    (route,) = routes(session)
    assert [candidate.excluded for candidate in route.candidates] == ["", "It takes no images.", "It takes no images."]
    assert route.fallbacks == ()
    assert isinstance(result.facts[-1], TurnFailed)


def test_a_chosen_model_without_images_is_replaced_by_a_model_with_images():
    def blind(provider: str, model: str) -> ModelCapabilities:
        return ModelCapabilities(images=provider == "home")

    (route,) = routes(running_session(**_image_inputs(find_capabilities=blind)))
    assert (route.chosen, route.fallbacks) == (LAST, ())
    assert route.reason == "cloud/big was skipped: It takes no images. home/last is the next available model."


BLIND: dict[str, Any] = {"find_capabilities": lambda provider, model: ModelCapabilities()}
MENTIONED = ContextRef(ref="shot.png", kind="image", source="mentioned", content=PNG)


def test_m5_an_attached_image_that_no_model_supports_is_refused_before_it_is_sent():
    problem = Scenario(configure_run=chain_run_config).refuses(submit(), **_image_inputs(**BLIND))
    assert (problem.code, problem.field) == ("images_unsupported", "attachments")
    assert problem.message == "cloud/big takes no images: shot.png."


def test_m5_a_mentioned_image_that_no_model_supports_is_reported_as_left_out():
    session = running_session(resolved_context=ResolvedContext(refs=(MENTIONED,)), **BLIND)
    (route,) = routes(session)
    assert (route.chosen, route.reason) == (BIG, "It is the first.")
    (resolved,) = [fact for fact in recorded_facts(session) if isinstance(fact, ContextResolved)]
    assert resolved.omitted == (Omission(reason="unsupported", ref="shot.png"),)
    warned = [fact for fact in recorded_facts(session) if isinstance(fact, WarningRaised)]
    assert [(warning.code, warning.message) for warning in warned] == [
        ("images_left_out", "cloud/big takes no images. Left out: shot.png.")
    ]


def test_m5_an_image_that_a_fallback_supports_is_not_reported_as_left_out():
    def blind(provider: str, model: str) -> ModelCapabilities:
        return ModelCapabilities(images=provider == "home", window=50_000)

    session = running_session(**_image_inputs(find_capabilities=blind))
    (resolved,) = [fact for fact in recorded_facts(session) if isinstance(fact, ContextResolved)]
    assert (routes(session)[-1].chosen, resolved.omitted) == (LAST, ())


def test_m5_an_image_steered_to_a_model_without_images_is_refused():
    steer = SteerTurn(session_id="ses_1", text="look")
    problem = running_session(**BLIND).refuses(steer, **_image_inputs(**BLIND))
    assert problem.code == "images_unsupported"


def test_a_model_with_a_too_small_window_is_excluded():
    (route,) = routes(running_session(find_capabilities=capability_lookup(images=True, window=1)))
    assert [candidate.excluded[:22] for candidate in route.candidates[1:]] == ["Its window of 1 tokens"] * 2


LOW = Limit(what="tokens", limit=1000, remaining=99, resets_in_ms=6000)
FULL = Limit(what="requests", limit=100, remaining=90)


def test_a_limit_below_a_tenth_is_reported_once_in_a_run():
    session = running_session()
    result = session.when(response_with_quota(requested_call(1, 2), quota=Quota(limits=(FULL, LOW))))
    assert [fact for fact in result.facts if isinstance(fact, QuotaReported)] == [
        QuotaReported(provider="cloud", limits=(LOW,))
    ]
    auto_session = Scenario(configure_run=chain_run_config)
    auto_session.when(submit(mode="auto"))
    first = auto_session.when(response_with_quota(text_part(2, "one"), quota=Quota(limits=(LOW,))))
    second = auto_session.when(response_with_quota(text_part(4, "two"), step=3, quota=Quota(limits=(LOW,))))
    assert [sum(isinstance(fact, QuotaReported) for fact in result.facts) for result in (first, second)] == [1, 0]


@pytest.mark.parametrize("quota", [None, Quota(limits=(FULL,)), Quota(limits=(Limit(what="tokens", limit=10),))])
def test_limits_that_are_far_off_are_not_reported_with_a_response(quota: Quota | None):
    result = running_session().when(response_with_quota(text_part(2, "Hi."), quota=quota))
    assert not any(isinstance(fact, QuotaReported) for fact in result.facts)


def test_all_limits_are_reported_when_the_provider_refuses_because_of_them():
    quota = Quota(limits=(FULL,), retry_after_ms=3000, exhausted=True)
    result = running_session().when(
        failed_attempt(code="model_quota", message="Used up.", retryable=False, quota=quota)
    )
    assert result.facts[1] == QuotaReported(provider="cloud", limits=(FULL,), retry_after_ms=3000, exhausted=True)
