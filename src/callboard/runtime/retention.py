"""Deletion of large contents of sessions that were archived long ago."""

from __future__ import annotations

import asyncio
import logging

from callboard.contracts.errors import Refusal
from callboard.control.state.session import Session

from .dependencies import Dependencies
from .session_registry import SessionRegistry
from .session_state import SessionState
from .workspaces.registry import WorkspaceRegistry

log = logging.getLogger(__name__)

#: Contents below this size stay, in bytes. The preview that always stays is not much smaller.
MIN_TRIMMED_BYTES = 16 * 1024
#: Seconds between two sweeps, and before the first one.
EVERY = 6 * 60 * 60
FIRST = 60
_DAY_US = 24 * 60 * 60 * 1_000_000


class Retention:
    """Sweeps the archived sessions. Without the setting, it deletes nothing."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._workspaces = workspaces

    async def run(self) -> None:
        """Sweep repeatedly until cancelled."""
        await asyncio.sleep(FIRST)
        while True:
            try:
                await self.sweep()
            except Exception:
                log.exception("the retention sweep failed")
            await asyncio.sleep(EVERY)

    async def sweep(self) -> None:
        """Delete the contents of sessions that are old enough. After a crash, the next sweep continues."""
        days = self._read_days()
        if not days:
            return
        before = self._dependencies.clock.now() - days * _DAY_US
        for host in self._workspaces.all():
            for listed in list(host.state.sessions.values()):
                if listed.archived and (await self._dependencies.store.facts.read_head(listed.session)).at < before:
                    await self._trim_session(host.state.workspace, listed.session)

    async def _trim_session(self, workspace: str, session: str) -> None:
        if not (await self._dependencies.store.facts.measure_contents(session, MIN_TRIMMED_BYTES)).blobs:
            return
        async with self._sessions.lock_out(session):
            session_state = SessionState(session, self._dependencies.store)
            await session_state.open()
            if has_open_work(session_state.state):
                # Keep everything until the work ends: the model still needs the whole conversation.
                return
            contents = await self._dependencies.store.facts.measure_contents(session, MIN_TRIMMED_BYTES)
            # Record the deletion before carrying it out.
            if await self._workspaces.record_trim(workspace, session, contents):
                await self._dependencies.store.facts.trim(session, MIN_TRIMMED_BYTES)

    def _read_days(self) -> int:
        settings = self._dependencies.settings
        try:
            return settings.read_user().retention if settings is not None else 0
        except Refusal as refusal:
            log.warning("retention is off while the settings cannot be read: %s", refusal.problem.message)
            return 0


def has_open_work(state: Session) -> bool:
    """Return True if the session has open work: a turn, a paused thread, unread inbox items, a job or an unsaved draft."""
    artifacts = state.artifacts
    threads = state.threads.values()
    return bool(artifacts.saves or artifacts.drafts or state.jobs) or any(
        thread.run is not None or thread.submitted is not None or thread.queue or thread.inbox or thread.paused
        for thread in threads
    )
