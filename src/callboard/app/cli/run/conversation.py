"""A turn in the terminal: printed, answered, and stopped by Ctrl-C."""

from __future__ import annotations

import asyncio
import sys

import msgspec

from callboard.client import Client
from callboard.contracts.commands.turn import TurnAccepted
from callboard.contracts.ports.runtime import OpBatch
from callboard.contracts.record import WireEvent
from callboard.contracts.rows.agent import AgentRow
from callboard.contracts.rows.base import Upsert
from callboard.contracts.rows.turn import TurnRow

from ...turn_follower import FactPrinter, follow_turn, interrupt_turn
from ..terminal.approvals import Approvals, Approve
from ..terminal.output import Style, mark_hidden, print_err, print_out
from ..terminal.renderer import format_turn
from .printer import Printer

_AT_WORK = frozenset({"spawning", "running", "waiting", "needs_input", "plan_ready"})


class Conversation:
    """One turn from its acceptance to its end. `refused` counts the approvals that no person could give."""

    def __init__(
        self, client: Client, accepted: TurnAccepted, approve: Approve | None, *, as_json: bool, before: int
    ) -> None:
        """Prepare to follow the turn.

        Args:
            approve: None if the person in the terminal answers approvals.
            as_json: Print only facts, those after the sequence `before`.
        """
        self._client = client
        self._accepted = accepted
        self._printer = Printer(accepted.turn_id, client.read_text)
        self._facts = FactPrinter(client, accepted.session_id, before, _print_fact) if as_json else None
        quiet = as_json and approve is not None
        print_line = _ignore if quiet else self._printer.print_line
        self._approvals = Approvals(client, accepted.session_id, approve, print_line, self._hold)
        self._agents: dict[str, AgentRow] = {}
        self._holds = False
        self._held: list[OpBatch] = []

    @property
    def refused(self) -> int:
        return self._approvals.refused

    async def run(self, stop: asyncio.Event, reason: str) -> TurnRow:
        """Follow the turn to its end; interrupt it with `reason` once `stop` is set. Raises Refusal."""
        if self._facts is None and self._accepted.status == "queued":
            self._printer.print_line(Style(sys.stderr).dim("Queued: it starts after the turns before it."))
        try:
            async with asyncio.TaskGroup() as group:
                helpers = [group.create_task(self._approvals.run()), group.create_task(self._interrupt(stop, reason))]
                if self._facts is not None:
                    helpers.append(group.create_task(self._facts.run()))
                turn = await follow_turn(self._client, self._accepted, self._show, self._approvals, self._continue)
                await self._show_held()
                if self._facts is not None:
                    await self._facts.wait_for_sequence(turn.sequence)
                for task in helpers:
                    task.cancel()
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from failures
        if self._facts is None:
            self._end(turn)
        return turn

    def _continue(self, turn: str) -> None:
        """Follow the turn that carries out the accepted plan."""
        self._accepted = msgspec.structs.replace(self._accepted, turn_id=turn)

    def _hold(self, holds: bool) -> None:
        """Hold output back while a question is shown: it would appear where the answer is typed."""
        self._holds = holds

    async def _show(self, batch: OpBatch) -> None:
        if self._facts is not None:
            return
        self._agents.update(
            {op.row.key: op.row for op in batch.ops if isinstance(op, Upsert) and isinstance(op.row, AgentRow)}
        )
        self._held.append(batch)
        if not self._holds:
            await self._show_held()

    async def _show_held(self) -> None:
        while self._held:
            await self._printer.show(self._held.pop(0).ops)

    async def _interrupt(self, stop: asyncio.Event, reason: str) -> None:
        await stop.wait()
        if self._approvals.abandon_question():
            print_err()
        if self._facts is None:
            self._printer.print_line(Style(sys.stderr).dim("Stopping the turn. Ctrl-C again exits immediately."))
        await interrupt_turn(self._client, self._accepted, reason)

    def _end(self, turn: TurnRow) -> None:
        style = Style(sys.stderr)
        self._printer.end()
        if working := self._list_working(turn):
            names = ", ".join(working)
            interrupted = f"Interrupted with this command: {names}. With `callboard up`, agents finish their work."
            print_err(style.warn(f"  ! {f'Still running: {names}' if self._client.endpoint.stays else interrupted}"))
        print_err(f"{format_turn(turn, style)}{style.dim(f' · callboard view {self._accepted.session_id}')}")

    def _list_working(self, turn: TurnRow) -> list[str]:
        """Return the children of the turn's agent that still work."""
        children = [row for row in self._agents.values() if row.parent_agent_id == turn.agent_id]
        return [
            f"{mark_hidden(row.name)}{' (needs an answer)' if row.state == 'needs_input' else ''}"
            for row in children
            if row.state in _AT_WORK
        ]


def _print_fact(event: WireEvent) -> None:
    print_out(msgspec.json.encode(event).decode())


def _ignore(_: str) -> None:
    pass
