"""Rules of a workspace: its folder and the list of its sessions."""

from __future__ import annotations

from typing import cast

import msgspec

from callboard.contracts.commands.permission import RevokeTrust, TrustChanged, TrustWorkspace
from callboard.contracts.commands.session import DeleteSession, OpenedWorkspace, SessionUpdated, UpdateSession
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import AnyWorkspaceFact
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.permission import PermissionRuleAdded, PermissionRuleRevoked, Rule
from callboard.contracts.facts.session import ErrorRaised, WarningRaised
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
from callboard.contracts.ports.store import Contents
from callboard.contracts.record import NewFact, Record
from callboard.contracts.settings import RequestedPermissions

from .decide import permission
from .state.session import ListedSession, Workspace

#: The commands that the writer of a workspace decides without a service.
WorkspaceCommand = TrustWorkspace | RevokeTrust


def decide_command(
    state: Workspace, request: WorkspaceCommand, requested: RequestedPermissions
) -> tuple[tuple[NewFact, ...], TrustChanged]:
    """Return the facts and the answer of a command.

    Args:
        requested: The permissions that the folder's files request now.
    Raises:
        Refusal: What the command refuses.
    """
    match request:
        case TrustWorkspace():
            return permission.trust_workspace(state, request, requested)
        case RevokeTrust():
            return permission.revoke_trust(state, request)


def evolve(state: Workspace, record: Record) -> Workspace:
    """Return the state after a fact."""
    changed = _change(state, record.fact, record.sequence) if record.fact.readable else state
    return msgspec.structs.replace(changed, sequence=record.sequence, at=record.header.at)


def open_folder(
    state: Workspace, path: str, name: str, *, broad: str = "", wide: bool = False
) -> tuple[tuple[NewFact, ...], OpenedWorkspace]:
    """Return the facts of opening a folder: one the first time, and one when a person approves a broad one.

    Args:
        broad: Why the folder is broad; empty for an ordinary one.
        wide: True if a person approved that.
    Raises:
        Refusal: `folder_too_broad` for a broad folder that no person approved.
    """
    approved = wide and bool(broad) and not state.wide
    if broad and not wide:
        require_approved(state, path, broad)
    facts = () if state.sequence and not approved else (NewFact(WorkspaceOpened(path=path, name=name, wide=approved)),)
    return facts, OpenedWorkspace(
        workspace_id=state.workspace,
        path=state.path or path,
        name=state.name or name,
        sequence=state.sequence + len(facts),
    )


def require_approved(state: Workspace, path: str, broad: str) -> None:
    """Refuse a broad folder that no person approved: `folder_too_broad`."""
    if broad and not state.wide:
        raise Refusal(
            "folder_too_broad",
            f"Opening {path} requires an approval: {broad}.",
            field="wide",
            hint="Open the folder of one project. To open this folder, set wide to true.",
        )


def list_session(state: Workspace, session: str, title: str) -> tuple[NewFact, ...]:
    """List a session once; a deleted session is not listed again."""
    if session in state.sessions or session in state.deleted:
        return ()
    return (NewFact(SessionListed(session_id=session, title=title)),)


def schedule_session(state: Workspace, session: str, scheduled: bool) -> tuple[NewFact, ...]:
    """Record whether agents of a session have a schedule, if that changed."""
    listed = state.sessions.get(session)
    if listed is None or listed.scheduled == scheduled:
        return ()
    return (NewFact(SessionScheduled(session_id=session, scheduled=scheduled)),)


def trim_session(state: Workspace, session: str, contents: Contents) -> tuple[NewFact, ...]:
    """Record which contents of an archived session are about to be deleted."""
    listed = state.sessions.get(session)
    if listed is None or not listed.archived or not contents.blobs:
        return ()
    return (NewFact(SessionTrimmed(session_id=session, blobs=contents.blobs, size=contents.size)),)


def share_rule(state: Workspace, rule: Rule) -> tuple[NewFact, ...]:
    """Add a workspace rule once; a revoked rule is not added again."""
    return () if rule.rule_id in state.rule_ids else (NewFact(PermissionRuleAdded(rule=rule)),)


