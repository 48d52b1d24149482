"""One turn from a prompt to its end, for whoever follows it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Protocol

import msgspec

from callboard.client.client import Client
from callboard.contracts.commands.session import GetThreadRead, ThreadRead
from callboard.contracts.commands.turn import InterruptTurn, RemoveQueuedTurn, TurnAccepted
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.ports.runtime import OpBatch
from callboard.contracts.record import WireEvent
from callboard.contracts.rows.base import Remove, Upsert
from callboard.contracts.rows.conversation import ActionPart, ActionRow, StatusRow, TurnRow, TurnState
from callboard.contracts.rows.team import RunRow
from callboard.contracts.text.sentences import clause

_SNAPSHOT = "snapshot"
#: How many of the newest facts are looked through for why a thread is paused.
_FACTS = 500
_ALREADY_OVER = ("nothing_running", "turn_already_ended", "unknown_turn", "turn_not_queued")


class AnswerPolicy(Protocol):
    """What answers the actions of a turn: `required` is one of the turn or of a child that its run gave work, `waits` one of
    another child of its agent."""

    def request_answer(self, row: ActionRow) -> None: ...

    def request_answer_elsewhere(self, row: ActionRow) -> None: ...

    def settle(self, action: str) -> None: ...

    def settle_except(self, actions: set[str]) -> None: ...


async def follow_turn(
    client: Client,
    accepted: TurnAccepted,
    show: Callable[[OpBatch], Awaitable[None]],
    answering: AnswerPolicy,
    continues: Callable[[str], None] = lambda _: None,
) -> TurnRow:
    """Hands every batch of the session's operations on, and the actions of the turn and of the children that work for its agent
    to be answered; returns the turn as it ended. A turn that ended with an accepted plan is followed by the one that carries
    the plan out; `continues` receives its id.

    Raises Refusal `thread_busy` where the turn waits in the queue of a thread that is paused: nothing would start it.
    """
    following = TurnFollower(accepted.turn_id, answering, continues)
    async with aclosing(client.follow_ops(accepted.session_id)) as batches:
        async for batch in batches:
            await show(batch)
            ended = following.apply(batch)
            if ended is not None:
                return ended
            if thread := following.waits_in():
                await _must_start(client, accepted.session_id, thread, following.turn)
    raise Refusal("gap", f"The operations of {accepted.session_id} ended before its turn did.")


async def _must_start(client: Client, session: str, thread: str, turn: str) -> None:
    """Raise Refusal `thread_busy` for a turn in the queue of a paused thread, by what is committed: of one command, a thread
    may read paused in one row and resumed in the next."""
    read: ThreadRead = await client.submit(GetThreadRead(session_id=session, thread_id=thread))
    if read.status.detail != "paused" or read.status.paused is None or all(one.turn_id != turn for one in read.queue):
        return
    newest = await client.read_facts(session, after=max(0, read.head - _FACTS), limit=_FACTS)
    pauses = (one for one in reversed(newest) if one.type == ThreadPaused.type and one.thread_id == thread)
    pause = next((msgspec.json.decode(one.payload, type=ThreadPaused) for one in pauses), None)
    why = read.status.paused if pause is None else pause.reason or pause.cause
    connects = "Connect a model (`callboard models` shows how). " if why == "model_unconfigured" else ""
    raise Refusal(
        "thread_busy",
        f"The turn did not start: its agent is paused ({clause(why)}).",
        hint=f"{connects}It stays in the queue. `callboard resume {session}` lets the agent go on.",
    )


class TurnFollower:
    """A turn as the operations tell of it, and what came of it in the threads of others."""

    def __init__(self, turn: str, answering: AnswerPolicy, continues: Callable[[str], None] = lambda _: None) -> None:
        self._answering = answering
        self._continues = continues
        self.turn = turn
        self._paused: set[str] = set()
        self._turns: dict[str, TurnRow] = {}
        self._next: dict[str, str] = {}
        self._parents: dict[str, str] = {}

    def apply(self, batch: OpBatch) -> TurnRow | None:
        """What a batch says; the turn once it has ended."""
        rows = [op.row for op in batch.ops if isinstance(op, Upsert)]
        for row in rows:
            match row:
                case TurnRow():
                    self._turns[row.turn_id] = row
                case ActionPart() if row.next_turn_id:
                    self._next[row.turn_id] = row.next_turn_id
                case RunRow():
                    self._parents[row.turn_id] = row.parent_run_id
                case StatusRow():
                    self._note(row)
                case _:
                    pass
        while self._ended("completed") and self.turn in self._next:
            self.turn = self._next[self.turn]
            self._continues(self.turn)
        pending: set[str] = set()
        for op in batch.ops:
            match op:
                case Upsert(row=ActionRow() as row):
                    if self._answers(row):
                        pending.add(row.action_id)
                case Remove(panel=ActionRow.panel):
                    self._answering.settle(op.key)
                case _:
                    pass
        if batch.kind == _SNAPSHOT:
            self._answering.settle_except(pending)
        row = self._turns.get(self.turn)
        return row if row is not None and (row.ended_at or row.state == "removed") else None

    def waits_in(self) -> str:
        """Return the paused thread in which the turn has not started; empty where it has, or is about to."""
        row = self._turns.get(self.turn)
        return row.thread_id if row is not None and not row.started_at and row.thread_id in self._paused else ""

    def _note(self, row: StatusRow) -> None:
        if row.detail == "paused":
            self._paused.add(row.thread_id)
        else:
            self._paused.discard(row.thread_id)

    def _ended(self, state: TurnState) -> bool:
        row = self._turns.get(self.turn)
        return row is not None and row.ended_at > 0 and row.state == state

    def _answers(self, row: ActionRow) -> bool:
        """Has an action answered, where it is one that the turn may wait for; returns whether it is."""
        mine = self._turns.get(self.turn)
        given = mine is not None and mine.run_id != "" and self._parents.get(row.turn_id) == mine.run_id
        if row.turn_id == self.turn or given:
            self._answering.request_answer(row)
            return True
        if mine is None or row.parent_agent_id != mine.agent_id:
            return False
        self._answering.request_answer_elsewhere(row)
        return True


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
        async with aclosing(self._client.follow_facts(self._session, after=self._at)) as events:
            async for event in events:
                self._tell(event)
                async with self._moved:
                    self._at = event.sequence
                    self._moved.notify_all()

    async def reach(self, sequence: int) -> None:
        """Waits until the fact of that sequence was handed on."""
        async with self._moved:
            await self._moved.wait_for(lambda: self._at >= sequence)


async def interrupt_turn(client: Client, accepted: TurnAccepted, reason: str) -> None:
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
