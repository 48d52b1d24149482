"""One prompt of an agent elsewhere: what it says is taken from the stream; where that ends early, its task is asked for, until
that end says that it is over or is not reached any more. Silence says nothing about a task."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Literal, cast
from uuid import uuid4

from a2a.client import Client
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
)
from a2a.utils.errors import TaskNotFoundError

from callboard.contracts.ports.external import (
    REMOTE_AUTH,
    REMOTE_INPUT,
    ExternalFailure,
    NeedReported,
    PromptEnded,
    RemoteEvent,
    TaskReported,
)
from callboard.contracts.text.redactor import without_secrets

from .failures import BROKEN, describe_error, message_failure, unreachable
from .pace import Pace
from .task_events import END_MESSAGES, TaskEventHandler

_GONE = "It no longer has this task."
#: What an agent is told that a person authorised.
_AUTHORISED = "It is authorised now."


class TaskFollower:
    """Follows one prompt."""

    def __init__(
        self, client: Client, *, streams: bool, pace: Pace, conversation: str, named: Callable[[str], None]
    ) -> None:
        self._client = client
        self._streams = streams
        self._pace = pace
        self._task_events = TaskEventHandler(conversation, named)
        self._awaits_answer = False
        self._answer: str | None = None
        self._cancelled = False
        self._woken = asyncio.Event()

    async def events(self, text: str, task: str, more: str) -> AsyncGenerator[RemoteEvent]:
        """All that comes of it. Raises ExternalFailure."""
        sending = text
        if task:
            self._task_events.task = task
            found = await self._look()
            if found is None:
                yield TaskReported(task, "unknown", _GONE)
                self._task_events.task = ""
            else:
                sending = more
                for event in self._task_events.apply_task(found):
                    yield event
                if self._task_events.is_over and more:
                    self._task_events.start_new_task()
        while not self._task_events.is_over:
            if self._task_events.needs_input and not sending:
                self._awaits_answer, self._answer = True, None
                yield NeedReported(tool=self._tool(), task=self._task_events.task, message=self._task_events.message)
                async with contextlib.aclosing(self._until_answered()) as meanwhile:
                    async for event in meanwhile:
                        yield event
                sending, self._answer = self._answer or "", None
                if not sending and self._task_events.needs_input and self._tool() == REMOTE_AUTH:
                    # What was authorised there is told as the next message: it goes on with that.
                    sending = _AUTHORISED
                continue
            async with contextlib.aclosing(self._round(sending)) as came:
                async for event in came:
                    yield event
            sending = ""
        yield self._ended()

    def answer(self, text: str) -> bool:
        """What the agent needs; False where it no longer needs it."""
        if not self._awaits_answer:
            return False
        self._answer = text
        self._awaits_answer = False
        self._woken.set()
        return True

    async def cancel(self) -> None:
        """Asks for the task to be cancelled; what comes of that comes as an event. Raises ExternalFailure."""
        if not self._task_events.task:
            raise ExternalFailure("remote_unavailable", "it named no task that could be cancelled")
        self._cancelled = True
        try:
            await self._client.cancel_task(CancelTaskRequest(id=self._task_events.task))
        except BROKEN as error:
            raise ExternalFailure("remote_unavailable", describe_error(error)) from error
        finally:
            self._woken.set()

    def _tool(self) -> Literal["RemoteInput", "RemoteAuth"]:
        return REMOTE_INPUT if self._task_events.state == "input_required" else REMOTE_AUTH

    def _ended(self) -> PromptEnded:
        if self._task_events.has_replied or self._task_events.state is None or self._task_events.state == "completed":
            return PromptEnded("end_turn")
        if self._cancelled and self._task_events.state == "canceled":
            return PromptEnded("cancelled")
        message = END_MESSAGES[self._task_events.state]
        raise ExternalFailure(
            "remote_refused", f"{message} {without_secrets(self._task_events.message[:1000])}".rstrip()
        )

    async def _round(self, sending: str) -> AsyncGenerator[RemoteEvent]:
        """What one message leads to, up to an end, a need, or a stream that breaks off; then its task until something of
        that is so."""
        pause, needed = self._pace.first_pause, self._task_events.begin_answer() if sending else None
        stream = self._send(sending) if sending else None
        while True:
            if stream is not None:
                before = (self._task_events.state, self._task_events.message)
                try:
                    async with contextlib.aclosing(stream) as responses:
                        async for response in responses:
                            for event in self._task_events.apply(response):
                                yield event
                            if self._task_events.is_over or self._task_events.needs_input:
                                return
                except BROKEN as error:
                    if not self._task_events.task:
                        raise message_failure(error) from error
                    if needed is not None:
                        self._task_events.restore_need(needed)
                if not self._task_events.task:
                    raise unreachable("it answered with nothing.")
                self._task_events.settle_need()
                needed = None
                pause = (
                    self._pace.first_pause if (self._task_events.state, self._task_events.message) != before else pause
                )
            await self._wait(pause)
            pause = min(pause * 1.5, self._pace.longest_pause)
            found = await self._look()
            if found is None:
                yield TaskReported(self._task_events.task, "unknown", _GONE)
                raise _no_longer_there()
            for event in self._task_events.apply_task(found):
                yield event
            if self._task_events.is_over or self._task_events.needs_input:
                return
            stream = self._subscribe() if self._streams else None

    async def _send(self, text: str) -> AsyncGenerator[StreamResponse]:
        message = Message(
            message_id=str(uuid4()),
            role=Role.ROLE_USER,
            context_id=self._task_events.conversation,
            task_id=self._task_events.task,
            parts=[Part(text=text, media_type="text/plain")],
        )
        async with _closing(self._client.send_message(SendMessageRequest(message=message))) as responses:
            async for response in responses:
                yield response

    async def _subscribe(self) -> AsyncGenerator[StreamResponse]:
        async with _closing(self._client.subscribe(SubscribeToTaskRequest(id=self._task_events.task))) as responses:
            async for response in responses:
                yield response

    async def _look(self) -> Task | None:
        """The task as it is; None where the agent no longer has it. Raises ExternalFailure where the agent is not reached."""
        clock = asyncio.get_running_loop().time
        since, pause = clock(), self._pace.first_pause
        while True:
            try:
                async with asyncio.timeout(self._pace.request):
                    return await self._client.get_task(GetTaskRequest(id=self._task_events.task))
            except TaskNotFoundError:
                return None
            except (*BROKEN, TimeoutError) as error:
                if clock() - since > self._pace.patience:
                    message = (
                        f"The agent elsewhere was not reached for {self._pace.patience:g} s. {describe_error(error)}"
                    )
                    raise ExternalFailure("remote_unavailable", message, retryable=True) from error
            await self._wait(pause)
            pause = min(pause * 1.5, self._pace.longest_pause)

    async def _until_answered(self) -> AsyncGenerator[RemoteEvent]:
        """Waits for a person. What the agent needs may be settled there as well, so its task is looked at meanwhile."""
        needed, pause = self._task_events.state, self._pace.first_pause
        try:
            while self._awaits_answer:
                await self._wait(pause)
                pause = min(pause * 1.5, self._pace.longest_pause)
                if self._awaits_answer or self._cancelled:
                    found = await self._look()
                    if found is None:
                        yield TaskReported(self._task_events.task, "unknown", _GONE)
                        raise _no_longer_there()
                    for event in self._task_events.apply_task(found):
                        yield event
                if self._task_events.state != needed:
                    return
        finally:
            self._awaits_answer = False

    async def _wait(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), seconds)
        self._woken.clear()


def _no_longer_there() -> ExternalFailure:
    return ExternalFailure("remote_unavailable", "The agent elsewhere no longer has the task.", retryable=True)


def _closing(
    responses: AsyncIterator[StreamResponse],
) -> contextlib.aclosing[AsyncGenerator[StreamResponse]]:
    # They are generators, which the library does not say.
    return contextlib.aclosing(cast("AsyncGenerator[StreamResponse]", responses))
