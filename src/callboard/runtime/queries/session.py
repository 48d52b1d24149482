"""Queries about one session, and about the size of all."""

from __future__ import annotations

from callboard.contracts.commands.session import (
    GetParts,
    GetSession,
    GetThreadRead,
    GetTurns,
    Incident,
    ListSizes,
    PartList,
    SessionRead,
    SessionSize,
    SizeList,
    ThreadRead,
    TurnList,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.model import ModelFailed
from callboard.contracts.facts.session import ErrorRaised, WarningRaised
from callboard.contracts.ports.store import FactLog
from callboard.contracts.rows import AnyPart
from callboard.contracts.rows.action import ActionRow
from callboard.contracts.rows.part import compute_part_order
from callboard.contracts.rows.queue import QueueRow
from callboard.contracts.rows.session import SessionRow
from callboard.contracts.rows.status import StatusRow
from callboard.contracts.rows.turn import TurnRow
from callboard.control.workspace import build_unknown_session

from ..service import Service, answers
from ..session_registry import OpenSession, build_future_fact_refusal, build_unknown_thread

#: Number of newest facts that a thread read searches for incidents.
INCIDENT_FACTS = 500
#: Number of turns per read.
TURN_PAGE = 200


class SessionReads(Service):
    """Answers queries about one session. It waits for rows that lag behind the log."""

    @answers(GetSession)
    async def get_session(self, query: GetSession) -> SessionRead:
        """Return the header of a session, its threads and newest turns."""
        opened = await self._open_at(query.session_id, query.wait_for)
        shell = opened.views.rows(SessionRow)
        if not shell:
            raise build_unknown_session(query.session_id)
        await opened.views.flush()
        newest = await self._dependencies.store.rows.read_rows(query.session_id, "turns", limit=query.turns)
        return SessionRead(
            session=self._workspaces.get(shell[0].workspace_id).with_listing(shell[0]),
            threads=tuple(opened.views.rows(StatusRow)),
            turns=tuple(row for row in newest if isinstance(row, TurnRow)),
            cursor=str(opened.views.cursor),
            head=opened.host.state.sequence,
        )

    @answers(GetThreadRead)
    async def get_thread(self, query: GetThreadRead) -> ThreadRead:
        """Return a thread's status, pending actions, queue, last turn and incidents."""
        opened = await self._open_at(query.session_id, query.wait_for)
        thread = query.thread_id or opened.host.state.lead
        status = self._require_status(opened, thread)
        turns = [row for row in opened.views.rows(TurnRow) if row.thread_id == thread and row.ended_at]
        return ThreadRead(
            status=status,
            actions=tuple(row for row in opened.views.rows(ActionRow) if row.thread_id == thread),
            queue=tuple(row for row in opened.views.rows(QueueRow) if row.thread_id == thread),
            last_turn=max(turns, key=lambda row: row.ended_at) if turns else None,
            incidents=await self._find_incidents(opened, thread),
            head=opened.host.state.sequence,
        )

    @staticmethod
    def _require_status(opened: OpenSession, thread: str) -> StatusRow:
        for row in opened.views.rows(StatusRow):
            if row.thread_id == thread:
                return row
        raise build_unknown_thread(thread)

    async def _find_incidents(self, opened: OpenSession, thread: str) -> tuple[Incident, ...]:
        state = opened.host.state
        after = max(0, state.sequence - INCIDENT_FACTS)
        records = await self._dependencies.store.facts.read(state.session, after=after, limit=INCIDENT_FACTS)
        return tuple(
            Incident(sequence=record.sequence, at=record.header.at, code=record.fact.code, message=record.fact.message)
            for record in records
            if record.scope.thread in ("", thread)
            and isinstance(record.fact, WarningRaised | ErrorRaised | ModelFailed)
        )

    @answers(GetTurns)
    async def get_turns(self, query: GetTurns) -> TurnList:
        """Return older turns of a session or a thread."""
        opened = await self._open_at(query.session_id, 0)
        await opened.views.flush()
        rows = self._dependencies.store.rows
        if query.thread_id is None:
            newest = await rows.read_rows(query.session_id, "turns", before=query.before, limit=query.limit)
            return TurnList(turns=tuple(row for row in newest if isinstance(row, TurnRow)))
        thread_order = self._require_status(opened, query.thread_id).order
        before, turns = query.before, list[TurnRow]()
        while len(turns) < query.limit and (before is None or before > thread_order):
            page = await rows.read_rows(query.session_id, "turns", before=before, limit=TURN_PAGE)
            if not page:
                break
            turns = [*(row for row in page if isinstance(row, TurnRow) and row.thread_id == query.thread_id), *turns]
            before = page[0].order
        return TurnList(turns=tuple(turns[-query.limit :]))

    @answers(GetParts)
    async def get_parts(self, query: GetParts) -> PartList:
        """Return the parts of a turn."""
        opened = await self._open_at(query.session_id, 0)
        await opened.views.flush()
        row = await self._dependencies.store.rows.read_row(query.session_id, "turns", query.turn_id)
        if not isinstance(row, TurnRow):
            raise Refusal(
                "unknown_turn",
                f"The session has no turn {query.turn_id}.",
                field="turnId",
                hint="Find turns with get_turns.",
            )
        if not row.started_at:
            return PartList(parts=())
        first = compute_part_order(row.order, 0)
        before = compute_part_order(row.order + 1, 0)
        rows = await self._dependencies.store.rows.read_rows(query.session_id, "parts", before=before, limit=10_000)
        return PartList(parts=tuple(part for part in rows if isinstance(part, AnyPart) and part.order >= first))

    @answers(ListSizes)
    async def list_sizes(self, _: ListSizes) -> SizeList:
        """Return the storage size of each session."""
        return await measure_sizes(self._dependencies.store.facts)

    async def _open_at(self, session: str, sequence: int) -> OpenSession:
        opened = await self._sessions.get(session)
        if (
            sequence > opened.host.state.sequence
            and sequence > (await self._dependencies.store.facts.read_head(session)).sequence
        ):
            raise build_future_fact_refusal(sequence)
        await opened.views.wait_for(max(sequence, opened.host.state.sequence))
        return opened


async def measure_sizes(facts: FactLog) -> SizeList:
    """Return the sizes of all sessions, in the order in which they began."""
    sizes: list[SessionSize] = []
    for stream in await facts.list_streams("ses_"):
        contents = await facts.measure_contents(stream)
        sizes.append(SessionSize(session_id=stream, facts=contents.facts, blobs=contents.blobs, contents=contents.size))
    return SizeList(sizes=tuple(sizes))
