"""The workspace that a session lives in, as far as its decisions need it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from callboard.contracts.errors import Problem
from callboard.contracts.facts.permission import Rule
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.ports.agents import Definition
from callboard.contracts.settings import Effective
from callboard.control.decision_inputs import narrow_mode
from callboard.control.state.session import ListedSession


class WorkspaceContext(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace as it is now; empty for none. `given` are the ids of all rules that ever reached it, `sessions` its list,
    `settings` what holds in its folder. `problem` is the reason why its facts cannot be read: its rules and its trust are
    unknown then, and nothing may be decided in it."""

    workspace: str
    folder: str
    sequence: int = 0
    rules: tuple[Rule, ...] = ()
    shared_rules: frozenset[str] = frozenset()
    settings: Effective = Effective()
    sessions: Mapping[str, ListedSession] = msgspec.field(default_factory=dict[str, ListedSession])
    problem: Problem | None = None

    def limit_mode(self, asked: PermissionMode, agent: Definition) -> PermissionMode:
        """The mode that a run of the agent works under, where somebody asked for this one: no wider than what holds in the
        folder, nor than the agent's own. A file of a folder that nobody trusts cannot say that its agent may do more than ask.
        """
        own = agent.permission_mode
        if own is not None and agent.file and not self.settings.trusted:
            own = narrow_mode("ask", own)
        return narrow_mode(narrow_mode(asked, self.settings.permission_mode), own)
