"""Translations of facts about sessions, workspaces and incidents."""

from __future__ import annotations

from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.session import ErrorRaised, SessionCreated, SessionTakenOver, WarningRaised
from callboard.contracts.facts.workspace import (
    SessionArchived,
    SessionDeleted,
    SessionListed,
    SessionPinned,
    SessionScheduled,
    SessionTitled,
    SessionTrimmed,
    SettingsChanged,
    WorkspaceOpened,
    WorkspaceTrusted,
    WorkspaceTrustRevoked,
)

from ..agentui_emission import EMITTED_BY_OTHERS, Emissions, emit_diagnostic, emit_permission, emit_session
from ..run_emission import Translation, update_state


def _emit_archived(fact: Fact) -> Emissions:
    if isinstance(fact, SessionArchived) and not fact.archived:
        return emit_session("session.updated", "completed")
    return emit_session("session.closed", "archived")


TRANSLATIONS: dict[type[Fact], Translation] = {
    SessionCreated: Translation(emit_session("session.opened", "accepted"), update_state("session_created")),
    SessionTakenOver: Translation(emit_diagnostic("interrupted"), update_state("session_taken_over")),
    WarningRaised: Translation(emit_diagnostic("acting"), update_state("warning")),
    ErrorRaised: Translation(emit_diagnostic("failed"), update_state("error")),
    # Agent UI has no surface for a folder.
    WorkspaceOpened: Translation(EMITTED_BY_OTHERS, update_state("workspace_opened")),
    # The session's `SessionCreated` produces the event.
    SessionListed: Translation(EMITTED_BY_OTHERS),
    SessionTitled: Translation(emit_session("session.updated", "completed"), update_state("session_titled")),
    SessionPinned: Translation(emit_session("session.updated", "completed"), update_state("session_pinned")),
    SessionArchived: Translation(_emit_archived, update_state("session_archived")),
    # The session's `AgentSlept` and `AgentWoke` produce the events.
    SessionScheduled: Translation(EMITTED_BY_OTHERS),
    SessionTrimmed: Translation(emit_session("session.updated", "completed")),
    SessionDeleted: Translation(emit_session("session.closed", "archived"), update_state("session_deleted")),
    WorkspaceTrusted: Translation(emit_permission("workspace")),
    WorkspaceTrustRevoked: Translation(emit_permission("workspace")),
    SettingsChanged: Translation(emit_permission("workspace")),
}
