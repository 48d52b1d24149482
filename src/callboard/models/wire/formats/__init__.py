"""The wire formats: one file each, with what it alone needs. Each opens a model of the library at an endpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from callboard.contracts.ports.model import ModelRequest

from ..endpoint import Endpoint

#: What a request asks of the model beside its messages.
Settings = Callable[[ModelRequest], ModelSettings]


def open_model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> tuple[Model, Settings]:
    """The model of that name behind the endpoint, asked over these connections, and the settings of its requests."""
    # Each library takes its time to load, and is loaded where its format is spoken.
    match endpoint.format:
        case "openai-compatible":
            from . import chat as chosen
        case "openai":
            from . import responses as chosen
        case "anthropic":
            from . import anthropic as chosen
        case "google":
            from . import google as chosen
        case _:
            assert_never(endpoint.format)
    return chosen.model(endpoint, name, http), chosen.settings
