"""What the runs of a session were told when they began, and on whose behalf they call tools."""

from __future__ import annotations

from collections.abc import Callable

from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.ports.tools import ToolContext
from callboard.control.state import OpenRun

from .home import Home
from .keeper import StateKeeper
from .parts import Parts
from .setup import RunSetup, Setups


class Runs:
    """Pins what a run was told for as long as it goes on."""

    def __init__(self, parts: Parts, keeper: StateKeeper, home: Callable[[], Home]) -> None:
        self._parts = parts
        self._keeper = keeper
        self._home = home
        self._setups: Setups | None = None
        self._pinned: dict[str, RunSetup] = {}

    def setup(self, definition: str, mode: Mode, permission_mode: PermissionMode) -> RunSetup:
        """What a run of this definition and these modes would be told now. Raises Refusal where none can start."""
        home = self._home()
        if self._setups is None:
            self._setups = Setups(self._parts, home.folder)
        return self._setups.of(definition, mode, permission_mode, home.sequence)

    def of(self, run: OpenRun) -> RunSetup:
        """What the run was told when it began: a definition that changed meanwhile holds from the next turn on."""
        found = self._pinned.get(run.run)
        if found is None:
            self._pinned = {run.run: self.setup(run.definition, run.mode, run.permission_mode)}
            found = self._pinned[run.run]
        return found

    def tool_context(self, thread: str) -> ToolContext:
        """On whose behalf the thread's run evaluates and runs tools."""
        state, home = self._keeper.state, self._home()
        run = state.threads[thread].run
        if run is None:
            raise LookupError(f"thread {thread} has no open run")
        setup = self.of(run)
        if self._setups is None:
            raise LookupError("no setup was made")
        on_its_way = (one.rule for one in state.passed_on if one.rule.rule_id not in home.given)
        rules = (*home.rules, *state.rules, *on_its_way)
        return self._setups.context(setup.definition, run.mode, run.permission_mode, rules)
