"""Requests for permission as an agent's adapter forwards them, recorded outside of the product to
compare with the log.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from callboard.contracts.facts.permission import Check, PermissionEvaluated
from callboard.contracts.facts.tool import ToolRequested
from callboard.contracts.ports.external import (
    CallReported,
    ExternalAgents,
    ExternalEvent,
    ExternalSession,
    PermissionRequested,
)
from callboard.contracts.record import Record


class Witness:
    """The agents, with a note of each call that one of them asks about, by the agent's id."""

    def __init__(self, agents: ExternalAgents) -> None:
        self.requests: list[str] = []
        #: Seconds between the first report that a call runs and its request.
        self.waits: dict[str, float] = {}
        self._agents = agents

    def check(self) -> None:
        self._agents.check()

    async def start(self, *arguments: Any, **more: Any) -> ExternalSession:
        session = await self._agents.start(*arguments, **more)
        prompt = session.prompt

        async def noted(text: str) -> AsyncGenerator[ExternalEvent]:
            began: dict[str, float] = {}
            async for event in prompt(text):
                if isinstance(event, CallReported) and event.call.status == "in_progress":
                    began.setdefault(event.call.call_id, time.monotonic())
                if isinstance(event, PermissionRequested):
                    call, now = event.call.call_id, time.monotonic()
                    self.requests.append(call)
                    self.waits[call] = now - began.get(call, now)
                yield event

        session.prompt = noted
        return session

    def unasked_in(self, records: Sequence[Record]) -> dict[str, str]:
        """Return the calls that were asked about and that the log has as run without a question, or does not have."""
        names = {
            record.scope.tool_call: record.fact.provider_call_id
            for record in records
            if isinstance(record.fact, ToolRequested) and record.fact.provider_call_id
        }
        by_itself = {
            names.get(record.scope.tool_call, "")
            for record in records
            if isinstance(record.fact, PermissionEvaluated) and any(_by_itself(check) for check in record.fact.checks)
        }
        wrong = {call: "not on record" for call in self.requests if call not in names.values()}
        return wrong | {
            call: f"unasked, asked after {self.waits[call]:.2f} s" for call in self.requests if call in by_itself
        }


def _by_itself(check: Check) -> bool:
    return check.name == "approval" and any(reason.code == "runs_itself" for reason in check.reasons)
