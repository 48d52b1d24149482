"""Google's generateContent."""

from __future__ import annotations

import httpx2
from google.genai.types import HttpRetryOptions
from pydantic_ai.models.google import GoogleModel, GoogleModelSettings
from pydantic_ai.providers.google import GoogleProvider

from callboard.contracts.ports.model import ModelRequest

from ..endpoint import Endpoint
from .contents import send_wire_contents


def model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> GoogleModel:
    """The model behind `/v1beta/models`."""
    provider = GoogleProvider(
        api_key=endpoint.api_key or "none",
        http_client=http,
        base_url=endpoint.base_url.removesuffix("/").removesuffix("/v1beta"),
        retry_options=HttpRetryOptions(attempts=1),
    )
    send_wire_contents(provider.client.aio.models)
    return GoogleModel(name, provider=provider)


def settings(request: ModelRequest) -> GoogleModelSettings:
    """The format knows no way to ask for one call at a time."""
    return GoogleModelSettings()
