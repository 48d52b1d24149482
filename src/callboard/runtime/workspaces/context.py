"""A workspace as the decisions of its sessions see it."""

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
    """A workspace as it is now; empty for a missing workspace.

    Attributes:
        shared_rules: Ids of all rules that ever reached the workspace.
        settings: Effective settings of its folder.
        sessions: Its list of sessions.
        problem: Why its facts cannot be read. Its rules and trust are then unknown, and it can
            decide nothing.
    """

    workspace: str
    folder: str
    sequence: int = 0
    rules: tuple[Rule, ...] = ()
    shared_rules: frozenset[str] = frozenset()
    settings: Effective = Effective()
    sessions: Mapping[str, ListedSession] = msgspec.field(default_factory=dict[str, ListedSession])
    problem: Problem | None = None

    def limit_mode(self, requested: PermissionMode, agent: Definition) -> PermissionMode:
        """Return the requested mode, limited by the folder's and the agent's own.

        An agent file in an untrusted folder cannot grant more than `ask`.
        """
        agent_mode = agent.permission_mode
        if agent_mode is not None and agent.file and not self.settings.trusted:
            agent_mode = narrow_mode("ask", agent_mode)
        return narrow_mode(narrow_mode(requested, self.settings.permission_mode), agent_mode)
