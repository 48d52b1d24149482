"""The open sessions of this process."""

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
from callboard.contracts.rows.session import SessionCard
from callboard.control.outcomes import ClockStepped, Outcome
from callboard.control.workspace import build_unknown_session

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
    """A session in memory.

    `used` is the time of the last request, on the monotonic clock. `is_renewing` is True while its
    views are reopened, and after that failed.
    """

    host: SessionHost
    effect_runner: EffectRunner
    views: SessionViews
    used: float
    is_renewing: bool = False

    @property
    def is_waiting(self) -> bool:
        """Return True if a run waits for a person."""
        runs = (thread.run for thread in self.host.state.threads.values())
        return any(call.phase == "waiting" for run in runs if run is not None for call in run.calls)

    @property
    def is_sleeping(self) -> bool:
        """Return True if nothing runs and an agent sleeps."""
        state = self.host.state
        return bool(state.sleepers) and all(thread.run is None for thread in state.threads.values())

    @property
    def is_quiet(self) -> bool:
        """Return True if no decision, effect or process is running."""
        return not self.host.is_busy and not self.effect_runner.is_busy and not self.host.processes.has_running

    @property
    def is_idle(self) -> bool:
        """Return True if the session can be closed without a loss: it is quiet and has no
        followers."""
        return self.is_quiet and not self.views.is_followed


