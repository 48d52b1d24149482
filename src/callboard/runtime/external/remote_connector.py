"""The agent elsewhere of a thread before its prompt: contacted with a person's yes to the very address, or reached already."""

from __future__ import annotations

from dataclasses import dataclass

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.agents import Definition
from callboard.contracts.ports.external import ExternalFailure, RemoteSession
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.decide.thread.resume import GO_ON
from callboard.control.outcomes import ExternalConnected
from callboard.tools.gate import external_starts

from ..sessions.host import SessionHost
from .message_assembler import MessageAssembler
from .prompt_text import build_prompt, text_parts
from .start_permission import report_end, request_permission


@dataclass(frozen=True)
class PromptInput:
    """What the agent is to be given: `text`, or `more` where it still works on `task`."""

    text: str
    task: str = ""
    more: str = ""


class RemoteAgentConnector:
    """Finds or reaches the agent of one run."""

    def __init__(self, host: SessionHost, scope: Scope, speech: MessageAssembler) -> None:
        self._host = host
        self._scope = scope
        self._speech = speech
        self._knows = True

    async def connect(self, agent: Definition) -> RemoteSession:
        """The agent. Raises ExternalFailure, with `person_denied` or `rule_denied` where it may not be contacted."""
        host, thread, url = self._host, self._scope.thread, agent.url
        address = self._address(url)
        found = host.external_agents.remote(thread)
        if found is not None and found.url == address:
            return found
        if found is not None:
            # The definition names another address by now, which nobody allowed yet.
            await host.external_agents.end(thread)
        call = await request_permission(
            host,
            self._scope,
            self._speech,
            external_starts.CONNECT,
            lambda context: external_starts.evaluate_connection(url, context),
        )
        link = host.state.threads[thread].external
        began = host.dependencies.clock.elapsed()
        try:
            session = await self._reach(address, link.provider_session if link is not None else "")
        except ExternalFailure as failure:
            await report_end(
                host, self._scope, call, ToolOutcome(output="", code=failure.code, message=failure.message)
            )
            raise
        host.external_agents.add_remote(thread, session)
        self._knows = session.resumed
        named = f"{session.name} {session.version}".strip()
        took = round((host.dependencies.clock.elapsed() - began) * 1000)
        await report_end(host, self._scope, call, ToolOutcome(output=named, duration_ms=took))
        await self.record_connection(session)
        return session

    async def record_connection(self, session: RemoteSession) -> None:
        """Says that the agent is there, and under which name it knows the conversation."""
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
        """What it is given now. A turn that says nothing but what the task was given for already, or that it is to go on,
        takes the task up again."""
        thread = self._scope.thread
        context = await self._host.conversations.get(thread)
        messages, newest = context.messages(images=False), context.newest_turn()
        text = build_prompt(agent, messages, knows=self._knows)
        link = self._host.state.threads[thread].external
        if link is None or not link.task:
            return PromptInput(text)
        said = {one for message in messages[: len(messages) - len(newest)] for one in text_parts(message)} | {GO_ON}
        more = [one for message in newest if message.role == "user" for one in text_parts(message) if one not in said]
        return PromptInput(text, link.task, "\n\n".join(more))

    async def _reach(self, url: str, resume: str) -> RemoteSession:
        remotes = self._host.dependencies.remote_agents
        if remotes is None:
            raise ExternalFailure("model_unconfigured", "Agents elsewhere are not contacted here.")
        return await remotes.reach(url, resume=resume)

    def _address(self, url: str) -> str:
        try:
            return self._host.dependencies.secrets.reveal(url)
        except Refusal as refusal:
            raise ExternalFailure(refusal.code, refusal.problem.message) from refusal
