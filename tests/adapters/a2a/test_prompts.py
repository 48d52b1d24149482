"""One prompt of an agent elsewhere, against the official SDK's server: what it tells, and what becomes of what breaks off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec
import pytest
from a2a.helpers import new_data_part, new_raw_part, new_text_part, new_url_part

from callboard.adapters.a2a import A2aAgents, Pace
from callboard.contracts.content import BlobRef, Text, blob_of
from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.facts.remote import RemotePart
from callboard.contracts.ports.external import (
    ArtifactReported,
    ExternalFailure,
    NeedReported,
    PromptEnded,
    RemoteEvent,
    RemoteSession,
    TaskReported,
    TextReported,
)

from .peer import QUICK, Peer, Task, holding, peer

#: Every way in which an agent may be spoken to.
WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"streaming": False},
    {"binding": "HTTP+JSON"},
    {"version": "0.3.0"},
    {"version": "0.3.0", "streaming": False},
)
NAMES = ("v1.0", "v1.0 polled", "v1.0 over REST", "v0.3", "v0.3 polled")


@asynccontextmanager
async def reached(there: Peer, pace: Pace = QUICK, resume: str = "") -> AsyncIterator[RemoteSession]:
    session = await A2aAgents(pace).reach(there.url, resume=resume)
    try:
        yield session
    finally:
        await session.close()


async def every(session: RemoteSession, text: str = "Do it.", **more: Any) -> list[RemoteEvent]:
    """All that comes, without the agent's names, which are never the same."""
    return [plain(event) async for event in session.prompt(text, **more)]


def plain(event: RemoteEvent) -> RemoteEvent:
    if isinstance(event, TaskReported | NeedReported | ArtifactReported):
        event = msgspec.structs.replace(event, task="task")
    return msgspec.structs.replace(event, message="") if isinstance(event, TextReported) else event


def states(events: list[RemoteEvent]) -> list[str]:
    return [event.state for event in events if isinstance(event, TaskReported)]


async def until(events: AsyncIterator[RemoteEvent], state: str) -> TaskReported:
    async for event in events:
        if isinstance(event, TaskReported) and event.state == state:
            return event
    raise AssertionError(f"it never told {state}")


async def works(task: Task) -> None:
    await task.tell.start_work(task.words("Looking."))
    await task.tell.complete(task.words(f"Done: {task.said}"))


async def test_its_states_are_told_and_its_last_words_are_the_answer():
    async with peer(works) as there, reached(there) as session:
        events = await every(session)
        named = (session.name, session.version, session.resumed, bool(session.id))

    assert events == [
        TaskReported("task", "submitted"),
        TaskReported("task", "working", "Looking."),
        TaskReported("task", "completed"),
        TextReported("Done: Do it."),
        PromptEnded("end_turn"),
    ]
    assert named == ("Peer", "2.1", False, True)


async def test_a_message_alone_is_an_answer_without_a_task():
    async with peer(answer="You said:") as there, reached(there) as session:
        assert await every(session) == [TextReported("You said: Do it."), PromptEnded("end_turn")]


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
async def test_what_it_asks_is_answered_in_the_same_task(way: dict[str, Any]):
    async def asks(task: Task) -> None:
        if task.said == "Blue.":
            await task.tell.complete(task.words("It is blue."))
        else:
            await task.tell.requires_input(task.words("Which colour?"))

    async with peer(asks, **way) as there, reached(there) as session:
        events: list[RemoteEvent] = []
        tasks: set[str] = set()
        async for event in session.prompt("Do it."):
            events.append(plain(event))
            if isinstance(event, TaskReported | NeedReported):
                tasks.add(event.task)
            if isinstance(event, NeedReported):
                assert session.answer("Blue.")
                assert not session.answer("Red.")

    assert events == [
        TaskReported("task", "submitted"),
        TaskReported("task", "input_required", "Which colour?"),
        NeedReported(tool="RemoteInput", task="task", message="Which colour?"),
        TaskReported("task", "completed"),
        TextReported("It is blue."),
        PromptEnded("end_turn"),
    ]
    assert len(tasks) == 1
    assert there.texts == ["Do it.", "Blue."]


async def test_what_it_asks_with_more_than_words_is_asked_whole():
    async def asks(task: Task) -> None:
        parts = [new_text_part("Which?"), new_data_part({"sizes": ["A5", "A6"]}), new_url_part("https://x.test/a.pdf")]
        await task.tell.requires_input(task.tell.new_agent_message(parts))

    async with peer(asks) as there, reached(there) as session:
        events = session.prompt("Do it.")
        told = await until(events, "input_required")
        await events.aclose()

    assert told.message == 'Which?\n\n{"sizes": ["A5", "A6"]}\n\nhttps://x.test/a.pdf'


