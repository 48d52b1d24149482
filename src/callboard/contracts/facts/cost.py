"""Facts of what a model call used."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..scope import ScopeKey
from .base import Fact

#: Who says what something cost: the provider, or a list of prices.
PriceSource = Literal["", "provider", "listed"]


class CostRecorded(Fact, frozen=True, kw_only=True):
    """Usage as the provider told it; what it did not tell is absent, never estimated. `amount` is in US
    dollars: as the provider told it, or of the tokens that it told at the `listed` prices."""

    type: ClassVar[str] = "cost.recorded"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "step")
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    amount: float | None = None
    source: PriceSource = ""


CostFact = CostRecorded
