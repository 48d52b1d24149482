"""The effect of a tool call: run an allowed call and report its outcome."""

from __future__ import annotations

import logging

import msgspec

from callboard.contracts.commands.process import PROCESS_TOOLS
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.tool import FileChange
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolOutcome
from callboard.contracts.scope import Scope
from callboard.contracts.team_tools import MERGE
from callboard.contracts.tools import READ_OUTPUT, is_server_tool_name
from callboard.control.outcomes import ToolEnded

from ..prompts.tool_catalog import build_catalog
from ..secrets.secret_values import reveal_call
from ..sessions.host import SessionHost
from ..sessions.partial_buffer import PartialBuffer
from ..worktrees.worktree import merge_for_call
from .stored_output import read_output
from .tool_progress import ProgressReporter

log = logging.getLogger(__name__)


class ToolCallRunner:
    """One running tool call. `build_partial_outcome` returns its output so far."""

    def __init__(self, host: SessionHost, scope: Scope) -> None:
        self._host = host
        self._scope = scope
        self._buffer = PartialBuffer(host.dependencies, host.session, host.epoch)
        self._started = host.dependencies.clock.elapsed()
        self._reporter: ProgressReporter | None = None

    @property
    def call(self) -> str:
        """The id of the call."""
        return self._scope.tool_call

    def build_partial_outcome(self) -> ToolOutcome:
        """Return the call's output so far."""
        duration = self._host.dependencies.clock.elapsed() - self._started
        return ToolOutcome(
            output=self._buffer.read_text("output", self._scope.step), duration_ms=round(duration * 1000)
        )

    async def settle(self) -> None:
        """Stop showing and storing output of this call."""
        if self._reporter is not None:
            self._reporter.settle()
        await self._buffer.settle()

    async def run(self) -> None:
        """Run the call and report its end."""
        host, scope = self._host, self._scope
        run = host.state.threads[scope.thread].run
        call = run.find_call(scope.tool_call) if run is not None else None
        evaluation = host.gate_decisions.pop(scope.tool_call)
        if call is None or evaluation is None:
            raise LookupError(f"call {scope.tool_call} was started without an evaluation")
        changes: tuple[FileChange, ...] = ()
        try:
            if call.tool == MERGE:
                outcome, changes = await merge_for_call(host, evaluation.arguments)
            else:
                outcome = await self._run_tool(call.tool, evaluation)
        finally:
            await self.settle()
        ended = await self._build_end_report(call.tool, outcome)
        await host.report_end(msgspec.structs.replace(ended, merged_changes=changes))

    async def _build_end_report(self, tool: str, outcome: ToolOutcome) -> ToolEnded:
        """Return the report, with changes to the tool catalog or its servers."""
        scope, toolbox = self._scope, self._host.dependencies.toolbox
        ended = ToolEnded(thread=scope.thread, run=scope.run, call=scope.tool_call, outcome=outcome)
        if not (outcome.loaded_tools or is_server_tool_name(tool)):
            return ended
        context = await self._host.run_contexts.resolve_tool_context(scope.thread)
        if is_server_tool_name(tool):
            return msgspec.structs.replace(ended, servers=toolbox.list_servers(context))
        updated = msgspec.structs.replace(context, loaded_tools=(*context.loaded_tools, *outcome.loaded_tools))
        return msgspec.structs.replace(ended, catalog=build_catalog(toolbox.list_tools(updated)))

    async def _run_tool(self, tool: str, evaluation: Evaluation) -> ToolOutcome:
        host, scope = self._host, self._scope
        tool_call = ToolCall(call_id=scope.tool_call, tool=tool, arguments=evaluation.arguments)
        toolbox = host.dependencies.toolbox
        context = await host.run_contexts.resolve_tool_context(scope.thread)
        try:
            tool_call, evaluation = reveal_call(tool_call, evaluation, host.dependencies.secrets)
        except Refusal as refusal:
            return ToolOutcome(output="", code=refusal.code, message=refusal.text)
        try:
            if evaluation.background:
                return await host.processes.start(scope, tool_call, evaluation, context)
            if tool == READ_OUTPUT:
                return await read_output(host, scope.thread, evaluation.arguments)
            if tool in PROCESS_TOOLS:
                return await host.processes.run_tool(tool, evaluation.arguments, scope.thread)
            self._reporter = ProgressReporter(host, self._buffer, scope, tool)
            return await toolbox.run(tool_call, evaluation, context, self._reporter)
        except Exception as error:
            log.exception("tool %s raised an unexpected error", tool)
            return ToolOutcome(
                output=self._buffer.read_text("output", scope.step),
                code="internal",
                message=f"The tool failed unexpectedly ({type(error).__name__}).",
            )
