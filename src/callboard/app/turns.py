"""One turn from a prompt to its end, for whoever follows it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Protocol

from callboard.contracts.commands import InterruptTurn, RemoveQueuedTurn, TurnAccepted
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.runtime import OpBatch
from callboard.contracts.record import WireEvent
from callboard.contracts.rows import ActionRow, Remove, TurnRow, Upsert

from .client import Client

_SNAPSHOT = "snapshot"
_ALREADY_OVER = ("nothing_running", "turn_already_ended", "unknown_turn", "turn_not_queued")


class Answering(Protocol):
    """What answers the actions of a turn."""

    def required(self, row: ActionRow) -> None: ...

    def settled(self, action: str) -> None: ...

    def settled_but(self, actions: set[str]) -> None: ...


async def follow_turn(
    client: Client, accepted: TurnAccepted, show: Callable[[OpBatch], Awaitable[None]], answering: Answering
) -> TurnRow:
    """Hands every batch of the session's operations on, and the actions of the turn and of the children that work for its agent
    to be answered; returns the turn as it ended."""
    agent = ""
    async with aclosing(client.ops(accepted.session_id)) as batches:
        async for batch in batches:
            await show(batch)
            agent = next((row.agent_id for row in _turns(batch, accepted.turn_id)), agent)
            ended = _take(batch, accepted.turn_id, agent, answering)
            if ended is not None:
                return ended
    raise Refusal("gap", f"The operations of {accepted.session_id} ended before its turn did.")


def _turns(batch: OpBatch, turn: str) -> list[TurnRow]:
    """What the batch says of the turn."""
    rows = (op.row for op in batch.ops if isinstance(op, Upsert))
    return [row for row in rows if isinstance(row, TurnRow) and row.turn_id == turn]


def _take(batch: OpBatch, turn: str, agent: str, answering: Answering) -> TurnRow | None:
    pending: set[str] = set()
    for op in batch.ops:
        match op:
            case Upsert(row=ActionRow() as row) if row.turn_id == turn or (agent and row.parent_agent_id == agent):
                pending.add(row.action_id)
                answering.required(row)
            case Remove(panel=ActionRow.panel):
                answering.settled(op.key)
            case _:
                pass
    if batch.kind == _SNAPSHOT:
        answering.settled_but(pending)
    return next((row for row in _turns(batch, turn) if row.ended_at or row.state == "removed"), None)


class FactPrinter:
    """Hands on every fact of a session after a sequence, and tells when it has come to a certain one."""

    def __init__(self, client: Client, session: str, after: int, tell: Callable[[WireEvent], None]) -> None:
        self._client = client
        self._session = session
        self._at = after
        self._tell = tell
        self._moved = asyncio.Condition()

    async def run(self) -> None:
        """Goes on for ever."""
        async with aclosing(self._client.facts(self._session, after=self._at)) as events:
            async for event in events:
                self._tell(event)
                async with self._moved:
                    self._at = event.sequence
                    self._moved.notify_all()

    async def reach(self, sequence: int) -> None:
        """Waits until the fact of that sequence was handed on."""
        async with self._moved:
            await self._moved.wait_for(lambda: self._at >= sequence)


async def interrupt(client: Client, accepted: TurnAccepted, reason: str) -> None:
    """Stops the turn, or takes it out of the queue where it has not started. Harmless where it is over."""
    session, turn = accepted.session_id, accepted.turn_id
    for command in (
        InterruptTurn(session_id=session, thread_id=accepted.thread_id, turn_id=turn, reason=reason),
        RemoveQueuedTurn(session_id=session, turn_id=turn, reason=reason),
    ):
        try:
            await client.submit(command)
        except Refusal as refusal:
            if refusal.code not in _ALREADY_OVER:
                raise
        else:
            return
