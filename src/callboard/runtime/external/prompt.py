"""The shared part of prompts of external agents: events, silence limits and the final report."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Generic, TypeVar

from callboard.contracts.errors import Code
from callboard.contracts.facts.model import StopReason
from callboard.contracts.ports.external import ExternalFailure, PromptEnd, PromptEnded, ReachedAgent
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ExternalDisconnected, ModelAttemptFailed, ModelResponded, Piece

from ..sessions.host import SessionHost
from .message_assembler import MessageAssembler
from .prompt_tasks import PromptTasks

_STOPS: dict[PromptEnd, StopReason] = {"end_turn": "stop", "max_tokens": "length"}
#: Ends without an answer: error code and message.
_ENDS: dict[PromptEnd, tuple[Code, str]] = {
    "refusal": ("model_refused_request", "The agent refused to continue."),
    "max_turn_requests": ("max_iters", "The agent reached its own limit of model calls."),
    "cancelled": ("model_cut_stream", "The agent cancelled the prompt."),
}
_Event = TypeVar("_Event")


class PromptRunner(ABC, Generic[_Event]):
    """One prompt of an agent.

    `pieces` and `outcomes` return what is not recorded yet. `answer_tasks` wait for a person's
    answer, `report_tasks` delay reports.
    """

    def __init__(self, host: SessionHost, scope: Scope) -> None:
        self.host = host
        self.scope = scope
        self.assembler = MessageAssembler(host, scope)
        self.answer_tasks = PromptTasks()
        self.report_tasks = PromptTasks()
        self.session: ReachedAgent | None = None
        self.events: AsyncGenerator[_Event | PromptEnded] | None = None
        self.next_task: asyncio.Task[_Event | PromptEnded] | None = None
        self._started = host.dependencies.clock.elapsed()
        self._first: float | None = None

    @property
    def step(self) -> int:
        """The step of the prompt's model call."""
        return self.scope.step

    def pieces(self) -> tuple[Piece, ...]:
        """Return the parts that are not recorded yet."""
        return self.assembler.pieces()

    def outcomes(self) -> dict[str, ToolOutcome]:
        """Return the partial outcomes of running calls."""
        return {}

    async def settle(self) -> None:
        """Stop showing and storing pieces."""
        await self.assembler.settle()

    async def run(self) -> None:
        """Prompt the agent, connecting to it if necessary, and report everything."""
        self.host.external_agents.prompted.add(self.scope.thread)
        try:
            await self.work()
        except ExternalFailure as failure:
            await self.report_failure(failure)
        except asyncio.CancelledError:
            await self.stop()
            raise
        except Exception:
            await self.host.external_agents.end(self.scope.thread)
            raise
        finally:
            await self._clean_up()

    @abstractmethod
    async def work(self) -> None:
        """Run the prompt up to the report of its end."""

    @abstractmethod
    async def stop(self) -> None:
        """Ask the agent to stop and record its last events, within the time limit."""

    async def drain(
        self,
        events: AsyncGenerator[_Event | PromptEnded],
        cancel: Callable[[], Awaitable[None]],
        process: Callable[[_Event], Awaitable[None]],
    ) -> None:
        """Ask the agent to stop and process its events until the prompt ends."""

        async def process_rest() -> None:
            await cancel()
            while True:
                event = await (self.next_task or anext(events))
                self.next_task = None
                if isinstance(event, PromptEnded):
                    return
                await process(event)

        # Not asyncio.timeout: until Python 3.11.4 it raises CancelledError in a task that is being cancelled.
        await asyncio.wait_for(process_rest(), self.host.dependencies.limits.external_stop)

    @abstractmethod
    def build_silence_failure(self, seconds: float) -> ExternalFailure:
        """Return the failure after that many seconds of silence."""

    async def record_overdue(self) -> None:
        """Record what has waited long enough for more events."""

    def drop(self) -> None:
        """Cancel the tasks of this prompt."""
        self.answer_tasks.cancel_all()
        self.report_tasks.cancel_all()

    async def next_event(self, events: AsyncGenerator[_Event | PromptEnded]) -> _Event | PromptEnded:
        """Return the next event."""
        waiting = self.next_task = self.next_task or asyncio.ensure_future(anext(events))
        silence = self.host.dependencies.limits.external_silence
        while not waiting.done():
            tasks = self.answer_tasks.open | self.report_tasks.open
            done, _ = await asyncio.wait([waiting, *tasks], timeout=silence, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks & done:
                self.answer_tasks.open.discard(task)
                self.report_tasks.open.discard(task)
                task.result()
            await self.record_overdue()
            if not done and not tasks:
                await self.stop()
                raise self.build_silence_failure(silence)
        self.next_task = None
        try:
            event = waiting.result()
        except StopAsyncIteration as error:
            raise ExternalFailure("model_cut_stream", "The agent ended its response early.", retryable=True) from error
        if self._first is None:
            self._first = self.host.dependencies.clock.elapsed()
        return event

    async def report_answer(self, event: PromptEnded) -> None:
        """Report the end of the prompt."""
        if event.end not in _STOPS:
            raise ExternalFailure(*_ENDS[event.end])
        await self.settle()
        ended = self.host.dependencies.clock.elapsed()
        await self.host.report(
            ModelResponded(
                thread=self.scope.thread,
                run=self.scope.run,
                step=self.scope.step,
                pieces=self.pieces(),
                calls=(),
                stop_reason=_STOPS[event.end],
                usage=event.usage,
                first_ms=round(((self._first or ended) - self._started) * 1000),
                duration_ms=round((ended - self._started) * 1000),
            )
        )

    async def report_failure(self, failure: ExternalFailure) -> None:
        """Report the failure."""
        await self.settle()
        if self.session is not None and not self.session.alive:
            await self.disconnect(failure.message)
        await self.host.report(
            ModelAttemptFailed(
                thread=self.scope.thread,
                run=self.scope.run,
                step=self.scope.step,
                attempt=1,
                code=failure.code,
                message=failure.message,
                retryable=failure.retryable,
                pieces=self.pieces(),
            )
        )

    async def disconnect(self, reason: str) -> None:
        """End the agent and record it."""
        await self.host.external_agents.end(self.scope.thread)
        await self.host.report(ExternalDisconnected(thread=self.scope.thread, reason=reason))

    async def _clean_up(self) -> None:
        # Close in reverse order, and continue after an error.
        async with AsyncExitStack() as ending:
            ending.push_async_callback(self._end_prompt)
            if self.events is not None:
                ending.push_async_callback(self.events.aclose)
            ending.push_async_callback(self._cancel_next)
            ending.push_async_callback(self.report_tasks.wait_settled)
            ending.push_async_callback(self.answer_tasks.wait_settled)
            self.drop()

    async def _cancel_next(self) -> None:
        if self.next_task is not None:
            self.next_task.cancel()
            await asyncio.gather(self.next_task, return_exceptions=True)

    async def _end_prompt(self) -> None:
        agents, thread, session = self.host.external_agents, self.scope.thread, self.session
        agents.prompted.discard(thread)
        if session is not None and not session.alive and agents.get_session(thread) is session:
            await self.disconnect(await session.wait_for_end())
