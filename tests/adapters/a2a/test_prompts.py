"""Prompts of a remote agent, against the official SDK's server: events, input, artifacts and interruptions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec
import pytest
from a2a.helpers import new_data_part, new_raw_part, new_text_part, new_url_part

from callboard.adapters.a2a import A2aAgents, Pace
from callboard.contracts.content import BlobRef, Text, make_blob
from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.facts.agent import RemotePart
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

from .peer import QUICK, Peer, Task, blocked_peer, peer

#: Every supported combination of version, binding and streaming.
WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"streaming": False},
    {"binding": "HTTP+JSON"},
    {"version": "0.3.0"},
    {"version": "0.3.0", "streaming": False},
)
NAMES = ("v1.0", "v1.0 polled", "v1.0 over REST", "v0.3", "v0.3 polled")


@asynccontextmanager
async def connected(there: Peer, pace: Pace = QUICK, resume: str = "") -> AsyncIterator[RemoteSession]:
    session = await A2aAgents(pace).connect(there.url, resume=resume)
    try:
        yield session
    finally:
        await session.close()


async def prompt_events(session: RemoteSession, text: str = "Do it.", **more: Any) -> list[RemoteEvent]:
    """Return the events of a prompt, with placeholders for the random ids."""
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
    raise AssertionError(f"no event reported the state {state}")


async def complete_after_work(task: Task) -> None:
    await task.updater.start_work(task.reply("Looking."))
    await task.updater.complete(task.reply(f"Done: {task.input}"))


async def test_states_are_reported_and_the_last_message_is_the_answer():
    async with peer(complete_after_work) as there, connected(there) as session:
        events = await prompt_events(session)
        named = (session.name, session.version, session.resumed, bool(session.id))

    assert events == [
        TaskReported("task", "submitted"),
        TaskReported("task", "working", "Looking."),
        TaskReported("task", "completed"),
        TextReported("Done: Do it."),
        PromptEnded("end_turn"),
    ]
    assert named == ("Peer", "2.1", False, True)


async def test_a_message_without_a_task_is_the_answer():
    async with peer(answer="You said:") as there, connected(there) as session:
        assert await prompt_events(session) == [TextReported("You said: Do it."), PromptEnded("end_turn")]


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
async def test_requested_input_is_sent_to_the_same_task(way: dict[str, Any]):
    async def ask_size(task: Task) -> None:
        if task.input == "Blue.":
            await task.updater.complete(task.reply("It is blue."))
        else:
            await task.updater.requires_input(task.reply("Which colour?"))

    async with peer(ask_size, **way) as there, connected(there) as session:
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


async def test_a_request_with_data_and_links_is_shown_completely():
    async def ask_data(task: Task) -> None:
        parts = [new_text_part("Which?"), new_data_part({"sizes": ["A5", "A6"]}), new_url_part("https://x.test/a.pdf")]
        await task.updater.requires_input(task.updater.new_agent_message(parts))

    async with peer(ask_data) as there, connected(there) as session:
        events = session.prompt("Do it.")
        need = await until(events, "input_required")
        await events.aclose()

    assert need.message == 'Which?\n\n{"sizes": ["A5", "A6"]}\n\nhttps://x.test/a.pdf'


async def test_a_repeated_request_for_input_is_reported_again():
    async def ask_again(task: Task) -> None:
        if task.input == "Blue.":
            await task.updater.complete(task.reply("It is blue."))
        else:
            await task.updater.requires_input(task.reply("Which colour?"))

    async with peer(ask_again) as there, connected(there) as session:
        answers = iter(["What?", "Blue."])
        events: list[RemoteEvent] = []
        async for event in session.prompt("Do it."):
            events.append(event)
            if isinstance(event, NeedReported):
                assert session.answer(next(answers))

    assert states(events) == ["submitted", "input_required", "input_required", "completed"]


async def test_an_agent_continues_after_an_authorisation_on_its_side():
    """No credential is sent, and anything in the message that looks like one is redacted."""

    async def wants(task: Task) -> None:
        if task.input == "Do it.":
            await task.updater.requires_auth(task.reply("Log in at https://id.test/?token=abc123 first."))
        else:
            await task.updater.complete(task.reply("Done."))

    async with peer(wants) as there, connected(there) as session:
        events: list[RemoteEvent] = []
        async for event in session.prompt("Do it."):
            events.append(plain(event))
            if isinstance(event, NeedReported):
                assert session.answer("")

    message = "Log in at https://id.test/?token=*** first."
    assert events[1:3] == [
        TaskReported("task", "auth_required", message),
        NeedReported(tool="RemoteAuth", task="task", message=message),
    ]
    assert states(events)[-1] == "completed"
    assert there.texts == ["Do it.", "It is authorised now."]


async def test_a_need_that_is_met_on_the_agents_side_is_withdrawn():
    peers: list[Peer] = []

    async def wants(task: Task) -> None:
        await task.updater.requires_auth(task.reply("Log in."))
        await peers[0].hold.wait()
        await task.updater.complete(task.reply("Thanks."))

    async with peer(wants) as there, connected(there) as session:
        peers.append(there)
        events: list[RemoteEvent] = []
        async for event in session.prompt("Do it."):
            events.append(plain(event))
            if isinstance(event, NeedReported):
                there.hold.set()
        assert not session.answer("late")

    assert events[-3:] == [TaskReported("task", "completed"), TextReported("Thanks."), PromptEnded("end_turn")]


async def test_artifacts_are_reported_complete_with_large_texts_and_files_as_blobs():
    picture, long = b"\x89PNG...", "x" * 9000

    async def delivers(task: Task) -> None:
        parts = [
            new_text_part("Short."),
            new_data_part({"n": 1}),
            new_raw_part(picture, media_type="image/png", filename="a.png"),
            new_url_part("https://files.test/b.pdf", media_type="application/pdf", filename="b.pdf"),
            new_text_part(long, media_type="not a type"),
        ]
        await task.updater.add_artifact(parts, artifact_id="a1", name="all", last_chunk=True)
        for piece, last in (("One ", False), ("two ", False), ("three.", True)):
            await task.updater.add_artifact(
                [new_text_part(piece)], artifact_id="a2", append=piece != "One ", last_chunk=last
            )
        await task.updater.complete()

    async with peer(delivers) as there, connected(there) as session:
        events = await prompt_events(session)

    blob, text = make_blob(picture, "image/png"), make_blob(long.encode())
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


async def test_parts_beyond_the_limit_are_counted():
    async def delivers(task: Task) -> None:
        await task.updater.add_artifact([new_text_part(str(n)) for n in range(60)], artifact_id="a", last_chunk=True)
        await task.updater.complete()

    async with peer(delivers) as there, connected(there) as session:
        (artifact,) = [event for event in await prompt_events(session) if isinstance(event, ArtifactReported)]

    assert (len(artifact.parts), artifact.left_out) == (50, 10)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("rejected", "The remote agent rejected the task. No."),
        ("failed", "The remote agent reports that its task failed. No."),
        ("canceled", "The remote agent cancelled the task. No."),
    ],
)
async def test_a_rejected_failed_or_cancelled_task_fails_the_prompt(state: RemoteTaskState, message: str):
    """UI-23"""

    async def ends(task: Task) -> None:
        end = {"rejected": task.updater.reject, "failed": task.updater.failed, "canceled": task.updater.cancel}[state]
        await end(task.reply("No."))

    async with peer(ends) as there, connected(there) as session:
        events = session.prompt("Do it.")
        reported = [plain(await anext(events)), plain(await anext(events))]
        with pytest.raises(ExternalFailure) as failed:
            await anext(events)

    assert (failed.value.code, failed.value.message, failed.value.retryable) == ("remote_refused", message, False)
    assert reported == [TaskReported("task", "submitted"), TaskReported("task", state, "No.")]


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
async def test_an_interrupted_stream_is_continued_and_the_message_sent_once(way: dict[str, Any]):
    """UI-23"""
    async with blocked_peer(**way) as there, connected(there) as session:
        events = session.prompt("Do it.")
        await until(events, "working")
        there.cut_connections()
        there.hold.set()
        rest = [plain(event) async for event in events]

    assert rest == [TaskReported("task", "completed"), TextReported("Done: Do it."), PromptEnded("end_turn")]
    assert there.texts == ["Do it."]


async def test_a_silent_task_is_polled_and_keeps_its_state():
    """UI-23"""
    pace = Pace(card=20, request=0.3, first_pause=0.01, longest_pause=0.05, patience=60)
    async with blocked_peer() as there, connected(there, pace) as session:
        events = session.prompt("Do it.")
        await until(events, "working")
        following = anext(events)

        async def release_after_polls() -> None:
            while there.methods.count("GetTask") < 2:  # noqa: ASYNC110 - only the requests of the server show it
                await asyncio.sleep(0)
            there.hold.set()

        reported, _ = await asyncio.gather(following, release_after_polls())
        assert plain(reported) == TaskReported("task", "completed")
        await events.aclose()

    assert there.texts == ["Do it."]


async def test_an_agent_that_stays_unreachable_fails_the_prompt():
    """UI-23"""
    async with AsyncExitStack() as stack:
        there = await stack.enter_async_context(blocked_peer())
        session = await stack.enter_async_context(connected(there))
        events = session.prompt("Do it.")
        await until(events, "working")
        await there.stop()
        with pytest.raises(ExternalFailure) as failed:
            await anext(events)

    assert (failed.value.code, failed.value.retryable) == ("remote_unavailable", True)
    assert failed.value.message.startswith("The remote agent was unreachable for 0.5 s.")


async def test_an_unfinished_task_is_resumed_without_sending_its_message_again():
    async with blocked_peer() as there:
        async with connected(there) as first:
            events = first.prompt("Do it.")
            task = (await until(events, "working")).task
            await events.aclose()
            conversation = first.id
        there.hold.set()
        async with connected(there, resume=conversation) as again:
            rest = await prompt_events(again, "Do it.", task=task)
            assert again.resumed

    assert rest[-3:] == [TaskReported("task", "completed"), TextReported("Done: Do it."), PromptEnded("end_turn")]
    assert there.texts == ["Do it."]


async def test_a_task_that_the_agent_no_longer_has_is_sent_again():
    async with peer(complete_after_work) as there, connected(there, resume="of before") as session:
        events = await prompt_events(session, "Do it.", task="task")

    assert events[0] == TaskReported("task", "unknown", "The remote agent no longer has this task.")
    assert events[-2:] == [TextReported("Done: Do it."), PromptEnded("end_turn")]
    assert there.texts == ["Do it."]


async def test_new_input_for_an_unfinished_task_is_sent_as_its_next_message():
    async def ask_input(task: Task) -> None:
        if task.input == "Blue.":
            await task.updater.complete(task.reply("It is blue."))
        else:
            await task.updater.requires_input(task.reply("Which colour?"))

    async with peer(ask_input) as there, connected(there) as session:
        events = session.prompt("Do it.")
        task = (await until(events, "input_required")).task
        await events.aclose()
        rest = await prompt_events(session, "Do it.\n\nBlue.", task=task, more="Blue.")

    assert rest[-3:] == [TaskReported("task", "completed"), TextReported("It is blue."), PromptEnded("end_turn")]
    assert there.texts == ["Do it.", "Blue."]


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
async def test_a_cancelled_prompt_cancels_the_task(way: dict[str, Any]):
    async with blocked_peer(**way) as there, connected(there) as session:
        events = session.prompt("Do it.")
        await until(events, "working")
        pending = asyncio.ensure_future(anext(events))
        await session.cancel()
        rest = [plain(await pending), *[plain(event) async for event in events]]

    assert rest == [TaskReported("task", "canceled"), PromptEnded("cancelled")]


async def test_each_prompt_of_a_conversation_has_its_own_task():
    async with peer(complete_after_work) as there, connected(there) as session:
        first = await prompt_events(session)
        conversation = session.id
        second = await prompt_events(session, "And now?")

    assert session.id == conversation
    assert states(first) == states(second) == ["submitted", "working", "completed"]
