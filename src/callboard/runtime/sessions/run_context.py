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

from ..prompts.run_config import RunConfigBuilder, RunStart, tool_context
from ..prompts.tool_catalog import under
from ..session_state import SessionState
from ..workspaces.context import WorkspaceContext
from ..workspaces.effective_rules import standing


class RunContexts:
    """Keeps what each run was told for as long as it goes on, whatever becomes of the definition; over a restart it comes
    from what the run's first fact names."""

    def __init__(
        self,
        setups: RunConfigBuilder,
        keeper: SessionState,
        home: Callable[[], WorkspaceContext],
        now: Callable[[], int],
    ) -> None:
        self._setups = setups
        self._keeper = keeper
        self._home = home
        self._now = now
        self._told: dict[str, RunStart] = {}

    def start(self, definition: str, mode: Mode, permission_mode: PermissionMode) -> RunConfig:
        """What a run of this definition and these modes would start with now. Raises Refusal where none can start."""
        home = self._home()
        state = self._keeper.state
        return self._setups.start(home, definition, mode, permission_mode, state)

    async def of(self, run: OpenRun) -> RunStart:
        """What the run was told: a definition that changed meanwhile holds from the next turn on. Raises Refusal
        `store_unusable` where that cannot be read any more."""
        found = self._told.get(run.run)
        if found is None:
            found = self._told[run.run] = await self._setups.told(self._home(), run)
        if len(found.specs) < len(run.tools):
            found = self._told[run.run] = await self._setups.grown(self._home(), run, found)
        return found

    async def ready(self) -> None:
        """Waits for the servers of the folder, within their bound, so that a run that begins now has what they bring."""
        await self._setups.ready(self._home())

    async def tool_context(self, thread: str) -> ToolContext:
        """On whose behalf the thread's run evaluates and runs tools."""
        run = self._keeper.state.threads[thread].run
        if run is None:
            raise LookupError(f"thread {thread} has no open run")
        agent = (await self.of(run)).definition
        state, home = self._keeper.state, self._home()
        rules = standing(home, state, self._now())
        mode = home.permitted(run.permission_mode, agent)
        told = tool_context(home.folder, agent, run.mode, mode, rules, run.tools)
        context = msgspec.structs.replace(under(told, home.settings), found=run.tools)
        child = state.threads[thread].child
        if child is None:
            return context
        return msgspec.structs.replace(
            context,
            folder=child.worktree or home.folder,
            serves=home.folder,
            given_globs=child.work_globs,
            read_only=child.isolation == "read_only",
        )

    def take(self, records: Iterable[Record]) -> None:
        """Pins what runs that began with these facts were told, and forgets it of those that ended."""
        for record in records:
            if isinstance(record.fact, TurnStarted):
                made = self._setups.made(record.fact.prompts)
                if made is not None:
                    self._told[record.scope.run] = made
            elif record.fact.closes == "turn":
                self._told.pop(record.scope.run, None)
