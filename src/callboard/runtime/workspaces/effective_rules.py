"""Rules in force in a workspace, and the context of a person's reads."""

from __future__ import annotations

from callboard.contracts.facts.permission import Rule, select_unexpired
from callboard.contracts.ports.tools import ToolContext
from callboard.control.state.session import Session

from .context import WorkspaceContext


def collect_rules(workspace: WorkspaceContext, state: Session | None, now: int) -> tuple[Rule, ...]:
    """Return the rules in force now: of files, the workspace and the session.

    Rules that the session is forwarding to the workspace are included.
    """
    session_rules: tuple[Rule, ...] = ()
    if state is not None:
        forwarded = (
            forwarding.rule
            for forwarding in state.forwarded_rules
            if forwarding.rule.rule_id not in workspace.shared_rules
        )
        session_rules = (*state.rules, *forwarded)
    return select_unexpired((*workspace.settings.rules, *workspace.rules, *session_rules), now)


def build_person_context(workspace: WorkspaceContext, state: Session | None, now: int, folder: str = "") -> ToolContext:
    """Return the context in which a person's request reads files of the folder or of a worktree."""
    return ToolContext(
        folder=folder or workspace.folder,
        agent="",
        definition_hash="",
        tools=("*",),
        policy=(),
        mode="chat",
        permission_mode="ask",
        rules=collect_rules(workspace, state, now),
    )
