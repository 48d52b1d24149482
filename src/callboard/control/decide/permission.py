"""Trust in a folder, and permission rules."""

from __future__ import annotations

from callboard.contracts.commands.permission import (
    AddRule,
    RevokeRule,
    RevokeTrust,
    RuleChanged,
    TrustChanged,
    TrustWorkspace,
)
from callboard.contracts.commands.settings import SettingsUpdated
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.permission import PermissionRuleAdded, PermissionRuleRevoked, Rule, RuleScope
from callboard.contracts.facts.workspace import SettingsChanged, WorkspaceTrusted, WorkspaceTrustRevoked
from callboard.contracts.record import NewFact
from callboard.contracts.scope import Scope
from callboard.contracts.settings import RequestedPermissions
from callboard.contracts.tool_names import to_stored_matcher

from ..batch import Batch
from ..state.session import Workspace


def trust_workspace(
    state: Workspace, request: TrustWorkspace, requested: RequestedPermissions
) -> tuple[tuple[NewFact, ...], TrustChanged]:
    """Trust a folder for exactly the permissions that its files request now.

    Raises:
        Refusal: `nothing_to_trust` if they request none; `trust_changed` if they are not the ones
            shown.
    """
    if not requested.digest:
        raise Refusal(
            "nothing_to_trust",
            "The folder's files request no permissions.",
            field="digest",
            hint="get_trust lists what they request.",
        )
    if request.digest != requested.digest:
        raise Refusal(
            "trust_changed",
            "The permissions requested by the folder's files changed.",
            field="digest",
            hint="Call get_trust again, and send its digest.",
        )
    allowed = tuple(f"{widening.file}: {widening.detail}" for widening in requested.widenings)
    fact = WorkspaceTrusted(digest=requested.digest, allowed=allowed, reason=request.reason)
    facts = () if state.trusted == requested.digest else (NewFact(fact),)
    return facts, _build_trust_answer(state, requested.digest, facts)


def revoke_trust(state: Workspace, request: RevokeTrust) -> tuple[tuple[NewFact, ...], TrustChanged]:
    """Revoke the trust in a folder. Without trust nothing changes."""
    facts = (NewFact(WorkspaceTrustRevoked(reason=request.reason)),) if state.trusted else ()
    return facts, _build_trust_answer(state, "", facts)


def add_workspace_rule(
    state: Workspace, request: AddRule, rule_id: str, now: int
) -> tuple[tuple[NewFact, ...], RuleChanged]:
    """Add a rule to a workspace.

    Raises:
        Refusal: `invalid_input` for an expiry time in the past.
    """
    _check_expiry(request, now)
    fact = PermissionRuleAdded(rule=_build_rule(request, rule_id, "workspace"))
    return (NewFact(fact),), RuleChanged(rule_id=rule_id, sequence=state.sequence + 1)


def revoke_workspace_rule(state: Workspace, request: RevokeRule) -> tuple[tuple[NewFact, ...], RuleChanged]:
    """Revoke a rule of a workspace.

    Raises:
        Refusal: `unknown_rule`.
    """
    if not any(rule.rule_id == request.rule_id for rule in state.rules):
        raise _build_refusal(request.rule_id, "this workspace")
    fact = PermissionRuleRevoked(rule_id=request.rule_id, reason=request.reason)
    return (NewFact(fact),), RuleChanged(rule_id=request.rule_id, sequence=state.sequence + 1)


def change_rules(batch: Batch, request: AddRule | RevokeRule) -> RuleChanged:
    """Add or revoke a rule of a session."""
    return add_session_rule(batch, request) if isinstance(request, AddRule) else revoke_session_rule(batch, request)


def add_session_rule(batch: Batch, request: AddRule) -> RuleChanged:
    """Add a rule to a session.

    Raises:
        Refusal: `invalid_input` for an expiry time in the past.
    """
    _check_expiry(request, batch.inputs.now)
    rule = _build_rule(request, batch.inputs.ids.new("rule"), "session")
    return _record_rule_change(batch, PermissionRuleAdded(rule=rule), rule.rule_id)


def revoke_session_rule(batch: Batch, request: RevokeRule) -> RuleChanged:
    """Revoke a rule of a session. A rule of its workspace is revoked there.

    Raises:
        Refusal: `unknown_rule`.
    """
    if not any(rule.rule_id == request.rule_id for rule in batch.state.rules):
        raise _build_refusal(request.rule_id, "this session")
    return _record_rule_change(
        batch, PermissionRuleRevoked(rule_id=request.rule_id, reason=request.reason), request.rule_id
    )


def record_settings_change(
    answer: SettingsUpdated,
) -> tuple[tuple[NewFact, ...], SettingsUpdated]:
    """Record that a settings file was written, if any key changed."""
    fact = SettingsChanged(place=answer.place, keys=answer.keys, digest=answer.digest)
    return ((NewFact(fact),) if answer.keys else ()), answer


def _build_trust_answer(state: Workspace, digest: str, facts: tuple[NewFact, ...]) -> TrustChanged:
    return TrustChanged(workspace_id=state.workspace, trusted=digest, sequence=state.sequence + len(facts))


def _build_rule(request: AddRule, rule_id: str, scope: RuleScope) -> Rule:
    return Rule(
        rule_id=rule_id,
        matcher=to_stored_matcher(request.matcher),
        verdict=request.verdict,
        scope=scope,
        expires_at=request.expires_at,
    )


def _record_rule_change(batch: Batch, fact: Fact, rule_id: str) -> RuleChanged:
    batch.add(fact, Scope())
    return RuleChanged(rule_id=rule_id, sequence=batch.state.sequence)


def _check_expiry(request: AddRule, now: int) -> None:
    if request.expires_at and request.expires_at <= now:
        raise Refusal(
            "invalid_input",
            "The expiry time is in the past.",
            field="expiresAt",
            hint="Give microseconds since the epoch, or 0 for no expiry.",
        )


def _build_refusal(rule: str, where: str) -> Refusal:
    return Refusal(
        "unknown_rule",
        f"There is no rule {rule} in {where}.",
        field="ruleId",
        hint="list_rules lists the rules and their places. Remove a rule of a file from that file.",
    )
