"""The wire formats: one file each, with what it alone needs. Each opens a model of the library at an endpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from callboard.contracts.ports.model import ModelRequest

from ..endpoint import Endpoint
from . import anthropic, chat, google, responses

#: What a request asks of the model beside its messages.
Settings = Callable[[ModelRequest], ModelSettings]


def open_model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> tuple[Model, Settings]:
    """The model of that name behind the endpoint, asked over these connections, and the settings of its requests."""
    match endpoint.format:
        case "openai-compatible":
            return chat.model(endpoint, name, http), chat.settings
        case "openai":
            return responses.model(endpoint, name, http), responses.settings
        case "anthropic":
            return anthropic.model(endpoint, name, http), anthropic.settings
        case "google":
            return google.model(endpoint, name, http), google.settings
        case _:
            assert_never(endpoint.format)
