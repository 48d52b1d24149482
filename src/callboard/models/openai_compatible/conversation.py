"""The conversation in the library's shapes, which become the roles and fields of the wire format."""

from __future__ import annotations

from typing import assert_never

from pydantic_ai import messages as lib
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModelSettings
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

#: The fields of an answer that reasoning comes in, `content` standing for tags inside the text. The name of the field is
#: kept as the signature, since a server takes reasoning back only the way it gave it.
REASONING_FIELDS = frozenset({"reasoning", "reasoning_content", "content"})


def messages_of(request: ModelRequest, provider: str) -> list[lib.ModelMessage]:
    """The prompt layers as one system message (strict servers take no second one), then the conversation."""
    system = "\n\n".join(layer for layer in request.system if layer)
    opening: list[lib.ModelMessage] = [lib.ModelRequest(parts=[lib.SystemPromptPart(system)])] if system else []
    return [*opening, *(_message(one, provider) for one in request.messages)]


def parameters_of(request: ModelRequest) -> ModelRequestParameters:
    """The tools as the model is told of them, with their schemas as they are."""
    return ModelRequestParameters(
        function_tools=[
            # Left to itself the library rewrites a schema to OpenAI's strict dialect, which other servers don't know.
            ToolDefinition(
                name=tool.name, description=tool.description, parameters_json_schema=tool.schema, strict=False
            )
            for tool in request.tools
        ]
    )


def settings_of(request: ModelRequest) -> OpenAIChatModelSettings:
    """Only what the request asks for; everything else is the server's default."""
    return OpenAIChatModelSettings(parallel_tool_calls=False) if request.one_call else OpenAIChatModelSettings()


def _message(message: ModelMessage, provider: str) -> lib.ModelMessage:
    match message.role:
        case "user":
            text = "\n\n".join(part.text for part in message.content if isinstance(part, TextContent))
            return lib.ModelRequest(parts=[lib.UserPromptPart(text)])
        case "tool":
            return lib.ModelRequest(
                parts=[_result(part) for part in message.content if isinstance(part, ToolResultContent)]
            )
        case "assistant":
            parts = [_answer_part(part, provider) for part in message.content]
            return lib.ModelResponse(parts=[part for part in parts if part is not None])
        case _:
            assert_never(message.role)


def _result(part: ToolResultContent) -> lib.ToolReturnPart:
    # Marked as failed, the library would wrap the text; what is in it already says how the call ended.
    return lib.ToolReturnPart(part.tool, part.text, tool_call_id=part.call_id)


def _answer_part(part: Content, provider: str) -> lib.ModelResponsePart | None:
    match part:
        case TextContent():
            return lib.TextPart(part.text)
        case ReasoningContent():
            # Another provider's reasoning would arrive as text that the model takes for its own answer.
            if part.signature not in REASONING_FIELDS:
                return None
            return lib.ThinkingPart(part.text, id=part.signature, provider_name=provider)
        case ToolCallContent():
            return lib.ToolCallPart(part.tool, part.arguments, tool_call_id=part.call_id)
        case ToolResultContent() | ImageContent():
            return None
        case _:
            assert_never(part)
