"""The effect of prompting a remote agent over A2A, from its input to the end of its task."""

from __future__ import annotations

import asyncio
from typing import assert_never

from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.tool import ToolRefused, ToolStarted
from callboard.contracts.ports.agents import Definition
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
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import RemoteNeedEnded, RemoteReported
from callboard.tools.gate import external_starts

from ..sessions.external_agents import ExpectedCall
from ..sessions.host import SessionHost
from .prompt import PromptRunner
from .remote_connector import RemoteAgentConnector
from .start_permission import NOT_ALLOWED, get_refusal_code, report_end, request_call

NOT_NEEDED = "The remote agent continued without an answer."
NOT_ACCEPTED = "The remote agent did not accept the answer."
NOT_STOPPED = "it did not stop when it was asked to"


class A2aPromptRunner(PromptRunner[RemoteEvent]):
    """One prompt of a remote agent.

    `_waiting_call` is the call that waits for a person, `_answered_call` the call whose answer was
    sent, `_pending_report` the newest report that was not recorded yet.
    """

    def __init__(self, host: SessionHost, scope: Scope) -> None:
        super().__init__(host, scope)
        self._connector = RemoteAgentConnector(host, scope, self.assembler)
        self._remote: RemoteSession | None = None
        self._conversation = ""
        self._waiting_call = ""
        self._answered_call = ""
        self._task_state: RemoteTaskState | None = None
        self._reported_at = 0.0
        self._pending_report: TaskReported | None = None

    def build_silence_failure(self, seconds: float) -> ExternalFailure:
        """Return the failure for a silent agent. Its task stays in its last state and can be continued."""
        message = f"The remote agent was silent for {seconds:g} s. Its task stays in its last reported state."
        return ExternalFailure("remote_unavailable", message, retryable=True)

    async def work(self) -> None:
        """Connect to the agent if necessary, send its input and record its events."""
        run = self.host.state.threads[self.scope.thread].run
        if run is None:
            return
        agent = (await self.host.run_contexts.get_start(run)).definition
        session = await self._connector.connect(agent)
        self._conversation = session.id
        prompt_input = await self._connector.build_input(agent)
        events = self.events = session.prompt(prompt_input.text, task=prompt_input.task, more=prompt_input.more)
        self.session = self._remote = session
        while not isinstance(event := await self.next_event(events), PromptEnded):
            await self._apply(session, agent, event)
        await self._report_pending()
        await self._end_sent_answer()
        await self.report_answer(event)

    async def report_failure(self, failure: ExternalFailure) -> None:
        """Report the failure. An unreachable agent is disconnected, whatever its task does."""
        await self._report_pending()
        await self._end_sent_answer(NOT_ACCEPTED)
        if failure.code in NOT_ALLOWED and self._remote is not None:
            await self._cancel()
        elif failure.code == "remote_unavailable" and self._remote is not None:
            await self.disconnect(failure.message)
        await super().report_failure(failure)

    async def stop(self) -> None:
        """Cancel the remote task if the turn is being stopped.

        If only this process ends, the task continues and can be resumed.
        """
        run = self.host.state.threads[self.scope.thread].run
        if run is not None and run.stopping and self._remote is not None:
            self.drop()
            # The turn's end withdraws the question.
            self._waiting_call = ""
            await self._cancel()

    async def _cancel(self) -> None:
        """Cancel the remote task, and record its last events within the time limit."""
        session, events = self._remote, self.events
        if session is None or events is None:
            return
        try:
            await self.drain(events, session.cancel, self._record_progress)
        except StopAsyncIteration:
            return
        except ExternalFailure as failure:
            await self.disconnect(f"{NOT_STOPPED}: {failure.message}")
        except TimeoutError:
            await self.disconnect(NOT_STOPPED)

    async def _apply(self, session: RemoteSession, agent: Definition, event: RemoteEvent) -> None:
        if (
            isinstance(event, TaskReported)
            and event.state == self._task_state
            and not self._waiting_call
            and not self._answered_call
        ):
            await self._defer_report(event)
            return
        await self._report_pending()
        # A repeated question without other events means that the answer was not accepted.
        await self._end_sent_answer(NOT_ACCEPTED if isinstance(event, NeedReported) else "")
        if session.id != self._conversation:
            self._conversation = session.id
            await self._connector.record_connection(session)
        match event:
            case TextReported(text, message):
                if not self.assembler.is_current_part("text", message):
                    await self.assembler.end_part()
                self.assembler.add("text", text, message)
            case TaskReported() | ArtifactReported():
                await self.assembler.end_part()
                await self._report(event)
            case NeedReported():
                await self.assembler.end_part()
                await self._request_answer(session, agent, event)
            case PromptEnded():
                # Handled by the loop.
                pass
            case _:
                assert_never(event)

    async def _record_progress(self, event: RemoteEvent) -> None:
        if isinstance(event, TaskReported | ArtifactReported):
            await self._report(event)

    async def _report(self, report: TaskReported | ArtifactReported) -> None:
        if self._waiting_call:
            call, self._waiting_call = self._waiting_call, ""
            where = self.scope
            self.drop()
            await self.host.report(RemoteNeedEnded(thread=where.thread, run=where.run, call=call, reason=NOT_NEEDED))
        if isinstance(report, TaskReported):
            self._task_state, self._reported_at = report.state, self.host.dependencies.clock.elapsed()
        where = self.scope
        await self.host.report(RemoteReported(thread=where.thread, run=where.run, prompt=where.step, report=report))

    async def _defer_report(self, report: TaskReported) -> None:
        """Record another report in the same state, at most every `remote_interval` seconds."""
        is_scheduled, self._pending_report = self._pending_report is not None, report
        delay = (
            self._reported_at + self.host.dependencies.limits.remote_interval - self.host.dependencies.clock.elapsed()
        )
        if delay <= 0:
            await self._report_pending()
        elif not is_scheduled:
            self.report_tasks.start(self._report_after(delay))

    async def _report_after(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._report_pending()

    async def _report_pending(self) -> None:
        if self._pending_report is not None:
            report, self._pending_report = self._pending_report, None
            await self._report(report)

    async def _end_sent_answer(self, refusal: str = "") -> None:
        """End the call whose answer was sent, because the agent has reported since."""
        if self._answered_call:
            call, self._answered_call = self._answered_call, ""
            outcome = ToolOutcome(output="The remote agent accepted the answer.")
            if refusal:
                outcome = ToolOutcome(output="", code="tool_failed", message=refusal)
            await report_end(self.host, self.scope, call, outcome)

    async def _request_answer(self, session: RemoteSession, agent: Definition, need: NeedReported) -> None:
        url = agent.url
        request, expected = await request_call(
            self.host,
            self.scope,
            self.assembler,
            need.tool,
            lambda context: external_starts.evaluate_request(need, url, context),
        )
        self._waiting_call = request.call
        self.answer_tasks.start(self._send_answer(session, request.call, expected))

    async def _send_answer(self, session: RemoteSession, call: str, expected: ExpectedCall) -> None:
        fact = await expected.started
        if self._waiting_call == call:
            self._waiting_call = ""
        if isinstance(fact, ToolStarted):
            if session.answer(await self._read_answer(expected)):
                self._answered_call = call
            else:
                await report_end(
                    self.host, self.scope, call, ToolOutcome(output="", code="tool_failed", message=NOT_NEEDED)
                )
        elif isinstance(fact, ToolRefused):
            raise ExternalFailure(get_refusal_code(fact), f"The remote agent received no answer. {fact.message}")

    async def _read_answer(self, expected: ExpectedCall) -> str:
        text, dependencies = expected.answer, self.host.dependencies
        data = None if text.ref is None else await dependencies.store.blobs.get(text.ref.hash)
        try:
            return dependencies.secrets.reveal(text.text if data is None else data.decode())
        except Refusal as refusal:
            raise ExternalFailure(refusal.code, refusal.problem.message) from refusal
