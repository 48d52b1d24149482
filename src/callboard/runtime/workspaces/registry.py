"""The workspaces of the store, and which one a session belongs to."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

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
from callboard.contracts.ports.store import Contents, Head, StoredAnswer
from callboard.contracts.record import NewFact
from callboard.contracts.rows import SessionCard
from callboard.contracts.scope import RUNTIME, Actor
from callboard.control import workspace as rules
from callboard.control.effects import ListSession, ShareRule
from callboard.control.state.session import Workspace
from callboard.projection.overlay import overlay
from callboard.projection.workspace import damaged
from callboard.tools.protection.credentials import describe_breadth

from ..dependencies import Dependencies
from ..fingerprint import view_fingerprint
from .context import WorkspaceContext
from .host import WorkspaceHost

log = logging.getLogger(__name__)


class WorkspaceRegistry:
    """Every workspace of the store, and which one a session belongs to."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._hosts: dict[str, WorkspaceHost] = {}
        #: Why a workspace could not be opened, by its id.
        self._problems: dict[str, Problem] = {}
        #: The cards of sessions without a workspace that opens, by their ids.
        self._homeless: dict[str, SessionCard] = {}
        self._lock = asyncio.Lock()
        self._rebuilt = asyncio.Event()

    async def open(self) -> None:
        """Loads the workspaces and the cards of their sessions."""
        for stream in await self._dependencies.store.facts.streams("wks_"):
            host = WorkspaceHost(stream, self._dependencies)
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
            self._dependencies.on_folder_served(host.state.path)
        for row in await self._dependencies.store.rows.across("sessions", view_fingerprint()):
            if isinstance(row, SessionCard):
                self.show_card(row)
        for host in self._hosts.values():
            host.mark_unlisted()

    def show_rebuilding(self) -> None:
        """Show in each workspace how many sessions of its list have no card yet."""
        for host in self._hosts.values():
            host.show_rebuilding(host.missing)

    def end_rebuilding(self) -> None:
        """What could be made anew was; a session that is still missing could not be read."""
        self._rebuilt.set()
        for host in self._hosts.values():
            host.show_rebuilding(0)

    async def wait_listed(self, hosts: Sequence[WorkspaceHost], longest: float) -> tuple[bool, int]:
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

    def describe(self, workspace: str) -> dict[str, Any]:
        """What a client of the workspace's events begins with: its folder and its sessions, newest first."""
        host = self.get(workspace)
        cards = [{"session_id": card.key, "title": card.title, "state": card.state} for card in host.cards()]
        return {"repo_path": host.state.path, "sessions": cards}

    def context(self, workspace: str) -> WorkspaceContext:
        """What decisions need of a workspace; empty for none."""
        host = self._hosts.get(workspace)
        if host is not None:
            return host.context
        return WorkspaceContext(workspace="", folder="", problem=self._problems.get(workspace))

    def find_holder(self, session: str) -> WorkspaceHost:
        """The workspace that lists the session. Raises Refusal `unknown_session`."""
        for host in self._hosts.values():
            if session in host.state.sessions:
                return host
        raise Refusal("unknown_session", f"There is no session {session}.", field="sessionId")

    def was_deleted(self, session: str) -> bool:
        """True for a session that there was and that a person deleted."""
        return any(session in host.state.deleted for host in self._hosts.values())

    def require_open(self, session: str) -> None:
        """Raises Refusal `session_archived` where a person has closed the session, `no_folder` where its folder is gone."""
        for host in self._hosts.values():
            listed = host.state.sessions.get(session)
            if listed is None:
                continue
            host.require_folder()
            if listed.archived:
                raise Refusal(
                    "session_archived",
                    "This session is archived.",
                    field="sessionId",
                    hint="Take it out of the archive with update_session first.",
                )

    def show_card(self, card: SessionCard) -> None:
        """A session's card changed."""
        host = self._hosts.get(card.workspace_id)
        if host is not None:
            host.show_card(card)
        elif card.workspace_id in self._problems:
            self._homeless[card.key] = card

    def show_damaged(self, session: str, problem: Problem, at: int) -> None:
        """A session cannot be read: it stays in the list with the reason. `at` is the time of its newest fact, 0 where that is
        not known."""
        for host in self._hosts.values():
            if session in host.state.sessions:
                host.show_damaged(session, problem, at)
                return
        former = self._homeless.get(session)
        workspace, title = ("", "") if former is None else (former.workspace_id, former.title)
        self._homeless[session] = damaged(session, workspace, problem, at=at, title=title)

    def cards(self, wanted: str | None) -> tuple[SessionCard, ...]:
        """The sessions of a workspace; or of all, also of those that could not be opened. Raises Refusal as `get`."""
        if wanted is not None:
            return self.get(wanted).cards()
        epoch = self._dependencies.store.epoch
        homeless = (overlay(card, epoch) for card in self._homeless.values() if not self.was_deleted(card.key))
        return (*(card for host in self._hosts.values() for card in host.cards()), *homeless)

    async def open_folder(
        self, request: OpenWorkspace, actor: Actor, stored_answer: StoredAnswer | None
    ) -> WorkspaceIsOpen:
        """Opens a folder. Raises Refusal `no_folder`, `folder_too_broad`."""
        path = _folder(request.path, self._dependencies.closed_folders)
        workspace = render("workspace", int.from_bytes(hashlib.sha256(path.encode()).digest()[:16], "big"))
        async with self._lock:
            host = self._hosts.get(workspace)
            if host is None:
                host = WorkspaceHost(workspace, self._dependencies)
                await host.open()
            name, broad = Path(path).name or path, describe_breadth(Path(path), Path.home())
            answer = await host.change(
                lambda state: rules.open_folder(state, path, name, broad=broad, wide=request.wide),
                actor,
                stored_answer=stored_answer,
            )
            self._hosts[workspace] = host
            self._dependencies.on_folder_served(path)
        return answer

    async def apply_effect(self, session: str, workspace: str, effect: ListSession | ShareRule) -> None:
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

    async def record_trim(self, workspace: str, session: str, contents: Contents) -> bool:
        """Tells that large contents of an archived session go. False where it is not archived any more."""

        def decide(state: Workspace) -> tuple[tuple[NewFact, ...], bool]:
            facts = rules.trim_session(state, session, contents)
            return facts, bool(facts)

        return await self.get(workspace).change(decide, RUNTIME)

    def scheduled_sessions(self) -> list[str]:
        """The sessions in which agents sleep until their times, and which nobody has closed."""
        listed = (one for host in self._hosts.values() for one in host.state.sessions.values())
        return [one.session for one in listed if one.scheduled and not one.archived]

    async def update_session(
        self, request: UpdateSession, actor: Actor, stored_answer: StoredAnswer | None
    ) -> SessionUpdated:
        """Renames, pins or archives a session. Raises Refusal `unknown_session`."""
        host = self.find_holder(request.session_id)
        return await host.change(lambda state: rules.update_session(state, request), actor, stored_answer=stored_answer)

    def require_deletable(self, request: DeleteSession) -> WorkspaceHost:
        """The workspace of a session that is to be deleted. Raises Refusal."""
        host = self.find_holder(request.session_id)
        rules.require_deletable(host.state, request)
        return host

    async def record_deletion(
        self, host: WorkspaceHost, session: str, head: Head, actor: Actor, stored_answer: StoredAnswer | None
    ) -> SessionGone:
        """Keeps what a deleted session's chain ended with."""
        fact = SessionDeleted(session_id=session, last_sequence=head.sequence, link=head.link.hex())
        answer = SessionGone(session_id=session, last_sequence=head.sequence, link=fact.link)
        return await host.change(lambda _: ((NewFact(fact),), answer), actor, stored_answer=stored_answer)

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
