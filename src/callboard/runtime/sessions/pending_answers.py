"""Calls that wait for a person's answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.action import ActionExpired, ActionResolved, ActionWithdrawn
from callboard.contracts.facts.base import Fact
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ElicitationEnded, Outcome

from ..background_tasks import BackgroundTasks

log = logging.getLogger(__name__)


class PendingAnswers:
    """Waits for answers by call. `report` sends an outcome to the host."""

    def __init__(self, report: Callable[[Outcome], Awaitable[None]]) -> None:
        self._report = report
        self._expected: dict[str, asyncio.Future[Fact]] = {}
        self._withdrawing = BackgroundTasks()

    def expect(self, call: str) -> asyncio.Future[Fact]:
        """Return a future of the fact that ends the call's next action."""
        expected = self._expected[call] = asyncio.get_running_loop().create_future()
        return expected

    def forget(self, call: str, expected: asyncio.Future[Fact]) -> None:
        """Stop waiting for the answer."""
        if self._expected.get(call) is expected:
            del self._expected[call]

    def withdraw(self, scope: Scope) -> None:
        """Withdraw the call's question after the current decision."""
        self._withdrawing.start(self._withdraw(scope))

    async def wait_settled(self) -> None:
        """Wait until all withdrawals are recorded."""
        await self._withdrawing.wait_all()

    def apply(self, records: Iterable[Record]) -> None:
        """Pass facts to the calls that wait for them."""
        if not self._expected:
            return
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
            log.warning("the withdrawal of a question was not recorded: %s", refusal.problem.message)
