"""The effect of prompting an agent elsewhere: its task is followed until that end says that it is over."""

from __future__ import annotations

import asyncio
from typing import assert_never

from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ToolRefused, ToolStarted
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
from .start_permission import NOT_ALLOWED, refusal_code, report_end, request_call

NOT_NEEDED = "The agent elsewhere went on without it."
NOT_TAKEN = "The agent elsewhere did not take it."
NOT_STOPPED = "it did not stop when it was asked to"


class A2aPromptRunner(PromptRunner[RemoteEvent]):
    """One prompt of an agent elsewhere. `_need` is the call in which it waits for a person, `_sent` the one whose answer is on
    its way, `_late` what it said newest in a state that was just told."""

    def __init__(self, host: SessionHost, scope: Scope) -> None:
        super().__init__(host, scope)
        self._reaching = RemoteAgentConnector(host, scope, self.assembler)
        self._remote: RemoteSession | None = None
        self._named = ""
        self._need = ""
        self._sent = ""
        self._state: RemoteTaskState | None = None
        self._reported_at = 0.0
        self._late: TaskReported | None = None

    def silence_failure(self, seconds: float) -> ExternalFailure:
        """Nothing new is no end of the task: it stays as it was told, and can be taken up again."""
        message = f"The agent elsewhere told nothing new for {seconds:g} s. Its task is as it told it last."
        return ExternalFailure("remote_unavailable", message, retryable=True)

    async def work(self) -> None:
        """Gives the agent its input, contacting it first where it was not yet, and takes what it tells."""
        run = self.host.state.threads[self.scope.thread].run
        if run is None:
            return
        agent = (await self.host.run_contexts.for_run(run)).definition
        session = await self._reaching.connect(agent)
        self._named = session.id
        asked = await self._reaching.build_input(agent)
        events = self.events = session.prompt(asked.text, task=asked.task, more=asked.more)
        self.session = self._remote = session
        while not isinstance(event := await self.next_event(events), PromptEnded):
            await self._take(session, agent, event)
        await self._tell_late()
        await self._taken()
        await self.report_answer(event)

    async def report_failure(self, failure: ExternalFailure) -> None:
        """The prompt came to nothing. An agent that is not reached is gone, whatever its task does."""
        await self._tell_late()
        await self._taken(NOT_TAKEN)
        if failure.code in NOT_ALLOWED and self._remote is not None:
            await self._cancel()
        elif failure.code == "remote_unavailable" and self._remote is not None:
            await self.disconnect(failure.message)
        await super().report_failure(failure)

    async def stop(self) -> None:
        """A person, or who gave it its work, wants no more of it: the task is cancelled there. Where only this process ends,
        the task is left to be taken up again."""
        run = self.host.state.threads[self.scope.thread].run
        if run is not None and run.stopping and self._remote is not None:
            self.drop()
            # What it asks is withdrawn with the turn.
            self._need = ""
            await self._cancel()

    async def _cancel(self) -> None:
        """Asks that the task be cancelled, and takes what the agent still tells within the bound."""
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

    async def _take(self, session: RemoteSession, agent: Definition, event: RemoteEvent) -> None:
        if isinstance(event, TaskReported) and event.state == self._state and not self._need and not self._sent:
            await self._later(event)
            return
        await self._tell_late()
        # One that asks again, and tells nothing before, did not take the answer.
        await self._taken(NOT_TAKEN if isinstance(event, NeedReported) else "")
        if session.id != self._named:
            self._named = session.id
            await self._reaching.record_connection(session)
        match event:
            case TextReported(text, message):
                if not self.assembler.continues_part("text", message):
                    await self.assembler.end_part()
                self.assembler.add("text", text, message)
            case TaskReported() | ArtifactReported():
                await self.assembler.end_part()
                await self._tell(event)
            case NeedReported():
                await self.assembler.end_part()
                await self._ask(session, agent, event)
            case PromptEnded():
                # It ends the loop that takes events.
                pass
            case _:
                assert_never(event)

    async def _record_progress(self, event: RemoteEvent) -> None:
        if isinstance(event, TaskReported | ArtifactReported):
            await self._tell(event)

    async def _tell(self, told: TaskReported | ArtifactReported) -> None:
        if self._need:
            call, self._need = self._need, ""
            where = self.scope
            self.drop()
            await self.host.report(RemoteNeedEnded(thread=where.thread, run=where.run, call=call, reason=NOT_NEEDED))
        if isinstance(told, TaskReported):
            self._state, self._reported_at = told.state, self.host.dependencies.clock.elapsed()
        where = self.scope
        await self.host.report(RemoteReported(thread=where.thread, run=where.run, prompt=where.step, report=told))

    async def _later(self, told: TaskReported) -> None:
        """More of what it says in the same state: at most so often, the newest of it."""
        waits, self._late = self._late is not None, told
        rest = (
            self._reported_at + self.host.dependencies.limits.remote_interval - self.host.dependencies.clock.elapsed()
        )
        if rest <= 0:
            await self._tell_late()
        elif not waits:
            self.report_tasks.start(self._tell_in(rest))

    async def _tell_in(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._tell_late()

    async def _tell_late(self) -> None:
        if self._late is not None:
            told, self._late = self._late, None
            await self._tell(told)

    async def _taken(self, refusal: str = "") -> None:
        """It told something after an answer was given to it."""
        if self._sent:
            call, self._sent = self._sent, ""
            made = ToolOutcome(output="It took the answer.")
            if refusal:
                made = ToolOutcome(output="", code="tool_failed", message=refusal)
            await report_end(self.host, self.scope, call, made)

    async def _ask(self, session: RemoteSession, agent: Definition, need: NeedReported) -> None:
        url = agent.url
        wanted, expected = await request_call(
            self.host,
            self.scope,
            self.assembler,
            need.tool,
            lambda context: external_starts.evaluate_request(need, url, context),
        )
        self._need = wanted.call
        self.answer_tasks.start(self._answer(session, wanted.call, expected))

    async def _answer(self, session: RemoteSession, call: str, expected: ExpectedCall) -> None:
        fact = await expected.started
        if self._need == call:
            self._need = ""
        if isinstance(fact, ToolStarted):
            if session.answer(await self._whole(expected)):
                self._sent = call
            else:
                await report_end(
                    self.host, self.scope, call, ToolOutcome(output="", code="tool_failed", message=NOT_NEEDED)
                )
        elif isinstance(fact, ToolRefused):
            raise ExternalFailure(refusal_code(fact), f"The agent elsewhere got no answer. {fact.message}")

    async def _whole(self, expected: ExpectedCall) -> str:
        text, dependencies = expected.answer, self.host.dependencies
        data = None if text.ref is None else await dependencies.store.blobs.get(text.ref.hash)
        try:
            return dependencies.secrets.reveal(text.text if data is None else data.decode())
        except Refusal as refusal:
            raise ExternalFailure(refusal.code, refusal.problem.message) from refusal
