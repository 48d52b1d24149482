"""What a configured model takes."""

from __future__ import annotations

from callboard.contracts.errors import Refusal
from callboard.control.decision_inputs import EXTERNAL
from callboard.control.state.context import Takes

from ..dependencies import Parts


def model_limits(parts: Parts, provider: str, model: str) -> Takes:
    """Return what a model takes. Nothing is known of one that is no longer configured, nor of an external agent."""
    if provider in EXTERNAL:
        return Takes()
    try:
        found = parts.models.model(provider, model)
    except Refusal:
        return Takes()
    return Takes(window=found.window, images=found.images)
