"""Output, progress and questions of a running tool."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from callboard.contracts.facts.action import ActionResolved
from callboard.contracts.facts.base import Fact
from callboard.contracts.live import Frame
from callboard.contracts.ports.tools import Question, Reply
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ElicitationStarted

from ..sessions.host import SessionHost
from ..sessions.partial_buffer import PartialBuffer

#: Seconds between two progress frames. The newest is always sent.
PROGRESS_INTERVAL = 0.1


class ToolProgress:
    """Sends the progress of one call as frames: the first immediately, later ones combined."""

    def __init__(self, show: Callable[[Frame], object], now: Callable[[], float]) -> None:
        self._show = show
        self._now = now
        self._reported_at = -PROGRESS_INTERVAL
        self._waiting: Frame | None = None
        self._timer: asyncio.TimerHandle | None = None

    def add(self, frame: Frame) -> None:
        """Send the newest progress, immediately or with the next frame."""
        self._waiting = frame
        rest = self._reported_at + PROGRESS_INTERVAL - self._now()
        if rest <= 0:
            self._send()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(rest, self._send)

    def close(self) -> None:
        """Drop the waiting frame: the call has ended."""
        self._waiting = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        frame, self._waiting = self._waiting, None
        if frame is not None:
            self._reported_at = self._now()
            self._show(frame)


class ProgressReporter:
    """Implements the port `Reporter` for one call."""

    def __init__(self, host: SessionHost, gather: PartialBuffer, scope: Scope, tool: str) -> None:
        self._host = host
        self._buffer = gather
        self._scope = scope
        self._tool = tool
        self._question_lock = asyncio.Lock()
        dependencies = host.dependencies
        self._progress = ToolProgress(
            lambda frame: dependencies.feed.publish_frame(host.session, frame), dependencies.clock.elapsed
        )

    def report_output(self, text: str) -> None:
        """Show a piece of the call's output."""
        self._buffer.add("output", self._scope, text, self._tool)

    def report_progress(self, done: float, total: float | None, message: str) -> None:
        """Show the progress of the call."""
        safe_message = self._host.dependencies.secrets.redact(message)
        self._progress.add(
            Frame(
                kind="progress", scope=self._scope, offset=0, text=safe_message, tool=self._tool, done=done, total=total
            )
        )

    async def ask(self, question: Question) -> Reply:
        """Ask a person, and wait for the answer while the call runs."""
        async with self._question_lock:
            where = self._scope
            answer = self._host.pending_answers.expect(where.tool_call)
            try:
                await self._host.report(
                    ElicitationStarted(thread=where.thread, run=where.run, call=where.tool_call, question=question)
                )
                run = self._host.state.threads[where.thread].run
                call = run.find_call(where.tool_call) if run is not None else None
                if not answer.done() and (call is None or not call.action):
                    return Reply(outcome="nothing")
                return await self._reply(await answer)
            except asyncio.CancelledError:
                # The call was cancelled, so it cannot wait until the withdrawal is recorded.
                self._host.pending_answers.withdraw(where)
                raise
            finally:
                self._host.pending_answers.forget(where.tool_call, answer)

    def settle(self) -> None:
        """Stop showing progress."""
        self._progress.close()

    async def _reply(self, fact: Fact) -> Reply:
        if not isinstance(fact, ActionResolved):
            return Reply(outcome="nothing")
        if fact.decision != "answer":
            return Reply(outcome="reject")
        text = fact.answer
        data = None if text.ref is None else await self._host.dependencies.store.blobs.get(text.ref.hash)
        answer = text.text if data is None else data.decode()
        return Reply(outcome="answer", answer=self._host.dependencies.secrets.reveal(answer))
