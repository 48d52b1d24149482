"""OpenAI's Responses, without storage at the provider: the next request includes the encrypted reasoning."""

from __future__ import annotations

from typing import get_args

import httpx2
from openai import AsyncOpenAI
from openai.types.responses import ResponseStreamEvent
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.providers.openai import OpenAIProvider

from callboard.contracts.ports.model import ModelRequest

from ..endpoint import Endpoint
from .raw_body import send_untransformed


def build_model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> OpenAIResponsesModel:
    """Return the model of `/responses`."""
    # Otherwise the library builds the type of each event during the first response, on the event loop.
    for event in get_args(get_args(ResponseStreamEvent)[0]):
        event.model_rebuild()
    client = AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.api_key or "none",
        http_client=http,
        max_retries=0,
        timeout=http.timeout,
    )
    send_untransformed(client.responses)
    return OpenAIResponsesModel(name, provider=OpenAIProvider(openai_client=client))


def build_settings(request: ModelRequest) -> OpenAIResponsesModelSettings:
    """Return settings that turn off storage of the response."""
    settings = OpenAIResponsesModelSettings(openai_store=False)
    if request.one_call:
        settings["parallel_tool_calls"] = False
    return settings
