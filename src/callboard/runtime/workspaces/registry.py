"""The workspaces of the store."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from callboard.contracts.commands.session import (
    OpenedWorkspace,
    OpenWorkspace,
)
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.ids import render
from callboard.contracts.ports.store import Contents, StoredAnswer
from callboard.contracts.record import NewFact
from callboard.contracts.rows.session import SessionCard
from callboard.contracts.scope import RUNTIME, Actor
from callboard.control.effects import ListSession, ShareRule
from callboard.control.state.session import Workspace
from callboard.control.workspace import (
    build_unknown_session,
    list_session,
    open_folder,
    schedule_session,
    share_rule,
    trim_session,
)
from callboard.projection.overlay import overlay
from callboard.projection.workspace import build_damaged_card
from callboard.tools.protection.credentials import describe_breadth

from ..dependencies import Dependencies
from ..fingerprint import compute_view_fingerprint
from .context import WorkspaceContext
from .host import WorkspaceHost

log = logging.getLogger(__name__)


class WorkspaceRegistry:
    """All workspaces of the store, and the workspace of each session."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._hosts: dict[str, WorkspaceHost] = {}
        #: Why a workspace could not be opened, by id.
        self._problems: dict[str, Problem] = {}
        #: Cards of sessions whose workspace could not be opened, by id.
        self._homeless: dict[str, SessionCard] = {}
        self._lock = asyncio.Lock()
        self._rebuilt = asyncio.Event()

    async def open(self) -> None:
        """Load the workspaces and the cards of their sessions."""
        for stream in await self._dependencies.store.facts.list_streams("wks_"):
            host = WorkspaceHost(stream, self._dependencies)
            try:
                await host.open()
            except Refusal as refusal:
                if refusal.code not in ("chain_broken", "facts_unreadable"):
                    raise
                # The other workspaces stay usable. Commands in this one are refused with the
                # reason.
                log.exception("workspace %s cannot be opened", stream)
                self._problems[stream] = refusal.problem
                continue
            self._hosts[stream] = host
            self._dependencies.on_folder_served(host.state.path)
        store = self._dependencies.store
        # A card that lacks facts would show what the process did before it ended. Recovery folds them.
        heads = await store.facts.read_heads("ses_")
        for row in await store.rows.read_all_rows("sessions", compute_view_fingerprint(), heads):
            if isinstance(row, SessionCard):
                self.show_card(row)
        for host in self._hosts.values():
            host.mark_unlisted()

    def show_rebuilding(self) -> None:
        """Show in each workspace how many sessions have no card yet."""
        for host in self._hosts.values():
            host.show_rebuilding(host.missing)

    def end_rebuilding(self) -> None:
        """End the rebuild. Sessions that are still missing cannot be read."""
        self._rebuilt.set()
        for host in self._hosts.values():
            host.show_rebuilding(0)

    async def wait_listed(self, hosts: Sequence[WorkspaceHost], max_seconds: float) -> tuple[bool, int]:
        """Wait until every session has a card, at most `max_seconds`.

        Returns:
            Whether the rebuild is still running, and how many sessions are missing.
        """
        if any(host.missing for host in hosts):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max_seconds):
                    await self._rebuilt.wait()
        if not self._rebuilt.is_set():
            # The rows of the workspaces show the same count as the answer.
            self.show_rebuilding()
        missing = sum(host.missing for host in hosts)
        return missing > 0 and not self._rebuilt.is_set(), missing

    def is_followed(self) -> bool:
        """Return True while a client follows a workspace."""
        return any(host.is_followed for host in self._hosts.values())

    def all(self) -> list[WorkspaceHost]:
        """Return the workspaces in the order in which they were first opened."""
        return list(self._hosts.values())

    def get(self, workspace: str) -> WorkspaceHost:
        """Return a workspace."""
        host = self._hosts.get(workspace)
        if workspace in self._problems:
            raise Refusal.from_problem(self._problems[workspace])
        if host is None:
            raise Refusal(
                "unknown_workspace",
                f"There is no workspace {workspace}.",
                field="workspaceId",
                hint="Find workspaces with list_workspaces, or open a folder with open_workspace.",
            )
        return host

    def describe(self, workspace: str) -> dict[str, Any]:
        """Return the workspace's folder and sessions, newest first, for the first event of a client."""
        host = self.get(workspace)
        cards = [{"session_id": card.key, "title": card.title, "state": card.state} for card in host.cards()]
        return {"repo_path": host.state.path, "sessions": cards}

    def context(self, workspace: str) -> WorkspaceContext:
        """Return the context of a workspace; an empty one if it is not open."""
        host = self._hosts.get(workspace)
        if host is not None:
            return host.context
        return WorkspaceContext(workspace="", folder="", problem=self._problems.get(workspace))

    def find_holder(self, session: str) -> WorkspaceHost:
        """Return the workspace that lists the session."""
        for host in self._hosts.values():
            if session in host.state.sessions:
                return host
        raise build_unknown_session(session)

    def was_deleted(self, session: str) -> bool:
        """Return True if a person deleted the session."""
        return any(session in host.state.deleted for host in self._hosts.values())

    def require_open(self, session: str) -> None:
        """Refuse an archived session, or one whose folder is missing."""
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
                    hint="Unarchive it first with update_session.",
                )

    def show_card(self, card: SessionCard) -> None:
        """Show a changed card in its workspace."""
        host = self._hosts.get(card.workspace_id)
        if host is not None:
            host.show_card(card)
        elif card.workspace_id in self._problems:
            self._homeless[card.key] = card

    def show_damaged(self, session: str, problem: Problem, at: int) -> None:
        """Show that a session cannot be read. `at` is the time of its newest fact; 0 if unknown."""
        for host in self._hosts.values():
            if session in host.state.sessions:
                host.show_damaged(session, problem, at)
                return
        former = self._homeless.get(session)
        workspace, title = ("", "") if former is None else (former.workspace_id, former.title)
        self._homeless[session] = build_damaged_card(session, workspace, problem, at=at, title=title)

    def cards(self, workspace: str | None) -> tuple[SessionCard, ...]:
        """Return the cards of one workspace or of all.

        The latter include sessions whose workspace could not be opened.
        """
        if workspace is not None:
            return self.get(workspace).cards()
        epoch = self._dependencies.store.epoch
        homeless = (overlay(card, epoch) for card in self._homeless.values() if not self.was_deleted(card.key))
        return (*(card for host in self._hosts.values() for card in host.cards()), *homeless)

    async def open_folder(
        self, request: OpenWorkspace, actor: Actor, stored_answer: StoredAnswer | None
    ) -> OpenedWorkspace:
        """Open a folder as a workspace."""
        path = _resolve_folder(request.path, self._dependencies.closed_folders)
        workspace = render("workspace", int.from_bytes(hashlib.sha256(path.encode()).digest()[:16], "big"))
        async with self._lock:
            host = self._hosts.get(workspace)
            if host is None:
                host = WorkspaceHost(workspace, self._dependencies)
                await host.open()
            name, broad = Path(path).name or path, describe_breadth(Path(path), Path.home())
            answer = await host.change(
                lambda state: open_folder(state, path, name, broad=broad, wide=request.wide),
                actor,
                stored_answer=stored_answer,
            )
            self._hosts[workspace] = host
            self._dependencies.on_folder_served(path)
        return answer

    async def apply_effect(self, session: str, workspace: str, effect: ListSession | ShareRule) -> None:
        """Apply a session's effect to its workspace. Repeating it changes nothing."""
        host = self.get(workspace)
        match effect:
            case ListSession(_, title, cause):
                # Its first facts can be refused in the same transaction.
                await host.change(
                    lambda state: (list_session(state, session, title), None), RUNTIME, cause=cause, requires=session
                )
            case ShareRule(rule, cause):
                await host.change(lambda state: (share_rule(state, rule), None), RUNTIME, cause=cause)

    async def schedule(self, session: str, workspace: str, cause: str, scheduled: Callable[[], bool]) -> None:
        """Record in the workspace whether agents of the session sleep."""
        host = self.get(workspace)
        await host.change(lambda state: (schedule_session(state, session, scheduled()), None), RUNTIME, cause=cause)

    async def record_trim(self, workspace: str, session: str, contents: Contents) -> bool:
        """Record that large contents of a session are deleted. Return False if it is not archived."""

        def decide(state: Workspace) -> tuple[tuple[NewFact, ...], bool]:
            facts = trim_session(state, session, contents)
            return facts, bool(facts)

        return await self.get(workspace).change(decide, RUNTIME)

    def scheduled_sessions(self) -> list[str]:
        """Return the unarchived sessions with sleeping agents."""
        listed = (session for host in self._hosts.values() for session in host.state.sessions.values())
        return [entry.session for entry in listed if entry.scheduled and not entry.archived]

    def close(self) -> None:
        """End the streams of clients."""
        for host in self._hosts.values():
            host.close()


def _resolve_folder(path: str, closed: tuple[str, ...]) -> str:
    try:
        real = Path(path).expanduser().resolve(strict=True)
        if not real.is_dir():
            raise NotADirectoryError(path)
        next(real.iterdir(), None)
    except (OSError, ValueError, RuntimeError) as error:
        raise Refusal(
            "no_folder",
            f"{path} is not a readable folder.",
            field="path",
            hint="Enter the path of an existing folder.",
        ) from error
    if any(real.is_relative_to(Path(folder).resolve()) for folder in closed):
        raise Refusal(
            "no_folder",
            f"{path} is part of Callboard's own state.",
            field="path",
            hint="Open a project folder.",
        )
    return str(real)
