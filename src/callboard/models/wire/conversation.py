"""The conversation in the library's shapes, which become the roles and fields of a wire format."""

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
from callboard.contracts.tool_names import model_name

from .images import Images
from .seal import opened

#: What every provider that takes images takes.
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_Shown = str | lib.BinaryContent


class Conversation:
    """How one model is told: `by` is its name as `PROVIDER/MODEL`, `system` the library's name of its provider, `images`
    what it can be shown of them; None where it can be shown none."""

    def __init__(self, by: str, system: str, *, images: Images | None) -> None:
        self._by = by
        self._system = system
        self._images = images

    def of(self, request: ModelRequest) -> list[lib.ModelMessage]:
        """The prompt layers as one system message (strict servers take no second one), then the conversation. What stands
        between two answers is one message: some providers want all results of an answer in one."""
        system = "\n\n".join(layer for layer in request.system if layer)
        told: list[lib.ModelMessage] = []
        opening: list[lib.ModelRequestPart] = [lib.SystemPromptPart(system)] if system else []
        for answers, group in groupby(request.messages, lambda one: one.role == "assistant"):
            if answers:
                if opening:
                    told.append(lib.ModelRequest(parts=opening))
                told.extend(self._answer(message) for message in group)
            else:
                told.append(lib.ModelRequest(parts=[*opening, *(part for one in group for part in self._asked(one))]))
            opening = []
        return told

    def _answer(self, message: ModelMessage) -> lib.ModelResponse:
        parts = [self._answer_part(part) for part in message.content]
        return lib.ModelResponse(parts=[part for part in parts if part is not None], provider_name=self._system)

    def _asked(self, message: ModelMessage) -> Iterable[lib.ModelRequestPart]:
        match message.role:
            case "user":
                shown = [self._shown(part) for part in message.content if isinstance(part, TextContent | ImageContent)]
                if all(isinstance(one, str) for one in shown):
                    yield lib.UserPromptPart("\n\n".join(one for one in shown if isinstance(one, str)))
                else:
                    yield lib.UserPromptPart(shown)
            case "tool":
                for part in message.content:
                    if isinstance(part, ToolResultContent):
                        yield self._result(part)
            case "assistant":
                return
            case _:
                assert_never(message.role)

    def _result(self, part: ToolResultContent) -> lib.ToolReturnPart:
        shown = [part.text, *(self._shown(image) for image in part.images)]
        if all(isinstance(one, str) for one in shown):
            text = "\n".join(one for one in shown if isinstance(one, str) and one)
            # Marked as failed, the library would wrap the text; what is in it already says how the call ended.
            return lib.ToolReturnPart(model_name(part.tool), text, tool_call_id=part.call_id)
        return lib.ToolReturnPart(model_name(part.tool), [one for one in shown if one != ""], tool_call_id=part.call_id)

    def _shown(self, part: TextContent | ImageContent) -> _Shown:
        if isinstance(part, TextContent):
            return part.text
        if self._images is not None and part.media in IMAGES:
            return self._images.content(part)
        why = "it is of a kind that this model does not take" if self._images else "this model takes no images"
        return f"[An image ({part.media}, {len(part.data)} bytes) was left out: {why}.]"

    def _answer_part(self, part: Content) -> lib.ModelResponsePart | None:
        match part:
            case TextContent():
                return lib.TextPart(part.text)
            case ReasoningContent():
                seal = opened(self._by, part.signature)
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
                seal = opened(self._by, part.signature)
                return lib.ToolCallPart(
                    model_name(part.tool),
                    part.arguments,
                    tool_call_id=part.call_id,
                    provider_name=self._system if seal is not None else None,
                    provider_details=seal.details if seal is not None else None,
                )
            case ToolResultContent() | ImageContent():
                return None
            case _:
                assert_never(part)


def parameters_of(request: ModelRequest) -> ModelRequestParameters:
    """The tools as the model is told of them, with their schemas as they are."""
    return ModelRequestParameters(
        function_tools=[
            # Left to itself the library rewrites a schema to OpenAI's strict dialect, which other servers don't know.
            ToolDefinition(
                name=model_name(tool.name),
                description=tool.description,
                parameters_json_schema=tool.schema,
                strict=False,
            )
            for tool in request.tools
        ]
    )
