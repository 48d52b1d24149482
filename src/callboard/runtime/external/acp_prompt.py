"""The effect of prompting an agent that is a program of its own."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from callboard.contracts.ports.agents import Definition
from callboard.contracts.ports.external import (
    CallReported,
    ExternalEvent,
    ExternalFailure,
    ExternalSession,
    PermissionRequested,
    PlanReported,
    PromptEnded,
    ReadRequested,
    SettingsReported,
    TextReported,
    ThoughtReported,
    WriteRequested,
)
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope

from ..sessions.host import SessionHost
from .calls import STOPPED, ExternalCalls
from .message_assembler import Kind
from .plans import ExternalPlans
from .program_connector import ProgramConnector
from .prompt import Prompt


class AcpPromptRunner(Prompt[ExternalEvent]):
    """One prompt of a program."""

    def __init__(self, host: SessionHost, scope: Scope) -> None:
        super().__init__(host, scope)
        self._plans = ExternalPlans(host, scope, self.speech, self.late)
        self._calls: ExternalCalls | None = None
        self._program: ExternalSession | None = None

    def outcomes(self) -> dict[str, ToolOutcome]:
        """What there is of the calls that go on."""
        return self._calls.outcomes() if self._calls is not None else {}

    def silent(self, seconds: float) -> ExternalFailure:
        """How a silence fails."""
        return ExternalFailure("model_timeout", f"The agent said nothing for {seconds:g} s.", retryable=True)

    async def work(self) -> None:
        """Prompts the program, starting it first where it does not run."""
        host, where = self.host, self.scope
        run = host.state.threads[where.thread].run
        if run is None:
            return
        agent = (await host.runs.of(run)).definition
        context = await host.runs.tool_context(where.thread)
        calls = self._calls = ExternalCalls(host, where, self.speech, context, self.asks)
        connecting = ProgramConnector(host, where, self.speech, context)
        session = await connecting.session(agent)
        events = self.events = session.prompt(await connecting.text(agent))
        self.session = self._program = session
        while not isinstance(event := await self.event(events), PromptEnded):
            if isinstance(event, SettingsReported):
                await self._changed(connecting, session, agent, event)
            else:
                await self._take(session, calls, event)
        await calls.ended()
        await self._plans.tell_last()
        if event.end == "cancelled" and calls.refused:
            # Some agents end their turn at a no, and wait for other words: nothing failed.
            event = PromptEnded("end_turn", event.usage)
        await self.answered(event)

    async def overdue(self) -> None:
        """Record the calls that have gone on for a while without a question."""
        if self._calls is not None:
            await self._calls.tell_overdue()

    async def failed(self, failure: ExternalFailure) -> None:
        """The prompt came to nothing."""
        await self._plans.tell_last()
        if self._calls is not None:
            await self._calls.tell_underway()
        await super().failed(failure)

    async def stop(self) -> None:
        """Asks the program to stop and takes what it still says; one that does not stop in time is ended."""
        session, events, calls = self._program, self.events, self._calls
        if session is None or events is None or calls is None:
            return
        self.asks.drop()
        await self._plans.tell_last()
        await calls.tell_underway()
        try:
            await self.drain(events, session.cancel, partial(self._last_words, session, calls))
        except (TimeoutError, StopAsyncIteration, ExternalFailure):
            await self.gone("it did not stop when it was asked to")

    async def _changed(
        self, connecting: ProgramConnector, session: ExternalSession, agent: Definition, event: SettingsReported
    ) -> None:
        await connecting.record(event.settings, allowed=event.allowed)
        if not event.allowed:
            await connecting.hold(session, agent)

    async def _take(self, session: ExternalSession, calls: ExternalCalls, event: ExternalEvent) -> None:
        match event:
            case TextReported(text, message):
                await self._say(calls, "text", text, message)
            case ThoughtReported(text, message):
                await self._say(calls, "reasoning", text, message)
            case CallReported(call):
                await calls.told(call)
            case PermissionRequested():
                await calls.asked(session, event)
            case ReadRequested():
                await calls.read(session, event)
            case WriteRequested():
                await calls.write(session, event)
            case PlanReported(steps):
                await self._plans.told(calls, steps)
            case PromptEnded() | SettingsReported():
                # The loop that takes events sees to them.
                pass
            case _:
                assert_never(event)

    async def _say(self, calls: ExternalCalls, kind: Kind, text: str, message: str) -> None:
        if not self.speech.goes_on(kind, message):
            await self.speech.end_part()
            await calls.tell_begun()
        self.speech.say(kind, text, message)

    async def _last_words(self, session: ExternalSession, calls: ExternalCalls, event: ExternalEvent) -> None:
        match event:
            case TextReported(text, message) if self.speech.goes_on("text", message):
                self.speech.say("text", text, message)
            case CallReported(call):
                calls.note(call)
            case PermissionRequested(key):
                session.permit(key, "cancelled")
            case ReadRequested(key) | WriteRequested(key):
                session.give(key, refusal=STOPPED)
            case _:
                # What an agent says anew once it is asked to stop is of no turn.
                pass
