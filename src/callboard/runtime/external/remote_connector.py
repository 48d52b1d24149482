"""The connection to a remote agent: existing, or made with an approval of its address."""

from __future__ import annotations

from dataclasses import dataclass

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.agents import Definition
from callboard.contracts.ports.external import ExternalFailure, RemoteSession
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ExternalConnected
from callboard.tools.gate import external_starts

from ..sessions.host import SessionHost
from .message_assembler import MessageAssembler
from .prompt_text import build_prompt, list_texts
from .start_permission import report_end, request_permission


@dataclass(frozen=True)
class PromptInput:
    """The input of a remote agent: `text`, or `more` if it is still working on `task`."""

    text: str
    task: str = ""
    more: str = ""


class RemoteAgentConnector:
    """Finds or contacts the agent of one run."""

    def __init__(self, host: SessionHost, scope: Scope, assembler: MessageAssembler) -> None:
        self._host = host
        self._scope = scope
        self._assembler = assembler
        self._is_resumed = True

    async def connect(self, agent: Definition) -> RemoteSession:
        """Return the connected agent."""
        host, thread, url = self._host, self._scope.thread, agent.url
        address = self._reveal_address(url)
        connected = host.external_agents.get_remote_session(thread)
        if connected is not None and connected.url == address:
            return connected
        if connected is not None:
            # The definition names another address, which is not approved yet.
            await host.external_agents.end(thread)
        call = await request_permission(
            host,
            self._scope,
            self._assembler,
            external_starts.CONNECT,
            lambda context: external_starts.evaluate_connection(url, context),
        )
        link = host.state.threads[thread].external
        started = host.dependencies.clock.elapsed()
        try:
            session = await self._reach(address, link.provider_session if link is not None else "")
        except ExternalFailure as failure:
            await report_end(
                host, self._scope, call, ToolOutcome(output="", code=failure.code, message=failure.message)
            )
            raise
        host.external_agents.add_remote_session(thread, session)
        self._is_resumed = session.resumed
        title = f"{session.name} {session.version}".strip()
        duration = round((host.dependencies.clock.elapsed() - started) * 1000)
        await report_end(host, self._scope, call, ToolOutcome(output=title, duration_ms=duration))
        await self.record_connection(session)
        return session

    async def record_connection(self, session: RemoteSession) -> None:
        """Record the connection and the agent's id of the conversation."""
        await self._host.report(
            ExternalConnected(
                thread=self._scope.thread,
                provider_session=session.id,
                name=session.name,
                version=session.version,
                resumed=session.resumed,
                card=session.card,
            )
        )

    async def build_input(self, agent: Definition) -> PromptInput:
        """Return the agent's next input.

        A turn that adds nothing new to the task continues the task.
        """
        thread = self._scope.thread
        history = await self._host.conversations.get(thread)
        text = build_prompt(agent, history.build_messages(images=False), knows=self._is_resumed)
        link = self._host.state.threads[thread].external
        if link is None or not link.task:
            return PromptInput(text)
        before, inputs = history.split_newest_inputs()
        sent = {text_part for message in before for text_part in list_texts(message)}
        more = [text_part for message in inputs for text_part in list_texts(message) if text_part not in sent]
        return PromptInput(text, link.task, "\n\n".join(more))

    async def _reach(self, url: str, resume: str) -> RemoteSession:
        remotes = self._host.dependencies.remote_agents
        if remotes is None:
            raise ExternalFailure("model_unconfigured", "Remote agents are not available in this process.")
        return await remotes.connect(url, resume=resume)

    def _reveal_address(self, url: str) -> str:
        try:
            return self._host.dependencies.secrets.reveal(url)
        except Refusal as refusal:
            raise ExternalFailure(refusal.code, refusal.problem.message) from refusal
