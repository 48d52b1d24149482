"""The ACP process of an external agent: running already, or started with an approval of its command."""

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


class AcpConnector:
    """Finds or starts the agent of one run."""

    def __init__(self, host: SessionHost, scope: Scope, assembler: MessageAssembler, context: ToolContext) -> None:
        self._host = host
        self._scope = scope
        self._assembler = assembler
        self._context = context
        self._is_resumed = True

    def control(self, agent: Definition) -> AgentControl:
        """Return the mode, model and permission of the agent in this run."""
        permission = self._context.permission_mode
        return AgentControl(permission=permission, mode=agent.agent_mode, model=agent.model)

    async def connect(self, agent: Definition) -> ExternalSession:
        """Return the running agent."""
        thread = self._scope.thread
        running = self._host.external_agents.get_acp_session(thread)
        if running is not None and running.alive:
            await self.apply_control(running, agent)
            return running
        external = self._require_external()
        if running is not None:
            await self.disconnect(await running.wait_for_end())
        command = agent.command
        bound = await self._bind_command(command)
        call = await request_permission(
            self._host,
            self._scope,
            self._assembler,
            external_starts.START,
            lambda context: external_starts.evaluate_start(command, context, bound, agent.agent_mode),
        )
        link = self._host.state.threads[thread].external
        clock = self._host.dependencies.clock
        started = clock.elapsed()
        try:
            await self._require_unchanged(bound)
            session = await self._start(external, agent, bound, link.provider_session if link is not None else "")
        except ExternalFailure as failure:
            await report_end(
                self._host, self._scope, call, ToolOutcome(output="", code=failure.code, message=failure.message)
            )
            raise
        self._host.external_agents.add_acp_session(thread, session, self.disconnect)
        self._is_resumed = session.resumed
        title = f"{session.name} {session.version}".strip()
        duration = round((clock.elapsed() - started) * 1000)
        await report_end(
            self._host,
            self._scope,
            call,
            ToolOutcome(output=f"{title}, conversation {session.id}", duration_ms=duration),
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
        """Apply this run's control to a running agent."""
        # Changes between two prompts arrive without an event.
        await self.record(session.settings, allowed=session.allowed)
        try:
            await session.control(self.control(agent))
        except ExternalFailure as failure:
            await self.disconnect(failure.message)
            raise
        await self.record(session.settings)

    async def record(self, settings: AgentSettings, *, allowed: bool = True) -> None:
        """Record the mode and model in force if they changed."""
        thread = self._scope.thread
        if self._host.external_agents.settings.get(thread) != settings:
            self._host.external_agents.settings[thread] = settings
            await self._host.report(ExternalChanged(thread=thread, settings=settings, allowed=allowed))

    async def build_text(self, agent: Definition) -> str:
        """Return the agent's next prompt."""
        messages = (await self._host.conversations.get(self._scope.thread)).build_messages(images=False)
        return build_prompt(agent, messages, knows=self._is_resumed)

    async def disconnect(self, reason: str) -> None:
        """End the agent and record it."""
        await self._host.external_agents.end(self._scope.thread)
        await self._host.report(ExternalDisconnected(thread=self._scope.thread, reason=reason))

    async def _bind_command(self, command: tuple[str, ...]) -> CommandBinding:
        """Return the command, bound to its current program, scripts and environment."""
        search = os.environ.get("PATH", os.defpath)
        return await asyncio.to_thread(bind, command, {}, self._context.folder, search)

    async def _require_unchanged(self, bound: CommandBinding) -> None:
        """Refuse a command that changed after its approval."""
        now = await self._bind_command(bound.command)
        if now.token != bound.token or now.program != bound.program:
            paths = ", ".join(now.list_changed(bound.token)) or "its program"
            message = f"The agent was not started because {paths} changed after the approval. Send the message again."
            raise ExternalFailure("file_changed", message)

    def _require_external(self) -> ExternalAgents:
        """Return the port that starts agents."""
        external = self._host.dependencies.external_agents
        if external is None:
            raise ExternalFailure("model_unconfigured", "External agents are not available in this process.")
        external.check()
        return external

    async def _start(
        self, external: ExternalAgents, agent: Definition, bound: CommandBinding, resume: str
    ) -> ExternalSession:
        tool_names = {spec.name for spec in self._host.dependencies.toolbox.list_specs(self._context)}
        try:
            parts = (bound.program, *agent.command[1:])
            command = tuple(self._host.dependencies.secrets.reveal(word) for word in parts)
        except Refusal as refusal:
            raise ExternalFailure(refusal.code, refusal.problem.message) from refusal
        return await external.start(
            command,
            self._context.folder,
            wanted=self.control(agent),
            resume=resume,
            reads="Read" in tool_names,
            writes="Write" in tool_names,
        )
