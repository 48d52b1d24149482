"""The answers that calls under way wait for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ActionExpired, ActionResolved, ActionWithdrawn, Fact
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ElicitationEnded, Outcome

from ..background_tasks import BackgroundTasks

log = logging.getLogger(__name__)


class PendingAnswers:
    """By call, who waits for what a person says to what it asked. `report` is the host's."""

    def __init__(self, report: Callable[[Outcome], Awaitable[None]]) -> None:
        self._report = report
        self._expected: dict[str, asyncio.Future[Fact]] = {}
        self._withdrawing = BackgroundTasks()

    def expect(self, call: str) -> asyncio.Future[Fact]:
        """The fact that ends the next action of the call."""
        expected = self._expected[call] = asyncio.get_running_loop().create_future()
        return expected

    def forget(self, call: str, expected: asyncio.Future[Fact]) -> None:
        """Nobody waits for it any more."""
        if self._expected.get(call) is expected:
            del self._expected[call]

    def withdraw(self, scope: Scope) -> None:
        """Says that the call asks no longer, behind what is being decided now."""
        self._withdrawing.start(self._withdraw(scope))

    async def wait_settled(self) -> None:
        """Waits until what was withdrawn is told."""
        await self._withdrawing.wait_all()

    def apply(self, records: Iterable[Record]) -> None:
        """Tells those who wait."""
        for record in records:
            expected = self._expected.get(record.scope.tool_call)
            if (
                expected is not None
                and not expected.done()
                and isinstance(record.fact, ActionResolved | ActionExpired | ActionWithdrawn)
            ):
                expected.set_result(record.fact)

    async def _withdraw(self, scope: Scope) -> None:
        try:
            await self._report(ElicitationEnded(thread=scope.thread, run=scope.run, call=scope.tool_call))
        except Refusal as refusal:
            log.warning("that a call asks no longer is not told: %s", refusal.problem.message)
