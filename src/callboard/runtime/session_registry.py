"""The sessions that are in use: each with its host, its effects and its views, opened when needed and let go when idle."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.ids import render
from callboard.contracts.rows import SessionCard
from callboard.control.outcomes import ClockStepped, Outcome

from .background_tasks import BackgroundTasks
from .dependencies import Dependencies
from .prompts.run_config import RunConfigBuilder
from .sessions.action_expiry import ActionExpiry
from .sessions.host import SessionHost
from .turns.effect_runner import EffectRunner, WorkspaceEffect
from .views.session import SessionViews
from .workspaces.context import WorkspaceContext

log = logging.getLogger(__name__)


@dataclass
class OpenSession:
    """A session in memory. `used` is when it was last asked for, on the clock that never goes back; `renews` is True while its
    views are being opened anew, and where that failed."""

    host: SessionHost
    effect_runner: EffectRunner
    views: SessionViews
    used: float
    is_renewing: bool = False

    @property
    def first_sequence(self) -> int:
        """The sequence from which on there is something to show: 1, or 0 while there is no fact."""
        return min(1, self.host.state.sequence)

    @property
    def is_waiting(self) -> bool:
        """True where a run waits for a person, which may take long."""
        runs = (thread.run for thread in self.host.state.threads.values())
        return any(call.phase == "waiting" for run in runs if run is not None for call in run.calls)

    @property
    def is_sleeping(self) -> bool:
        """True where nothing runs and agents sleep, which may take long."""
        state = self.host.state
        return bool(state.sleepers) and all(thread.run is None for thread in state.threads.values())

    @property
    def is_quiet(self) -> bool:
        """True where nothing is decided or under way."""
        return not self.host.is_busy and not self.effect_runner.is_busy and not self.host.processes.has_running

    @property
    def is_idle(self) -> bool:
        """True where letting it go loses nothing: it is quiet, and nobody follows."""
        return self.is_quiet and not self.views.is_followed


class SessionRegistry:
    """Opens each session once, whoever asks for it at the same time."""

    def __init__(
        self,
        dependencies: Dependencies,
        workspace: Callable[[str], WorkspaceContext],
        card: Callable[[SessionCard], None],
        damaged: Callable[[str, Problem, int], None],
        deleted: Callable[[str], bool],
        pass_on: Callable[[SessionHost, WorkspaceEffect], Coroutine[None, None, None]],
    ) -> None:
        self._dependencies = dependencies
        self._run_configs = RunConfigBuilder(dependencies)
        self._expiries = ActionExpiry(dependencies.clock, self._timed_out, dependencies.limits.clock_interval)
        self._workspace = workspace
        self._card = card
        self._damaged = damaged
        self._deleted = deleted
        self._pass_on = pass_on
        self._open: dict[str, OpenSession] = {}
        self._opening: dict[str, asyncio.Task[OpenSession]] = {}
        self._closing: dict[str, asyncio.Task[None]] = {}
        self._tasks = BackgroundTasks()
        self._renewing = asyncio.Lock()
        self._leaving: set[str] = set()
        self._closed = False
        dependencies.clock.step()

    async def get(self, session: str) -> OpenSession:
        """A session that exists. Raises Refusal `unknown_session`; `chain_broken` for one that is listed as damaged then."""
        try:
            return await self._get(session)
        except Refusal as refusal:
            await self.record_damage(session, refusal)
            raise

    async def record_damage(self, session: str, refusal: Refusal) -> None:
        """Show in the list that a session cannot be read, where the refusal is of its log and not of the store."""
        if refusal.code not in ("chain_broken", "facts_unreadable"):
            return
        at = 0
        with contextlib.suppress(Refusal):
            at = (await self._dependencies.store.facts.head(session)).at
        self._damaged(session, refusal.problem, at)

    async def _get(self, session: str) -> OpenSession:
        found = self._open.get(session)
        if found is not None and (found.is_renewing or self._dependencies.store.rows.discarded(session)):
            await self._renew(session, found)
        if found is None:
            head = await self._dependencies.store.facts.head(session) if session.startswith("ses_") else None
            if head is None or head.sequence == 0:
                raise _unknown(session)
            found = await self.open(session)
        found.used = self._dependencies.clock.elapsed()
        return found

    async def open(self, session: str, workspace: str = "") -> OpenSession:
        """The session; with a workspace, one that does not exist yet, made ready for its first command there. Raises Refusal
        `unknown_session` for one that is being deleted, or was, and `unreachable` once `close` began."""
        found = self._open.get(session)
        if found is not None:
            return found
        closing = self._closing.get(session)
        if closing is not None:
            await self._tasks.wait(closing)
        # A deletion that a crash cut short leaves facts behind for a while: they are nobody's any more.
        if session in self._leaving or self._deleted(session):
            raise _unknown(session)
        opening = self._opening.get(session)
        if opening is None:
            if self._closed:
                raise Refusal("unreachable", "Callboard is ending.", hint="Start it again, then send this again.")
            opening = self._tasks.start(self._load(session, workspace))
            self._opening[session] = opening
            opening.add_done_callback(lambda _: self._opening.pop(session, None))
        return await self._tasks.wait(opening)

    def open_sessions(self) -> list[str]:
        """The ids of the sessions in memory."""
        return list(self._open)

    async def release(self, session: str) -> None:
        """Writes what waits and forgets the session; its next use opens it again."""
        found = self._open.pop(session, None)
        if found is not None:
            closing = self._closing[session] = self._tasks.start(self._close(found))
            closing.add_done_callback(lambda _: self._closing.pop(session, None))
        if session in self._closing:
            await self._tasks.wait(self._closing[session])

    @asynccontextmanager
    async def locked_out(self, session: str) -> AsyncGenerator[None]:
        """Lets go of a session that is to be deleted; as long as that takes it is opened for nobody."""
        if session in self._leaving:
            raise _unknown(session)
        self._leaving.add(session)
        try:
            opening = self._opening.get(session)
            if opening is not None:
                await asyncio.wait([opening])
            await self.release(session)
            yield
        finally:
            self._leaving.discard(session)

    async def sweep(self) -> None:
        """Lets go of the sessions that nobody has used for a while; sooner of those that wait for a person, or sleep. The
        others give back what they do not need. Where the machine's clock was set since the last sweep, each session in memory
        records it."""
        step = self._dependencies.clock.step()
        if step:
            await self._record_step(step)
        now = self._dependencies.clock.elapsed()
        limits = self._dependencies.limits
        for session, found in list(self._open.items()):
            unused = now - found.used
            if found.is_idle and unused > (
                limits.idle_waiting if found.is_waiting or found.is_sleeping else limits.idle
            ):
                try:
                    await self.release(session)
                except Exception:
                    log.exception("%s could not be closed whole", session)
            else:
                found.views.release_memory(quiet=found.is_quiet and unused > limits.replay)
                await asyncio.sleep(0)

    async def _record_step(self, step: int) -> None:
        log.warning("the machine's clock was set by %d s; times of facts do not follow it", step // 1_000_000)
        for session, found in list(self._open.items()):
            # A session for reading only has no lease, and one without a fact has nothing to date.
            if found.host.epoch and found.first_sequence:
                try:
                    await found.host.report(ClockStepped(by=step))
                except Exception:
                    log.exception("%s does not record that the clock was set", session)

    async def close(self) -> None:
        """Stops everything that runs, truthfully, and writes what waits."""
        self._closed = True
        await self._expiries.close()
        # What somebody began who has gone since is waited for as well.
        await self._tasks.wait_all()
        ends = await asyncio.gather(*(self.release(session) for session in list(self._open)), return_exceptions=True)
        for error in ends:
            if isinstance(error, Exception):
                log.error("a session could not be closed whole", exc_info=error)

    async def _timed_out(self, session: str, report: Outcome) -> None:
        try:
            found = await self.get(session)
        except Refusal as refusal:
            if refusal.code != "unknown_session":
                raise
            return
        await found.host.report(report)

    async def _load(self, session: str, workspace: str) -> OpenSession:
        """Open a session whole, or not at all: where a step fails, all that the steps before it began is closed."""
        acting = EffectRunner(self._pass_on, self._expiries)
        found = OpenSession(
            host=SessionHost(session, self._dependencies, self._workspace, acting.start, self._run_configs, workspace),
            effect_runner=acting,
            views=SessionViews(session, self._dependencies, self._card),
            used=self._dependencies.clock.elapsed(),
        )
        try:
            if workspace:
                await found.host.start()
                found.views.start()
            else:
                await found.host.open()
                await found.views.open()
        except BaseException:
            # What failed is what the caller must see, whatever else fails after it.
            try:
                await self._close(found)
            except Exception:
                log.exception("what was opened of %s could not be closed", session)
            raise
        self._open[session] = found
        return found

    async def _renew(self, session: str, found: OpenSession) -> None:
        """Open the views of a session anew, after its rows were found damaged. What runs in it is not touched."""
        async with self._renewing:
            if found.is_renewing or self._dependencies.store.rows.discarded(session):
                found.is_renewing = True
                await found.views.close()
                found.views = SessionViews(session, self._dependencies, self._card)
                await found.views.open()
                found.is_renewing = False

    @staticmethod
    async def _close(found: OpenSession) -> None:
        # From the last to the first, each whatever became of those before it.
        async with AsyncExitStack() as closing:
            closing.push_async_callback(found.views.close)
            # A host without a lease has decided nothing, and its state may be only half folded.
            if found.host.epoch:
                closing.push_async_callback(found.host.save)
                closing.push_async_callback(found.effect_runner.close, found.host)


def _unknown(session: str) -> Refusal:
    return Refusal(
        "unknown_session", f"There is no session {session}.", field="sessionId", hint="list_sessions names them."
    )


def session_id_from(name: str) -> str:
    """The id of the session that something else names, such as its first turn: the same name gives the same session."""
    return render("session", int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "big"))
