"""The workspaces and their lists of sessions."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from callboard.contracts.commands import (
    DeleteSession,
    OpenWorkspace,
    SessionGone,
    SessionUpdated,
    UpdateSession,
    WorkspaceIsOpen,
)
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.facts import SessionDeleted
from callboard.contracts.ids import render
from callboard.contracts.live import Cursor
from callboard.contracts.ports.store import Append, Contents, Head, StoredAnswer
from callboard.contracts.record import NewFact, Origin, Record, unreadable
from callboard.contracts.rows import Op, SessionCard, SessionRow, Upsert, WorkspaceRow
from callboard.contracts.scope import RUNTIME, Actor
from callboard.contracts.settings import Effective
from callboard.control import workspace as rules
from callboard.control.effects import ListSession, ShareRule
from callboard.control.state import Workspace
from callboard.projection.overlay import overlay
from callboard.projection.rows import Table
from callboard.projection.workspace import WorkspaceView, listed
from callboard.tools.credentials import breadth

from .fingerprint import view_fingerprint
from .home import Home
from .parts import Parts
from .views.ring import Ring

log = logging.getLogger(__name__)

_A = TypeVar("_A")

#: How many bits of a cursor's `n` count the frames of one writer; those above are its epoch. All fit a browser's numbers.
_FRAMES = 32
#: How much of its operations a list of sessions keeps for clients that come back: some hundred changes of cards.
_RING_BYTES = 200_000


class WorkspaceHost:
    """One workspace: its facts, and the cards of its sessions as their own views tell them."""

    def __init__(self, workspace: str, parts: Parts) -> None:
        self.state = Workspace(workspace=workspace)
        self._parts = parts
        self._epoch = 0
        #: The first fact that this code cannot read: nothing may be decided then.
        self._unread: Record | None = None
        self._lock = asyncio.Lock()
        self._view = WorkspaceView()
        self._rows = Table()
        self._ring = Ring(Cursor(0, 0), min(_RING_BYTES, parts.limits.ring_bytes), self.snapshot)
        self._rebuilding = 0
        self._unlisted: set[str] = set()

    async def open(self) -> None:
        """Folds the workspace's facts and takes its lease."""
        facts = self._parts.store.facts
        while records := await facts.read(self.state.workspace, after=self.state.sequence, limit=1000):
            for record in records:
                self.state = rules.evolve(self.state, record)
                self._rows.apply(self._view.apply(record))
                if record.unread:
                    self._unread = self._unread or record
        self._epoch = await facts.lease(self.state.workspace)
        # Frames of cards are counted in memory only: each writer counts from a place of its own, so that no cursor of an
        # earlier one is taken for a place in this ring.
        self._ring.restart(Cursor(self.state.sequence, self._epoch << _FRAMES))

    @property
    def home(self) -> Home:
        """What a session's decisions need of its workspace."""
        return Home(
            workspace=self.state.workspace,
            folder=self.state.path,
            sequence=self.state.sequence,
            rules=self.state.rules,
            given=self.state.given,
            settings=self._settings(),
            sessions=self.state.sessions,
            problem=self.problem,
        )

    @property
    def problem(self) -> Problem | None:
        """Why nothing may be decided in the workspace: a fact that this code cannot read, which may be a rule or trust."""
        return None if self._unread is None else unreadable(self._unread).problem

    def must_be_readable(self) -> None:
        """Raise Refusal `facts_unreadable` for a workspace in which nothing may be decided."""
        if self._unread is not None:
            raise unreadable(self._unread)

    def _settings(self) -> Effective:
        """What holds in the folder now. Where nobody keeps settings no file of a folder is asked."""
        book = self._parts.settings
        return Effective(trusted=True) if book is None else book.effective(self.state.path, self.state.trusted)

    def must_be_there(self) -> None:
        """Raises Refusal `no_folder` where the folder is gone: a turn would find nothing to work on; `folder_too_broad` as
        `must_be_approved`."""
        if not Path(self.state.path).is_dir():
            raise Refusal(
                "no_folder",
                f"The folder {self.state.path} is not there any more.",
                field="workspaceId",
                hint="Put it back where it was, or open another folder.",
            )
        self.must_be_approved()

    def must_be_approved(self) -> None:
        """Raise Refusal `folder_too_broad` for a broad folder that no person approved, such as one opened before that rule;
        `facts_unreadable` as `must_be_readable`."""
        self.must_be_readable()
        path = self.state.path
        rules.require_approved(self.state, path, breadth(Path(path), Path.home()))

    def rows(self) -> tuple[WorkspaceRow, ...]:
        """The workspace as a row; none before its first fact."""
        return tuple(
            msgspec.structs.replace(row, rebuilding=self._rebuilding) for row in self._rows.panel(WorkspaceRow)
        )

    @property
    def missing(self) -> int:
        """How many sessions of the list have no card yet."""
        if self._unlisted:
            keys = {card.key for card in self._rows.panel(SessionCard)}
            self._unlisted = {session for session in self._unlisted - keys if session in self.state.sessions}
        return len(self._unlisted)

    def list_anew(self) -> None:
        """Note which sessions have no card, now that those that were kept were read."""
        self._unlisted = set(self.state.sessions)
        self.show_rebuilding(self.missing)

    def show_rebuilding(self, missing: int) -> None:
        """Show how many sessions are not in the list yet."""
        if missing != self._rebuilding:
            self._rebuilding = missing
            self._show([Upsert("workspaces", row) for row in self.rows()])

    def cards(self) -> tuple[SessionCard, ...]:
        """The sessions of the list, newest first."""
        live = self._parts.store.epoch
        cards = [overlay(card, live) for card in self._rows.panel(SessionCard)]
        return tuple(sorted(cards, key=lambda card: (-card.order, card.key)))

    def snapshot(self) -> list[Op]:
        """The workspace's panels as operations on empty ones."""
        return [
            *(Upsert("workspaces", row) for row in self.rows()),
            *(Upsert("sessions", card) for card in self.cards()),
        ]

    def follow(self, after: Cursor | None) -> AsyncGenerator[bytes]:
        """Encoded operations for a client."""
        return self._ring.follow(after)

    def take(self, card: SessionCard) -> None:
        """A session's card, as its own facts tell it."""
        self._show(self._view.card(overlay(card, self._parts.store.epoch)))

    def titled(self, row: SessionRow) -> SessionRow:
        """A session's shell with what the workspace says of it."""
        return listed(row, self._view.listing(row.session_id))

    async def change(
        self,
        decide: Callable[[Workspace], tuple[tuple[NewFact, ...], _A]],
        actor: Actor,
        *,
        cause: str = "",
        kept: StoredAnswer | None = None,
    ) -> _A:
        """Commits what is decided of the workspace as it is then; returns the answer that was decided with it, which is
        stored with the key of `kept` where there is one."""
        async with self._lock:
            self.must_be_readable()
            facts, answer = decide(self.state)
            if not facts and kept is None:
                return answer
            stored = None if kept is None else msgspec.structs.replace(kept, answer=msgspec.json.encode(answer))
            command = self._parts.ids.new("command") if actor.kind == "person" else ""
            origin = Origin(at=self._parts.clock.now(), actor=actor, cause=cause, command_id=command)
            look = self._parts.last_look
            facts, _ = look.at(facts)
            records = await self._parts.store.facts.append(
                Append(
                    stream=self.state.workspace,
                    expected=self.state.sequence,
                    epoch=self._epoch,
                    facts=facts,
                    origin=origin,
                    answer=look.answer(stored),
                )
            )
            for record in records:
                self.state = rules.evolve(self.state, record)
                self._show(self._view.apply(record))
            self._parts.feed.facts(self.state.workspace, records)
            return answer

    def close(self) -> None:
        """Ends the clients' streams."""
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


