"""Reading of a store that nobody writes: the kept rows, and the facts that they do not show yet."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator

import msgspec

from callboard.contracts.commands.sizes import SessionSize
from callboard.contracts.content import Text
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.ids import is_workspace_stream
from callboard.contracts.ports.store import Store
from callboard.contracts.record import Record, WireEvent
from callboard.contracts.rows import SESSION_PANELS, AgentRow, Op, RunRow, SessionCard, StatusRow, Upsert, WorkspaceRow
from callboard.projection.emit.runtime import wire_event
from callboard.projection.overlay import overlay
from callboard.projection.rows import Table
from callboard.projection.view import SessionView
from callboard.projection.workspace import WorkspaceView, damaged, listed
from callboard.runtime.fingerprint import view_fingerprint
from callboard.runtime.queries.sizes import measure_sizes

from .port import SessionListing

log = logging.getLogger(__name__)

_PAGE = 1000
_LARGEST = 8_000_000
#: The refusals of one stream, and not of the store.
_DAMAGED = ("chain_broken", "facts_unreadable")


class LocalReader:
    """The Reader port over a store that was opened for reading."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def list_workspaces(self) -> tuple[WorkspaceRow, ...]:
        return tuple(row for _, table in (await self._workspaces())[0].values() for row in table.panel(WorkspaceRow))

    async def list_sessions(self) -> SessionListing:
        workspaces, problems = await self._workspaces()
        cards: list[SessionCard] = []
        streams = await self._store.facts.streams("ses_")
        for stream in streams:
            homes = ((name, found) for name, (view, _) in workspaces.items() if (found := view.listing(stream)))
            workspace, listing = next(homes, ("", None))
            for card in await self._cards(stream, workspace):
                if (problem := problems.get(card.workspace_id)) is not None:
                    cards.append(damaged(stream, card.workspace_id, problem, at=card.order, title=card.title))
                else:
                    cards.append(listed(overlay(card, None), listing))
        missing = {name for view, _ in workspaces.values() for name in view.listings}.difference(streams)
        return SessionListing(tuple(sorted(cards, key=lambda card: -card.order)), len(missing))

    async def _cards(self, stream: str, workspace: str) -> tuple[SessionCard, ...]:
        """The card of a session; one that cannot be read has a card with the reason."""
        try:
            return tuple((await self._fold(stream, ("sessions",), turns=1)).panel(SessionCard))
        except Refusal as refusal:
            if refusal.code not in _DAMAGED:
                raise
            at = 0
            with contextlib.suppress(Refusal):
                at = (await self._store.facts.head(stream)).at
            return (damaged(stream, workspace, refusal.problem, at=at),)

    async def list_sizes(self) -> dict[str, SessionSize]:
        return {one.session_id: one for one in (await measure_sizes(self._store.facts)).sizes}

    async def read_facts(self, stream: str, *, after: int, follow: bool) -> AsyncGenerator[WireEvent]:
        """`follow` changes nothing: there is nobody who would write."""
        await self._check(stream)
        while records := await self._sound(stream, after):
            for record in records:
                yield wire_event(record, self._store.id)
            after = records[-1].sequence

    async def _sound(self, stream: str, after: int) -> tuple[Record, ...]:
        """Read the next facts, one by one where a link is broken: those before it are as they were written."""
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
            table.apply([Upsert(kind.panel, overlay(row, None)) for row in table.panel(kind)])
        return table

    async def read_text(self, text: Text) -> str:
        if text.ref is None:
            return text.text
        data = await self._store.blobs.get(text.ref.hash)
        if data is None:
            raise Refusal("unknown_blob", f"There is no blob {text.ref.hash}.", hint="It may have been erased.")
        return data.decode("utf-8", "replace")

    async def _fold(self, session: str, panels: tuple[str, ...], *, turns: int) -> Table:
        """The kept rows of the panels where they are of this version, gone on from by the facts after them."""
        kept = await self._store.rows.views(session)
        view, table = SessionView(), Table()
        if kept is not None and kept.fingerprint == view_fingerprint():
            try:
                rows = await self._kept(session, panels, turns)
                view = SessionView.from_state(kept.state)
                table.apply(rows)
            except (msgspec.MsgspecError, Refusal) as error:
                log.warning("the rows of %s are not used, and are folded anew: %s", session, error)
        while records := await self._store.facts.read(session, after=view.sequence, limit=_PAGE):
            table.apply(op for record in records for op in view.apply(record) if op.panel in panels)
        table.apply(op for op in view.resume(await self._store.partials.read(session)) if op.panel in panels)
        return table

    async def _kept(self, session: str, panels: tuple[str, ...], turns: int) -> list[Op]:
        found: list[Op] = []
        for panel in panels:
            limit = turns if panel == "turns" else 10_000
            rows = await self._store.rows.rows(session, panel, limit=limit, largest=_LARGEST)
            found.extend(Upsert(panel, row) for row in rows)
        return found

    async def _workspaces(self) -> tuple[dict[str, tuple[WorkspaceView, Table]], dict[str, Problem]]:
        """The workspaces, and why others cannot be read."""
        found: dict[str, tuple[WorkspaceView, Table]] = {}
        problems: dict[str, Problem] = {}
        for stream in await self._store.facts.streams("wks_"):
            try:
                found[stream] = await self._workspace(stream)
            except Refusal as refusal:
                if refusal.code not in _DAMAGED:
                    raise
                log.warning("%s is not listed: %s", stream, refusal.problem.message)
                problems[stream] = refusal.problem
        return found, problems

    async def _workspace(self, stream: str) -> tuple[WorkspaceView, Table]:
        view, table = WorkspaceView(), Table()
        while records := await self._store.facts.read(stream, after=view.sequence, limit=_PAGE):
            table.apply(op for record in records for op in view.apply(record))
        return view, table

    async def _check(self, stream: str) -> None:
        if (await self._store.facts.head(stream)).sequence == 0:
            what = "workspace" if is_workspace_stream(stream) else "session"
            raise Refusal(
                "unknown_workspace" if what == "workspace" else "unknown_session",
                f"There is no {what} {stream}.",
                hint="`callboard sessions` lists what there is.",
            )
