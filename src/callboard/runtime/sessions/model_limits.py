"""What a configured model takes."""

from __future__ import annotations

from callboard.contracts.errors import Refusal
from callboard.control.decision_inputs import EXTERNAL
from callboard.control.state.context import ContextParts

from ..dependencies import Dependencies


def model_limits(dependencies: Dependencies, provider: str, model: str) -> ContextParts:
    """Return what a model takes. Nothing is known of one that is no longer configured, nor of an external agent."""
    if provider in EXTERNAL:
        return ContextParts()
    try:
        found = dependencies.models.model(provider, model)
    except Refusal:
        return ContextParts()
    return ContextParts(window=found.window, images=found.images)
