"""The plan that an agent of its own program tells in one prompt."""

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
    """Reports the plan when it changes, at most every `Limits.plan_interval`: of those that come sooner the newest waits, and
    the last is told in any case. `late` are the tasks that tell what waits."""

    def __init__(self, host: SessionHost, scope: Scope, speech: MessageAssembler, late: PromptTasks) -> None:
        self._late = late
        self._host = host
        self._scope = scope
        self._speech = speech
        self._step = 0
        self._waiting: Steps | None = None
        self._reported_at = 0.0
        self._now = asyncio.Event()

    async def update(self, calls: ExternalCalls, steps: Steps) -> None:
        """The agent tells its plan. The first of a prompt takes a step, and so comes after the part in the making."""
        first = not self._step
        if first:
            await self._speech.end_part()
            await calls.record_started()
            self._step = self._speech.next_step()
        self._waiting = steps
        rest = (
            self._reported_at + self._host.dependencies.limits.plan_interval - self._host.dependencies.clock.elapsed()
        )
        if first or rest <= 0:
            await self._tell()
        elif not self._late.open:
            self._late.start(self._tell_in(rest))

    async def flush(self) -> None:
        """Tells what waits, at once."""
        self._now.set()
        await asyncio.gather(*self._late.open)
        self._late.open.clear()

    async def _tell_in(self, rest: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._now.wait(), rest)
        await self._tell()

    async def _tell(self) -> None:
        steps, self._waiting = self._waiting, None
        if steps is None:
            return
        self._reported_at = self._host.dependencies.clock.elapsed()
        where = self._scope
        await self._host.report(
            ExternalPlanReported(thread=where.thread, run=where.run, prompt=where.step, step=self._step, steps=steps)
        )
