"""The agent of a thread before its prompt: started with a person's yes to the very command, or running already; and what it is
told."""

from __future__ import annotations

from callboard.contracts.facts import ToolRefused, ToolStarted
from callboard.contracts.ports.agents import Definition
from callboard.contracts.ports.external import ExternalFailure, ExternalSession
from callboard.contracts.ports.model import ModelMessage, TextContent, ToolCallContent, ToolResultContent
from callboard.contracts.ports.tools import ToolContext, ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import CallSeen, ExternalGone, ExternalThere, ToolEnded, WantedCall
from callboard.tools import foreign

from ..host import SessionHost
from .speech import Speech

#: How much of an earlier conversation an agent is told that does not remember it, in characters from its end.
LONGEST_BEFORE = 20_000

_BEFORE = "What was said before, which you do not remember:"


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
        found = self._host.foreign.session(thread)
        if found is not None and found.alive:
            return found
        if found is not None:
            await self.gone(await found.gone())
        call = await self._permitted(agent)
        link = self._host.state.threads[thread].external
        clock = self._host.parts.clock
        began = clock.elapsed()
        try:
            session = await self._start(agent, link.provider_session if link is not None else "")
        except ExternalFailure as failure:
            await self._end(call, ToolOutcome(output="", code=failure.code, message=failure.message))
            raise
        self._host.foreign.keep(thread, session, self.gone)
        self._knows = session.resumed
        named = f"{session.name} {session.version}".strip()
        took = round((clock.elapsed() - began) * 1000)
        await self._end(call, ToolOutcome(output=f"{named}, conversation {session.id}", duration_ms=took))
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
        """What the agent is told: what came since it spoke last, and first of all who it is where it does not know."""
        messages = (await self._host.contexts.of(self._scope.thread)).messages()
        spoke = max((at for at, one in enumerate(messages, 1) if one.role != "user" and not _starts(one)), default=0)
        now = [text for one in messages[spoke:] for text in _texts(one)]
        if self._knows:
            return "\n\n".join(now)
        before = "\n\n".join(f"{one.role}: {text}" for one in messages[:spoke] for text in _texts(one))
        told = [f"{_BEFORE}\n\n{before[-LONGEST_BEFORE:]}"] if before else []
        return "\n\n".join(part for part in (agent.prompt, *told, *now) if part)

    async def gone(self, reason: str) -> None:
        """Ends the agent, and says that it is there no longer."""
        await self._host.foreign.end(self._scope.thread)
        await self._host.report(ExternalGone(thread=self._scope.thread, reason=reason))

    async def _start(self, agent: Definition, resume: str) -> ExternalSession:
        external = self._host.parts.external
        if external is None:
            raise ExternalFailure("model_unconfigured", "Programs of their own are not started here.")
        told = {spec.name for spec in self._host.parts.toolbox.specs(self._context)}
        return await external.start(
            agent.command, self._context.folder, resume=resume, reads="Read" in told, writes="Write" in told
        )

    async def _permitted(self, agent: Definition) -> str:
        """The call that starts the command, once a rule or a person let it through."""
        host, where = self._host, self._scope
        call, step = host.parts.ids.new("call"), self._speech.step()
        command = agent.command
        evaluation = await host.verdicts.of_foreign(
            where.thread, call, lambda context: foreign.starting(command, context)
        )
        if evaluation.verdict == "ask":
            self._speech.step()
        wanted = WantedCall(
            call=call,
            step=step,
            tool=foreign.START,
            arguments=evaluation.arguments,
            provider_call_id="",
            evaluation=evaluation,
        )
        expected = host.foreign.expect(call, own=True)
        await host.report(CallSeen(thread=where.thread, run=where.run, prompt=where.step, wanted=wanted))
        fact = await expected.begun
        if isinstance(fact, ToolStarted):
            return call
        code = evaluation.code if evaluation.verdict == "deny" and evaluation.code is not None else "person_denied"
        message = fact.message if isinstance(fact, ToolRefused) else "It may not be started."
        raise ExternalFailure(code, f"The agent was not started. {message}")

    async def _end(self, call: str, outcome: ToolOutcome) -> None:
        where = self._scope
        await self._host.report(ToolEnded(thread=where.thread, run=where.run, call=call, outcome=outcome))


def _starts(message: ModelMessage) -> bool:
    """True for what tells of starting the agent, and not of what it said or did."""
    return all(
        isinstance(one, ToolCallContent | ToolResultContent) and one.tool == foreign.START for one in message.content
    )


def _texts(message: ModelMessage) -> list[str]:
    return [one.text for one in message.content if isinstance(one, TextContent) and one.text]
