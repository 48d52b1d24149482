"""Ports of models: a provider over HTTP, a scenario, or a recording."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Literal, Protocol

import msgspec

from ..errors import Code
from ..facts.model import Limit, PriceSource, StopReason

Role = Literal["user", "assistant", "tool"]


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as the model sees it. `schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]


# A conversation has thousands of messages without cycles. The collector skips them (`gc=False`),
# because one pass over them would take milliseconds. It visits images, which have weak references.
class TextContent(msgspec.Struct, frozen=True, tag="text", gc=False):
    """Text of a message."""

    text: str


class ImageContent(msgspec.Struct, frozen=True, tag="image", weakref=True):
    """An image of a person or a tool's result, with its media type such as `image/png`."""

    data: bytes
    media: str


class ReasoningContent(msgspec.Struct, frozen=True, tag="reasoning", gc=False):
    """Reasoning of a model, with the provider's signature."""

    text: str
    signature: str = ""


class ToolCallContent(msgspec.Struct, frozen=True, tag="tool_call", gc=False):
    """An earlier call of the assistant.

    `arguments` is JSON text. `signature` is opaque and is sent back to the provider.
    """

    call_id: str
    tool: str
    arguments: str
    signature: str = ""


class ToolResultContent(msgspec.Struct, frozen=True, tag="tool_result", gc=False):
    """The result of a call. `failed` includes refused, cancelled and lost calls; the text shows which."""

    call_id: str
    tool: str
    text: str
    failed: bool = False
    images: tuple[ImageContent, ...] = ()


Content = TextContent | ImageContent | ReasoningContent | ToolCallContent | ToolResultContent


class ModelMessage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A message of the conversation, with its contents in order."""

    role: Role
    content: tuple[Content, ...]


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One model call.

    Attributes:
        system: Layers of the prompt, in order.
        one_call: Request at most one tool call.
        thread: Conversation of `messages`. What its later calls repeat is not encoded again.
        agent: Name of the agent's definition, for models that play a scenario.
        iteration: Number of the model call in its run, from 1.
        attempt: Number of the attempt at this call, from 1.
        begins: Index of the first message of the run; None if unknown.
    """

    model: str
    system: tuple[str, ...]
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    one_call: bool = False
    session: str = ""
    thread: str = ""
    agent: str = ""
    iteration: int = 1
    attempt: int = 1
    begins: int | None = None


class TextDelta(msgspec.Struct, frozen=True):
    """A piece of text. Pieces with equal `index` are one part."""

    index: int
    text: str


class ReasoningDelta(msgspec.Struct, frozen=True):
    """More text of the reasoning `index`."""

    index: int
    text: str
    signature: str = ""


class ToolCallDelta(msgspec.Struct, frozen=True):
    """A piece of a tool call.

    `tool`, `call_id` and `signature` are in the first piece that has them. `arguments` is JSON
    text.
    """

    index: int
    call_id: str = ""
    tool: str = ""
    arguments: str = ""
    signature: str = ""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens as the provider reports them; None if it does not. `amount` is in US dollars, as in `CostRecorded`."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    amount: float | None = None
    source: PriceSource = ""


class Quota(msgspec.Struct, frozen=True, kw_only=True):
    """Limits that the provider reported with this response. `exhausted`: waiting does not help."""

    limits: tuple[Limit, ...] = ()
    retry_after_ms: int | None = None
    exhausted: bool = False


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """The last event of a complete response.

    A stream without it was truncated. `provider_reason` is the provider's own stop reason.
    """

    stop_reason: StopReason
    provider_reason: str = ""
    usage: Usage = Usage()
    response_id: str = ""
    quota: Quota | None = None


ModelEvent = TextDelta | ReasoningDelta | ToolCallDelta | Finished


class ModelFailure(Exception):
    """Error of an attempt.

    Attributes:
        retryable: The same request may succeed later.
        retry_after: Seconds to wait before that.
        quota: Limits that the provider reported with the refusal.
        is_local: No server listens at an address of this machine. Waiting does not help.
    """

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        retryable: bool,
        retry_after: float | None = None,
        quota: Quota | None = None,
        is_local: bool = False,
    ) -> None:
        super().__init__(message)
        self.is_local = is_local
        self.quota = quota
        self.code: Code = code
        self.message = message
        self.retryable = retryable
        self.retry_after = retry_after


class Model(Protocol):
    """A model.

    `provider` and `name` are recorded in facts; `label` is for display. `window` is in tokens, None
    if unknown. `images`: it accepts images.
    """

    provider: str
    name: str
    label: str
    window: int | None
    images: bool

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Send one request. Yield deltas, then `Finished`. Closing the iterator ends the request.

        Raises:
            ModelFailure: The attempt failed.
        """
        ...


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """The route of a run: its candidates as (provider, model), the index of the chosen one, and the reason.

    `fallbacks` are indexes of the models that replace a failed one, in order. `excluded` has the
    reason for each unavailable candidate, empty if all are available.
    """

    candidates: tuple[tuple[str, str], ...]
    chosen: int
    reason: str
    fallbacks: tuple[int, ...] = ()
    excluded: tuple[str, ...] = ()


class Models(Protocol):
    """The configured models."""

    def choose_route(self, wanted: str) -> Route:
        """Return the route for an agent with this model; empty for the default."""
        ...

    def get_model(self, provider: str, name: str) -> Model:
        """Return the model of a route.

        Raises:
            Refusal: `model_unconfigured`.
        """
        ...


class ModelCatalogPort(Protocol):
    """The models for display. The answers are those of `contracts.commands.model`."""

    async def list_models(self) -> Any:
        """Return the configured models and the detected sources, as `ModelList`."""
        ...

    async def test_model(self, name: str) -> Any:
        """Send a test question to the model, and return its `ModelTestResult`.

        Raises:
            Refusal: `unknown_model`.
        """
        ...
