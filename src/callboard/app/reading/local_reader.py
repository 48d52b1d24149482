"""Reader over a store without a writer: stored rows, and the facts after them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator

import msgspec

from callboard.contracts.commands.session import SessionSize
from callboard.contracts.content import Text
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.ids import is_workspace_stream
from callboard.contracts.ports.store import Store
from callboard.contracts.record import Record, WireEvent
from callboard.contracts.rows import SESSION_PANELS
from callboard.contracts.rows.agent import AgentRow
from callboard.contracts.rows.base import Op, Upsert
from callboard.contracts.rows.run import RunRow
from callboard.contracts.rows.session import SessionCard, WorkspaceRow
from callboard.contracts.rows.status import StatusRow
from callboard.projection.emit.runtime import build_wire_event
from callboard.projection.overlay import overlay
from callboard.projection.rows import Table
from callboard.projection.view import SessionView
from callboard.projection.workspace import WorkspaceView, apply_listing, build_damaged_card
from callboard.runtime.fingerprint import compute_view_fingerprint
from callboard.runtime.queries.session import measure_sizes

from .port import SessionListing

log = logging.getLogger(__name__)

_PAGE = 1000
_MAX_BYTES = 8_000_000
#: Refusals that concern one stream, not the whole store.
_DAMAGED = ("chain_broken", "facts_unreadable")


class LocalReader:
    """A `Reader` over a store that is open for reading."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def list_workspaces(self) -> tuple[WorkspaceRow, ...]:
        return tuple(
            row for _, table in (await self._read_workspaces())[0].values() for row in table.list_rows(WorkspaceRow)
        )

    async def list_sessions(self) -> SessionListing:
        workspaces, problems = await self._read_workspaces()
        cards: list[SessionCard] = []
        streams = await self._store.facts.list_streams("ses_")
        for stream in streams:
            listings = (
                (name, listing) for name, (view, _) in workspaces.items() if (listing := view.find_listing(stream))
            )
            workspace, listing = next(listings, ("", None))
            for card in await self._read_cards(stream, workspace):
                if (problem := problems.get(card.workspace_id)) is not None:
                    cards.append(
                        build_damaged_card(stream, card.workspace_id, problem, at=card.order, title=card.title)
                    )
                else:
                    cards.append(apply_listing(overlay(card, None), listing))
        missing = {name for view, _ in workspaces.values() for name in view.listings}.difference(streams)
        return SessionListing(tuple(sorted(cards, key=lambda card: -card.order)), len(missing))

    async def _read_cards(self, stream: str, workspace: str) -> tuple[SessionCard, ...]:
        """Return the card of a session; for an unreadable session, a card with the reason."""
        try:
            return tuple((await self._fold(stream, ("sessions",), turns=1)).list_rows(SessionCard))
        except Refusal as refusal:
            if refusal.code not in _DAMAGED:
                raise
            at = 0
            with contextlib.suppress(Refusal):
                at = (await self._store.facts.read_head(stream)).at
            return (build_damaged_card(stream, workspace, refusal.problem, at=at),)

    async def list_sizes(self) -> dict[str, SessionSize]:
        return {size.session_id: size for size in (await measure_sizes(self._store.facts)).sizes}

    async def read_facts(self, stream: str, *, after: int, follow: bool) -> AsyncGenerator[WireEvent]:
        """Yield the stored facts. `follow` has no effect: no process writes."""
        await self._check(stream)
        while records := await self._read_intact(stream, after):
            for record in records:
                yield build_wire_event(record, self._store.id)
            after = records[-1].sequence

    async def _read_intact(self, stream: str, after: int) -> tuple[Record, ...]:
        """Read the next facts, one by one near a broken link: the facts before it are intact."""
        try:
            return await self._store.facts.read(stream, after=after, limit=_PAGE)
        except Refusal as refusal:
            if refusal.code != "chain_broken":
                raise
            return await self._store.facts.read(stream, after=after, limit=1)

    async def read_conversation(self, session: str, *, turns: int) -> Table:
        await self._check(session)
        table = await self._fold(session, SESSION_PANELS, turns=turns)
        for kind in (StatusRow, AgentRow, RunRow):
            table.apply([Upsert(kind.panel, overlay(row, None)) for row in table.list_rows(kind)])
        return table

    async def read_text(self, text: Text) -> str:
        if text.ref is None:
            return text.text
        data = await self._store.blobs.get(text.ref.hash)
        if data is None:
            raise Refusal(
                "unknown_blob", f"There is no blob {text.ref.hash}.", hint="Its content may have been erased."
            )
        return data.decode("utf-8", "replace")

    async def _fold(self, session: str, panels: tuple[str, ...], *, turns: int) -> Table:
        """Return the stored rows of the panels if their fingerprint matches, with later facts applied."""
        stored = await self._store.rows.read_views(session)
        view, table = SessionView(), Table()
        if stored is not None and stored.fingerprint == compute_view_fingerprint():
            try:
                rows = await self._read_stored_rows(session, panels, turns)
                view = SessionView.from_state(stored.state)
                table.apply(rows)
            except (msgspec.MsgspecError, Refusal) as error:
                log.warning("the rows of %s are rebuilt from its facts: %s", session, error)
        while records := await self._store.facts.read(session, after=view.sequence, limit=_PAGE):
            table.apply(op for record in records for op in view.apply(record) if op.panel in panels)
        table.apply(op for op in view.resume(await self._store.partials.read(session)) if op.panel in panels)
        return table

    async def _read_stored_rows(self, session: str, panels: tuple[str, ...], turns: int) -> list[Op]:
        ops: list[Op] = []
        for panel in panels:
            limit = turns if panel == "turns" else 10_000
            rows = await self._store.rows.read_rows(session, panel, limit=limit, max_bytes=_MAX_BYTES)
            ops.extend(Upsert(panel, row) for row in rows)
        return ops

    async def _read_workspaces(self) -> tuple[dict[str, tuple[WorkspaceView, Table]], dict[str, Problem]]:
        """Return the workspaces, and the problems of unreadable ones."""
        workspaces: dict[str, tuple[WorkspaceView, Table]] = {}
        problems: dict[str, Problem] = {}
        for stream in await self._store.facts.list_streams("wks_"):
            try:
                workspaces[stream] = await self._read_workspace(stream)
            except Refusal as refusal:
                if refusal.code not in _DAMAGED:
                    raise
                log.warning("%s is not listed: %s", stream, refusal.problem.message)
                problems[stream] = refusal.problem
        return workspaces, problems

    async def _read_workspace(self, stream: str) -> tuple[WorkspaceView, Table]:
        view, table = WorkspaceView(), Table()
        while records := await self._store.facts.read(stream, after=view.sequence, limit=_PAGE):
            table.apply(op for record in records for op in view.apply(record))
        return view, table

    async def _check(self, stream: str) -> None:
        if (await self._store.facts.read_head(stream)).sequence == 0:
            is_workspace = is_workspace_stream(stream)
            raise Refusal(
                "unknown_workspace" if is_workspace else "unknown_session",
                f"There is no {'workspace' if is_workspace else 'session'} {stream}.",
                hint="`callboard sessions` lists the sessions.",
            )
