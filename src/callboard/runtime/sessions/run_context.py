"""The configuration of a session's open runs, and the context of their tool calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from callboard.contracts.facts.turn import Mode, PermissionMode, TurnStarted
from callboard.contracts.ports.tools import ToolContext
from callboard.contracts.record import Record
from callboard.control.decision_inputs import RunConfig
from callboard.control.state.turn import OpenRun

from ..prompts.run_config import RunConfigBuilder, RunStart, build_tool_context
from ..prompts.tool_catalog import add_settings
from ..session_state import SessionState
from ..workspaces.context import WorkspaceContext
from ..workspaces.effective_rules import collect_rules


class RunContexts:
    """Keeps the configuration that each run started with, even if its definition changes.

    After a restart, it is restored from the blobs that the run's first fact names.
    """

    def __init__(
        self,
        run_configs: RunConfigBuilder,
        session_state: SessionState,
        workspace: Callable[[], WorkspaceContext],
        now: Callable[[], int],
    ) -> None:
        self._run_configs = run_configs
        self._session_state = session_state
        self._workspace = workspace
        self._now = now
        self._starts: dict[str, RunStart] = {}

    def build_config(self, definition: str, mode: Mode, permission_mode: PermissionMode) -> RunConfig:
        """Return the configuration of a run that would start now."""
        workspace = self._workspace()
        state = self._session_state.state
        return self._run_configs.build(workspace, definition, mode, permission_mode, state)

    async def get_start(self, run: OpenRun) -> RunStart:
        """Return the configuration of an open run. A changed definition applies from the next turn."""
        start = self._starts.get(run.run)
        if start is None:
            start = self._starts[run.run] = await self._run_configs.restore_start(self._workspace(), run)
        if len(start.specs) < len(run.tools):
            start = self._starts[run.run] = await self._run_configs.add_loaded_tools(self._workspace(), run, start)
        return start

    async def wait_ready(self) -> None:
        """Wait for the folder's tool servers, within their time limit, so that the next run has their tools."""
        await self._run_configs.wait_ready(self._workspace())

    async def resolve_tool_context(self, thread: str) -> ToolContext:
        """Return the context in which the thread's run evaluates and runs tools."""
        run = self._session_state.state.threads[thread].run
        if run is None:
            raise LookupError(f"thread {thread} has no open run")
        agent = (await self.get_start(run)).definition
        state, workspace = self._session_state.state, self._workspace()
        rules = collect_rules(workspace, state, self._now())
        mode = workspace.limit_mode(run.permission_mode, agent)
        base = build_tool_context(workspace.folder, agent, run.mode, mode, rules, run.tools)
        context = msgspec.structs.replace(add_settings(base, workspace.settings), loaded_tools=run.tools)
        child = state.threads[thread].child
        if child is None:
            return context
        return msgspec.structs.replace(
            context,
            folder=child.worktree or workspace.folder,
            trusted_folder=workspace.folder,
            parent_globs=child.work_globs,
            read_only=child.isolation == "read_only",
        )

    def apply(self, records: Iterable[Record]) -> None:
        """Store the configurations of runs that started, and drop those of ended runs."""
        for record in records:
            if isinstance(record.fact, TurnStarted):
                start = self._run_configs.find_start(record.fact.prompts)
                if start is not None:
                    self._starts[record.scope.run] = start
            elif record.fact.closes == "turn":
                self._starts.pop(record.scope.run, None)
