"""Following of one turn from its prompt to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Protocol

import msgspec

from callboard.client import Client
from callboard.contracts.commands.queue import RemoveQueuedTurn
from callboard.contracts.commands.session import GetThreadRead, ThreadRead
from callboard.contracts.commands.turn import InterruptTurn, TurnAccepted
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.ports.runtime import OpBatch
from callboard.contracts.record import WireEvent
from callboard.contracts.rows.action import ActionPart, ActionRow
from callboard.contracts.rows.base import Remove, Upsert
from callboard.contracts.rows.run import RunRow
from callboard.contracts.rows.status import StatusRow
from callboard.contracts.rows.turn import TurnRow
from callboard.contracts.text.sentences import to_clause

#: Number of newest facts that are searched for the reason of a pause.
_MAX_FACTS = 500
_ALREADY_ENDED = ("nothing_running", "turn_already_ended", "unknown_turn", "turn_not_queued")


class AnswerPolicy(Protocol):
    """Answers to the actions that a turn waits for."""

    def request_answer(self, row: ActionRow) -> None:
        """Answer an action of the turn, or of a child that works for its run."""
        ...

    def request_answer_elsewhere(self, row: ActionRow) -> None:
        """Answer an action of another child of the turn's agent."""
        ...

    def settle(self, action: str) -> None:
        """Forget an action that was answered or withdrawn."""
        ...

    def settle_except(self, actions: set[str]) -> None:
        """Forget all other actions."""
        ...


def answer_actions(
    batch: OpBatch, answering: AnswerPolicy, is_own: Callable[[ActionRow], bool | None] = lambda _: True
) -> None:
    """Pass the actions of a batch to the policy.

    Args:
        is_own: True for an action of the followed work, False for one of other work, None for one to ignore.
    """
    pending: set[str] = set()
    for op in batch.ops:
        match op:
            case Upsert(row=ActionRow() as row) if (is_followed := is_own(row)) is not None:
                pending.add(row.action_id)
                (answering.request_answer if is_followed else answering.request_answer_elsewhere)(row)
            case Remove(panel=ActionRow.panel):
                answering.settle(op.key)
            case _:
                pass
    if batch.kind == "snapshot":
        answering.settle_except(pending)


async def follow_turn(
    client: Client,
    accepted: TurnAccepted,
    show: Callable[[OpBatch], Awaitable[None]],
    answering: AnswerPolicy,
    continues: Callable[[str], None] = lambda _: None,
) -> TurnRow:
    """Follow a turn to its end and return its last row.

    Args:
        show: Receives each batch of the session's operations.
        answering: Receives the actions of the turn and of its agent's children.
        continues: Receives the id of the turn that carries out an accepted plan. That turn is followed next.
    Raises:
        Refusal: `thread_busy` if the turn is in the queue of a paused thread, where nothing starts it.
    """
    follower = TurnFollower(accepted.turn_id, answering, continues)
    async with aclosing(client.follow_ops(accepted.session_id)) as batches:
        async for batch in batches:
            await show(batch)
            ended = follower.apply(batch)
            if ended is not None:
                return ended
            if thread := follower.find_paused_thread():
                await _check_starts(client, accepted.session_id, thread, follower.turn)
    raise Refusal(
        "gap",
        f"The operations of {accepted.session_id} ended before its turn.",
        hint=f"`callboard view {accepted.session_id}` shows its state.",
    )


async def _check_starts(client: Client, session: str, thread: str, turn: str) -> None:
    """Raise Refusal `thread_busy` for a turn in the queue of a paused thread.

    It reads the committed status: the rows of one command may show the thread as paused and then as resumed.
    """
    read: ThreadRead = await client.submit(GetThreadRead(session_id=session, thread_id=thread))
    is_queued = any(queued.turn_id == turn for queued in read.queue)
    if read.status.detail != "paused" or read.status.paused is None or not is_queued:
        return
    newest = await client.read_facts(session, after=max(0, read.head - _MAX_FACTS), limit=_MAX_FACTS)
    pauses = (event for event in reversed(newest) if event.type == ThreadPaused.type and event.thread_id == thread)
    pause = next((msgspec.json.decode(event.payload, type=ThreadPaused) for event in pauses), None)
    reason = read.status.paused if pause is None else pause.reason or pause.cause
    connect = "Connect a model (`callboard models` shows how). " if reason == "model_unconfigured" else ""
    raise Refusal(
        "thread_busy",
        f"The turn did not start: its agent is paused ({to_clause(reason)}).",
        hint=f"{connect}It stays in the queue. `callboard resume {session}` continues the agent.",
    )


