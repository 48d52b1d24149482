"""Google's generateContent."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, cast

import httpx2
from google.genai.types import HttpRetryOptions
from pydantic_ai.models.google import GoogleModel, GoogleModelSettings
from pydantic_ai.providers.google import GoogleProvider

from callboard.contracts.ports.model import ModelRequest

from ..endpoint import Endpoint
from ..history.body import capture_items

#: Replaces the contents for the client, which rejects an empty list.
_PLACEHOLDER: Final[Sequence[Any]] = ({"role": "user", "parts": [{"text": ""}]},)
#: Fields of a part that the library fills, and their names on the wire. Nested fields keep their names.
_PART_FIELDS: Final = {
    "text": "text",
    "thought": "thought",
    "thought_signature": "thoughtSignature",
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "inline_data": "inlineData",
}


def build_model(endpoint: Endpoint, name: str, http: httpx2.AsyncClient) -> GoogleModel:
    """Return the model of `/v1beta/models`."""
    provider = GoogleProvider(
        api_key=endpoint.api_key or "none",
        http_client=http,
        base_url=endpoint.base_url.removesuffix("/").removesuffix("/v1beta"),
        retry_options=HttpRetryOptions(attempts=1),
    )
    send_wire_contents(provider.client.aio.models)
    return GoogleModel(name, provider=provider)


def build_settings(request: ModelRequest) -> GoogleModelSettings:
    """Return no settings: the format cannot limit a response to one call."""
    return GoogleModelSettings()


def send_wire_contents(models: Any) -> None:
    """Make `models.generate_content_stream` pass its contents to the body unchanged.

    The client would convert each part to an object and back, which takes most of the time of a call. The contents are passed
    in the documented `extra_body` instead, except those with an unlisted field.

    Args:
        models: `client.aio.models`.
    """
    stream: Callable[..., Awaitable[Any]] = models.generate_content_stream

    async def stream_wire_contents(**arguments: Any) -> Any:
        contents = convert_contents(arguments["contents"])
        if contents is None:
            return await stream(**arguments)
        capture_items(contents)
        config: dict[str, Any] = arguments["config"]
        http_options = {**config["http_options"], "extra_body": {"contents": contents}}
        # Without function calling the client makes no deep copy of the options.
        config = {**config, "http_options": http_options, "automatic_function_calling": {"disable": True}}
        return await stream(**{**arguments, "contents": [*_PLACEHOLDER], "config": config})

    models.generate_content_stream = stream_wire_contents


def convert_contents(contents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """Return contents in the wire format; None if a part has an unlisted field."""
    parts = [part for content in contents for part in content["parts"]]
    if any(field not in _PART_FIELDS for part in parts for field in part):
        return None
    return [{**content, "parts": [_convert_part(part) for part in content["parts"]]} for content in contents]


def _convert_part(part: Mapping[str, Any]) -> dict[str, Any]:
    return {_PART_FIELDS[field]: _encode_bytes(value) for field, value in part.items()}


def _encode_bytes(value: Any) -> Any:
    """Return a value with its bytes as text."""
    if isinstance(value, bytes):
        return urlsafe_b64encode(value).decode()
    if isinstance(value, dict):
        return {name: _encode_bytes(item) for name, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_encode_bytes(item) for item in cast("list[Any]", value)]
    return value
