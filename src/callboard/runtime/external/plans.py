"""The plan of an external agent in one prompt."""

from __future__ import annotations

import asyncio
import contextlib

from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ExternalPlanReported

from ..sessions.host import SessionHost
from .calls import ExternalCalls
from .message_assembler import MessageAssembler
from .prompt_tasks import PromptTasks

Steps = tuple[PlanStep, ...]


class ExternalPlans:
    """Records the plan when it changes, at most every `Limits.plan_interval` seconds.

    Of plans in between, only the newest is recorded. The last plan of a prompt is always recorded.
    """

    def __init__(self, host: SessionHost, scope: Scope, assembler: MessageAssembler, late: PromptTasks) -> None:
        self._report_tasks = late
        self._host = host
        self._scope = scope
        self._assembler = assembler
        self._step = 0
        self._pending: Steps | None = None
        self._reported_at = 0.0
        self._flush_now = asyncio.Event()

    async def update(self, calls: ExternalCalls, steps: Steps) -> None:
        """Apply a plan. The first one of a prompt uses a step, after the current part."""
        is_first = not self._step
        if is_first:
            await self._assembler.end_part()
            await calls.record_started()
            self._step = self._assembler.advance_step()
        self._pending = steps
        delay = (
            self._reported_at + self._host.dependencies.limits.plan_interval - self._host.dependencies.clock.elapsed()
        )
        if is_first or delay <= 0:
            await self._report()
        elif not self._report_tasks.open:
            self._report_tasks.start(self._report_after(delay))

    async def flush(self) -> None:
        """Record the pending plan now."""
        self._flush_now.set()
        await asyncio.gather(*self._report_tasks.open)
        self._report_tasks.open.clear()

    async def _report_after(self, delay: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._flush_now.wait(), delay)
        await self._report()

    async def _report(self) -> None:
        steps, self._pending = self._pending, None
        if steps is None:
            return
        self._reported_at = self._host.dependencies.clock.elapsed()
        where = self._scope
        await self._host.report(
            ExternalPlanReported(thread=where.thread, run=where.run, prompt=where.step, step=self._step, steps=steps)
        )
