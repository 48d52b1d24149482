"""What an answer cost, and who says so. What nobody says is absent and never estimated."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
from genai_prices.data_snapshot import get_snapshot
from pydantic_ai.usage import RequestUsage

from callboard.contracts.ports.model import Usage

from .endpoint import Endpoint, Format

#: The listed prices of these are those of the provider itself, whatever address they are asked at.
_LISTED: dict[Format, str] = {"openai": "openai", "anthropic": "anthropic", "google": "google"}
_MILLION = 1_000_000


def usage_of(told: RequestUsage, details: dict[str, Any], endpoint: Endpoint, model: str) -> Usage:
    """The tokens as the provider told them, with what they cost."""
    amount = _number(details.get("cost"))
    if amount is None and told.cost is not None:
        amount = float(told.cost)
    if told.unmeasured_requests or not (told.input_tokens or told.output_tokens):
        return Usage(amount=amount, source="provider") if amount is not None else Usage()
    counted = Usage(
        input_tokens=_count(told.input_tokens),
        output_tokens=_count(told.output_tokens),
        # The library says 0 both of none and of not told.
        cached_tokens=_count(told.cache_read_tokens) or None,
        reasoning_tokens=_reasoning(told),
        amount=amount,
        source="provider" if amount is not None else "",
    )
    if amount is not None:
        return counted
    listed = _listed(told, counted, endpoint, model)
    return counted if listed is None else msgspec.structs.replace(counted, amount=listed, source="listed")


def window_of(endpoint: Endpoint, model: str) -> int | None:
    """How many tokens the model takes, where it is listed."""
    for provider, url in _references(endpoint):
        try:
            _, info = get_snapshot().find_provider_model(model, None, provider, url)
        except LookupError:
            continue
        return info.context_window
    return None


def _references(endpoint: Endpoint) -> tuple[tuple[str | None, str | None], ...]:
    """How the list knows the provider: by the address, which tells resellers apart, else by the format's own."""
    listed = _LISTED.get(endpoint.format)
    return ((None, endpoint.base_url), (listed, None)) if listed else ((None, endpoint.base_url),)


def _listed(told: RequestUsage, usage: Usage, endpoint: Endpoint, model: str) -> float | None:
    price = endpoint.price
    if price is not None:
        cached = usage.cached_tokens or 0
        fresh = max(0, (usage.input_tokens or 0) - cached)
        at = price.input if price.cached is None else price.cached
        return (fresh * price.input + cached * at + (usage.output_tokens or 0) * price.output) / _MILLION
    for provider, url in _references(endpoint):
        try:
            listed, info = get_snapshot().find_provider_model(model, None, provider, url)
        except LookupError:
            continue
        return float(info.calc_price(told, listed, genai_request_timestamp=None).total_price)
    return None


def _reasoning(told: RequestUsage) -> int | None:
    for name in ("reasoning_tokens", "thoughts_tokens", "thinking_tokens"):
        if name in told.details:
            return _count(told.details[name])
    return None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float | Decimal) and value >= 0 else None
