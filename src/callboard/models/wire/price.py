"""Tokens and cost of a response, from the provider or a price list. Unknown values are never estimated."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo, Provider
from pydantic_ai.usage import RequestUsage

from callboard.contracts.ports.model import Usage

from .endpoint import Endpoint, Format

#: Formats of one provider, whose list prices apply at every address.
_LISTED: dict[Format, str] = {"openai": "openai", "anthropic": "anthropic", "google": "google"}
_MILLION = 1_000_000


def compute_usage(reported: RequestUsage, details: dict[str, Any], endpoint: Endpoint, model: str) -> Usage:
    """Return the reported tokens with their cost."""
    amount = _read_number(details.get("cost"))
    if amount is None and reported.cost is not None:
        amount = float(reported.cost)
    if reported.unmeasured_requests or not (reported.input_tokens or reported.output_tokens):
        return Usage(amount=amount, source="provider") if amount is not None else Usage()
    usage = Usage(
        input_tokens=_read_count(reported.input_tokens),
        output_tokens=_read_count(reported.output_tokens),
        # The library's 0 can mean unknown.
        cached_tokens=_read_count(reported.cache_read_tokens) or None,
        reasoning_tokens=_read_reasoning(reported),
        amount=amount,
        source="provider" if amount is not None else "",
    )
    if amount is not None:
        return usage
    listed = _compute_price(reported, usage, endpoint, model)
    return usage if listed is None else msgspec.structs.replace(usage, amount=listed, source="listed")


def find_window(endpoint: Endpoint, model: str) -> int | None:
    """Return the context window of a listed model, in tokens."""
    entry = _find_listed(endpoint, model)
    return None if entry is None else entry[1].context_window


def _find_listed(endpoint: Endpoint, model: str) -> tuple[Provider, ModelInfo] | None:
    """Find the model in the price list by the address, which distinguishes resellers, else by the format's provider."""
    listed = _LISTED.get(endpoint.format)
    for provider, url in ((None, endpoint.base_url), *([(listed, None)] if listed else [])):
        try:
            return get_snapshot().find_provider_model(model, None, provider, url)
        except LookupError:
            continue
    return None


def _compute_price(reported: RequestUsage, usage: Usage, endpoint: Endpoint, model: str) -> float | None:
    price = endpoint.price
    if price is not None:
        cached = usage.cached_tokens or 0
        uncached = max(0, (usage.input_tokens or 0) - cached)
        cached_price = price.input if price.cached is None else price.cached
        return (uncached * price.input + cached * cached_price + (usage.output_tokens or 0) * price.output) / _MILLION
    entry = _find_listed(endpoint, model)
    if entry is None:
        return None
    provider, info = entry
    return float(info.calc_price(reported, provider, genai_request_timestamp=None).total_price)


def _read_reasoning(reported: RequestUsage) -> int | None:
    for name in ("reasoning_tokens", "thoughts_tokens", "thinking_tokens"):
        if name in reported.details:
            return _read_count(reported.details[name])
    return None


def _read_count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _read_number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float | Decimal) and value >= 0 else None
