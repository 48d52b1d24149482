"""What gives space back: the large contents of sessions that were archived long ago, where the user's settings say so."""

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

#: Contents of fewer bytes stay: their beginning and end, which stay in any case, are not much less.
SMALLEST = 16 * 1024
#: How often it is looked for what may go, in seconds; the first time after as long as a start takes.
EVERY = 6 * 60 * 60
FIRST = 60
_DAY_US = 24 * 60 * 60 * 1_000_000


class Retention:
    """Looks through the archived sessions now and then. Without the setting nothing ever goes."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._workspaces = workspaces

    async def run(self) -> None:
        """Looks, and looks again, until it is cancelled."""
        await asyncio.sleep(FIRST)
        while True:
            try:
                await self.sweep()
            except Exception:
                log.exception("what may go by its age was not looked through")
            await asyncio.sleep(EVERY)

    async def sweep(self) -> None:
        """Lets go what is old enough. What a crash leaves half done is found again the next time."""
        days = self._days()
        if not days:
            return
        before = self._dependencies.clock.now() - days * _DAY_US
        for host in self._workspaces.all():
            for listed in list(host.state.sessions.values()):
                if listed.archived and (await self._dependencies.store.facts.head(listed.session)).at < before:
                    await self._trim(host.state.workspace, listed.session)

    async def _trim(self, workspace: str, session: str) -> None:
        if not (await self._dependencies.store.facts.contents(session, SMALLEST)).blobs:
            return
        async with self._sessions.locked_out(session):
            keeper = SessionState(session, self._dependencies.store)
            await keeper.open()
            if unfinished(keeper.state):
                # What it is told to go on with is all of its conversation: nothing goes until it is over.
                return
            found = await self._dependencies.store.facts.contents(session, SMALLEST)
            # The fact comes first: nothing goes that nobody was told of.
            if await self._workspaces.record_trim(workspace, session, found):
                await self._dependencies.store.facts.trim(session, SMALLEST)

    def _days(self) -> int:
        book = self._dependencies.settings
        try:
            return book.user().retention if book is not None else 0
        except Refusal as refusal:
            log.warning("nothing goes by its age while the settings cannot be read: %s", refusal.problem.message)
            return 0


def unfinished(state: Session) -> bool:
    """True where something of the session is still to go on: a turn that is open or waits, a thread that was stopped, what an
    inbox holds, a job, what a person wrote that is not saved."""
    artifacts = state.artifacts
    threads = state.threads.values()
    return bool(artifacts.saves or artifacts.drafts or state.jobs) or any(
        one.run is not None or one.submitted is not None or one.queue or one.inbox or one.paused for one in threads
    )
