"""Costs of a long conversation's first request in clients and garbage collector (R4, R8)."""

from __future__ import annotations

import gc
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from callboard.contracts.ports.model import ReasoningContent, TextContent, ToolCallContent, ToolResultContent
from callboard.models.wire import Endpoint, Format
from callboard.models.wire.formats.google import convert_contents
from callboard.models.wire.history.body import Capture
from callboard.models.wire.history.rounds import Messages
from callboard.models.wire.wire import Wire
from tests.models.requests import make_call, make_message, make_result

#: The modules of each format's client that handle a request.
CLIENTS: dict[Format, tuple[str, ...]] = {
    "openai-compatible": ("openai",),
    "openai": ("openai",),
    "anthropic": ("anthropic",),
    "google": tuple(f"google.genai.{name}" for name in ("models", "types", "_common", "_transformers", "_api_client")),
}
#: Functions that run when the collector ends clients of other tests.
ENDS = frozenset({"__del__", "close", "aclose", "is_closed"})


def conversation(rounds: int) -> Messages:
    return tuple(
        message
        for number in range(rounds)
        for message in (
            make_message("user", f"question {number}"),
            make_message("assistant", make_call(f"call_{number}", "Read", json.dumps({"path": str(number)}))),
            make_result(f"call_{number}", "Read", "text"),
            make_message("assistant", "an answer"),
        )
    )


def wire(format: Format) -> Wire:
    return Wire(Endpoint(provider="mock", base_url="http://127.0.0.1:9/v1", format=format), "m", images=True)


@contextmanager
def count_calls(modules: tuple[str, ...]) -> Iterator[Counter[str]]:
    """Count the calls of each function in the modules and their submodules."""
    counter: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        module: str = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith(modules) and frame.f_code.co_name not in ENDS:
            counter[f"{module}.{frame.f_code.co_qualname}"] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield counter
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize("built", [False, True], ids=["encoded", "built"])
@pytest.mark.parametrize("format", CLIENTS)
async def test_r8_the_work_of_a_client_does_not_depend_on_the_length_of_the_conversation(
    format: Format, built: bool
) -> None:
    model = wire(format)
    await model.rehearse()
    counts: list[Counter[str]] = []
    for rounds in (1, 40):
        with count_calls(CLIENTS[format]) as count:
            assert len(await model._capture(conversation(rounds), Capture(built=built))) == 4 * rounds
        counts.append(count)
    # A counted request shows that counting works.
    assert any(name.endswith("._build_request") for name in counts[0]) is built
    if not (built and format == "anthropic"):
        assert counts[0] == counts[1]


@pytest.mark.parametrize("format", CLIENTS)
async def test_r8_a_rehearsal_has_the_client_build_a_request(format: Format) -> None:
    """Otherwise the first request would build it on the event loop."""
    model = wire(format)
    with count_calls(CLIENTS[format]) as count:
        await model.rehearse()
    assert any(name.endswith("._build_request") for name in count)


async def test_r8_contents_with_an_unlisted_field_go_through_the_client() -> None:
    model = wire("google")
    library: Any = model._model
    bodies: list[Any] = []

    async def note(request: Any) -> None:
        bodies.append(json.loads(request.content))
        raise OSError("not sent")

    model._http.event_hooks = {"request": [note]}
    contents = [{"role": "user", "parts": [{"file_data": {"file_uri": "https://a", "mime_type": "text/plain"}}]}]
    assert convert_contents(contents) is None
    with pytest.raises(OSError, match="not sent"):
        await anext(
            await library.client.aio.models.generate_content_stream(
                model="m", contents=contents, config={"http_options": {"headers": {}}}
            )
        )
    assert bodies[0]["contents"][0]["parts"] == [{"fileData": {"file_uri": "https://a", "mime_type": "text/plain"}}]


def test_r8_the_garbage_collector_does_not_track_a_conversation() -> None:
    """A full collection visits each object that it tracks, at once."""
    messages = (
        make_message("user", TextContent("a")),
        make_message("assistant", ReasoningContent("b", "seal"), ToolCallContent("c", "Read", "{}")),
        make_message("tool", ToolResultContent("c", "Read", "d")),
    )
    # A collection stops tracking tuples without tracked items.
    gc.collect()
    contents = [message.content for message in messages]
    parts = [part for content in contents for part in content]
    assert not [item for item in (messages, *messages, *contents, *parts) if gc.is_tracked(item)]
