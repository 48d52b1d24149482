"""The runtime, assembled from its parts, with its start and shutdown."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Self

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import SessionCreated
from callboard.contracts.ids import is_workspace_stream
from callboard.contracts.rows.session import SessionCard
from callboard.control.effects import ListSession, ScheduleSession, has_sleeping_agents

from .background_tasks import BackgroundTasks
from .commands import CommandRunner
from .dependencies import Dependencies
from .events.live_relay import RelayedFeed
from .events.order import EventOrder
from .events.stream import EventStream
from .feeds import RuntimeFeeds
from .fingerprint import compute_conversation_fingerprint, compute_state_fingerprint, compute_view_fingerprint
from .queries.agent_runs import RunRecords
from .retention import Retention
from .secrets.append_redactor import RedactedDefinitions
from .services.assembly import build_services
from .session_registry import SessionRegistry
from .sessions.host import SessionHost
from .turns.effect_runner import WorkspaceEffect
from .workspaces.registry import WorkspaceRegistry

log = logging.getLogger(__name__)

#: Seconds between two sweeps of unused sessions.
SWEEP_EVERY = 15.0
#: Seconds between two updates of the number of missing sessions during a rebuild.
SHOW_EVERY = 0.5


class Runtime:
    """A running Callboard.

    `commands` and `feeds` implement the ports of the same names. Use it as an async context
    manager.
    """

    def __init__(self, dependencies: Dependencies) -> None:
        self._workspace_of: dict[str, str] = {}
        order = EventOrder(
            lambda: self.dependencies.store.facts, self._find_workspace, lambda: self.dependencies.store.epoch
        )
        definitions = RedactedDefinitions(dependencies.definitions, dependencies.secrets)
        dependencies = replace(dependencies, feed=RelayedFeed(dependencies.feed, order), definitions=definitions)
        self.dependencies: Dependencies = dependencies
        self.workspaces = WorkspaceRegistry(dependencies)
        self.sessions = SessionRegistry(
            dependencies,
            self.workspaces.context,
            self.workspaces.show_card,
            self.workspaces.is_followed,
            self.workspaces.show_damaged,
            self.workspaces.was_deleted,
            self._forward,
        )
        services = build_services(dependencies, self.sessions, self.workspaces)
        self.commands = CommandRunner(dependencies, self.sessions, self.workspaces, services)
        events = EventStream(order, lambda: self.dependencies.store.facts, self.workspaces.describe)
        self.feeds = RuntimeFeeds(dependencies, self.sessions, self.workspaces, events)
        self.retention = Retention(dependencies, self.sessions, self.workspaces)
        self.runs = RunRecords(dependencies, self.sessions, self.workspaces)
        self._tasks = BackgroundTasks()

    async def __aenter__(self) -> Self:
        # Compute the fingerprints now, so that no request waits for the disk.
        for compute in (compute_state_fingerprint, compute_conversation_fingerprint, compute_view_fingerprint):
            await asyncio.to_thread(compute)
        try:
            await self.workspaces.open()
        except BaseException:
            # The caller that opened the store closes it.
            self.workspaces.close()
            raise
        for work in (self._recover(), self._sweep(), self.retention.run()):
            self._tasks.start(work)
        return self

    async def __aexit__(self, *_: object) -> None:
        # Close in reverse order, and continue after an error.
        async with AsyncExitStack() as closing:
            closing.push_async_callback(self.dependencies.store.close)
            closing.push_async_callback(self.dependencies.toolbox.close)
            closing.push_async_callback(self.sessions.close)
            closing.callback(self.workspaces.close)
            closing.push_async_callback(self.commands.wait_settled)
            closing.push_async_callback(self._tasks.cancel_all)

    async def _recover(self) -> None:
        """Take over what a dead epoch left behind.

        These are running sessions, sessions with old rows, unlisted sessions and incomplete
        deletions. A session that was running reads `lost` until it is taken over.
        """
        store = self.dependencies.store
        rows = await store.rows.read_all_rows("sessions", compute_view_fingerprint())
        cards = {row.key: row for row in rows if isinstance(row, SessionCard)}
        clock, shown_at = self.dependencies.clock, self.dependencies.clock.elapsed()
        for stream in await store.facts.list_streams("ses_"):
            try:
                await self._recover_session(stream, cards.get(stream))
            except Refusal as refusal:
                log.warning("session %s could not be taken over: %s", stream, refusal)
                await self.sessions.record_damage(stream, refusal)
            except Exception:
                log.exception("session %s could not be taken over", stream)
            if clock.elapsed() - shown_at > SHOW_EVERY:
                shown_at = clock.elapsed()
                self.workspaces.show_rebuilding()
        self.workspaces.end_rebuilding()
        for stream in self.workspaces.scheduled_sessions():
            try:
                await self._arm_session(stream)
            except Exception:
                log.exception("timers of session %s are not set: it could not be opened", stream)

    async def _arm_session(self, stream: str) -> None:
        """Open a session with sleeping agents to set its timers, and close it again."""
        opened = await self.sessions.get(stream)
        used = opened.used
        await opened.host.wait_settled()
        # Let concurrent callers of the same opening mark it as used.
        await asyncio.sleep(0)
        if opened.is_idle and opened.is_sleeping and opened.used == used:
            await self.sessions.release(stream)

    async def _recover_session(self, stream: str, card: SessionCard | None) -> None:
        store = self.dependencies.store
        for host in self.workspaces.all():
            if stream in host.state.deleted:
                await store.rows.clear(stream)
                await store.facts.delete(stream)
                return
        views = await store.rows.read_views(stream)
        head = await store.facts.read_head(stream)
        listed = any(stream in host.state.sessions for host in self.workspaces.all())
        behind = views is None or views.fingerprint != compute_view_fingerprint() or views.watermark < head.sequence
        unfinished = card is None or card.state not in ("idle", "failed", "interrupted")
        if not (behind or unfinished or not listed):
            return
        opened = await self.sessions.get(stream)
        if not listed:
            state = opened.host.state
            effect = ListSession(state.workspace, state.title, f"{stream}/1")
            await self.workspaces.apply_effect(stream, state.workspace, effect)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_EVERY)
            try:
                await self.sessions.sweep()
            except Exception:
                log.exception("the session sweep failed")

    async def _find_workspace(self, stream: str) -> str:
        """Return the workspace of a stream; empty if it has none. A session names it in its first fact."""
        if is_workspace_stream(stream):
            return stream
        if stream not in self._workspace_of:
            for record in await self.dependencies.store.facts.read(stream, limit=1):
                if isinstance(record.fact, SessionCreated):
                    self._workspace_of[stream] = record.fact.workspace_id
        return self._workspace_of.get(stream, "")

    async def _forward(self, host: SessionHost, effect: WorkspaceEffect) -> None:
        if isinstance(effect, ScheduleSession):
            workspace, cause = host.state.workspace, effect.cause
            await self.workspaces.schedule(host.session, workspace, cause, lambda: has_sleeping_agents(host.state))
        else:
            await self.workspaces.apply_effect(host.session, host.state.workspace, effect)
