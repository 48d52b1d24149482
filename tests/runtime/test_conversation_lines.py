"""Messages of a conversation are built once each (R4), and are those that are built of all entries at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callboard.contracts.ports.model import ImageContent, ModelMessage, TextContent
from callboard.runtime.conversation_lines import ConversationLines, Entry
from callboard.runtime.shown import Pinned, without_images

NOTHING = ModelMessage(role="user", content=())


def said(text: str) -> ModelMessage:
    image = (ImageContent(b"png", "image/png"),) if text == "image" else ()
    return ModelMessage(role="user", content=(TextContent(text), *image))


def pins(hashes: list[str]) -> tuple[Pinned, ...]:
    return tuple(Pinned(f"ref{at}", hash, (TextContent(hash),)) for at, hash in enumerate(hashes))


CHANGES = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(("hello", "image"))),
    st.tuples(st.just("pin"), st.lists(st.sampled_from("ab"), min_size=1, max_size=2)),
    st.tuples(st.just("change"), st.sampled_from(("more", "image"))),
    st.tuples(st.just("drop"), st.integers(1, 3)),
    st.tuples(st.just("read"), st.booleans()),
)


@given(st.lists(CHANGES, max_size=30))
def test_r4_whatever_changes_between_two_calls_the_messages_are_those_of_all_entries(
    changes: list[tuple[str, object]],
) -> None:
    lines, entries = ConversationLines(), list[Entry]()
    for kind, value in changes:
        match kind, value:
            case "say", str() as text:
                entries.append(Entry(0, 0, said(text)))
            case "pin", list() as hashes:
                entries.append(Entry(0, 0, NOTHING, pins=pins(hashes)))
            case "change", str() as text if entries and not entries[-1].pins:
                lines.change_last(entries[-1])
                entries[-1].message = said(text)
            case "drop", int() as count:
                del entries[:count]
                lines.reset()
            case "read", bool() as plain:
                anew = ConversationLines().build(entries)[1]
                assert lines.build(entries)[1] == anew
                if plain:
                    assert lines.build_plain(entries) == [without_images(one) for one in anew]
            case _:
                pass
