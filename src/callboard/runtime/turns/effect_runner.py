"""The effects of sessions: started, tracked by run, and stopped."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack
from typing import assert_never

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.model import ModelRequested
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
from callboard.control.state.session import Session, Thread
from callboard.control.state.turn import OpenRun

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


def _list_open_runs(state: Session, epoch: int) -> Iterator[tuple[Thread, OpenRun]]:
    """Return the runs that end with this process.

    A run that is being stopped already reports its end, and a resting run stays open. The outcome of a dead
    epoch's run is unknown: the next opening records it.
    """
    for thread in state.threads.values():
        run = thread.run
        if run is not None and run.epoch == epoch and not run.stopping and not is_resting(state, thread):
            yield thread, run


WorkspaceEffect = ListSession | ScheduleSession | ShareRule
Work = ModelCallRunner | ToolCallRunner | AcpPromptRunner | A2aPromptRunner


def _create_model_runner(
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


def _collect_partial_outcomes(work: Work) -> dict[str, ToolOutcome]:
    """Return the partial outcomes of the calls in the work."""
    match work:
        case ToolCallRunner():
            return {work.call: work.build_partial_outcome()}
        case AcpPromptRunner() | A2aPromptRunner():
            return work.outcomes()
        case ModelCallRunner():
            return {}


class EffectRunner:
    """Runs the effects of one session. It forwards effects on the workspace, and sets timers."""

    def __init__(
        self, forward: Callable[[SessionHost, WorkspaceEffect], Coroutine[None, None, None]], expiries: ActionExpiry
    ) -> None:
        self._forward = forward
        self._expiries = expiries
        self._tasks = BackgroundTasks()
        self._work_by_run: dict[str, dict[asyncio.Task[None], Work]] = {}
        self._stopping: set[str] = set()
        self._is_closing = asyncio.Event()

    @property
    def is_busy(self) -> bool:
        """Return True while an effect is running."""
        return bool(self._tasks)

    def start(self, host: SessionHost, effect: Effect) -> None:
        """Start an effect."""
        match effect:
            case AskModel(scope, request):
                runner = _create_model_runner(host, scope, request)
                self._track(scope.run, self._spawn(self._run(host, scope, runner)), runner)
            case RunTool(scope) if host.external_agents.is_run_by_agent(scope.tool_call):
                # The external agent runs the call when it receives the fact.
                pass
            case RunTool(scope):
                call_runner = ToolCallRunner(host, scope)
                self._track(scope.run, self._spawn(self._run(host, scope, call_runner)), call_runner)
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
                self._spawn(self._forward(host, effect))
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
        """Stop all work of a run and report its partial results.

        `broken` is work that failed and has ended. A second stop of the same run does nothing,
        because the first one reports everything.
        """
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
        ended = await self._cancel_work(host, run)
        if broken is not None and broken not in ended:
            await broken.settle()
            ended.append(broken)
        thread_state = host.state.threads.get(thread)
        open_run = thread_state.run if thread_state is not None else None
        step = open_run.model_step if open_run is not None and open_run.run == run else 0
        model_work = [work for work in ended if not isinstance(work, ToolCallRunner) and work.step == step]
        responses = (work.response() for work in model_work if isinstance(work, ModelCallRunner))
        response = next((response for response in responses if response is not None), None)
        await self._report(
            host,
            RunStopped(
                thread=thread,
                run=run,
                cause=cause,
                reason=reason,
                pieces=tuple(piece for work in model_work for piece in work.pieces()) if response is None else (),
                outcomes={call: outcome for work in ended for call, outcome in _collect_partial_outcomes(work).items()},
                response=response,
            ),
        )

    async def close(self, host: SessionHost) -> None:
        """Stop all runs and record that the process ended them. Pending actions stay open."""
        self._is_closing.set()
        # Close in reverse order, and continue after an error.
        async with AsyncExitStack() as closing:
            # Reports of ended processes and agents can start effects.
            closing.push_async_callback(self._wait_settled, host)
            closing.push_async_callback(self._end_agents, host)
            closing.push_async_callback(host.processes.close)
            closing.push_async_callback(self._wait_settled, host)
            await host.wait_settled()
            await self._stop_runs(host)

    async def _stop_runs(self, host: SessionHost) -> None:
        # Stopping a run can start another agent that was waiting for it.
        while True:
            thread, run = next(_list_open_runs(host.state, host.epoch), (None, None))
            if thread is None or run is None:
                break
            if run.run in self._stopping:
                # A failed effect stops its run, and that stop reports everything.
                await self._tasks.wait_all()
                continue
            await self.stop(host, thread.thread, run.run, "shutdown", "the process was stopped")

    async def _wait_settled(self, host: SessionHost) -> None:
        while self._tasks:
            await self._tasks.wait_all()
            await host.wait_settled()

    @staticmethod
    async def _end_agents(host: SessionHost) -> None:
        for thread in host.external_agents.threads:
            is_remote = host.external_agents.get_remote_session(thread) is not None
            try:
                await host.external_agents.end(thread)
                if is_remote:
                    # A remote agent keeps running, so it is not recorded as disconnected.
                    continue
                await host.report(
                    ExternalDisconnected(thread=thread, reason="it was ended when its session was closed")
                )
            except Refusal as refusal:
                # The next opening of the session records it, because no agent outlives its process.
                log.warning("the end of an agent was not recorded: %s", refusal.problem.message)
            except Exception:
                log.exception("an agent could not be stopped")
        await host.external_agents.wait_settled()

    async def _cancel_work(self, host: SessionHost, run: str) -> list[Work]:
        """Cancel the run's work, including work that a commit in progress still starts."""
        ended: list[Work] = []
        while work := dict(self._work_by_run.pop(run, {})):
            for task in work:
                if not host.is_committing(task):
                    task.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            for item in work.values():
                await item.settle()
            ended.extend(work.values())
            await host.wait_settled()
        return ended

    async def _report(self, host: SessionHost, outcome: RunStopped) -> None:
        """Report the end of a run. While the disk is full, retry, because the run must not appear to be running."""
        while True:
            try:
                await host.report(outcome)
                return
            except Refusal as refusal:
                if refusal.code not in ("store_full", "store_locked") or self._is_closing.is_set():
                    raise
                log.warning("the end of a run was not recorded yet: %s", refusal.problem.message)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_closing.wait(), host.dependencies.limits.retry_interval)

    async def _run(self, host: SessionHost, scope: Scope, work: Work) -> None:
        """Run the work. If it fails, stop its run, because an abandoned run must not appear to be running."""
        try:
            await work.run()
        except Exception as error:
            cause, reason = _explain_stop(error)
            log.exception("an effect failed")
            self._spawn(self.stop(host, scope.thread, scope.run, cause, reason, work))

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        return self._tasks.start(work)

    def _track(self, run: str, task: asyncio.Task[None], work: Work) -> None:
        running = self._work_by_run.setdefault(run, {})
        running[task] = work

        def forget(done: asyncio.Task[None]) -> None:
            running.pop(done, None)
            if not running and self._work_by_run.get(run) is running:
                del self._work_by_run[run]

        task.add_done_callback(forget)


def _explain_stop(error: Exception) -> tuple[InterruptCause, str]:
    """Return the cause and reason that the run's last fact shows."""
    if isinstance(error, Refusal) and error.code in ("store_full", "store_locked", "store_unusable"):
        return "storage", f"its results could not be stored ({error.code})"
    return "crash", f"the runtime failed ({type(error).__name__})"