def update_session(state: Workspace, request: UpdateSession) -> tuple[tuple[NewFact, ...], SessionUpdated]:
    """Record the changed properties of a session.

    Raises:
        Refusal: `unknown_session`.
    """
    listed = require_listed(state, request.session_id)
    facts: list[NewFact] = []
    if request.title is not None and request.title != listed.title:
        facts.append(NewFact(SessionTitled(session_id=listed.session, title=request.title)))
    if request.pinned is not None and request.pinned != listed.pinned:
        facts.append(NewFact(SessionPinned(session_id=listed.session, pinned=request.pinned)))
    if request.archived is not None and request.archived != listed.archived:
        facts.append(NewFact(SessionArchived(session_id=listed.session, archived=request.archived)))
    return tuple(facts), SessionUpdated(
        session_id=listed.session,
        title=request.title if request.title is not None else listed.title,
        pinned=request.pinned if request.pinned is not None else listed.pinned,
        archived=request.archived if request.archived is not None else listed.archived,
        sequence=state.sequence + len(facts),
    )


def require_deletable(state: Workspace, request: DeleteSession) -> ListedSession:
    """Return the session to delete.

    Raises:
        Refusal: `unknown_session`, or `invalid_input` if it is not confirmed.
    """
    listed = require_listed(state, request.session_id)
    if request.confirm != request.session_id:
        raise Refusal(
            "invalid_input",
            "Deleting a session requires its id twice.",
            field="confirm",
            hint="Set confirm to the session id. Deleting cannot be undone.",
        )
    return listed


def require_listed(state: Workspace, session: str) -> ListedSession:
    """Return the listed session.

    Raises:
        Refusal: `unknown_session`.
    """
    listed = state.sessions.get(session)
    if listed is None:
        raise build_unknown_session(session)
    return listed


def build_unknown_session(session: str, field: str = "sessionId") -> Refusal:
    """Return the refusal of a session that no workspace lists."""
    return Refusal(
        "unknown_session",
        f"There is no session {session}.",
        field=field,
        hint="Find sessions with list_sessions.",
    )


def _change(state: Workspace, unchecked: Fact, sequence: int) -> Workspace:
    fact = cast("AnyWorkspaceFact", unchecked)
    match fact:
        case WorkspaceOpened():
            return msgspec.structs.replace(state, path=fact.path, name=fact.name, wide=state.wide or fact.wide)
        case SessionListed():
            listed = ListedSession(session=fact.session_id, title=fact.title, listed=sequence)
            return msgspec.structs.replace(state, sessions=state.sessions.with_session(listed))
        case SessionTitled():
            return _change_session(state, fact.session_id, title=fact.title)
        case SessionPinned():
            return _change_session(state, fact.session_id, pinned=fact.pinned)
        case SessionArchived():
            return _change_session(state, fact.session_id, archived=fact.archived)
        case SessionScheduled():
            return _change_session(state, fact.session_id, scheduled=fact.scheduled)
        case SessionDeleted():
            sessions = state.sessions.without_session(fact.session_id)
            return msgspec.structs.replace(state, sessions=sessions, deleted=state.deleted | {fact.session_id})
        case PermissionRuleAdded():
            return msgspec.structs.replace(
                state, rules=(*state.rules, fact.rule), rule_ids=state.rule_ids | {fact.rule.rule_id}
            )
        case PermissionRuleRevoked():
            rules = tuple(rule for rule in state.rules if rule.rule_id != fact.rule_id)
            return msgspec.structs.replace(state, rules=rules)
        case WorkspaceTrusted():
            return msgspec.structs.replace(state, trusted=fact.digest)
        case WorkspaceTrustRevoked():
            return msgspec.structs.replace(state, trusted="")
        case SettingsChanged() | SessionTrimmed() | WarningRaised() | ErrorRaised():
            return state


def _change_session(state: Workspace, session: str, **changes: str | bool) -> Workspace:
    listed = state.sessions.get(session)
    if listed is None:
        return state
    changed = msgspec.structs.replace(listed, **changes)
    return msgspec.structs.replace(state, sessions=state.sessions.with_session(changed))
