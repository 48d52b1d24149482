"""One prompt of a remote agent, followed until its task ends or the agent becomes unreachable.

Events come from the stream. If the stream ends early, the task is polled: silence does not change its state.
"""

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
from callboard.contracts.text.redactor import mask_secrets

from .failures import BROKEN, build_message_failure, build_unreachable_failure, describe_error
from .pace import Pace
from .task_events import END_MESSAGES, TaskEventHandler

_TASK_MISSING = "The remote agent no longer has this task."
#: The message to an agent after a person authorised it in another program.
_AUTHORISED = "It is authorised now."


class TaskFollower:
    """Follow one prompt.

    Args:
        streams: True if the agent supports streaming.
        conversation: The agent's id of the conversation; empty for a new one.
        on_conversation: Called with the agent's id of the conversation when it changes.
    """

    def __init__(
        self, client: Client, *, streams: bool, pace: Pace, conversation: str, on_conversation: Callable[[str], None]
    ) -> None:
        self._client = client
        self._streams = streams
        self._pace = pace
        self._task_events = TaskEventHandler(conversation, on_conversation)
        self._awaits_answer = False
        self._answer: str | None = None
        self._cancelled = False
        self._woken = asyncio.Event()

    async def follow_prompt(self, text: str, task: str, more: str) -> AsyncGenerator[RemoteEvent]:
        """Yield all events of the prompt. Raises ExternalFailure.

        Args:
            text: The input for a new task.
            task: Id of a task to continue; empty for a new one.
            more: Message to send to the task that is continued.
        """
        message = text
        if task:
            self._task_events.task = task
            current = await self._get_task()
            if current is None:
                yield TaskReported(task, "unknown", _TASK_MISSING)
                self._task_events.task = ""
            else:
                message = more
                for event in self._task_events.apply_task(current):
                    yield event
                if self._task_events.is_over and more:
                    self._task_events.start_new_task()
        while not self._task_events.is_over:
            if self._task_events.needs_input and not message:
                self._awaits_answer, self._answer = True, None
                yield NeedReported(
                    tool=self._select_tool(), task=self._task_events.task, message=self._task_events.message
                )
                async with contextlib.aclosing(self._wait_until_answered()) as polled:
                    async for event in polled:
                        yield event
                message, self._answer = self._answer or "", None
                if not message and self._task_events.needs_input and self._select_tool() == REMOTE_AUTH:
                    # The agent learns of an authorisation by the next message.
                    message = _AUTHORISED
                continue
            async with contextlib.aclosing(self._follow_message(message)) as received:
                async for event in received:
                    yield event
            message = ""
        yield self._build_end()

    def answer(self, text: str) -> bool:
        """Send the input that the agent waits for. Return False if it waits for none."""
        if not self._awaits_answer:
            return False
        self._answer = text
        self._awaits_answer = False
        self._woken.set()
        return True

    async def cancel(self) -> None:
        """Ask the agent to cancel the task. The result arrives as an event. Raises ExternalFailure."""
        if not self._task_events.task:
            raise ExternalFailure("remote_unavailable", "the agent named no task to cancel")
        self._cancelled = True
        try:
            await self._client.cancel_task(CancelTaskRequest(id=self._task_events.task))
        except BROKEN as error:
            raise ExternalFailure("remote_unavailable", describe_error(error)) from error
        finally:
            self._woken.set()

    def _select_tool(self) -> Literal["RemoteInput", "RemoteAuth"]:
        return REMOTE_INPUT if self._task_events.state == "input_required" else REMOTE_AUTH

    def _build_end(self) -> PromptEnded:
        state = self._task_events.state
        if self._task_events.has_replied or state is None or state == "completed":
            return PromptEnded("end_turn")
        if self._cancelled and state == "canceled":
            return PromptEnded("cancelled")
        reason = mask_secrets(self._task_events.message[:1000])
        raise ExternalFailure("remote_refused", f"{END_MESSAGES[state]} {reason}".rstrip())

    async def _follow_message(self, message: str) -> AsyncGenerator[RemoteEvent]:
        """Yield the events of one message, until the task ends or needs input. Poll the task once the stream ends."""
        pause, need = self._pace.first_pause, self._task_events.begin_answer() if message else None
        stream = self._send(message) if message else None
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
                        raise build_message_failure(error) from error
                    if need is not None:
                        self._task_events.restore_need(need)
                if not self._task_events.task:
                    raise build_unreachable_failure("the response is empty.")
                self._task_events.settle_need()
                need = None
                if (self._task_events.state, self._task_events.message) != before:
                    pause = self._pace.first_pause
            await self._wait(pause)
            pause = min(pause * 1.5, self._pace.longest_pause)
            async with contextlib.aclosing(self._poll()) as polled:
                async for event in polled:
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
        async with _close_responses(self._client.send_message(SendMessageRequest(message=message))) as responses:
            async for response in responses:
                yield response

    async def _subscribe(self) -> AsyncGenerator[StreamResponse]:
        request = SubscribeToTaskRequest(id=self._task_events.task)
        async with _close_responses(self._client.subscribe(request)) as responses:
            async for response in responses:
                yield response

    async def _poll(self) -> AsyncGenerator[RemoteEvent]:
        """Yield the events of the task's current state. Raises ExternalFailure if the agent no longer has it."""
        current = await self._get_task()
        if current is None:
            yield TaskReported(self._task_events.task, "unknown", _TASK_MISSING)
            raise ExternalFailure("remote_unavailable", _TASK_MISSING, retryable=True)
        for event in self._task_events.apply_task(current):
            yield event

    async def _get_task(self) -> Task | None:
        """Return the task; None if the agent no longer has it. Raises ExternalFailure if the agent is unreachable."""
        clock = asyncio.get_running_loop().time
        started, pause = clock(), self._pace.first_pause
        while True:
            try:
                async with asyncio.timeout(self._pace.request):
                    return await self._client.get_task(GetTaskRequest(id=self._task_events.task))
            except TaskNotFoundError:
                return None
            except (*BROKEN, TimeoutError) as error:
                if clock() - started > self._pace.patience:
                    message = f"The remote agent was unreachable for {self._pace.patience:g} s. {describe_error(error)}"
                    raise ExternalFailure("remote_unavailable", message, retryable=True) from error
            await self._wait(pause)
            pause = min(pause * 1.5, self._pace.longest_pause)

    async def _wait_until_answered(self) -> AsyncGenerator[RemoteEvent]:
        """Wait for a person's answer and poll the task, since the need can also be met on the agent's side."""
        need, pause = self._task_events.state, self._pace.first_pause
        try:
            while self._awaits_answer:
                await self._wait(pause)
                pause = min(pause * 1.5, self._pace.longest_pause)
                if self._awaits_answer or self._cancelled:
                    async with contextlib.aclosing(self._poll()) as polled:
                        async for event in polled:
                            yield event
                if self._task_events.state != need:
                    return
        finally:
            self._awaits_answer = False

    async def _wait(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), seconds)
        self._woken.clear()


def _close_responses(
    responses: AsyncIterator[StreamResponse],
) -> contextlib.aclosing[AsyncGenerator[StreamResponse]]:
    # The library returns generators but declares iterators.
    return contextlib.aclosing(cast("AsyncGenerator[StreamResponse]", responses))