class TurnFollower:
    """State of a turn and of the work that it caused in other threads."""

    def __init__(self, turn: str, answering: AnswerPolicy, continues: Callable[[str], None] = lambda _: None) -> None:
        self._answering = answering
        self._continues = continues
        self.turn = turn
        self._paused: set[str] = set()
        self._turns: dict[str, TurnRow] = {}
        self._next: dict[str, str] = {}
        self._parents: dict[str, str] = {}

    def apply(self, batch: OpBatch) -> TurnRow | None:
        """Apply a batch; return the turn once it has ended."""
        rows = [op.row for op in batch.ops if isinstance(op, Upsert)]
        for row in rows:
            match row:
                case TurnRow():
                    self._turns[row.turn_id] = row
                case ActionPart() if row.next_turn_id:
                    self._next[row.turn_id] = row.next_turn_id
                case RunRow():
                    self._parents[row.turn_id] = row.parent_run_id
                case StatusRow(detail="paused"):
                    self._paused.add(row.thread_id)
                case StatusRow():
                    self._paused.discard(row.thread_id)
                case _:
                    pass
        while self._is_completed() and self.turn in self._next:
            self.turn = self._next[self.turn]
            self._continues(self.turn)
        answer_actions(batch, self._answering, self._is_of_turn)
        row = self._turns.get(self.turn)
        return row if row is not None and (row.ended_at or row.state == "removed") else None

    def find_paused_thread(self) -> str:
        """Return the paused thread in which the turn has not started, or empty."""
        row = self._turns.get(self.turn)
        return row.thread_id if row is not None and not row.started_at and row.thread_id in self._paused else ""

    def _is_completed(self) -> bool:
        row = self._turns.get(self.turn)
        return row is not None and row.ended_at > 0 and row.state == "completed"

    def _is_of_turn(self, row: ActionRow) -> bool | None:
        """Return True for an action of the turn or a child of its run, False for one of another child of its agent."""
        turn = self._turns.get(self.turn)
        is_of_child = turn is not None and turn.run_id != "" and self._parents.get(row.turn_id) == turn.run_id
        if row.turn_id == self.turn or is_of_child:
            return True
        return None if turn is None or row.parent_agent_id != turn.agent_id else False


class FactPrinter:
    """Printer of the facts of a session after a sequence."""

    def __init__(self, client: Client, session: str, after: int, print_event: Callable[[WireEvent], None]) -> None:
        self._client = client
        self._session = session
        self._sequence = after
        self._print_event = print_event
        self._progress = asyncio.Condition()

    async def run(self) -> None:
        """Print facts until cancelled."""
        async with aclosing(self._client.follow_facts(self._session, after=self._sequence)) as events:
            async for event in events:
                self._print_event(event)
                async with self._progress:
                    self._sequence = event.sequence
                    self._progress.notify_all()

    async def wait_for_sequence(self, sequence: int) -> None:
        """Wait until the fact of this sequence has been printed."""
        async with self._progress:
            await self._progress.wait_for(lambda: self._sequence >= sequence)


async def interrupt_turn(client: Client, accepted: TurnAccepted, reason: str) -> None:
    """Interrupt the turn, or remove it from the queue. Does nothing if it has ended."""
    session, turn = accepted.session_id, accepted.turn_id
    for command in (
        InterruptTurn(session_id=session, thread_id=accepted.thread_id, turn_id=turn, reason=reason),
        RemoveQueuedTurn(session_id=session, turn_id=turn, reason=reason),
    ):
        try:
            await client.submit(command)
        except Refusal as refusal:
            if refusal.code not in _ALREADY_ENDED:
                raise
        else:
            return
