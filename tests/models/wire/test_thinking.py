"""Separation of reasoning in tags for any split into deltas (specification 1, check 5)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.contracts.ports.model import ReasoningContent, TextContent, TextDelta, ToolCallDelta
from callboard.models.wire.thinking import ThinkingSplitter
from tests.models.requests import join_parts, make_message, make_request, read_answer
from tests.models.servers import Exchange, connect_model

#: Answers of models, each with its reasoning and its text.
ANSWERS = [
    ("<think>hm, yes</think>It is so.", "hm, yes", "It is so."),
    ("<think>\nhm,\n\nyes\n</think>\n\nIt is so.", "hm,\n\nyes", "It is so."),
    (" \n<thinking>a < b </thought></thinking> x", "a < b </thought>", "x"),
    ("<Reasoning>Why?</REASONING>Because.", "Why?", "Because."),
    ("<think>one</think>\n<think>two</think>\nText </think> here", "one\n\ntwo", "Text </think> here"),
    ("<think></think>Text", "", "Text"),
    ("<think>never closed </thin", "never closed </thin", ""),
    ("<think>only</think>", "only", ""),
    ("  plain text", "", "  plain text"),
    ("Use <think>tags</think> like this.", "", "Use <think>tags</think> like this."),
    ("```html\n<think>code</think>\n```", "", "```html\n<think>code</think>\n```"),
    ("<think", "", "<think"),
    ("<thinker>no</thinker>", "", "<thinker>no</thinker>"),
    ("\n\n", "", "\n\n"),
    ("", "", ""),
]


def cut_text(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    return [text[start:end] for start, end in pairwise(places)]


def split_answer(pieces: list[str]) -> tuple[str, str]:
    splitter = ThinkingSplitter()
    deltas = [delta for piece in pieces for delta in splitter.split(TextDelta(0, piece))]
    parts = join_parts([*deltas, *splitter.finish()])
    assert [type(part) for part in parts] in ([], [TextContent], [ReasoningContent], [ReasoningContent, TextContent])
    reasoning = "".join(part.text for part in parts if isinstance(part, ReasoningContent))
    return reasoning, "".join(part.text for part in parts if isinstance(part, TextContent))


@pytest.mark.parametrize(("written", "reasoning", "text"), ANSWERS)
@given(cuts=st.lists(st.integers(1, 60), max_size=60))
def test_check_5_tags_are_separated_for_any_split_of_an_answer(
    written: str, reasoning: str, text: str, cuts: list[int]
) -> None:
    assert split_answer(cut_text(written, cuts)) == (reasoning, text)


TOKENS = st.sampled_from(
    ("<think>", "</think>", "<thinking>", "</thinking>", "<", ">", "think", " ", "\n", "a", "</", "`")
)


@given(tokens=st.lists(TOKENS, max_size=12), cuts=st.lists(st.integers(1, 60), max_size=60))
def test_check_5_any_split_of_a_text_has_the_same_result(tokens: list[str], cuts: list[int]) -> None:
    written = "".join(tokens)
    assert split_answer(cut_text(written, cuts)) == split_answer([written] if written else [])


def test_check_5_reasoning_is_streamed() -> None:
    splitter = ThinkingSplitter()
    streamed = [
        list(splitter.split(TextDelta(0, piece))) for piece in ("<thi", "nk>one", " two", "</think>", "\n\nYes", ".")
    ]
    assert [
        [(type(delta).__name__, delta.index, getattr(delta, "text", "")) for delta in deltas] for deltas in streamed
    ] == [
        [],
        [("ReasoningDelta", 0, "one")],
        [("ReasoningDelta", 0, " two")],
        [],
        [("TextDelta", 1, "Yes")],
        [("TextDelta", 1, ".")],
    ]


def test_check_5_a_tool_call_after_reasoning_keeps_its_position() -> None:
    splitter = ThinkingSplitter()
    deltas = [TextDelta(0, "<think>a</think>\n"), ToolCallDelta(1, "c1", "Read", "{}")]
    split = [part for delta in deltas for part in splitter.split(delta)]
    assert [(type(part).__name__, part.index) for part in [*split, *splitter.finish()]] == [
        ("ReasoningDelta", 0),
        ("ToolCallDelta", 2),
    ]


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
async def test_check_5_tags_of_a_compatible_server_are_never_sent_back_as_text(size: int) -> None:
    written = "<think>\nThe question is simple.\n</think>\n\nIt is 42. <think> is a tag."

    async def play(exchange: Exchange) -> None:
        await exchange.begin_stream()
        for start in range(0, len(written), size):
            await exchange.text(written[start : start + size])
        await exchange.text("", finish_reason="stop")
        await exchange.end_stream()

    async with connect_model(play) as (model, server):
        parts, _ = await read_answer(model, make_request("go"))
        await read_answer(model, make_request("go", make_message("assistant", *parts), "more"))
        sent = server.exchanges[1].body["messages"]

    assert parts == [ReasoningContent("The question is simple."), TextContent("It is 42. <think> is a tag.")]
    assert [message["content"] for message in sent] == ["go", "It is 42. <think> is a tag.", "more"]
