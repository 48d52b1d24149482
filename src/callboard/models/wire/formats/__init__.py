"""The wire formats. Each module opens a model of the library at an endpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from callboard.contracts.ports.model import ModelRequest

from ..endpoint import Endpoint

#: Returns the library's settings for a request.
Settings = Callable[[ModelRequest], ModelSettings]


def open_model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> tuple[Model, Settings]:
    """Return the model, which uses the connections of `http`, and the settings of its requests."""
    # Imported on first use, because each library is slow to load.
    match endpoint.format:
        case "openai-compatible":
            from . import chat as wire_format
        case "openai":
            from . import responses as wire_format
        case "anthropic":
            from . import anthropic as wire_format
        case "google":
            from . import google as wire_format
        case _:
            assert_never(endpoint.format)
    return wire_format.build_model(endpoint, name, http), wire_format.build_settings
