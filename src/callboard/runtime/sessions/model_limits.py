"""Limits of a configured model."""

from __future__ import annotations

from callboard.contracts.errors import Refusal
from callboard.control.decision_inputs import EXTERNAL_PROVIDERS
from callboard.control.state.context import ModelCapabilities

from ..dependencies import Dependencies


def model_limits(dependencies: Dependencies, provider: str, model: str) -> ModelCapabilities:
    """Return the limits of a model.

    They are unknown for an external agent and for a model that is no longer configured.
    """
    if provider in EXTERNAL_PROVIDERS:
        return ModelCapabilities()
    try:
        configured = dependencies.models.model(provider, model)
    except Refusal:
        return ModelCapabilities()
    return ModelCapabilities(window=configured.window, images=configured.images)
