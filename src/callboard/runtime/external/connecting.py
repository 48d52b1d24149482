"""The program of a thread before its prompt: started with a person's yes to the very command, or running already."""

from __future__ import annotations

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.agents import Definition
from callboard.contracts.ports.external import ExternalFailure, ExternalSession
from callboard.contracts.ports.tools import ToolContext, ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ExternalGone, ExternalThere
from callboard.tools import joining

from ..host import SessionHost
from .permitted import end, permitted
from .speech import Speech
from .telling import told


class Connecting:
    """Finds or starts the agent of one run."""

    def __init__(self, host: SessionHost, scope: Scope, speech: Speech, context: ToolContext) -> None:
        self._host = host
        self._scope = scope
        self._speech = speech
        self._context = context
        self._knows = True

    async def session(self, agent: Definition) -> ExternalSession:
        """The agent, running. Raises ExternalFailure, with `person_denied` or `rule_denied` where it may not be started."""
        thread = self._scope.thread
        found = self._host.foreign.program(thread)
        if found is not None and found.alive:
            return found
        if found is not None:
            await self.gone(await found.gone())
        command = agent.command
        call = await permitted(
            self._host, self._scope, self._speech, joining.START, lambda context: joining.starting(command, context)
        )
        link = self._host.state.threads[thread].external
        clock = self._host.parts.clock
        began = clock.elapsed()
        try:
            session = await self._start(agent, link.provider_session if link is not None else "")
        except ExternalFailure as failure:
            await end(self._host, self._scope, call, ToolOutcome(output="", code=failure.code, message=failure.message))
            raise
        self._host.foreign.keep(thread, session, self.gone)
        self._knows = session.resumed
        named = f"{session.name} {session.version}".strip()
        took = round((clock.elapsed() - began) * 1000)
        await end(
            self._host, self._scope, call, ToolOutcome(output=f"{named}, conversation {session.id}", duration_ms=took)
        )
        await self._host.report(
            ExternalThere(
                thread=thread,
                provider_session=session.id,
                name=session.name,
                version=session.version,
                resumed=session.resumed,
            )
        )
        return session

    async def text(self, agent: Definition) -> str:
        """What the agent is told."""
        messages = (await self._host.contexts.of(self._scope.thread)).messages(images=False)
        return told(agent, messages, knows=self._knows)

    async def gone(self, reason: str) -> None:
        """Ends the agent, and says that it is there no longer."""
        await self._host.foreign.end(self._scope.thread)
        await self._host.report(ExternalGone(thread=self._scope.thread, reason=reason))

    async def _start(self, agent: Definition, resume: str) -> ExternalSession:
        external = self._host.parts.external
        if external is None:
            raise ExternalFailure("model_unconfigured", "Programs of their own are not started here.")
        known = {spec.name for spec in self._host.parts.toolbox.specs(self._context)}
        try:
            command = tuple(self._host.parts.secrets.reveal(word) for word in agent.command)
        except Refusal as refusal:
            raise ExternalFailure(refusal.code, refusal.problem.message) from refusal
        return await external.start(
            command, self._context.folder, resume=resume, reads="Read" in known, writes="Write" in known
        )