async def test_it_may_ask_the_same_again():
    async def asks(task: Task) -> None:
        if task.said == "Blue.":
            await task.tell.complete(task.words("It is blue."))
        else:
            await task.tell.requires_input(task.words("Which colour?"))

    async with peer(asks) as there, reached(there) as session:
        answers = iter(["What?", "Blue."])
        events: list[RemoteEvent] = []
        async for event in session.prompt("Do it."):
            events.append(event)
            if isinstance(event, NeedReported):
                assert session.answer(next(answers))

    assert states(events) == ["submitted", "input_required", "input_required", "completed"]


async def test_an_authorisation_that_was_given_there_lets_it_go_on():
    """No credential is sent, and what looks like one in its words is not told."""

    async def wants(task: Task) -> None:
        if task.said == "Do it.":
            await task.tell.requires_auth(task.words("Log in at https://id.test/?token=abc123 first."))
        else:
            await task.tell.complete(task.words("Done."))

    async with peer(wants) as there, reached(there) as session:
        events: list[RemoteEvent] = []
        async for event in session.prompt("Do it."):
            events.append(plain(event))
            if isinstance(event, NeedReported):
                assert session.answer("")

    told = "Log in at https://id.test/?token=*** first."
    assert events[1:3] == [
        TaskReported("task", "auth_required", told),
        NeedReported(tool="RemoteAuth", task="task", message=told),
    ]
    assert states(events)[-1] == "completed"
    assert there.texts == ["Do it.", "It is authorised now."]


async def test_what_is_settled_there_while_a_person_thinks_is_needed_no_more():
    found: list[Peer] = []

    async def wants(task: Task) -> None:
        await task.tell.requires_auth(task.words("Log in."))
        await found[0].hold.wait()
        await task.tell.complete(task.words("Thanks."))

    async with peer(wants) as there, reached(there) as session:
        found.append(there)
        events: list[RemoteEvent] = []
        async for event in session.prompt("Do it."):
            events.append(plain(event))
            if isinstance(event, NeedReported):
                there.hold.set()
        assert not session.answer("late")

    assert events[-3:] == [TaskReported("task", "completed"), TextReported("Thanks."), PromptEnded("end_turn")]


async def test_artifacts_are_told_whole_with_what_is_large_and_all_bytes_apart():
    picture, long = b"\x89PNG...", "x" * 9000

    async def delivers(task: Task) -> None:
        parts = [
            new_text_part("Short."),
            new_data_part({"n": 1}),
            new_raw_part(picture, media_type="image/png", filename="a.png"),
            new_url_part("https://files.test/b.pdf", media_type="application/pdf", filename="b.pdf"),
            new_text_part(long, media_type="not a type"),
        ]
        await task.tell.add_artifact(parts, artifact_id="a1", name="all", last_chunk=True)
        for piece, last in (("One ", False), ("two ", False), ("three.", True)):
            await task.tell.add_artifact(
                [new_text_part(piece)], artifact_id="a2", append=piece != "One ", last_chunk=last
            )
        await task.tell.complete()

    async with peer(delivers) as there, reached(there) as session:
        events = await every(session)

    blob, text = blob_of(picture, "image/png"), blob_of(long.encode())
    whole, pieces = [event for event in events if isinstance(event, ArtifactReported)]
    assert whole == ArtifactReported(
        task="task",
        artifact="a1",
        name="all",
        parts=(
            RemotePart(media="text/plain", text=Text(text="Short.")),
            RemotePart(media="application/json", text=Text(text='{"n": 1.0}')),
            RemotePart(media="image/png", name="a.png", content=blob.ref),
            RemotePart(media="application/pdf", name="b.pdf", url="https://files.test/b.pdf"),
            RemotePart(media="text/plain", text=Text(text="x" * 1024, ref=text.ref)),
        ),
        blobs=(blob, text),
    )
    assert isinstance(blob.ref, BlobRef)
    assert [part.text.text for part in pieces.parts] == ["One two three."]