class Workspaces:
    """Every workspace of the store, and which one a session belongs to."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._hosts: dict[str, WorkspaceHost] = {}
        #: Why a workspace could not be opened, by its id.
        self._problems: dict[str, Problem] = {}
        self._lock = asyncio.Lock()
        self._rebuilt = asyncio.Event()

    async def open(self) -> None:
        """Loads the workspaces and the cards of their sessions."""
        for stream in await self._parts.store.facts.streams("wks_"):
            host = WorkspaceHost(stream, self._parts)
            try:
                await host.open()
            except Refusal as refusal:
                if refusal.code not in ("chain_broken", "facts_unreadable"):
                    raise
                # The other workspaces can be worked in; each command in this one is refused with the reason.
                log.exception("the workspace %s cannot be opened", stream)
                self._problems[stream] = refusal.problem
                continue
            self._hosts[stream] = host
            self._parts.folder_served(host.state.path)
        for row in await self._parts.store.rows.across("sessions", view_fingerprint()):
            if isinstance(row, SessionCard) and row.workspace_id in self._hosts:
                self._hosts[row.workspace_id].take(row)
        for host in self._hosts.values():
            host.list_anew()

    def show_rebuilding(self) -> None:
        """Show in each workspace how many sessions of its list have no card yet."""
        for host in self._hosts.values():
            host.show_rebuilding(host.missing)

    def rebuilt(self) -> None:
        """What could be made anew was; a session that is still missing could not be read."""
        self._rebuilt.set()
        for host in self._hosts.values():
            host.show_rebuilding(0)

    async def until_listed(self, hosts: Sequence[WorkspaceHost], longest: float) -> tuple[bool, int]:
        """Wait until no session is missing in the lists, at most so many seconds.

        Returns:
            Whether rows are still being made anew, and how many sessions are missing.
        """
        if any(host.missing for host in hosts):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(longest):
                    await self._rebuilt.wait()
        missing = sum(host.missing for host in hosts)
        return missing > 0 and not self._rebuilt.is_set(), missing

    def all(self) -> list[WorkspaceHost]:
        """The workspaces, in the order in which they were first opened."""
        return list(self._hosts.values())

    def get(self, workspace: str) -> WorkspaceHost:
        """Raises Refusal `unknown_workspace`, or why the workspace could not be opened."""
        host = self._hosts.get(workspace)
        if workspace in self._problems:
            raise Refusal.from_problem(self._problems[workspace])
        if host is None:
            raise Refusal(
                "unknown_workspace",
                f"There is no workspace {workspace}.",
                field="workspaceId",
                hint="list_workspaces names them; open_workspace opens a folder.",
            )
        return host

    def listed(self, workspace: str) -> dict[str, Any]:
        """What a client of the workspace's events begins with: its folder and its sessions, newest first."""
        host = self.get(workspace)
        cards = [{"session_id": card.key, "title": card.title, "state": card.state} for card in host.cards()]
        return {"repo_path": host.state.path, "sessions": cards}

    def home(self, workspace: str) -> Home:
        """What decisions need of a workspace; empty for none."""
        host = self._hosts.get(workspace)
        if host is not None:
            return host.home
        return Home(workspace="", folder="", problem=self._problems.get(workspace))

    def holder(self, session: str) -> WorkspaceHost:
        """The workspace that lists the session. Raises Refusal `unknown_session`."""
        for host in self._hosts.values():
            if session in host.state.sessions:
                return host
        raise Refusal("unknown_session", f"There is no session {session}.", field="sessionId")

    def was_deleted(self, session: str) -> bool:
        """True for a session that there was and that a person deleted."""
        return any(session in host.state.deleted for host in self._hosts.values())

    def must_be_open(self, session: str) -> None:
        """Raises Refusal `session_archived` where a person has closed the session, `no_folder` where its folder is gone."""
        for host in self._hosts.values():
            listed = host.state.sessions.get(session)
            if listed is None:
                continue
            host.must_be_there()
            if listed.archived:
                raise Refusal(
                    "session_archived",
                    "This session is archived.",
                    field="sessionId",
                    hint="Take it out of the archive with update_session first.",
                )

    def card(self, card: SessionCard) -> None:
        """A session's card changed."""
        host = self._hosts.get(card.workspace_id)
        if host is not None:
            host.take(card)

    async def open_folder(self, request: OpenWorkspace, actor: Actor, kept: StoredAnswer | None) -> WorkspaceIsOpen:
        """Opens a folder. Raises Refusal `no_folder`, `folder_too_broad`."""
        path = _folder(request.path, self._parts.closed_folders)
        workspace = render("workspace", int.from_bytes(hashlib.sha256(path.encode()).digest()[:16], "big"))
        async with self._lock:
            host = self._hosts.get(workspace)
            if host is None:
                host = WorkspaceHost(workspace, self._parts)
                await host.open()
            name, broad = Path(path).name or path, breadth(Path(path), Path.home())
            answer = await host.change(
                lambda state: rules.open_folder(state, path, name, broad=broad, wide=request.wide), actor, kept=kept
            )
            self._hosts[workspace] = host
            self._parts.folder_served(path)
        return answer

    async def effect(self, session: str, workspace: str, effect: ListSession | ShareRule) -> None:
        """Carries what a session caused over to its workspace, once however often it is tried."""
        host = self.get(workspace)
        match effect:
            case ListSession(_, title, cause):
                await host.change(lambda state: (rules.list_session(state, session, title), None), RUNTIME, cause=cause)
            case ShareRule(rule, cause):
                await host.change(lambda state: (rules.share_rule(state, rule), None), RUNTIME, cause=cause)

    async def schedule(self, session: str, workspace: str, cause: str, scheduled: Callable[[], bool]) -> None:
        """Tells the workspace whether agents of the session sleep until their times, as it is then."""
        host = self.get(workspace)
        await host.change(
            lambda state: (rules.schedule_session(state, session, scheduled()), None), RUNTIME, cause=cause
        )

    async def trimmed(self, workspace: str, session: str, contents: Contents) -> bool:
        """Tells that large contents of an archived session go. False where it is not archived any more."""

        def decide(state: Workspace) -> tuple[tuple[NewFact, ...], bool]:
            facts = rules.trim_session(state, session, contents)
            return facts, bool(facts)

        return await self.get(workspace).change(decide, RUNTIME)

    def scheduled(self) -> list[str]:
        """The sessions in which agents sleep until their times, and which nobody has closed."""
        listed = (one for host in self._hosts.values() for one in host.state.sessions.values())
        return [one.session for one in listed if one.scheduled and not one.archived]

    async def update_session(self, request: UpdateSession, actor: Actor, kept: StoredAnswer | None) -> SessionUpdated:
        """Renames, pins or archives a session. Raises Refusal `unknown_session`."""
        host = self.holder(request.session_id)
        return await host.change(lambda state: rules.update_session(state, request), actor, kept=kept)

    def may_delete(self, request: DeleteSession) -> WorkspaceHost:
        """The workspace of a session that is to be deleted. Raises Refusal."""
        host = self.holder(request.session_id)
        rules.may_delete(host.state, request)
        return host

    async def deleted(
        self, host: WorkspaceHost, session: str, head: Head, actor: Actor, kept: StoredAnswer | None
    ) -> SessionGone:
        """Keeps what a deleted session's chain ended with."""
        fact = SessionDeleted(session_id=session, last_sequence=head.sequence, link=head.link.hex())
        answer = SessionGone(session_id=session, last_sequence=head.sequence, link=fact.link)
        return await host.change(lambda _: ((NewFact(fact),), answer), actor, kept=kept)

    def close(self) -> None:
        """Ends the clients' streams."""
        for host in self._hosts.values():
            host.close()


def _folder(path: str, closed: tuple[str, ...]) -> str:
    try:
        real = Path(path).expanduser().resolve(strict=True)
        if not real.is_dir():
            raise NotADirectoryError(path)
        next(real.iterdir(), None)
    except (OSError, ValueError, RuntimeError) as error:
        raise Refusal(
            "no_folder",
            f"{path} is not a folder that can be read.",
            field="path",
            hint="Give the path of an existing folder.",
        ) from error
    if any(real.is_relative_to(Path(one).resolve()) for one in closed):
        raise Refusal(
            "no_folder",
            f"{path} holds what Callboard keeps.",
            field="path",
            hint="Open the folder of a project.",
        )
    return str(real)
