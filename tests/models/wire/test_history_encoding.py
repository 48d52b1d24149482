"""Bodies of requests, equal to the library's encoding of the whole conversation (R4)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from operator import attrgetter
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import BinaryContent

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
from callboard.models.wire import Endpoint, Format, images
from callboard.models.wire.conversation import Conversation
from callboard.models.wire.history import HistoryEncoder
from callboard.models.wire.history.body import FIELDS, RequestHook, Splice
from callboard.models.wire.history.rounds import Messages
from callboard.models.wire.images import Images
from callboard.models.wire.seal import encode_seal
from callboard.models.wire.wire import Wire
from tests.models.requests import READ, make_message

FORMATS: tuple[Format, ...] = get_args(Format)
BY = "mock/m"
#: Methods of the libraries' clients that the product replaces: the resource and its method.
REPLACED: dict[Format, tuple[str, str]] = {
    "openai-compatible": ("chat.completions", "create"),
    "openai": ("responses", "create"),
    "anthropic": ("beta.messages", "create"),
    "google": ("aio.models", "generate_content_stream"),
}
PNG = b"\x89PNG\r\n\x1a\n"


class _NoHistory(HistoryEncoder):
    async def encode(self, request: ModelRequest) -> tuple[Splice, Messages]:
        return Splice(), request.messages


class _PlainImages(Images):
    """Images that the library encodes."""

    def make_part(self, image: ImageContent) -> BinaryContent:
        return BinaryContent(image.data, media_type=image.media)


@pytest.fixture(autouse=True, scope="module")
def _slices() -> Iterator[None]:
    """Encode each image in several slices."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(images, "SLICE", 30)
        yield


class Bodies:
    """A model whose requests fail before they are sent. `sent` has their bodies."""

    def __init__(self, format: Format) -> None:
        endpoint = Endpoint(provider="mock", base_url="http://127.0.0.1:9/v1", format=format)
        self.wire = Wire(endpoint, "m", images=True)
        self._format: Format = format
        self.sent: list[dict[str, Any]] = []
        hook = RequestHook(FIELDS[format], self.wire._images.expand)

        async def take(request: Any) -> None:
            await hook(request)
            chunks = [chunk async for chunk in request.stream]
            assert sum(map(len, chunks)) == int(request.headers["content-length"])
            self.sent.append(json.loads(b"".join(chunks)))
            raise OSError("not sent")

        self.wire._http.event_hooks = {"request": [take]}

    async def spliced(self, request: ModelRequest) -> dict[str, Any]:
        """Return the body that the product sends."""
        return await self._body(request)

    async def whole(self, request: ModelRequest) -> dict[str, Any]:
        """Return the body that the library and its client build from all messages."""
        encoder, conversation = self.wire._history, self.wire._conversation
        self.wire._history = _NoHistory(encoder._encode)
        self.wire._conversation = Conversation(BY, self.wire._model.system, images=_PlainImages())
        try:
            with self._own_client():
                return await self._body(request)
        finally:
            self.wire._history, self.wire._conversation = encoder, conversation

    @contextmanager
    def _own_client(self) -> Iterator[None]:
        """Restore the client's own method."""
        resource, method = REPLACED[self._format]
        model: Any = self.wire._model
        fields = vars(attrgetter(resource)(model.client))
        replaced = fields.pop(method)
        try:
            yield
        finally:
            fields[method] = replaced

    async def _body(self, request: ModelRequest) -> dict[str, Any]:
        try:
            async for _ in self.wire.ask(request):
                pass
        except Exception:
            if not self.sent:
                raise
        return self.sent.pop()


def texts() -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)


def answers() -> st.SearchStrategy[ModelMessage]:
    call = st.builds(
        lambda text, seal: ToolCallContent(f"call_{text}", "Read", json.dumps({"a_path": text, "no": [None]}), seal),
        st.sampled_from("abcd"),
        # These bytes differ between the alphabets of base64.
        st.sampled_from(("", encode_seal(BY, None, None, {"thought_signature": "+/8="}))),
    )
    part = st.one_of(
        st.builds(TextContent, texts()),
        call,
        st.builds(ReasoningContent, texts()),
        st.builds(lambda text: ReasoningContent(text, encode_seal(BY, "rs_1", "c2ln", None)), texts()),
        st.builds(lambda text: ReasoningContent(text, encode_seal("other/m", "rs_1", "c2ln", None)), texts()),
    )
    return st.builds(lambda *content: make_message("assistant", *content), part, part)


def pictures() -> st.SearchStrategy[ImageContent]:
    # The last bytes differ between the alphabets of base64.
    return st.builds(
        lambda size: ImageContent(PNG + b"\xfb\xff\xfe" * size, "image/png"), st.sampled_from((0, 1, 7, 40))
    )


def inputs() -> st.SearchStrategy[ModelMessage]:
    content: st.SearchStrategy[Content] = st.one_of(st.builds(TextContent, texts()), pictures())
    result = st.builds(
        lambda name, text, failed, images: ToolResultContent(f"call_{name}", "Read", text, failed, images),
        st.sampled_from("abcd"),
        texts(),
        st.booleans(),
        st.lists(pictures(), max_size=2).map(tuple),
    )
    return st.one_of(
        st.builds(lambda *content: make_message("user", *content), content, content),
        st.builds(lambda tool_content: make_message("tool", tool_content), result),
    )


CONVERSATIONS = st.lists(st.one_of(answers(), inputs()), min_size=1, max_size=14)


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(messages=CONVERSATIONS, cuts=st.lists(st.integers(1, 14), max_size=3), front=st.integers(0, 6))
async def test_r4_any_conversation_equals_the_encoding_of_the_library(
    format: Format, messages: list[ModelMessage], cuts: list[int], front: int
) -> None:
    bodies = cached_bodies(format)
    everything = (make_message("user", "begin"), *messages, make_message("user", "end"))
    for cut in (*sorted(cuts), len(everything)):
        for messages_sent in (everything[:cut], everything[front:cut]):
            if not messages_sent or messages_sent[-1].role == "assistant":
                continue
            request = ModelRequest(
                model="m", system=("sys",), messages=messages_sent, tools=(READ,), session="s", thread="t"
            )
            assert await bodies.spliced(request) == await bodies.whole(request)


@cache
def cached_bodies(format: Format) -> Bodies:
    return Bodies(format)
