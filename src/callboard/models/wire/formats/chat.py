"""OpenAI's chat completions, which OpenAI, Ollama, vLLM, LM Studio, DeepSeek, OpenRouter and most gateways speak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx2
from openai.types.chat import ChatCompletionChunk
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings, OpenAIStreamedResponse
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from callboard.contracts.ports.model import ModelRequest

from ..endpoint import Endpoint
from .chunks import ChunkClient
from .untransformed import send_untransformed


@dataclass
class _Streamed(OpenAIStreamedResponse):
    """Keeps what some gateways say of the cost, beside the tokens."""

    def _map_chunk_provider_details(self, chunk: ChatCompletionChunk) -> dict[str, Any] | None:
        details = super()._map_chunk_provider_details(chunk)
        told = getattr(chunk.usage, "cost", None)
        return details if told is None else {**(details or {}), "cost": told}


class _ChatModel(OpenAIChatModel):
    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return _Streamed


def model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> OpenAIChatModel:
    """The model behind `/chat/completions`."""
    # The library would build it when the first chunk comes, on the event loop.
    ChatCompletionChunk.model_rebuild()
    client = ChunkClient(
        base_url=endpoint.base_url,
        # The SDK insists on a key; servers that need none ignore this one.
        api_key=endpoint.api_key or "none",
        http_client=http,
        max_retries=0,
        timeout=http.timeout,
    )
    send_untransformed(client.chat.completions)
    return _ChatModel(
        name,
        provider=OpenAICompatibleProvider(endpoint.provider, openai_client=client),
        # Without this a stream that breaks off between two events reads as a finished answer.
        # Tags are separated by `thinking`: the library knows them only where one is a delta of its own.
        profile=OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True, thinking_tags=("\0", "\0")),
    )


def settings(request: ModelRequest) -> OpenAIChatModelSettings:
    """Only what the request asks for; everything else is the server's default."""
    return OpenAIChatModelSettings(parallel_tool_calls=False) if request.one_call else OpenAIChatModelSettings()
