"""Conversion of a conversation to the library's types."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import assert_never

from pydantic_ai import messages as lib
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from callboard.contracts.ports.model import (
    Content,
    ImageContent,
    ModelMessage,
    ModelRequest,
    ReasoningContent,
    TextContent,
    ToolCallContent,
    ToolResultContent,
)
from callboard.contracts.tool_names import to_model_name

from .images import Images
from .seal import decode_seal

#: Image types that every provider with images accepts.
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_UserContent = str | lib.BinaryContent


class Conversation:
    """Conversion for a model.

    Args:
        by: The model as `PROVIDER/MODEL`.
        system: The library's name of its provider.
        images: Encoded images; None for a model without images.
    """

    def __init__(self, by: str, system: str, *, images: Images | None) -> None:
        self._by = by
        self._system = system
        self._images = images

    def convert(self, request: ModelRequest) -> list[lib.ModelMessage]:
        """Convert the prompt layers to one system message, then the conversation.

        Strict servers accept one system message only. Messages between two responses become one, because some providers need
        all results of a response together.
        """
        system = "\n\n".join(layer for layer in request.system if layer)
        converted: list[lib.ModelMessage] = []
        opening: list[lib.ModelRequestPart] = [lib.SystemPromptPart(system)] if system else []
        for is_response, group in groupby(request.messages, lambda message: message.role == "assistant"):
            if is_response:
                if opening:
                    converted.append(lib.ModelRequest(parts=opening))
                converted.extend(self._convert_response(message) for message in group)
            else:
                parts = (part for message in group for part in self._convert_input(message))
                converted.append(lib.ModelRequest(parts=[*opening, *parts]))
            opening = []
        return converted

    def _convert_response(self, message: ModelMessage) -> lib.ModelResponse:
        parts = [self._convert_response_part(part) for part in message.content]
        return lib.ModelResponse(parts=[part for part in parts if part is not None], provider_name=self._system)

    def _convert_input(self, message: ModelMessage) -> Iterable[lib.ModelRequestPart]:
        match message.role:
            case "user":
                contents = [
                    self._convert_content(part)
                    for part in message.content
                    if isinstance(part, TextContent | ImageContent)
                ]
                texts = [content for content in contents if isinstance(content, str)]
                yield lib.UserPromptPart("\n\n".join(texts) if len(texts) == len(contents) else contents)
            case "tool":
                for part in message.content:
                    if isinstance(part, ToolResultContent):
                        yield self._convert_result(part)
            case "assistant":
                return
            case _:
                assert_never(message.role)

    def _convert_result(self, part: ToolResultContent) -> lib.ToolReturnPart:
        contents = [part.text, *(self._convert_content(image) for image in part.images)]
        contents = [content for content in contents if content != ""]
        texts = [content for content in contents if isinstance(content, str)]
        # Not marked as failed, because the library would wrap the text, which already describes the outcome.
        return lib.ToolReturnPart(
            to_model_name(part.tool),
            "\n".join(texts) if len(texts) == len(contents) else contents,
            tool_call_id=part.call_id,
        )

    def _convert_content(self, part: TextContent | ImageContent) -> _UserContent:
        if isinstance(part, TextContent):
            return part.text
        if self._images is not None and part.media in IMAGES:
            return self._images.make_part(part)
        reason = "this model takes no images of this type" if self._images else "this model takes no images"
        return f"[An image ({part.media}, {len(part.data)} bytes) was left out: {reason}.]"

    def _convert_response_part(self, part: Content) -> lib.ModelResponsePart | None:
        match part:
            case TextContent():
                return lib.TextPart(part.text)
            case ReasoningContent():
                seal = decode_seal(self._by, part.signature)
                if seal is None:
                    return None
                return lib.ThinkingPart(
                    part.text,
                    id=seal.id or None,
                    signature=seal.signature or None,
                    provider_name=self._system,
                    provider_details=seal.details or None,
                )
            case ToolCallContent():
                seal = decode_seal(self._by, part.signature)
                return lib.ToolCallPart(
                    to_model_name(part.tool),
                    part.arguments,
                    tool_call_id=part.call_id,
                    provider_name=self._system if seal is not None else None,
                    provider_details=seal.details if seal is not None else None,
                )
            case ToolResultContent() | ImageContent():
                return None
            case _:
                assert_never(part)


def build_parameters(request: ModelRequest) -> ModelRequestParameters:
    """Return the tools with unchanged schemas."""
    return ModelRequestParameters(
        function_tools=[
            # Otherwise the library rewrites a schema to OpenAI's strict dialect, which other servers reject.
            ToolDefinition(
                name=to_model_name(tool.name),
                description=tool.description,
                parameters_json_schema=tool.schema,
                strict=False,
            )
            for tool in request.tools
        ]
    )