class SessionRegistry:
    """Opens each session once, also for concurrent requests."""

    def __init__(
        self,
        dependencies: Dependencies,
        workspace: Callable[[str], WorkspaceContext],
        card: Callable[[SessionCard], None],
        is_listed: Callable[[], bool],
        damaged: Callable[[str, Problem, int], None],
        deleted: Callable[[str], bool],
        forward: Callable[[SessionHost, WorkspaceEffect], Coroutine[None, None, None]],
    ) -> None:
        self._dependencies = dependencies
        self._run_configs = RunConfigBuilder(dependencies)
        self._expiries = ActionExpiry(dependencies.clock, self._expire, dependencies.limits.clock_interval)
        self._workspace = workspace
        self._card = card
        self._is_listed = is_listed
        self._damaged = damaged
        self._deleted = deleted
        self._forward = forward
        self._open: dict[str, OpenSession] = {}
        self._opening: dict[str, asyncio.Task[OpenSession]] = {}
        self._closing: dict[str, asyncio.Task[None]] = {}
        self._tasks = BackgroundTasks()
        self._renewing = asyncio.Lock()
        self._leaving: set[str] = set()
        self._closed = False
        dependencies.clock.step()

    async def get(self, session: str) -> OpenSession:
        """Return an existing session. If its log is damaged, its card shows that."""
        try:
            return await self._get(session)
        except Refusal as refusal:
            await self.record_damage(session, refusal)
            raise

    async def record_damage(self, session: str, refusal: Refusal) -> None:
        """Show in the list that a session's log cannot be read. Refusals for other reasons are ignored."""
        if refusal.code not in ("chain_broken", "facts_unreadable"):
            return
        at = 0
        with contextlib.suppress(Refusal):
            at = (await self._dependencies.store.facts.read_head(session)).at
        self._damaged(session, refusal.problem, at)

    async def _get(self, session: str) -> OpenSession:
        opened = self._open.get(session)
        if opened is not None and (opened.is_renewing or self._dependencies.store.rows.is_discarded(session)):
            await self._renew(session, opened)
        if opened is None:
            head = await self._dependencies.store.facts.read_head(session) if session.startswith("ses_") else None
            if head is None or head.sequence == 0:
                raise build_unknown_session(session)
            opened = await self.open(session)
        opened.used = self._dependencies.clock.elapsed()
        return opened

    async def open(self, session: str, workspace: str = "") -> OpenSession:
        """Open a session. With a workspace, prepare a new one for its first command."""
        opened = self._open.get(session)
        if opened is not None:
            return opened
        closing = self._closing.get(session)
        if closing is not None:
            await self._tasks.wait(closing)
        # An interrupted deletion leaves facts behind until it is completed.
        if session in self._leaving or self._deleted(session):
            raise build_unknown_session(session)
        opening = self._opening.get(session)
        if opening is None:
            if self._closed:
                raise Refusal(
                    "unreachable", "Callboard is shutting down.", hint="Start it again, then repeat the request."
                )
            opening = self._tasks.start(self._load(session, workspace))
            self._opening[session] = opening
            opening.add_done_callback(lambda _: self._opening.pop(session, None))
        return await self._tasks.wait(opening)

    async def wait_shown(self) -> None:
        """Wait until the rows and cards of all open sessions show their newest facts."""
        waits = (opened.views.wait_for(opened.host.state.sequence) for opened in list(self._open.values()))
        # Views that stopped have logged why, and their session shows it.
        await asyncio.gather(*waits, return_exceptions=True)

    def open_sessions(self) -> list[str]:
        """Return the ids of the sessions in memory."""
        return list(self._open)

    async def release(self, session: str) -> None:
        """Write pending rows and state, and close the session. Its next use opens it again."""
        opened = self._open.pop(session, None)
        if opened is not None:
            closing = self._closing[session] = self._tasks.start(self._close(opened))
            closing.add_done_callback(lambda _: self._closing.pop(session, None))
        if session in self._closing:
            await self._tasks.wait(self._closing[session])

    @asynccontextmanager
    async def lock_out(self, session: str) -> AsyncGenerator[None]:
        """Close a session and refuse to open it within the context."""
        if session in self._leaving:
            raise build_unknown_session(session)
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
        """Close unused sessions and release memory of the others.

        Sessions that wait for a person or sleep are closed sooner. If the machine's clock was set
        since the last sweep, each session records it.
        """
        step = self._dependencies.clock.step()
        if step:
            await self._record_step(step)
        now = self._dependencies.clock.elapsed()
        limits = self._dependencies.limits
        for session, opened in list(self._open.items()):
            unused = now - opened.used
            if opened.is_idle and unused > (
                limits.idle_waiting if opened.is_waiting or opened.is_sleeping else limits.idle
            ):
                try:
                    await self.release(session)
                except Exception:
                    log.exception("%s could not be closed completely", session)
            else:
                opened.views.release_memory(quiet=opened.is_quiet and unused > limits.replay)
                await asyncio.sleep(0)

    async def _record_step(self, step: int) -> None:
        log.warning("the system clock was set by %d s; times of facts do not change", step // 1_000_000)
        for session, opened in list(self._open.items()):
            # A read-only session has no lease. A session without facts has no times.
            if opened.host.epoch and opened.host.state.sequence:
                try:
                    await opened.host.report(ClockStepped(by=step))
                except Exception:
                    log.exception("%s could not record the clock change", session)

    async def close(self) -> None:
        """Stop everything that runs, record how it ended, and write pending rows."""
        self._closed = True
        await self._expiries.close()
        # Also wait for tasks whose callers were cancelled.
        await self._tasks.wait_all()
        ends = await asyncio.gather(*(self.release(session) for session in list(self._open)), return_exceptions=True)
        for error in ends:
            if isinstance(error, Exception):
                log.error("a session could not be closed completely", exc_info=error)

    async def _expire(self, session: str, outcome: Outcome) -> None:
        try:
            opened = await self.get(session)
        except Refusal as refusal:
            if refusal.code != "unknown_session":
                raise
            return
        await opened.host.report(outcome)

    async def _load(self, session: str, workspace: str) -> OpenSession:
        """Open a session. If a step fails, close everything that the steps before it opened."""
        effect_runner = EffectRunner(self._forward, self._expiries)
        opened = OpenSession(
            host=SessionHost(
                session, self._dependencies, self._workspace, effect_runner.start, self._run_configs, workspace
            ),
            effect_runner=effect_runner,
            views=SessionViews(session, self._dependencies, self._card, self._is_listed),
            used=self._dependencies.clock.elapsed(),
        )
        try:
            if workspace:
                await opened.host.start()
                opened.views.start()
            else:
                await opened.host.open()
                await opened.views.open()
        except BaseException:
            # The caller receives the first error, not one of the cleanup.
            try:
                await self._close(opened)
            except Exception:
                log.exception("%s could not be closed after it failed to open", session)
            raise
        self._open[session] = opened
        return opened

    async def _renew(self, session: str, opened: OpenSession) -> None:
        """Reopen the views of a session after its rows were found damaged. Its effects continue."""
        async with self._renewing:
            if opened.is_renewing or self._dependencies.store.rows.is_discarded(session):
                opened.is_renewing = True
                # Callers can already wait for rows.
                await _close_views(opened)
                opened.views = SessionViews(session, self._dependencies, self._card, self._is_listed)
                await opened.views.open()
                opened.is_renewing = False

    @staticmethod
    async def _close(opened: OpenSession) -> None:
        # Close in reverse order, and continue after an error.
        async with AsyncExitStack() as closing:
            closing.push_async_callback(_close_views, opened)
            # A host without a lease made no decision, and its state can be incomplete.
            if opened.host.epoch:
                closing.push_async_callback(opened.host.save)
                closing.push_async_callback(opened.effect_runner.close, opened.host)


async def _close_views(opened: OpenSession) -> None:
    # The facts that record how its work ended are among the newest.
    await opened.views.close(opened.host.state.sequence)


def build_unknown_thread(thread: str | None) -> Refusal:
    """Return the refusal of a thread that the session does not have."""
    return Refusal(
        "unknown_thread",
        f"The session has no thread {thread or ''}.",
        field="threadId",
        hint="Find threads with get_session.",
    )


def derive_session_id(name: str) -> str:
    """Return a session id derived from a name, such as the id of its first turn."""
    return render("session", int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "big"))


def build_future_fact_refusal(sequence: int) -> Refusal:
    """Return the refusal of a read that waits for a fact above the newest sequence."""
    return Refusal(
        "gap",
        f"The session has no fact {sequence} yet.",
        field="waitFor",
        hint="Wait only for a sequence that an answer named.",
    )
