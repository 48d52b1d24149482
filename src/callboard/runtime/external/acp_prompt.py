"""The effect of prompting an external agent over ACP."""

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
from .acp_connector import AcpConnector
from .calls import STOPPED, ExternalCalls
from .message_assembler import Kind
from .plans import ExternalPlans
from .prompt import PromptRunner


class AcpPromptRunner(PromptRunner[ExternalEvent]):
    """One prompt of an external agent over ACP."""

    def __init__(self, host: SessionHost, scope: Scope) -> None:
        super().__init__(host, scope)
        self._plans = ExternalPlans(host, scope, self.assembler, self.report_tasks)
        self._calls: ExternalCalls | None = None
        self._acp_session: ExternalSession | None = None

    def outcomes(self) -> dict[str, ToolOutcome]:
        """Return the partial outcomes of running calls."""
        return self._calls.outcomes() if self._calls is not None else {}

    def build_silence_failure(self, seconds: float) -> ExternalFailure:
        """Return the failure for a silent agent."""
        return ExternalFailure("model_timeout", f"The agent was silent for {seconds:g} s.", retryable=True)

    async def work(self) -> None:
        """Start the agent if necessary, prompt it and record its events."""
        host, scope = self.host, self.scope
        run = host.state.threads[scope.thread].run
        if run is None:
            return
        agent = (await host.run_contexts.get_start(run)).definition
        context = await host.run_contexts.resolve_tool_context(scope.thread)
        calls = self._calls = ExternalCalls(host, scope, self.assembler, context, self.answer_tasks)
        connector = AcpConnector(host, scope, self.assembler, context)
        session = await connector.connect(agent)
        events = self.events = session.prompt(await connector.build_text(agent))
        self.session = self._acp_session = session
        while not isinstance(event := await self.next_event(events), PromptEnded):
            if isinstance(event, SettingsReported):
                await self._apply_settings(connector, session, agent, event)
            else:
                await self._apply(session, calls, event)
        await calls.finish()
        await self._plans.flush()
        if event.end == "cancelled" and calls.refused:
            # Some agents end their turn after a rejection. That is not a failure.
            event = PromptEnded("end_turn", event.usage)
        await self.report_answer(event)

    async def record_overdue(self) -> None:
        """Record the calls that have run for a while without a question."""
        if self._calls is not None:
            await self._calls.record_overdue()

    async def report_failure(self, failure: ExternalFailure) -> None:
        """Report the failure."""
        await self._plans.flush()
        if self._calls is not None:
            await self._calls.record_running()
        await super().report_failure(failure)

    async def stop(self) -> None:
        """Ask the agent to stop and record its last events. An agent that does not stop in time is ended."""
        session, events, calls = self._acp_session, self.events, self._calls
        if session is None or events is None or calls is None:
            return
        self.answer_tasks.cancel_all()
        await self._plans.flush()
        await calls.record_running()
        try:
            await self.drain(events, session.cancel, partial(self._apply_last, session, calls))
        except (TimeoutError, StopAsyncIteration, ExternalFailure):
            await self.disconnect("it did not stop when it was asked to")

    async def _apply_settings(
        self, connector: AcpConnector, session: ExternalSession, agent: Definition, event: SettingsReported
    ) -> None:
        await connector.record(event.settings, allowed=event.allowed)
        if not event.allowed:
            await connector.apply_control(session, agent)

    async def _apply(self, session: ExternalSession, calls: ExternalCalls, event: ExternalEvent) -> None:
        match event:
            case TextReported(text, message):
                await self._add_text(calls, "text", text, message)
            case ThoughtReported(text, message):
                await self._add_text(calls, "reasoning", text, message)
            case CallReported(call):
                await calls.update(call)
            case PermissionRequested():
                await calls.request_permission(session, event)
            case ReadRequested():
                await calls.read(session, event)
            case WriteRequested():
                await calls.write(session, event)
            case PlanReported(steps):
                await self._plans.update(calls, steps)
            case PromptEnded() | SettingsReported():
                # Handled by the loop.
                pass
            case _:
                assert_never(event)

    async def _add_text(self, calls: ExternalCalls, kind: Kind, text: str, message: str) -> None:
        if not self.assembler.is_current_part(kind, message):
            await self.assembler.end_part()
            await calls.record_started()
        self.assembler.add(kind, text, message)

    async def _apply_last(self, session: ExternalSession, calls: ExternalCalls, event: ExternalEvent) -> None:
        match event:
            case TextReported(text, message) if self.assembler.is_current_part("text", message):
                self.assembler.add("text", text, message)
            case CallReported(call):
                calls.note(call)
            case PermissionRequested(key):
                session.permit(key, "cancelled")
            case ReadRequested(key) | WriteRequested(key):
                session.answer_file_request(key, refusal=STOPPED)
            case _:
                # Other events after the stop belong to no turn.
                pass
