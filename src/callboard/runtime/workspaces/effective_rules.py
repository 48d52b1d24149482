"""The rules that hold where a person works, and what is read on their behalf under them."""

from __future__ import annotations

from callboard.contracts.facts.permission import Rule, holding
from callboard.contracts.ports.tools import ToolContext
from callboard.control.state.session import Session

from .context import WorkspaceContext


def effective_rules(workspace: WorkspaceContext, state: Session | None, now: int) -> tuple[Rule, ...]:
    """The rules that hold now: of files, of the workspace, and of the session with those on their way to its workspace."""
    own: tuple[Rule, ...] = ()
    if state is not None:
        on_its_way = (one.rule for one in state.forwarded_rules if one.rule.rule_id not in workspace.shared_rules)
        own = (*state.rules, *on_its_way)
    return holding((*workspace.settings.rules, *workspace.rules, *own), now)


def person_context(workspace: WorkspaceContext, state: Session | None, now: int, folder: str = "") -> ToolContext:
    """On behalf of a person, who is no agent: what they name is read under the rules that hold, in the folder or in a worktree
    of it."""
    return ToolContext(
        folder=folder or workspace.folder,
        agent="",
        definition_hash="",
        tools=("*",),
        policy=(),
        mode="chat",
        permission_mode="ask",
        rules=effective_rules(workspace, state, now),
    )