async def test_more_parts_than_are_kept_are_counted():
    async def delivers(task: Task) -> None:
        await task.tell.add_artifact([new_text_part(str(n)) for n in range(60)], artifact_id="a", last_chunk=True)
        await task.tell.complete()

    async with peer(delivers) as there, reached(there) as session:
        (told,) = [event for event in await every(session) if isinstance(event, ArtifactReported)]

    assert (len(told.parts), told.left_out) == (50, 10)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("rejected", "The agent elsewhere rejected the task. No."),
        ("failed", "The agent elsewhere says that its task failed. No."),
        ("canceled", "The agent elsewhere cancelled the task. No."),
    ],
)
async def test_a_task_that_ended_otherwise_is_not_complete(state: RemoteTaskState, said: str):
    """UI-23"""

    async def ends(task: Task) -> None:
        end = {"rejected": task.tell.reject, "failed": task.tell.failed, "canceled": task.tell.cancel}[state]
        await end(task.words("No."))

    async with peer(ends) as there, reached(there) as session:
        events = session.prompt("Do it.")
        told = [plain(await anext(events)), plain(await anext(events))]
        with pytest.raises(ExternalFailure) as failed:
            await anext(events)

    assert (failed.value.code, failed.value.message, failed.value.retryable) == ("remote_refused", said, False)
    assert told == [TaskReported("task", "submitted"), TaskReported("task", state, "No.")]


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
async def test_what_broke_off_in_the_middle_is_picked_up_and_sent_once(way: dict[str, Any]):
    """UI-23"""
    async with holding(**way) as there, reached(there) as session:
        events = session.prompt("Do it.")
        await until(events, "working")
        there.cut()
        there.hold.set()
        rest = [plain(event) async for event in events]

    assert rest == [TaskReported("task", "completed"), TextReported("Done: Do it."), PromptEnded("end_turn")]
    assert there.texts == ["Do it."]


async def test_a_task_that_is_silent_is_asked_for_and_stays_what_it_was():
    """UI-23"""
    pace = Pace(card=20, request=0.3, first_pause=0.01, longest_pause=0.05, patience=60)
    async with holding() as there, reached(there, pace) as session:
        events = session.prompt("Do it.")
        await until(events, "working")
        following = anext(events)

        async def asked_for_it() -> None:
            while there.asked.count("GetTask") < 2:  # noqa: ASYNC110 - it is seen in what the server was asked
                await asyncio.sleep(0)
            there.hold.set()

        told, _ = await asyncio.gather(following, asked_for_it())
        assert plain(told) == TaskReported("task", "completed")
        await events.aclose()

    assert there.texts == ["Do it."]


async def test_an_agent_that_is_gone_for_good_is_unavailable_and_its_task_is_as_it_was_told():
    """UI-23"""
    async with AsyncExitStack() as stack:
        there = await stack.enter_async_context(holding())
        session = await stack.enter_async_context(reached(there))
        events = session.prompt("Do it.")
        await until(events, "working")
        await there.stop()
        with pytest.raises(ExternalFailure) as failed:
            await anext(events)

    assert (failed.value.code, failed.value.retryable) == ("remote_unavailable", True)
    assert failed.value.message.startswith("The agent elsewhere was not reached for 0.5 s.")


async def test_an_unfinished_task_is_taken_up_again_without_being_given_twice():
    async with holding() as there:
        async with reached(there) as first:
            events = first.prompt("Do it.")
            task = (await until(events, "working")).task
            await events.aclose()
            conversation = first.id
        there.hold.set()
        async with reached(there, resume=conversation) as again:
            rest = await every(again, "Do it.", task=task)
            assert again.resumed

    assert rest[-3:] == [TaskReported("task", "completed"), TextReported("Done: Do it."), PromptEnded("end_turn")]
    assert there.texts == ["Do it."]


async def test_a_task_that_it_no_longer_has_is_given_anew():
    async with peer(works) as there, reached(there, resume="of before") as session:
        events = await every(session, "Do it.", task="task")

    assert events[0] == TaskReported("task", "unknown", "It no longer has this task.")
    assert events[-2:] == [TextReported("Done: Do it."), PromptEnded("end_turn")]
    assert there.texts == ["Do it."]


async def test_what_is_new_to_an_unfinished_task_is_its_next_message():
    async def asks(task: Task) -> None:
        if task.said == "Blue.":
            await task.tell.complete(task.words("It is blue."))
        else:
            await task.tell.requires_input(task.words("Which colour?"))

    async with peer(asks) as there, reached(there) as session:
        events = session.prompt("Do it.")
        task = (await until(events, "input_required")).task
        await events.aclose()
        rest = await every(session, "Do it.\n\nBlue.", task=task, more="Blue.")

    assert rest[-3:] == [TaskReported("task", "completed"), TextReported("It is blue."), PromptEnded("end_turn")]
    assert there.texts == ["Do it.", "Blue."]


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
async def test_it_is_asked_to_cancel_its_task(way: dict[str, Any]):
    async with holding(**way) as there, reached(there) as session:
        events = session.prompt("Do it.")
        await until(events, "working")
        pending = asyncio.ensure_future(anext(events))
        await session.cancel()
        rest = [plain(await pending), *[plain(event) async for event in events]]

    assert rest == [TaskReported("task", "canceled"), PromptEnded("cancelled")]


async def test_a_task_of_another_conversation_is_not_taken_for_this_one():
    async with peer(works) as there, reached(there) as session:
        first = await every(session)
        conversation = session.id
        second = await every(session, "And now?")

    assert session.id == conversation
    assert states(first) == states(second) == ["submitted", "working", "completed"]
