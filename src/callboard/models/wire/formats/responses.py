"""OpenAI's Responses. Nothing is kept there: reasoning comes back encrypted and goes with the next request."""

from __future__ import annotations

from typing import get_args

import httpx2
from openai import AsyncOpenAI
from openai.types.responses import ResponseStreamEvent
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.providers.openai import OpenAIProvider

from callboard.contracts.ports.model import ModelRequest

from ..endpoint import Endpoint
from .untransformed import send_untransformed


def model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> OpenAIResponsesModel:
    """The model behind `/responses`."""
    # The library builds the shape of each event when the first one comes, on the event loop and in the middle of an answer.
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


def settings(request: ModelRequest) -> OpenAIResponsesModelSettings:
    """The answer is not stored, and its reasoning is summarised where the model may be asked for that."""
    told = OpenAIResponsesModelSettings(openai_store=False)
    if request.one_call:
        told["parallel_tool_calls"] = False
    return told
