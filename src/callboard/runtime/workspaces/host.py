"""One workspace of the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from callboard.contracts.commands.base import Answer
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.live import Cursor
from callboard.contracts.ports.store import Append, StoredAnswer
from callboard.contracts.record import NewFact, Origin, Record, build_unreadable_refusal
from callboard.contracts.rows.base import Op, Upsert
from callboard.contracts.rows.session import SessionCard, SessionRow, WorkspaceRow
from callboard.contracts.scope import Actor
from callboard.contracts.settings import Effective, RequestedPermissions
from callboard.control.state.session import Workspace
from callboard.control.workspace import WorkspaceCommand, decide_command, evolve, require_approved
from callboard.projection.overlay import overlay
from callboard.projection.rows import Table
from callboard.projection.workspace import WorkspaceView, apply_listing, build_damaged_card
from callboard.tools.protection.credentials import describe_breadth

from ..dependencies import Dependencies
from ..views.ring import Ring
from .context import WorkspaceContext

_A = TypeVar("_A")

#: Bits of a cursor's `n` that count one writer's frames. The bits above are its epoch. The sum fits
#: a browser's numbers.
_FRAME_BITS = 32
#: The settings of a process without a settings port.
_NO_SETTINGS = Effective(trusted=True)
#: Bytes of operations kept for clients that come back: some hundred changes of cards.
_RING_BYTES = 200_000


class WorkspaceHost:
    """One workspace: its facts, and the cards of its sessions."""

    def __init__(self, workspace: str, dependencies: Dependencies) -> None:
        self.state = Workspace(workspace=workspace)
        self._dependencies = dependencies
        self._epoch = 0
        #: The first fact that this version cannot read. The workspace can then decide nothing.
        self._unread: Record | None = None
        self._lock = asyncio.Lock()
        self._view = WorkspaceView()
        self._rows = Table()
        self._ring = Ring(
            Cursor(0, 0),
            min(_RING_BYTES, dependencies.limits.ring_bytes),
            self.snapshot,
            dependencies.limits.replay,
        )
        self._rebuilding = 0
        self._unlisted: set[str] = set()
        #: The newest context and the state that it was built from.
        self._context: tuple[Workspace | None, WorkspaceContext] = (None, WorkspaceContext(workspace="", folder=""))
        #: The path that was checked last, and why it is broad.
        self._checked = ("", "")

    async def open(self) -> None:
        """Fold the workspace's facts and acquire its lease."""
        facts = self._dependencies.store.facts
        while records := await facts.read(self.state.workspace, after=self.state.sequence, limit=1000):
            for record in records:
                self.state = evolve(self.state, record)
                self._rows.apply(self._view.apply(record))
                if record.is_unreadable:
                    self._unread = self._unread or record
        self._epoch = await facts.acquire_lease(self.state.workspace)
        # Frames of cards are counted in memory. Each writer starts at its own number, so that a
        # cursor of an earlier writer is not valid here.
        self._ring.restart(Cursor(self.state.sequence, self._epoch << _FRAME_BITS))

    @property
    def context(self) -> WorkspaceContext:
        """The workspace as the decisions of its sessions see it."""
        settings = self._read_settings()
        source, context = self._context
        if source is not self.state or context.settings is not settings:
            context = WorkspaceContext(
                workspace=self.state.workspace,
                folder=self.state.path,
                sequence=self.state.sequence,
                rules=self.state.rules,
                shared_rules=self.state.rule_ids,
                settings=settings,
                sessions=self.state.sessions,
                problem=self.problem,
            )
            # A turn reads the context some ten times.
            self._context = self.state, context
        return context

    @property
    def problem(self) -> Problem | None:
        """Why the workspace is read-only: a fact that this version cannot read. It could be a rule or trust."""
        return None if self._unread is None else build_unreadable_refusal(self._unread).problem

    def require_readable(self) -> None:
        """Refuse a workspace that can decide nothing."""
        if self._unread is not None:
            raise build_unreadable_refusal(self._unread)

    def _read_settings(self) -> Effective:
        """Return the effective settings of the folder. Without a settings port, no file is read."""
        settings = self._dependencies.settings
        return _NO_SETTINGS if settings is None else settings.read_effective(self.state.path, self.state.trusted)

    def require_folder(self) -> None:
        """Refuse a workspace without its folder."""
        if not Path(self.state.path).is_dir():
            raise Refusal(
                "no_folder",
                f"The folder {self.state.path} no longer exists.",
                field="workspaceId",
                hint="Restore the folder, or open another one.",
            )
        self.require_approved()

    def require_approved(self) -> None:
        """Refuse a broad folder that no person approved, such as one opened by an earlier version."""
        self.require_readable()
        path = self.state.path
        if self._checked[0] != path:
            self._checked = path, describe_breadth(Path(path), Path.home())
        require_approved(self.state, path, self._checked[1])

    def rows(self) -> tuple[WorkspaceRow, ...]:
        """Return the workspace as a row; empty before its first fact."""
        return tuple(
            msgspec.structs.replace(row, rebuilding=self._rebuilding) for row in self._rows.list_rows(WorkspaceRow)
        )

    @property
    def missing(self) -> int:
        """Number of listed sessions without a card."""
        if self._unlisted:
            keys = {card.key for card in self._rows.list_rows(SessionCard)}
            self._unlisted = {session for session in self._unlisted - keys if session in self.state.sessions}
        return len(self._unlisted)

    def mark_unlisted(self) -> None:
        """Mark the sessions whose cards were not stored."""
        self._unlisted = set(self.state.sessions)
        self.show_rebuilding(self.missing)

    def show_rebuilding(self, missing: int) -> None:
        """Show how many sessions are not in the list yet."""
        if missing != self._rebuilding:
            self._rebuilding = missing
            self._show([Upsert("workspaces", row) for row in self.rows()])

    def cards(self) -> tuple[SessionCard, ...]:
        """Return the cards of the sessions, newest first."""
        live = self._dependencies.store.epoch
        cards = [overlay(card, live) for card in self._rows.list_rows(SessionCard)]
        return tuple(sorted(cards, key=lambda card: (-card.order, card.key)))

    def snapshot(self) -> list[Op]:
        """Return the workspace's panels as operations on empty panels."""
        return [
            *(Upsert("workspaces", row) for row in self.rows()),
            *(Upsert("sessions", card) for card in self.cards()),
        ]

    @property
    def is_followed(self) -> bool:
        """Return True while a client follows, or can continue from a cursor that it received."""
        return self._ring.is_read

    def follow(self, after: Cursor | None) -> AsyncGenerator[bytes]:
        """Yield encoded operations for a client."""
        # Its snapshot includes cards that change before the client reads it.
        self._ring.hold()
        return self._ring.follow(after)

    def show_card(self, card: SessionCard) -> None:
        """Show a session's card."""
        self._show(self._view.update_card(overlay(card, self._dependencies.store.epoch)))

    def show_damaged(self, session: str, problem: Problem, at: int) -> None:
        """Show that a session cannot be read, with the reason."""
        self._show(self._view.update_card(build_damaged_card(session, self.state.workspace, problem, at=at)))

    def with_listing(self, row: SessionRow) -> SessionRow:
        """Return a session's row with the workspace's data on it."""
        return apply_listing(row, self._view.find_listing(row.session_id))

    @property
    def is_changing(self) -> bool:
        """Return True while a change is being committed."""
        return self._lock.locked()

    @property
    def requested_grants(self) -> RequestedPermissions:
        """The permissions that the folder's files request now."""
        settings = self._dependencies.settings
        return RequestedPermissions() if settings is None else settings.read_requested_permissions(self.state.path)

    async def run_command(self, request: WorkspaceCommand, actor: Actor, stored_answer: StoredAnswer | None) -> Answer:
        """Decide a command, and return its answer when it is durable."""
        requested = self.requested_grants
        return await self.change(
            lambda state: decide_command(state, request, requested), actor, stored_answer=stored_answer
        )

    async def change(
        self,
        decide: Callable[[Workspace], tuple[tuple[NewFact, ...], _A]],
        actor: Actor,
        *,
        cause: str = "",
        stored_answer: StoredAnswer | None = None,
        requires: str = "",
    ) -> _A:
        """Decide on the current state, commit, and return the answer.

        The answer is stored under the key of `stored_answer` if that is set. The commit is refused
        if the stream `requires` has no facts.
        """
        async with self._lock:
            self.require_readable()
            facts, answer = decide(self.state)
            if not facts and stored_answer is None:
                return answer
            answered = (
                None
                if stored_answer is None
                else msgspec.structs.replace(stored_answer, answer=msgspec.json.encode(answer))
            )
            command = self._dependencies.ids.new("command") if actor.kind == "person" else ""
            origin = Origin(at=self._dependencies.clock.now(), actor=actor, cause=cause, command_id=command)
            redactor = self._dependencies.append_redactor
            facts, _ = redactor.redact(facts)
            records = await self._dependencies.store.facts.append(
                Append(
                    stream=self.state.workspace,
                    expected=self.state.sequence,
                    epoch=self._epoch,
                    facts=facts,
                    origin=origin,
                    answer=redactor.redact_answer(answered),
                    requires=requires,
                )
            )
            for record in records:
                self.state = evolve(self.state, record)
                self._show(self._view.apply(record))
            self._dependencies.feed.publish_facts(self.state.workspace, records)
            return answer

    def close(self) -> None:
        """End the streams of clients."""
        self._ring.close()

    def _show(self, ops: list[Op]) -> None:
        self._rows.apply(ops)
        if self._rebuilding:
            ops = [self._with_rebuilding(op) for op in ops]
        now = self._ring.cursor
        ahead = self.state.sequence > now.sequence
        self._ring.push(Cursor(self.state.sequence, 0) if ahead else Cursor(now.sequence, now.n + 1), ops)

    def _with_rebuilding(self, op: Op) -> Op:
        if isinstance(op, Upsert) and isinstance(op.row, WorkspaceRow):
            return Upsert(op.panel, msgspec.structs.replace(op.row, rebuilding=self._rebuilding))
        return op
