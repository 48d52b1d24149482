"""What an agent asked permission for, as its adapter hands it on: seen beside the product, for the log to be compared with."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from callboard.contracts.facts import PermissionEvaluated, ToolRequested
from callboard.contracts.ports.external import ExternalAgents, ExternalEvent, ExternalSession, PermissionAsked
from callboard.contracts.record import Record
from callboard.tools.foreign import BY_ITSELF


class Witness:
    """The agents, with a note of each call that one of them asks about, by its own id."""

    def __init__(self, agents: ExternalAgents) -> None:
        self.asked: list[str] = []
        self._agents = agents

    def check(self) -> None:
        self._agents.check()

    async def start(self, *arguments: Any, **more: Any) -> ExternalSession:
        session = await self._agents.start(*arguments, **more)
        prompt = session.prompt

        async def noted(text: str) -> AsyncGenerator[ExternalEvent]:
            async for event in prompt(text):
                if isinstance(event, PermissionAsked):
                    self.asked.append(event.call.call_id)
                yield event

        session.prompt = noted
        return session

    def unasked_in(self, records: Sequence[Record]) -> list[str]:
        """Return the calls that were asked about and that the log has as run without a question, or does not have."""
        names = {
            record.scope.tool_call: record.fact.provider_call_id
            for record in records
            if isinstance(record.fact, ToolRequested) and record.fact.provider_call_id
        }
        by_itself = {
            names.get(record.scope.tool_call, "")
            for record in records
            if isinstance(record.fact, PermissionEvaluated)
            and any(check.name == "approval" and check.detail == BY_ITSELF for check in record.fact.checks)
        }
        return [one for one in self.asked if one in by_itself or one not in names.values()]
