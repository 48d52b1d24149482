"""Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, get_args

import httpx2
from anthropic import AsyncAnthropic
from anthropic.types.beta import BetaRawMessageStreamEvent
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.providers.anthropic import AnthropicProvider

from callboard.contracts.ports.model import ModelRequest

from ..endpoint import Endpoint
from ..history.body import capture_items


def build_model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> AnthropicModel:
    """Return the model of `/v1/messages`."""
    # Otherwise the library builds the type of each event during the first response, on the event loop.
    for event in get_args(get_args(BetaRawMessageStreamEvent)[0]):
        event.model_rebuild()
    client = AsyncAnthropic(
        base_url=endpoint.base_url.removesuffix("/").removesuffix("/v1"),
        api_key=endpoint.api_key or "none",
        http_client=http,
        max_retries=0,
        timeout=http.timeout,
    )
    _capture_messages(client.beta.messages)
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def build_settings(request: ModelRequest) -> AnthropicModelSettings:
    """Return settings that turn on the provider's cache, because each call sends the whole conversation."""
    settings = AnthropicModelSettings(
        anthropic_cache_instructions=True, anthropic_cache_tool_definitions=True, anthropic_cache_messages=True
    )
    if request.one_call and request.tools:
        settings["parallel_tool_calls"] = False
    return settings


def _capture_messages(resource: Any) -> None:
    create: Callable[..., Awaitable[Any]] = resource.create

    async def create_unless_captured(**arguments: Any) -> Any:
        capture_items(arguments["messages"])
        return await create(**arguments)

    resource.create = create_unless_captured
