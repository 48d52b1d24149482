"""Effects carried out: each run's work is kept so that it can be stopped, whole and at once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack
from typing import assert_never

from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ModelRequested
from callboard.contracts.facts.turn import InterruptCause
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.decide.thread.recovery import is_resting
from callboard.control.effects import (
    AskModel,
    Effect,
    EndProcesses,
    ExpireAction,
    ListSession,
    MakeWorktree,
    RemoveWorktree,
    RunTool,
    ScheduleSession,
    SettleArtifact,
    ShareRule,
    StopRun,
    WakeAt,
    WriteProcess,
)
from callboard.control.outcomes import ActionTimedOut, ExternalDisconnected, RunStopped, WakeTimeReached
from callboard.control.state.session import OpenRun, Session, Thread

from ..background_tasks import BackgroundTasks
from ..external import A2aPromptRunner, AcpPromptRunner
from ..sessions.action_expiry import ActionExpiry
from ..sessions.host import SessionHost
from ..worktrees.worktree import create_worktree, remove_worktree
from .artifact_recovery import recover_artifact
from .compaction import CompactionRunner
from .model_call import ModelCallRunner
from .tool_call import ToolCallRunner

log = logging.getLogger(__name__)


def _under_way(state: Session, epoch: int) -> Iterator[tuple[Thread, OpenRun]]:
    """The runs that end with this process. One that is being stopped already ends by itself; one that rests stays open. One
    of a dead epoch, which could not be taken over, is of unknown outcome: the next opening says so."""
    for thread in state.threads.values():
        run = thread.run
        if run is not None and run.epoch == epoch and not run.stopping and not is_resting(state, thread):
            yield thread, run


WorkspaceEffect = ListSession | ScheduleSession | ShareRule
Work = ModelCallRunner | ToolCallRunner | AcpPromptRunner | A2aPromptRunner


def _asking(
    host: SessionHost, scope: Scope, request: ModelRequested
) -> ModelCallRunner | AcpPromptRunner | A2aPromptRunner:
    match request.provider:
        case "acp":
            return AcpPromptRunner(host, scope)
        case "a2a":
            return A2aPromptRunner(host, scope)
        case _:
            return (
                CompactionRunner(host, scope, request)
                if request.purpose == "compaction"
                else ModelCallRunner(host, scope, request)
            )


def _outcomes(work: Work) -> dict[str, ToolOutcome]:
    """What there is of the calls that the work carries out."""
    match work:
        case ToolCallRunner():
            return {work.call: work.partial_outcome()}
        case AcpPromptRunner() | A2aPromptRunner():
            return work.outcomes()
        case ModelCallRunner():
            return {}


class EffectRunner:
    """Carries out the effects of one session. Effects on the workspace, and times that run out, are passed on."""

    def __init__(
        self, pass_on: Callable[[SessionHost, WorkspaceEffect], Coroutine[None, None, None]], expiries: ActionExpiry
    ) -> None:
        self._pass_on = pass_on
        self._expiries = expiries
        self._tasks = BackgroundTasks()
        self._work: dict[str, dict[asyncio.Task[None], Work]] = {}
        self._stopping: set[str] = set()
        self._closing = asyncio.Event()

    @property
    def is_busy(self) -> bool:
        """True while an effect is under way."""
        return bool(self._tasks)

    def start(self, host: SessionHost, effect: Effect) -> None:
        """Begins an effect."""
        match effect:
            case AskModel(scope, request):
                asking = _asking(host, scope, request)
                self._keep(scope.run, self._spawn(self._whole(host, scope, asking)), asking)
            case RunTool(scope) if host.external_agents.is_run_by_agent(scope.tool_call):
                # The agent waits for this fact and goes on by itself.
                pass
            case RunTool(scope):
                calling = ToolCallRunner(host, scope)
                self._keep(scope.run, self._spawn(self._whole(host, scope, calling)), calling)
            case StopRun(scope, cause, reason):
                self._spawn(self.stop(host, scope.thread, scope.run, cause, reason))
            case ExpireAction(scope, at):
                report = ActionTimedOut(thread=scope.thread, action=scope.action)
                self._expiries.add(host.session, scope.action, at, report)
            case WakeAt(at):
                self._expiries.add(host.session, f"{host.session} {at}", at, WakeTimeReached(at=at))
            case MakeWorktree(scope):
                self._spawn(create_worktree(host, scope))
            case RemoveWorktree():
                self._spawn(remove_worktree(host, effect))
            case WriteProcess(scope, text, end):
                self._spawn(host.processes.write(scope.process, text, end=end))
            case EndProcesses(scope):
                self._spawn(host.processes.end(scope))
            case SettleArtifact():
                self._spawn(recover_artifact(host, effect))
            case ListSession() | ScheduleSession() | ShareRule():
                self._spawn(self._pass_on(host, effect))
            case _:
                assert_never(effect)

    async def stop(
        self,
        host: SessionHost,
        thread: str,
        run: str,
        cause: InterruptCause,
        reason: str = "",
        broken: Work | None = None,
    ) -> None:
        """Stops all that a run has under way, and reports what was there; `broken` is what failed and ended by itself. A run
        that is being stopped already is told of by that stop, which knows what there was."""
        if run in self._stopping:
            return
        self._stopping.add(run)
        try:
            await self._stop(host, thread, run, cause, reason, broken)
        finally:
            self._stopping.discard(run)

    async def _stop(
        self,
        host: SessionHost,
        thread: str,
        run: str,
        cause: InterruptCause,
        reason: str,
        broken: Work | None,
    ) -> None:
        ended = await self._ended(host, run)
        if broken is not None and broken not in ended:
            await broken.settle()
            ended.append(broken)
        at = host.state.threads.get(thread)
        found = at.run if at is not None else None
        step = found.model_step if found is not None and found.run == run else 0
        asking = [one for one in ended if not isinstance(one, ToolCallRunner) and one.step == step]
        answers = (one.answer() for one in asking if isinstance(one, ModelCallRunner))
        answered = next((answer for answer in answers if answer is not None), None)
        await self._tell(
            host,
            RunStopped(
                thread=thread,
                run=run,
                cause=cause,
                reason=reason,
                pieces=tuple(piece for one in asking for piece in one.pieces()) if answered is None else (),
                outcomes={call: outcome for one in ended for call, outcome in _outcomes(one).items()},
                answered=answered,
            ),
        )

    async def close(self, host: SessionHost) -> None:
        """Ends everything: what runs is stopped and told as ended with the process; what waits stays as it is."""
        self._closing.set()
        # From the last to the first, each whatever became of those before it.
        async with AsyncExitStack() as closing:
            # What is told of ended processes and agents may have begun an effect.
            closing.push_async_callback(self._settled, host)
            closing.push_async_callback(self._end_agents, host)
            closing.push_async_callback(host.processes.close)
            closing.push_async_callback(self._settled, host)
            await host.wait_settled()
            await self._stop_runs(host)

    async def _stop_runs(self, host: SessionHost) -> None:
        # What is stopped may let another agent begin, such as one that was waiting for it.
        while True:
            thread, run = next(_under_way(host.state, host.epoch), (None, None))
            if thread is None or run is None:
                break
            await self.stop(host, thread.thread, run.run, "shutdown", "the process was stopped")

    async def _settled(self, host: SessionHost) -> None:
        while self._tasks:
            await self._tasks.wait_all()
            await host.wait_settled()

    @staticmethod
    async def _end_agents(host: SessionHost) -> None:
        for thread in host.external_agents.threads:
            elsewhere = host.external_agents.remote(thread) is not None
            try:
                await host.external_agents.end(thread)
                if elsewhere:
                    # It did not end, and nobody knows that it cannot be reached.
                    continue
                await host.report(
                    ExternalDisconnected(thread=thread, reason="it was ended when its session was let go")
                )
            except Refusal as refusal:
                # Whoever opens the session next says it: no agent outlives its process.
                log.warning("that an agent was ended is not told yet: %s", refusal.problem.message)
            except Exception:
                log.exception("an agent could not be ended")
        await host.external_agents.wait_settled()

    async def _ended(self, host: SessionHost, run: str) -> list[Work]:
        """Cancels what the run has under way, and what an outcome that was just being committed still began."""
        ended: list[Work] = []
        while work := dict(self._work.pop(run, {})):
            for task in work:
                task.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            for one in work.values():
                await one.settle()
            ended.extend(work.values())
            await host.wait_settled()
        return ended

    async def _tell(self, host: SessionHost, report: RunStopped) -> None:
        """Reports the end of a run. While the disk is full it is tried again: the run must not look as if it went on."""
        while True:
            try:
                await host.report(report)
                return
            except Refusal as refusal:
                if refusal.code not in ("store_full", "store_locked") or self._closing.is_set():
                    raise
                log.warning("the end of a run is not told yet: %s", refusal.problem.message)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), host.dependencies.limits.retry_interval)

    async def _whole(self, host: SessionHost, scope: Scope, work: Work) -> None:
        """Work that breaks down ends its run: a run that nobody carries on must not look as if it went on."""
        try:
            await work.run()
        except Exception as error:
            cause, reason = _cause_of(error)
            log.exception("an effect broke down")
            self._spawn(self.stop(host, scope.thread, scope.run, cause, reason, work))

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        return self._tasks.start(work)

    def _keep(self, run: str, task: asyncio.Task[None], work: Work) -> None:
        mine = self._work.setdefault(run, {})
        mine[task] = work

        def forget(done: asyncio.Task[None]) -> None:
            mine.pop(done, None)
            if not mine and self._work.get(run) is mine:
                del self._work[run]

        task.add_done_callback(forget)


def _cause_of(error: Exception) -> tuple[InterruptCause, str]:
    """Return why work that broke down ended its run, as the run's last fact shows it."""
    if isinstance(error, Refusal) and error.code in ("store_full", "store_locked", "store_unusable"):
        return "storage", f"what it did could not be stored ({error.code})"
    return "crash", f"the runtime failed ({type(error).__name__})"
