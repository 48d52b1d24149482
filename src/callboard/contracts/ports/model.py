"""How a model is asked, whoever answers: a provider over HTTP, a scenario, or a search where no model is configured."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Literal, Protocol

import msgspec

from ..errors import Code
from ..facts.model import Limit, PriceSource, StopReason

Role = Literal["user", "assistant", "tool"]


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as the model is told of it. `schema` is the JSON Schema of the arguments object."""

    name: str
    description: str
    schema: dict[str, Any]


# A conversation is thousands of messages that hold no cycle: the collector does not visit them (`gc=False`), which would
# take it milliseconds at once. An image is visited, since weak references to it are kept.
class TextContent(msgspec.Struct, frozen=True, tag="text", gc=False):
    text: str


class ImageContent(msgspec.Struct, frozen=True, tag="image", weakref=True):
    """An image: its bytes and their media type, such as `image/png`. Of the person's, or of a tool's result."""

    data: bytes
    media: str


class ReasoningContent(msgspec.Struct, frozen=True, tag="reasoning", gc=False):
    text: str
    signature: str = ""


class ToolCallContent(msgspec.Struct, frozen=True, tag="tool_call", gc=False):
    """A call the assistant made earlier. `arguments` is JSON text, `signature` what the provider wants back with it."""

    call_id: str
    tool: str
    arguments: str
    signature: str = ""


class ToolResultContent(msgspec.Struct, frozen=True, tag="tool_result", gc=False):
    """What a call came to. `failed` covers refused, cancelled and lost calls as well; the text says which."""

    call_id: str
    tool: str
    text: str
    failed: bool = False
    images: tuple[ImageContent, ...] = ()


Content = TextContent | ImageContent | ReasoningContent | ToolCallContent | ToolResultContent


class ModelMessage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One message of the conversation, with its contents in order."""

    role: Role
    content: tuple[Content, ...]


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a model. `system` are the prompt layers in order. `one_call` asks for at most one tool call.

    `thread` is the conversation that `messages` belongs to; what a later call of it repeats need not be encoded again.
    `session`, `agent`, `iteration` and `attempt` identify the call to models that play a scenario: `agent` is the name of
    the agent's definition, `iteration` counts the model calls of the run and `attempt` the tries of this call, both from 1.
    `begins` is the index of the message that the run began with, None where it was asked nothing or nobody says.
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
    """A piece of text. `index` orders the parts of the answer: the same index continues the same part."""

    index: int
    text: str


class ReasoningDelta(msgspec.Struct, frozen=True):
    index: int
    text: str
    signature: str = ""


class ToolCallDelta(msgspec.Struct, frozen=True):
    """A piece of a tool call. `tool`, `call_id` and `signature` come with the first piece that knows them; `arguments` is
    JSON text."""

    index: int
    call_id: str = ""
    tool: str = ""
    arguments: str = ""
    signature: str = ""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens as told by the provider; None where it told nothing. `amount` is in US dollars, as `CostRecorded` has it."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    amount: float | None = None
    source: PriceSource = ""


class Quota(msgspec.Struct, frozen=True, kw_only=True):
    """What the provider said of its limits with this answer. `exhausted` says that waiting does not help."""

    limits: tuple[Limit, ...] = ()
    retry_after_ms: int | None = None
    exhausted: bool = False


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """The last event of a complete answer. A stream that ends without it was cut. `provider_reason` is the provider's own word
    for how it ended."""

    stop_reason: StopReason
    provider_reason: str = ""
    usage: Usage = Usage()
    response_id: str = ""
    quota: Quota | None = None


ModelEvent = TextDelta | ReasoningDelta | ToolCallDelta | Finished


class ModelFailure(Exception):
    """An attempt failed. `retryable` says whether the same request may succeed later; `retry_after` is in seconds. `quota` is
    what the provider said of its limits with the refusal. `is_local` says that nothing listens at an address of this machine,
    which a person changes and waiting does not."""

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
    """A model that can be asked. `provider` and `name` stand in the facts; `label` is what a person reads. `window` is how many
    tokens it takes, None where nobody said; `images` says whether it can be shown some."""

    provider: str
    name: str
    label: str
    window: int | None
    images: bool

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Asks once. Yields deltas and then `Finished`. Raises ModelFailure; closing the iterator ends the request."""
        ...


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """Which model a run asks: the candidates as (provider, model), the chosen one's index and why it was chosen. `fallbacks`
    are the indexes of those that are asked, in that order, where it fails for good; `excluded` says of each candidate why it
    cannot be asked, empty where it can, and is empty itself where all can."""

    candidates: tuple[tuple[str, str], ...]
    chosen: int
    reason: str
    fallbacks: tuple[int, ...] = ()
    excluded: tuple[str, ...] = ()


class Models(Protocol):
    """The models that are configured."""

    def route(self, wanted: str) -> Route:
        """The route for an agent that wants this model (empty: whatever is configured)."""
        ...

    def model(self, provider: str, name: str) -> Model:
        """The model of a route. Raises Refusal `model_unconfigured`."""
        ...


class ModelCatalogPort(Protocol):
    """What a person is told of models. The shapes are those of `contracts.commands.models`."""

    async def listed(self) -> Any:
        """What is configured and what is found beside it, as `ModelList`."""
        ...

    async def tested(self, name: str) -> Any:
        """What came of asking the model of that name, as `ModelTestResult`. Raises Refusal `unknown_model`."""
        ...
