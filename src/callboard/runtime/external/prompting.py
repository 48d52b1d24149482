"""The effect of prompting an agent that is a program of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import assert_never

from callboard.contracts.errors import Code
from callboard.contracts.facts.model import StopReason
from callboard.contracts.ports.external import (
    CallTold,
    ExternalEvent,
    ExternalFailure,
    ExternalSession,
    PermissionAsked,
    PlanTold,
    PromptEnd,
    PromptEnded,
    ReadAsked,
    SaidText,
    SaidThought,
    WriteAsked,
)
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ModelAnswered, ModelAttemptFailed, Piece

from ..host import SessionHost
from .calls import STOPPED, Calls
from .connecting import Connecting
from .plans import Plans
from .speech import Kind, Speech

_STOPS: Mapping[PromptEnd, StopReason] = {"end_turn": "stop", "max_tokens": "length"}
#: Ends that are no answer: the code and what is said of it.
_ENDS: Mapping[PromptEnd, tuple[Code, str]] = {
    "refusal": ("model_refused_request", "The agent refused to go on."),
    "max_turn_requests": ("max_iters", "The agent reached its own bound of model calls without an end."),
    "cancelled": ("model_cut_stream", "The agent stopped by itself."),
}


class Prompting:
    """One prompt of an agent. `pieces` and `outcomes` are what there is at any moment that no fact tells yet."""

    def __init__(self, host: SessionHost, scope: Scope) -> None:
        self._host = host
        self._scope = scope
        self._speech = Speech(host, scope)
        self._plans = Plans(host, scope, self._speech)
        self._connecting: Connecting | None = None
        self._calls: Calls | None = None
        self._session: ExternalSession | None = None
        self._events: AsyncGenerator[ExternalEvent] | None = None
        self._next: asyncio.Task[ExternalEvent] | None = None
        self._started = host.parts.clock.elapsed()
        self._first: float | None = None

    @property
    def step(self) -> int:
        """The step of the model call that the prompt is."""
        return self._scope.step

    def pieces(self) -> tuple[Piece, ...]:
        """The parts that no fact tells yet."""
        return self._speech.pieces()

    def outcomes(self) -> dict[str, ToolOutcome]:
        """What there is of the calls that go on."""
        return self._calls.outcomes() if self._calls is not None else {}

    async def settle(self) -> None:
        """Nothing more is shown or kept."""
        await self._speech.settle()

    async def run(self) -> None:
        """Prompts the agent, starting it first where it does not run, and reports all that comes of it."""
        self._host.foreign.prompted.add(self._scope.thread)
        try:
            await self._run()
        except ExternalFailure as failure:
            await self._failed(failure)
        except asyncio.CancelledError:
            await self._stop()
            raise
        except Exception:
            await self._host.foreign.end(self._scope.thread)
            raise
        finally:
            await self._let_go()

    async def _run(self) -> None:
        host, where = self._host, self._scope
        run = host.state.threads[where.thread].run
        if run is None:
            return
        agent = (await host.runs.of(run)).definition
        context = await host.runs.tool_context(where.thread)
        calls = self._calls = Calls(host, where, self._speech, context)
        connecting = self._connecting = Connecting(host, where, self._speech, context)
        session = await connecting.session(agent)
        self._events = session.prompt(await connecting.text(agent))
        self._session = session
        while not isinstance(event := await self._event(self._events, calls), PromptEnded):
            await self._take(session, calls, event)
        await self._ended(calls, event)

    async def _event(self, events: AsyncGenerator[ExternalEvent], calls: Calls) -> ExternalEvent:
        """The next event. Raises ExternalFailure `model_timeout` where none comes, though nobody is asked anything."""
        waiting = self._next = self._next or asyncio.ensure_future(anext(events))
        silence = self._host.parts.limits.external_silence
        while not waiting.done():
            asks = calls.asks | self._plans.late
            done, _ = await asyncio.wait([waiting, *asks], timeout=silence, return_when=asyncio.FIRST_COMPLETED)
            for one in asks & done:
                calls.asks.discard(one)
                self._plans.late.discard(one)
                one.result()
            if not done and not asks:
                await self._stop()
                raise ExternalFailure("model_timeout", f"The agent said nothing for {silence:g} s.", retryable=True)
        self._next = None
        try:
            event = waiting.result()
        except StopAsyncIteration as error:
            raise ExternalFailure("model_cut_stream", "The agent broke off.", retryable=True) from error
        if self._first is None:
            self._first = self._host.parts.clock.elapsed()
        return event

    async def _take(self, session: ExternalSession, calls: Calls, event: ExternalEvent) -> None:
        match event:
            case SaidText(text, message):
                await self._say(calls, "text", text, message)
            case SaidThought(text, message):
                await self._say(calls, "reasoning", text, message)
            case CallTold(call):
                await calls.told(call)
            case PermissionAsked():
                await calls.asked(session, event)
            case ReadAsked():
                await calls.read(session, event)
            case WriteAsked():
                await calls.write(session, event)
            case PlanTold(steps):
                await self._plans.told(calls, steps)
            case PromptEnded():
                # It ends the loop that takes events.
                pass
            case _:
                assert_never(event)

    async def _say(self, calls: Calls, kind: Kind, text: str, message: str) -> None:
        if not self._speech.goes_on(kind, message):
            await self._speech.end_part()
            await calls.tell_all()
        self._speech.say(kind, text, message)

    async def _ended(self, calls: Calls, event: PromptEnded) -> None:
        await calls.ended()
        await self._plans.tell_last()
        if event.end not in _STOPS:
            raise ExternalFailure(*_ENDS[event.end])
        await self.settle()
        ended = self._host.parts.clock.elapsed()
        await self._host.report(
            ModelAnswered(
                thread=self._scope.thread,
                run=self._scope.run,
                step=self._scope.step,
                pieces=self.pieces(),
                calls=(),
                stop_reason=_STOPS[event.end],
                usage=event.usage,
                first_ms=round(((self._first or ended) - self._started) * 1000),
                duration_ms=round((ended - self._started) * 1000),
            )
        )

    async def _failed(self, failure: ExternalFailure) -> None:
        await self._plans.tell_last()
        await self.settle()
        if self._connecting is not None and self._session is not None and not self._session.alive:
            await self._connecting.gone(failure.message)
        await self._host.report(
            ModelAttemptFailed(
                thread=self._scope.thread,
                run=self._scope.run,
                step=self._scope.step,
                attempt=1,
                code=failure.code,
                message=failure.message,
                retryable=failure.retryable,
                pieces=self.pieces(),
            )
        )

    async def _stop(self) -> None:
        """Asks the agent to stop and takes what it still says; one that does not stop in time is ended."""
        session, events, calls = self._session, self._events, self._calls
        if session is None or events is None or calls is None or self._connecting is None:
            return
        calls.drop_asks()
        await self._plans.tell_last()
        try:
            async with asyncio.timeout(self._host.parts.limits.external_stop):
                await session.cancel()
                while True:
                    event = await (self._next or anext(events))
                    self._next = None
                    if isinstance(event, PromptEnded):
                        return
                    self._last_words(session, calls, event)
        except (TimeoutError, StopAsyncIteration, ExternalFailure):
            await self._connecting.gone("it did not stop when it was asked to")

    def _last_words(self, session: ExternalSession, calls: Calls, event: ExternalEvent) -> None:
        match event:
            case SaidText(text, message) if self._speech.goes_on("text", message):
                self._speech.say("text", text, message)
            case CallTold(call):
                calls.note(call)
            case PermissionAsked(key):
                session.permit(key, "cancelled")
            case ReadAsked(key) | WriteAsked(key):
                session.give(key, refusal=STOPPED)
            case _:
                # What an agent says anew once it is asked to stop is of no turn.
                pass

    async def _let_go(self) -> None:
        if self._calls is not None:
            self._calls.drop_asks()
        self._plans.drop()
        if self._next is not None:
            self._next.cancel()
            await asyncio.gather(self._next, return_exceptions=True)
        if self._events is not None:
            await self._events.aclose()
        foreign, thread = self._host.foreign, self._scope.thread
        foreign.prompted.discard(thread)
        session = self._session
        if session is not None and not session.alive and self._connecting and foreign.session(thread) is session:
            await self._connecting.gone(await session.gone())
