"""Routes of runs: the model to ask, and the fallback after a failure."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.model import Candidate, Limit, QuotaReported, RoutingResolved
from callboard.contracts.facts.session import WarningRaised
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.ports.model import Quota
from callboard.contracts.scope import Scope

from ...batch import Batch, build_run_scope
from ...decision_inputs import EXTERNAL_PROVIDERS, RunConfig
from ...evolve.model import list_low_limits
from ...outcomes import ModelAttemptFailed
from ...state.context import ModelCapabilities
from ...state.session import Thread
from ...state.turn import OpenRun, QueuedTurn
from .context import count_older_tokens, count_used_tokens
from .iterate import repeat_request

#: Failures that another model may not have. A refused or too long request is not one of them.
FALLBACK_CODES: frozenset[str] = frozenset(
    {
        "model_unconfigured",
        "model_auth",
        "model_rate_limited",
        "model_quota",
        "model_unavailable",
        "model_timeout",
        "model_cut_stream",
        "model_garbled",
        "unknown_model",
        "secret_missing",
        "secret_store_unavailable",
    }
)


class _ModelNeeds(msgspec.Struct, frozen=True):
    """The capabilities that the context requires of a model."""

    images: bool
    tokens: int


def route(batch: Batch, thread: Thread, turn: QueuedTurn, config: RunConfig, scope: Scope) -> None:
    """Record the route of a run. A chosen model that cannot take the input is replaced by a
    fallback that can; without one the input is reduced."""
    submitted = (
        queued for queued in (thread.submitted, *thread.queue) if queued is not None and queued.turn == turn.turn
    )
    turn = next(submitted, turn)
    pinned = (ref for name in thread.pinned for ref in batch.inputs.resolve_pin(name).refs)
    has_images = any(ref.kind == "image" for ref in (*turn.refs, *pinned))
    needs = _ModelNeeds(images=has_images or _has_images(thread), tokens=count_used_tokens(thread, None) + turn.tokens)
    candidates = tuple(_check_candidate(batch, candidate, needs) for candidate in config.candidates)
    fallbacks = tuple(candidates[index] for index in config.fallbacks if not candidates[index].excluded)
    chosen, reason = candidates[config.chosen], config.route_reason
    if chosen.excluded and fallbacks:
        following = format_model(fallbacks[0])
        reason = f"{format_model(chosen)} was skipped: {chosen.excluded} {following} is the next available model."
        chosen, *rest = fallbacks
        fallbacks = tuple(rest)
    elif chosen.excluded:
        chosen = config.candidates[config.chosen]
        candidates = tuple(
            chosen if index == config.chosen else candidate for index, candidate in enumerate(candidates)
        )
    batch.add(RoutingResolved(candidates=candidates, chosen=chosen, reason=reason, fallbacks=fallbacks), scope)


def can_read_images(model: Candidate | OpenRun, find_capabilities: Callable[[str, str], ModelCapabilities]) -> bool:
    """Return whether this model, or the model of this run, takes images. An external agent decides
    that itself."""
    return model.provider in EXTERNAL_PROVIDERS or find_capabilities(model.provider, model.model).images


def has_image_model(config: RunConfig, find_capabilities: Callable[[str, str], ModelCapabilities]) -> bool:
    """Return whether the chosen model or a fallback takes images."""
    return any(
        can_read_images(config.candidates[index], find_capabilities) for index in (config.chosen, *config.fallbacks)
    )


def check_images(batch: Batch, definition: str, mode: Mode, permission_mode: PermissionMode) -> None:
    """Check that the run's model, or a fallback, takes the images that are attached to its input.

    Raises:
        Refusal: `images_unsupported` if none does: the image would look attached and reach no
            model.
    """
    names = _list_attached_images(batch)
    if not names:
        return
    config = batch.inputs.configure_run(definition, mode, permission_mode)
    if has_image_model(config, batch.inputs.find_capabilities):
        return
    model = format_model(config.candidates[config.chosen])
    raise Refusal(
        "images_unsupported",
        f"{model} takes no images: {', '.join(names)}.",
        field="attachments",
        hint="Remove the image, or choose a model that takes images. Set images = true for a model that does.",
    )


def check_steered_images(batch: Batch, run: OpenRun) -> None:
    """Check that the model of the running turn takes the images that are attached to a steer.

    Raises:
        Refusal: `images_unsupported` if it does not; a separate turn may go to another model.
    """
    names = _list_attached_images(batch)
    if not names or can_read_images(run, batch.inputs.find_capabilities):
        return
    raise Refusal(
        "images_unsupported",
        f"{run.provider}/{run.model} takes no images: {', '.join(names)}.",
        field="attachments",
        hint="Remove the image, or queue it as a separate turn.",
    )


def warn_of_images(batch: Batch, thread: Thread, scope: Scope) -> None:
    """Warn that the routed model does not get images that its input names."""
    run = thread.run
    if run is None or can_read_images(run, batch.inputs.find_capabilities):
        return
    names = [omission.ref for omission in run.omitted if omission.reason == "unsupported"]
    if names:
        message = f"{run.provider}/{run.model} takes no images. Left out: {', '.join(names)}."
        batch.add(WarningRaised(code="images_left_out", message=message), scope)


def find_fallbacks(batch: Batch, thread: Thread, run: OpenRun, code: str) -> tuple[Candidate, ...]:
    """Return the models that can replace the run's failed model, in order. For a summary a longer
    window can help."""
    has_fallback = code in FALLBACK_CODES or (run.compacting is not None and code == "model_context_full")
    if not has_fallback or run.provider in EXTERNAL_PROVIDERS:
        return ()
    # A summary request includes as much of the older part as the model takes, and nothing newer.
    replaced = count_older_tokens(thread, run, run.compacting.through) if run.compacting is not None else 0
    needs = _ModelNeeds(images=_has_images(thread), tokens=count_used_tokens(thread, run) - replaced)
    return tuple(candidate for candidate in run.fallbacks if not _check_candidate(batch, candidate, needs).excluded)


def fall_back(batch: Batch, thread_id: str, outcome: ModelAttemptFailed, fallbacks: tuple[Candidate, ...]) -> None:
    """Ask the next model what the failed one was asked."""
    route_to_fallback(batch, thread_id, outcome, fallbacks)
    repeat_request(batch, thread_id)


def route_to_fallback(
    batch: Batch, thread_id: str, outcome: ModelAttemptFailed, fallbacks: tuple[Candidate, ...]
) -> None:
    """Record the route to the next model, and why."""
    thread = batch.get_thread(thread_id)
    run = thread.run
    if run is None:
        raise LookupError(f"thread {thread_id} has no open run")
    chosen, *rest = fallbacks
    failed = f"{run.provider}/{run.model}"
    candidates = tuple(
        msgspec.structs.replace(candidate, excluded=f"It failed in this run: {outcome.code}.")
        if format_model(candidate) == failed
        else candidate
        for candidate in run.candidates
    )
    scope = build_run_scope(thread, run)
    reason = f"{failed} failed: {outcome.message}"
    batch.add(
        RoutingResolved(candidates=candidates, chosen=chosen, reason=reason, fallbacks=tuple(rest)),
        scope,
    )
    message = f"{failed} failed. {format_model(chosen)} replaces it: {outcome.message}"
    batch.add(WarningRaised(code="model_fell_back", message=message), build_run_scope(thread, run, outcome.step))


def record_quota(batch: Batch, thread: Thread, run: OpenRun, step: int, quota: Quota | None, *, refused: bool) -> None:
    """Record the provider's limits: after a refusal for them always, after a response only if a
    limit newly fell below a tenth."""
    if quota is None:
        return
    low = list_low_limits(quota.limits)
    if not refused and set(low) <= set(run.low_limits):
        return
    batch.add(
        QuotaReported(
            provider=run.provider,
            limits=quota.limits if refused else _select_limits(quota.limits, low),
            retry_after_ms=quota.retry_after_ms,
            exhausted=quota.exhausted,
        ),
        build_run_scope(thread, run, step),
    )


def _select_limits(limits: tuple[Limit, ...], kinds: tuple[str, ...]) -> tuple[Limit, ...]:
    return tuple(limit for limit in limits if limit.what in kinds)


def _check_candidate(batch: Batch, candidate: Candidate, needs: _ModelNeeds) -> Candidate:
    """Return the candidate, excluded with a reason if it cannot take the context."""
    if candidate.excluded or candidate.provider in EXTERNAL_PROVIDERS:
        return candidate
    capabilities = batch.inputs.find_capabilities(candidate.provider, candidate.model)
    if needs.images and not capabilities.images:
        return msgspec.structs.replace(candidate, excluded="It takes no images.")
    if capabilities.window is not None and needs.tokens > capabilities.window:
        problem = f"Its window of {capabilities.window} tokens is smaller than the context of about {needs.tokens}."
        return msgspec.structs.replace(candidate, excluded=problem)
    return candidate


def _has_images(thread: Thread) -> bool:
    """Return True if the context has images of earlier turns or calls."""
    return thread.newest_image > max(thread.context_after, thread.context_usage.compacted)


def _list_attached_images(batch: Batch) -> list[str]:
    refs = batch.inputs.resolved_context.refs
    return [ref.title or ref.ref for ref in refs if ref.kind == "image" and ref.source == "attached"]


def format_model(candidate: Candidate) -> str:
    """Return `PROVIDER/MODEL`."""
    return f"{candidate.provider}/{candidate.model}"
