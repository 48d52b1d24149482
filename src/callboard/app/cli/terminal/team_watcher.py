"""A team in the terminal, followed until no agent has work left."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import aclosing

import msgspec

from callboard.client import Client
from callboard.contracts.commands.session import GetSession, SessionRead
from callboard.contracts.record import WireEvent, decode_payload

from ...turn_follower import answer_actions
from .approvals import Approvals
from .fact_formatter import format_fact, format_output_tail
from .output import Style, print_err, print_out, read_terminal_width

_BEGAN = "turn.submitted"
_ENDED = ("turn.completed", "turn.failed", "turn.interrupted", "queue.removed")
_NAMES = 14


class HeldOutput:
    """Lines for the terminal, held back while a question is shown."""

    def __init__(self, line: Callable[[str], None]) -> None:
        self._print_line = line
        self._holds = False
        self._held: list[str] = []

    def print(self, line: str) -> None:
        """Print a line, now or after the question."""
        if self._holds:
            self._held.append(line)
        else:
            self._print_line(line)

    def hold(self, holds: bool) -> None:
        """Hold lines back from now on; or print the held lines and stop holding."""
        self._holds = holds
        while self._held and not holds:
            self._print_line(self._held.pop(0))


class TeamWatcher:
    """A session from its first fact until no turn is open.

    Questions are asked in the terminal; without one, a line names the page's address.
    """

    def __init__(self, client: Client, session: str, link: str, *, json: bool) -> None:
        self._client = client
        self._session = session
        self._link = link
        self._json = json
        self._style = Style(sys.stdout)
        self._open: set[str] = set()
        self._board: set[str] = set()
        self._began = self._failed = False
        self._lines = HeldOutput(print_out)
        self._asks_here = not json and sys.stdin.isatty() and sys.stderr.isatty()

    async def run(self) -> bool:
        """Follow the session to its end; return True if a turn failed. Raises Refusal."""
        if not self._asks_here:
            return await self._follow_facts()
        approvals = Approvals(self._client, self._session, None, print_err, self._lines.hold)
        try:
            async with asyncio.TaskGroup() as group:
                helpers = [group.create_task(approvals.run()), group.create_task(self._answer_actions(approvals))]
                failed = await self._follow_facts()
                for task in helpers:
                    task.cancel()
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from failures
        return failed

    async def _follow_facts(self) -> bool:
        async with aclosing(self._client.follow_facts(self._session)) as events:
            async for event in events:
                self._apply(event)
                if self._began and not self._open and await self._has_ended(event.sequence):
                    break
        return self._failed

    async def _has_ended(self, sequence: int) -> bool:
        """Return True if no later fact exists: the transaction that ends a turn also wakes other agents."""
        read: SessionRead = await self._client.submit(GetSession(session_id=self._session, turns=1))
        return read.head == sequence

    def _apply(self, event: WireEvent) -> None:
        if event.type == _BEGAN:
            self._began = True
            self._open.add(event.turn_id)
        elif event.type in _ENDED:
            self._open.discard(event.turn_id)
            self._failed = self._failed or event.type == "turn.failed"
        if self._json:
            print_out(msgspec.json.encode(event).decode())
            return
        fact = decode_payload(event.type, None if event.erased else bytes(event.payload), event.schema_version)
        line = format_fact(fact, self._style, max(read_terminal_width() - _NAMES - 4, 20))
        if line and self._track_task(event):
            self._lines.print(f"{self._style.dim(event.agent_id[:_NAMES].ljust(_NAMES))} {line}")
        for printed in format_output_tail(fact, max(read_terminal_width() - _NAMES - 6, 20)):
            self._lines.print(f"{' ' * _NAMES} {self._style.dim(f'  │ {printed}')}")
        if event.type == "action.required" and not self._asks_here:
            print_out(f"{' ' * _NAMES} {self._style.warn(f'  answer on the page: {self._link}')}")

    def _track_task(self, event: WireEvent) -> bool:
        """Track the tasks of the board. Return False for tasks of a turn or a child, which have separate lines."""
        if event.type == "task.created" and not (event.turn_id or event.parent_thread_id):
            self._board.add(event.task_id)
        return not event.type.startswith("task.") or event.task_id in self._board

    async def _answer_actions(self, approvals: Approvals) -> None:
        async with aclosing(self._client.follow_ops(self._session)) as batches:
            async for batch in batches:
                answer_actions(batch, approvals)
