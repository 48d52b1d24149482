"""Facts of routing: which models could have been asked, which one was, and why."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact


class Candidate(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A model that could be asked; `excluded` says why it is not asked for this run, and is empty where it may be."""

    provider: str
    model: str
    excluded: str = ""


class RoutingResolved(Fact, frozen=True, kw_only=True):
    """The model of a run. With a single candidate that is the reason, and it is told as such. `fallbacks` are asked in their
    order where it fails for good; then another such fact names the next, and why."""

    type: ClassVar[str] = "routing.resolved"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    erased: ClassVar[ErasedForm] = {
        "candidates": (),
        "chosen": Candidate(provider=UNKNOWN, model=UNKNOWN),
        "reason": "",
    }
    candidates: tuple[Candidate, ...]
    chosen: Candidate
    reason: str
    fallbacks: tuple[Candidate, ...] = ()


RoutingFact = RoutingResolved
