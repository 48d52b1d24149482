"""Incremental building of a conversation's messages (R4)."""

from __future__ import annotations

from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from callboard.contracts.ports.model import ImageContent, ModelMessage, TextContent
from callboard.contracts.ports.store import BlobStore
from callboard.contracts.record import Record
from callboard.runtime.prompts.content_renderer import Pinned, replace_images
from callboard.runtime.prompts.conversation_lines import ConversationLines, Entry
from callboard.runtime.prompts.history import History

NOTHING = ModelMessage(role="user", content=())


def build_message(text: str) -> ModelMessage:
    image = (ImageContent(b"png", "image/png"),) if text == "image" else ()
    return ModelMessage(role="user", content=(TextContent(text), *image))


def pins(hashes: list[str]) -> tuple[Pinned, ...]:
    return tuple(Pinned(f"ref{at}", hash, (TextContent(hash),)) for at, hash in enumerate(hashes))


CHANGES = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(("hello", "image"))),
    st.tuples(st.just("pin"), st.lists(st.sampled_from("ab"), min_size=1, max_size=2)),
    st.tuples(st.just("change"), st.sampled_from(("more", "image"))),
    st.tuples(st.just("drop"), st.integers(1, 3)),
    st.tuples(st.just("leave"), st.integers(0, 5)),
)
#: Reads after each change: nothing, the messages, or also the messages without images.
READS = st.sampled_from((0, 1, 2))


@settings(max_examples=300)
@given(st.lists(st.tuples(CHANGES, READS), max_size=30))
def test_r4_incremental_messages_equal_a_full_build(
    changes: list[tuple[tuple[str, object], int]],
) -> None:
    lines, entries = ConversationLines(), list[Entry]()
    for (kind, value), reads in changes:
        match kind, value:
            case "say", str() as text:
                entries.append(Entry(0, 0, build_message(text)))
            case "pin", list() as hashes:
                entries.append(Entry(0, 0, NOTHING, pins=pins(hashes)))
            case "change", str() as text if entries and not entries[-1].pins:
                lines.change_last(entries[-1])
                entries[-1] = replace(entries[-1], message=build_message(text))
            case "drop", int() as count:
                lines.drop_front(count)
                del entries[:count]
            case "leave", int() as at:
                del entries[at : at + 1]
                lines.reset()
            case _:
                pass
        if reads:
            anew = ConversationLines().build(entries)[1]
            assert lines.build(entries)[1] == anew
            if reads > 1:
                assert lines.build_plain(entries) == [replace_images(entry) for entry in anew]


async def _nothing(sequence: int) -> Record | None:
    del sequence


def _read_nothing() -> History:
    return History("thread", cast("BlobStore", None), _nothing)


@given(
    st.lists(st.integers(1, 5), max_size=8).map(sorted),
    st.lists(st.integers(0, 8), max_size=2),
    st.integers(0, 5),
    st.booleans(),
)
def test_r4_omitting_turns_keeps_the_others(turns: list[int], beside: list[int], after: int, read: bool) -> None:
    """An excerpt of the current turn stays, even before older turns."""
    context = _read_nothing()
    context._turn = max(turns, default=1)
    context._entries = [Entry(at, turn, build_message(f"{at}")) for at, turn in enumerate(turns)]
    for at in beside:
        context._entries.insert(
            at, Entry(0, context._turn, build_message(f"beside {at}"), is_input=True, is_excerpt=True)
        )
    stays = [entry.message for entry in context._entries if entry.turn > after or entry.turn == context._turn]
    if read:
        context.build_messages()
    context._drop_turns(after)
    assert context.build_messages() == tuple(stays)
