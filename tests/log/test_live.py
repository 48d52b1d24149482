"""The live feed: facts and partial texts in one order for followers in the same process."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator

import pytest

from callboard.contracts.facts.message import MessageText
from callboard.contracts.live import Cursor, Partial, build_partial_key
from callboard.contracts.ports.live import LiveFacts, LiveFeed, LiveGap, LiveItem, LivePiece
from callboard.contracts.ports.store import Head
from callboard.contracts.record import Record
from callboard.log import live
from callboard.log.live import InProcessLiveFeed
from callboard.log.memory import MemoryStore

from .samples import SCOPE, STREAM, batch, fill, frame, text_fact

ENDS = (build_partial_key("text", SCOPE),)


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    store = MemoryStore()
    yield store
    await store.close()


@pytest.fixture
def feed(store: MemoryStore) -> LiveFeed:
    return InProcessLiveFeed(store.facts.read_head)


async def append(store: MemoryStore, feed: LiveFeed, *texts: str, ends: tuple[str, ...] = ()) -> tuple[Record, ...]:
    """Append facts like the writer: first durable, then live."""
    end = (await store.facts.read_head(STREAM)).sequence
    records = await store.facts.append(batch(end, *(text_fact(text) for text in texts)))
    feed.publish_facts(STREAM, records, ends)
    return records


async def take(following: AsyncIterator[tuple[LiveItem, ...]]) -> tuple[LiveItem, ...]:
    async with asyncio.timeout(10):
        return await anext(following)


async def test_a_follower_receives_facts_and_frames_in_order(store: MemoryStore, feed: LiveFeed) -> None:
    """Design rule: the cursor counts live frames since the newest fact."""
    await fill(store, 2)
    following = feed.follow(STREAM)
    assert await take(following) == (LiveGap(Cursor(2), ()),)

    first = await append(store, feed, "three", "four")
    assert feed.publish_frame(STREAM, frame("Hel")) == Cursor(4, 1)
    assert feed.publish_frame(STREAM, frame("{", kind="arguments", tool="Read")) == Cursor(4, 2)
    second = await append(store, feed, "five", ends=ENDS)
    assert feed.publish_frame(STREAM, frame("x", step=2)) == Cursor(5, 1)

    assert await take(following) == (
        LiveFacts(Cursor(4), first),
        LivePiece(Cursor(4, 1), frame("Hel")),
        LivePiece(Cursor(4, 2), frame("{", kind="arguments", tool="Read")),
        LiveFacts(Cursor(5), second),
        LivePiece(Cursor(5, 1), frame("x", step=2)),
    )


async def test_waiting_pieces_of_a_part_are_joined(store: MemoryStore, feed: LiveFeed) -> None:
    await append(store, feed, "one")
    following = feed.follow(STREAM)
    await take(following)

    for at, text in enumerate(("abc", "def", "ghi")):
        feed.publish_frame(STREAM, frame(text, at * 3))
    feed.publish_frame(STREAM, frame("other", step=2))
    feed.publish_frame(STREAM, frame("jkl", 9))

    assert await take(following) == (
        LivePiece(Cursor(1, 3), frame("abcdefghi")),
        LivePiece(Cursor(1, 4), frame("other", step=2)),
        LivePiece(Cursor(1, 5), frame("jkl", 9)),
    )


async def test_a_late_follower_receives_the_text_so_far(store: MemoryStore, feed: LiveFeed) -> None:
    """Design rule: a late viewer receives the text so far, then frames, each once."""
    await append(store, feed, "one")
    feed.publish_frame(STREAM, frame("Hello "))
    feed.publish_frame(STREAM, frame("wor", 6))
    feed.publish_frame(STREAM, frame("{", kind="arguments", tool="Read"))

    late = feed.follow(STREAM)
    text = Partial(kind="text", scope=SCOPE, text="Hello wor")
    arguments = Partial(kind="arguments", scope=SCOPE, text="{", tool="Read")
    assert await take(late) == (LiveGap(Cursor(1, 3), (text, arguments)),)

    feed.publish_frame(STREAM, frame("ld", 9))
    assert await take(late) == (LivePiece(Cursor(1, 4), frame("ld", 9)),)
    records = await append(store, feed, "Hello world", ends=ENDS)
    assert await take(late) == (LiveFacts(Cursor(2), records),)
    assert await take(feed.follow(STREAM)) == (LiveGap(Cursor(2), (arguments,)),)


async def test_a_follower_continues_from_a_cursor_within_the_ring(store: MemoryStore, feed: LiveFeed) -> None:
    """COM-14"""
    await append(store, feed, "one")
    staying = feed.follow(STREAM)
    await take(staying)
    facts = await append(store, feed, "two", "three", "four")
    feed.publish_frame(STREAM, frame("a"))
    feed.publish_frame(STREAM, frame("b", 1))

    piece = LivePiece(Cursor(4, 2), frame("ab"))
    assert await take(feed.follow(STREAM, Cursor(1))) == (LiveFacts(Cursor(4), facts), piece)
    assert await take(feed.follow(STREAM, Cursor(3))) == (LiveFacts(Cursor(4), facts[2:]), piece)
    assert await take(feed.follow(STREAM, Cursor(4, 1))) == (LivePiece(Cursor(4, 2), frame("b", 1)),)
    waiting = asyncio.ensure_future(anext(feed.follow(STREAM, Cursor(4, 2))))
    await asyncio.sleep(0)
    feed.publish_frame(STREAM, frame("c", 2))
    async with asyncio.timeout(10):
        assert await waiting == (LivePiece(Cursor(4, 3), frame("c", 2)),)


async def test_items_that_every_follower_received_are_dropped(store: MemoryStore, feed: LiveFeed) -> None:
    """R8: an idle stream with followers has no facts in memory."""
    await append(store, feed, "one")
    quick, slow = feed.follow(STREAM), feed.follow(STREAM)
    await take(quick)
    await take(slow)
    first = await append(store, feed, "two")
    assert await take(quick) == (LiveFacts(Cursor(2), first),)
    second = await append(store, feed, "three")
    assert await take(quick) == (LiveFacts(Cursor(3), second),)
    returning = feed.follow(STREAM, Cursor(1))
    assert await take(returning) == (LiveFacts(Cursor(2), first), LiveFacts(Cursor(3), second))
    await returning.aclose()

    assert await take(slow) == (LiveFacts(Cursor(2), first), LiveFacts(Cursor(3), second))
    third = await append(store, feed, "four")
    assert [await take(quick), await take(slow)] == [(LiveFacts(Cursor(4), third),)] * 2
    await append(store, feed, "five")
    assert await take(feed.follow(STREAM, Cursor(1))) == (LiveGap(Cursor(5), ()),)


@pytest.mark.parametrize("cursor", [Cursor(0), Cursor(2, 1), Cursor(4, 9), Cursor(9)], ids=str)
async def test_an_unknown_cursor_gets_a_gap(store: MemoryStore, feed: LiveFeed, cursor: Cursor) -> None:
    """Design rule: an unknown cursor gets an explicit gap."""
    await append(store, feed, "one")
    staying = feed.follow(STREAM)
    await take(staying)
    await append(store, feed, "two", "three", "four")
    feed.publish_frame(STREAM, frame("a"))

    assert await take(feed.follow(STREAM, cursor)) == (
        LiveGap(Cursor(4, 1), (Partial(kind="text", scope=SCOPE, text="a"),)),
    )


@pytest.mark.parametrize("bound", ["MAX_ITEMS", "MAX_CHARS"])
async def test_a_slow_follower_gets_a_gap_and_continues(
    store: MemoryStore, feed: LiveFeed, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(live, bound, 10)
    await append(store, feed, "one")
    slow, quick = feed.follow(STREAM), feed.follow(STREAM)
    await take(slow)
    await take(quick)

    text = ""
    for _ in range(30):
        feed.publish_frame(STREAM, frame("ab", len(text)))
        text += "ab"
        assert len(await take(quick)) == 1

    assert await take(slow) == (LiveGap(Cursor(1, 30), (Partial(kind="text", scope=SCOPE, text=text),)),)
    feed.publish_frame(STREAM, frame("c", 60))
    assert await take(slow) == await take(quick) == (LivePiece(Cursor(1, 31), frame("c", 60)),)


async def test_a_new_stream_is_followed_without_a_read(store: MemoryStore) -> None:
    """A read is a hop to another thread and back."""

    async def read_head(stream: str) -> Head:
        raise AssertionError(f"the end of {stream} was read")

    feed = InProcessLiveFeed(read_head)
    feed.begin(STREAM)
    following = feed.follow(STREAM)
    assert await take(following) == (LiveGap(Cursor(0), ()),)

    records = await append(store, feed, "one", "two")

    assert await take(following) == (LiveFacts(Cursor(2), records),)


async def test_known_facts_are_ignored(store: MemoryStore, feed: LiveFeed) -> None:
    records = await fill(store, 3)
    following = feed.follow(STREAM)
    assert await take(following) == (LiveGap(Cursor(3), ()),)

    feed.publish_facts(STREAM, records)
    more = await append(store, feed, "four")
    feed.publish_facts(STREAM, more)

    assert await take(following) == (LiveFacts(Cursor(4), more),)


async def test_a_frame_with_a_wrong_offset_is_rejected(store: MemoryStore, feed: LiveFeed) -> None:
    records = await fill(store, 3)
    with pytest.raises(ValueError, match="before its facts"):
        feed.publish_frame(STREAM, frame("a"))
    feed.publish_facts(STREAM, records[:1])
    feed.publish_frame(STREAM, frame("abc"))
    for offset in (0, 2, 4):
        with pytest.raises(ValueError, match="the part has 3"):
            feed.publish_frame(STREAM, frame("d", offset))
    assert feed.publish_frame(STREAM, frame("d", 3)) == Cursor(1, 2)


async def test_missing_facts_lead_to_a_gap(store: MemoryStore, feed: LiveFeed) -> None:
    records = await fill(store, 4)
    feed.publish_facts(STREAM, records[:1])
    following = feed.follow(STREAM)
    assert await take(following) == (LiveGap(Cursor(1), ()),)
    feed.publish_frame(STREAM, frame("abc"))

    feed.publish_facts(STREAM, records[3:])

    partial = Partial(kind="text", scope=SCOPE, text="abc")
    assert await take(following) == (LiveGap(Cursor(4), (partial,)),)
    feed.publish_frame(STREAM, frame("d", 3))
    assert await take(following) == (LivePiece(Cursor(4, 1), frame("d", 3)),)


async def test_facts_during_a_subscription_are_neither_lost_nor_repeated(store: MemoryStore) -> None:
    records = await fill(store, 2)
    requested, answer = asyncio.Event(), asyncio.Event()

    async def head(stream: str) -> Head:
        head = await store.facts.read_head(stream)
        requested.set()
        await answer.wait()
        return head

    feed = InProcessLiveFeed(head)
    arriving = asyncio.ensure_future(anext(following := feed.follow(STREAM)))
    await requested.wait()
    more = await store.facts.append(batch(2, text_fact("three")))
    feed.publish_facts(STREAM, more)
    answer.set()

    async with asyncio.timeout(10):
        assert await arriving == (LiveGap(Cursor(3), ()),)
    last = await append(store, feed, "four")
    assert await take(following) == (LiveFacts(Cursor(4), last),)
    assert len(records) == 2


async def test_a_stream_without_followers_has_no_ring(store: MemoryStore) -> None:
    """Design numbers: waiting sessions use almost no memory."""
    feed = InProcessLiveFeed(store.facts.read_head)
    following = feed.follow(STREAM)
    await take(following)
    await append(store, feed, "one")
    feed.publish_frame(STREAM, frame("a"))
    await following.aclose()
    assert len(feed._rings[STREAM].items) == 0
    await append(store, feed, "two", ends=ENDS)

    assert feed._rings == {}


async def test_followers_of_any_speed_reach_the_same_view(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """COM-14; Design rule: the view after the final equals the view made from facts alone."""
    monkeypatch.setattr(live, "MAX_ITEMS", 16)
    feed = InProcessLiveFeed(store.facts.read_head)
    chance = random.Random(5)
    total = 401

    async def write() -> None:
        for step in range(2, total + 1):
            text = ""
            for _ in range(chance.randrange(6)):
                piece = "".join(chance.choices("abc", k=chance.randrange(1, 4)))
                feed.publish_frame(STREAM, frame(piece, len(text), step=step))
                text += piece
                await asyncio.sleep(0)
            await append(store, feed, text, ends=(f"run_a.{step}.text",))
            await asyncio.sleep(0)

    await append(store, feed, "")
    followers = [_Follower(feed, chance, patience) for patience in (1, 3, 50, 400)]
    async with asyncio.timeout(30):
        await asyncio.gather(write(), *(follower.follow(total) for follower in followers))
    assert [follower.texts for follower in followers] == [{}] * 4
    assert followers[-1].gaps > 1


class _Follower:
    """A viewer with the text so far of every part, which reconnects at random."""

    def __init__(self, feed: LiveFeed, chance: random.Random, patience: int) -> None:
        self.texts: dict[int, str] = {}
        self.gaps = 0
        self._feed = feed
        self._chance = chance
        self._patience = patience
        self._cursor: Cursor | None = None

    async def follow(self, total: int) -> None:
        while self._cursor is None or self._cursor.sequence < total:
            async with contextlib.aclosing(self._feed.follow(STREAM, self._cursor)) as following:
                while self._cursor is None or self._cursor.sequence < total:
                    for item in await anext(following):
                        self._take(item)
                    for _ in range(self._chance.randrange(self._patience)):
                        await asyncio.sleep(0)
                    if self._chance.random() < 0.1:
                        break

    def _take(self, item: LiveItem) -> None:
        match item:
            case LiveGap(cursor, partials):
                self.gaps += 1
                self.texts = {partial.scope.step: partial.text for partial in partials}
            case LiveFacts(cursor, records):
                for record in records:
                    assert self._cursor is not None
                    assert record.sequence == self._cursor.sequence + 1
                    assert isinstance(record.fact, MessageText)
                    assert self.texts.pop(record.sequence, "") == record.fact.content.text
                    self._cursor = Cursor(record.sequence)
            case LivePiece(cursor, piece):
                step = piece.scope.step
                assert len(self.texts.get(step, "")) == piece.offset
                assert self._cursor is not None
                assert cursor > self._cursor
                self.texts[step] = self.texts.get(step, "") + piece.text
        self._cursor = cursor
