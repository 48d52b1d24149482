"""What the open runs of a session were told when they began, and on whose behalf they call tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from callboard.contracts.facts import TurnStarted
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.ports.tools import ToolContext
from callboard.contracts.record import Record
from callboard.control.decision_inputs import RunConfig
from callboard.control.state.session import OpenRun

from ..prompts.run_config import RunConfigBuilder, RunStart, build_tool_context
from ..prompts.tool_catalog import with_settings
from ..session_state import SessionState
from ..workspaces.context import WorkspaceContext
from ..workspaces.effective_rules import effective_rules


class RunContexts:
    """Keeps what each run was told for as long as it goes on, whatever becomes of the definition; over a restart it comes
    from what the run's first fact names."""

    def __init__(
        self,
        setups: RunConfigBuilder,
        session_state: SessionState,
        workspace: Callable[[], WorkspaceContext],
        now: Callable[[], int],
    ) -> None:
        self._run_configs = setups
        self._session_state = session_state
        self._workspace = workspace
        self._now = now
        self._told: dict[str, RunStart] = {}

    def build_config(self, definition: str, mode: Mode, permission_mode: PermissionMode) -> RunConfig:
        """What a run of this definition and these modes would start with now. Raises Refusal where none can start."""
        workspace = self._workspace()
        state = self._session_state.state
        return self._run_configs.build(workspace, definition, mode, permission_mode, state)

    async def for_run(self, run: OpenRun) -> RunStart:
        """What the run was told: a definition that changed meanwhile holds from the next turn on. Raises Refusal
        `store_unusable` where that cannot be read any more."""
        found = self._told.get(run.run)
        if found is None:
            found = self._told[run.run] = await self._run_configs.restore_start(self._workspace(), run)
        if len(found.specs) < len(run.tools):
            found = self._told[run.run] = await self._run_configs.with_loaded_tools(self._workspace(), run, found)
        return found

    async def wait_ready(self) -> None:
        """Waits for the servers of the folder, within their bound, so that a run that begins now has what they bring."""
        await self._run_configs.wait_ready(self._workspace())

    async def tool_context(self, thread: str) -> ToolContext:
        """On whose behalf the thread's run evaluates and runs tools."""
        run = self._session_state.state.threads[thread].run
        if run is None:
            raise LookupError(f"thread {thread} has no open run")
        agent = (await self.for_run(run)).definition
        state, workspace = self._session_state.state, self._workspace()
        rules = effective_rules(workspace, state, self._now())
        mode = workspace.limit_mode(run.permission_mode, agent)
        told = build_tool_context(workspace.folder, agent, run.mode, mode, rules, run.tools)
        context = msgspec.structs.replace(with_settings(told, workspace.settings), loaded_tools=run.tools)
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
        """Pins what runs that began with these facts were told, and forgets it of those that ended."""
        for record in records:
            if isinstance(record.fact, TurnStarted):
                made = self._run_configs.find_start(record.fact.prompts)
                if made is not None:
                    self._told[record.scope.run] = made
            elif record.fact.closes == "turn":
                self._told.pop(record.scope.run, None)
