"""The effect of running a tool: runs the call that the gate or a person let through, and reports what it came to."""

from __future__ import annotations

import logging

from callboard.contracts.commands.processes import PROCESS_TOOLS
from callboard.contracts.commands.team_tools import MERGE
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ToolEnded

from . import worktrees
from .gather import Gatherer
from .host import SessionHost
from .revealing import carried_out
from .tooling import Reporting

log = logging.getLogger(__name__)


class Calling:
    """One tool call under way. `outcome_so_far` is what it had printed at any moment."""

    def __init__(self, host: SessionHost, scope: Scope) -> None:
        self._host = host
        self._scope = scope
        self._gather = Gatherer(host.parts, host.session, host.epoch)
        self._started = host.parts.clock.elapsed()

    @property
    def call(self) -> str:
        """The id of the call."""
        return self._scope.tool_call

    def outcome_so_far(self) -> ToolOutcome:
        """What there is of the call's output."""
        took = self._host.parts.clock.elapsed() - self._started
        return ToolOutcome(output=self._gather.text("output", self._scope.step), duration_ms=round(took * 1000))

    async def settle(self) -> None:
        """Nothing more of this call is shown or kept."""
        await self._gather.settle()

    async def run(self) -> None:
        """Runs the call and reports its end."""
        host, scope = self._host, self._scope
        run = host.state.threads[scope.thread].run
        call = run.call_of(scope.tool_call) if run is not None else None
        evaluation = host.verdicts.take(scope.tool_call)
        if call is None or evaluation is None:
            raise LookupError(f"call {scope.tool_call} was started without a verdict")
        try:
            outcome = await self._outcome(call.tool, evaluation)
        finally:
            await self.settle()
        await host.report(ToolEnded(thread=scope.thread, run=scope.run, call=scope.tool_call, outcome=outcome))

    async def _outcome(self, tool: str, evaluation: Evaluation) -> ToolOutcome:
        host, scope = self._host, self._scope
        if tool == MERGE:
            return await worktrees.merge(host, evaluation.arguments)
        wanted = ToolCall(call_id=scope.tool_call, tool=tool, arguments=evaluation.arguments)
        toolbox = host.parts.toolbox
        context = await host.runs.tool_context(scope.thread)
        try:
            wanted, evaluation = carried_out(wanted, evaluation, host.parts.secrets)
        except Refusal as refusal:
            return ToolOutcome(output="", code=refusal.code, message=refusal.problem.message)
        try:
            if evaluation.background:
                return await host.processes.start(scope, wanted, evaluation, context)
            if tool in PROCESS_TOOLS:
                return await host.processes.call(tool, evaluation.arguments, scope.thread)
            return await toolbox.run(wanted, evaluation, context, Reporting(self._gather, scope, tool))
        except Exception as error:
            log.exception("the tool %s failed in a way that it does not tell", tool)
            return ToolOutcome(
                output=self._gather.text("output", scope.step),
                code="internal",
                message=f"The tool failed in an unexpected way ({type(error).__name__}).",
            )
