"""OpenAI's chat completions, the format of Ollama, vLLM, LM Studio, DeepSeek, OpenRouter and most gateways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import httpx2
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionChunk
from pydantic import ValidationError
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings, OpenAIStreamedResponse
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from callboard.contracts.ports.model import ModelRequest

from ..endpoint import Endpoint
from .raw_body import send_untransformed


class ChunkClient(AsyncOpenAI):
    """Validates standard chunks in native code, and leaves others to the library.

    The library builds each field of each chunk in Python, which takes a third of the time of a streamed response.
    """

    def _process_response_data(self, *, data: object, cast_to: Any, response: Any) -> Any:
        if cast_to is ChatCompletionChunk:
            try:
                return ChatCompletionChunk.model_validate(data, strict=True)
            except ValidationError:
                pass
        return cast("Any", super())._process_response_data(data=data, cast_to=cast_to, response=response)


@dataclass
class _Streamed(OpenAIStreamedResponse):
    """Adds the cost that some gateways report."""

    def _map_chunk_provider_details(self, chunk: ChatCompletionChunk) -> dict[str, Any] | None:
        details = super()._map_chunk_provider_details(chunk)
        cost = getattr(chunk.usage, "cost", None)
        return details if cost is None else {**(details or {}), "cost": cost}


class _ChatModel(OpenAIChatModel):
    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return _Streamed


def build_model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> OpenAIChatModel:
    """Return the model of `/chat/completions`."""
    # Otherwise the library builds the type during the first response, on the event loop.
    ChatCompletionChunk.model_rebuild()
    client = ChunkClient(
        base_url=endpoint.base_url,
        # The SDK requires a key. Servers without keys ignore it.
        api_key=endpoint.api_key or "none",
        http_client=http,
        max_retries=0,
        timeout=http.timeout,
    )
    send_untransformed(client.chat.completions)
    return _ChatModel(
        name,
        provider=OpenAICompatibleProvider(endpoint.provider, openai_client=client),
        # Requires a finish reason, so that a truncated stream is not a finished response.
        # `thinking` separates tags: the library recognises a tag only in a separate delta.
        profile=OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True, thinking_tags=("\0", "\0")),
    )


def build_settings(request: ModelRequest) -> OpenAIChatModelSettings:
    """Return settings that leave the server's defaults."""
    return OpenAIChatModelSettings(parallel_tool_calls=False) if request.one_call else OpenAIChatModelSettings()
