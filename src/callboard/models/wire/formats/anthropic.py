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
from ..history.body import hand_over


def model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> AnthropicModel:
    """The model behind `/v1/messages`."""
    # The library builds the shape of each event when the first one comes, on the event loop and in the middle of an answer.
    for event in get_args(get_args(BetaRawMessageStreamEvent)[0]):
        event.model_rebuild()
    client = AsyncAnthropic(
        base_url=endpoint.base_url.removesuffix("/").removesuffix("/v1"),
        api_key=endpoint.api_key or "none",
        http_client=http,
        max_retries=0,
        timeout=http.timeout,
    )
    _hand_over_messages(client.beta.messages)
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def settings(request: ModelRequest) -> AnthropicModelSettings:
    """What was said before is read from the provider's cache: an agent sends its whole conversation with every call."""
    told = AnthropicModelSettings(
        anthropic_cache_instructions=True, anthropic_cache_tool_definitions=True, anthropic_cache_messages=True
    )
    if request.one_call and request.tools:
        told["parallel_tool_calls"] = False
    return told


def _hand_over_messages(resource: Any) -> None:
    create: Callable[..., Awaitable[Any]] = resource.create

    async def create_unless_handed_over(**arguments: Any) -> Any:
        hand_over(arguments["messages"])
        return await create(**arguments)

    resource.create = create_unless_handed_over
