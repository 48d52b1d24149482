"""What a configured model takes."""

from __future__ import annotations

from callboard.contracts.errors import Refusal
from callboard.control.decision_inputs import EXTERNAL_PROVIDERS
from callboard.control.state.context import ModelCapabilities

from ..dependencies import Dependencies


def model_limits(dependencies: Dependencies, provider: str, model: str) -> ModelCapabilities:
    """Return what a model takes. Nothing is known of one that is no longer configured, nor of an external agent."""
    if provider in EXTERNAL_PROVIDERS:
        return ModelCapabilities()
    try:
        found = dependencies.models.model(provider, model)
    except Refusal:
        return ModelCapabilities()
    return ModelCapabilities(window=found.window, images=found.images)
