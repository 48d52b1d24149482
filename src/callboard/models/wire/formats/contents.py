"""Google's client without its walk over the contents of a request."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, cast

from ..history.body import hand_over

#: What the client is given in place of the contents. It rejects an empty list.
_STAND_IN: Final[Sequence[Any]] = ({"role": "user", "parts": [{"text": ""}]},)
#: Fields of a part that the library fills, and their names on the wire. Fields below them keep their names.
_PART_FIELDS: Final = {
    "text": "text",
    "thought": "thought",
    "thought_signature": "thoughtSignature",
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "inline_data": "inlineData",
}


def send_wire_contents(models: Any) -> None:
    """Make `models.generate_content_stream` pass its contents to the body without a model of each.

    The client validates each content and each part as an object of some dozens of fields, asks it for each of these fields
    and makes a dictionary of it again: most of the time of a call. The contents take the way of `extra_body` in the options
    of the request, which the client documents for fields of the body and merges as they are. Contents with a field that
    has no name here go through the client as before.

    Args:
        models: `client.aio.models`.
    """
    stream: Callable[..., Awaitable[Any]] = models.generate_content_stream

    async def stream_wire_contents(**arguments: Any) -> Any:
        contents = wire_contents(arguments["contents"])
        if contents is None:
            return await stream(**arguments)
        hand_over(contents)
        config: dict[str, Any] = arguments["config"]
        http_options = {**config["http_options"], "extra_body": {"contents": contents}}
        # The client calls no functions here, and would copy the options deeply for the case that it did.
        config = {**config, "http_options": http_options, "automatic_function_calling": {"disable": True}}
        return await stream(**{**arguments, "contents": [*_STAND_IN], "config": config})

    models.generate_content_stream = stream_wire_contents


def wire_contents(contents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """Return contents as they are on the wire; None if a part has a field that has no name here."""
    parts = [part for content in contents for part in content["parts"]]
    if any(field not in _PART_FIELDS for part in parts for field in part):
        return None
    return [{**content, "parts": [_part(part) for part in content["parts"]]} for content in contents]


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    return {_PART_FIELDS[field]: _encoded(value) for field, value in part.items()}


def _encoded(value: Any) -> Any:
    """Return a value with its bytes as text."""
    if isinstance(value, bytes):
        return urlsafe_b64encode(value).decode()
    if isinstance(value, dict):
        return {name: _encoded(one) for name, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_encoded(one) for one in cast("list[Any]", value)]
    return value
