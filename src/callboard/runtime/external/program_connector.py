"""The program of a thread before its prompt: started with a person's yes to the very command, or running already."""

from __future__ import annotations

import asyncio
import os

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.agents import Definition
from callboard.contracts.ports.external import (
    AgentControl,
    AgentSettings,
    ExternalAgents,
    ExternalFailure,
    ExternalSession,
)
from callboard.contracts.ports.tools import ToolContext, ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ExternalChanged, ExternalConnected, ExternalDisconnected
from callboard.tools.gate import external_starts
from callboard.tools.unsandboxed.binding import CommandBinding, bind

from ..sessions.host import SessionHost
from .message_assembler import MessageAssembler
from .prompt_text import build_prompt
from .start_permission import report_end, request_permission


class ProgramConnector:
    """Finds or starts the agent of one run."""

    def __init__(self, host: SessionHost, scope: Scope, speech: MessageAssembler, context: ToolContext) -> None:
        self._host = host
        self._scope = scope
        self._speech = speech
        self._context = context
        self._knows = True

    def control(self, agent: Definition) -> AgentControl:
        """What the agent is held to in this run."""
        permission = self._context.permission_mode
        return AgentControl(permission=permission, mode=agent.agent_mode, model=agent.model)

    async def connect(self, agent: Definition) -> ExternalSession:
        """The agent, running. Raises ExternalFailure, with `person_denied` or `rule_denied` where it may not be started."""
        thread = self._scope.thread
        found = self._host.external_agents.program(thread)
        if found is not None and found.alive:
            await self.apply_control(found, agent)
            return found
        external = self._external()
        if found is not None:
            await self.disconnect(await found.gone())
        command = agent.command
        bound = await self._bound(command)
        call = await request_permission(
            self._host,
            self._scope,
            self._speech,
            external_starts.START,
            lambda context: external_starts.evaluate_start(command, context, bound, agent.agent_mode),
        )
        link = self._host.state.threads[thread].external
        clock = self._host.dependencies.clock
        began = clock.elapsed()
        try:
            await self._must_be(bound)
            session = await self._start(external, agent, bound, link.provider_session if link is not None else "")
        except ExternalFailure as failure:
            await report_end(
                self._host, self._scope, call, ToolOutcome(output="", code=failure.code, message=failure.message)
            )
            raise
        self._host.external_agents.add_program(thread, session, self.disconnect)
        self._knows = session.resumed
        named = f"{session.name} {session.version}".strip()
        took = round((clock.elapsed() - began) * 1000)
        await report_end(
            self._host, self._scope, call, ToolOutcome(output=f"{named}, conversation {session.id}", duration_ms=took)
        )
        await self._host.report(
            ExternalConnected(
                thread=thread,
                provider_session=session.id,
                name=session.name,
                version=session.version,
                resumed=session.resumed,
                settings=session.settings,
            )
        )
        self._host.external_agents.settings[thread] = session.settings
        return session

    async def apply_control(self, session: ExternalSession, agent: Definition) -> None:
        """Hold a running agent to what this run allows. Raises ExternalFailure where that fails; the agent is ended then."""
        # What it changed between two prompts came as no event.
        await self.record(session.settings, allowed=session.allowed)
        try:
            await session.control(self.control(agent))
        except ExternalFailure as failure:
            await self.disconnect(failure.message)
            raise
        await self.record(session.settings)

    async def record(self, settings: AgentSettings, *, allowed: bool = True) -> None:
        """Record the mode and the model in force, where they changed."""
        thread = self._scope.thread
        if self._host.external_agents.settings.get(thread) != settings:
            self._host.external_agents.settings[thread] = settings
            await self._host.report(ExternalChanged(thread=thread, settings=settings, allowed=allowed))

    async def build_text(self, agent: Definition) -> str:
        """What the agent is told."""
        messages = (await self._host.conversations.get(self._scope.thread)).messages(images=False)
        return build_prompt(agent, messages, knows=self._knows)

    async def disconnect(self, reason: str) -> None:
        """Ends the agent, and says that it is there no longer."""
        await self._host.external_agents.end(self._scope.thread)
        await self._host.report(ExternalDisconnected(thread=self._scope.thread, reason=reason))

    async def _bound(self, command: tuple[str, ...]) -> CommandBinding:
        """The command with its program, its scripts and its environment as they are now."""
        search = os.environ.get("PATH", os.defpath)
        return await asyncio.to_thread(bind, command, {}, self._context.folder, search)

    async def _must_be(self, bound: CommandBinding) -> None:
        """Raises ExternalFailure `file_changed` where what would be started is not what was approved."""
        now = await self._bound(bound.command)
        if now.token != bound.token or now.program != bound.program:
            paths = ", ".join(now.list_changed(bound.token)) or "its program"
            message = f"The agent was not started: {paths} changed after the approval. Send the message again."
            raise ExternalFailure("file_changed", message)

    def _external(self) -> ExternalAgents:
        """What starts agents. Raises ExternalFailure before a person is asked, where no agent can be started."""
        external = self._host.dependencies.external_agents
        if external is None:
            raise ExternalFailure("model_unconfigured", "Programs of their own are not started here.")
        external.check()
        return external

    async def _start(
        self, external: ExternalAgents, agent: Definition, bound: CommandBinding, resume: str
    ) -> ExternalSession:
        known = {spec.name for spec in self._host.dependencies.toolbox.list_specs(self._context)}
        try:
            words = (bound.program, *agent.command[1:])
            command = tuple(self._host.dependencies.secrets.reveal(word) for word in words)
        except Refusal as refusal:
            raise ExternalFailure(refusal.code, refusal.problem.message) from refusal
        return await external.start(
            command,
            self._context.folder,
            wanted=self.control(agent),
            resume=resume,
            reads="Read" in known,
            writes="Write" in known,
        )
