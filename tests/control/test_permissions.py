"""Decisions on the trust and the rules of a workspace."""

from __future__ import annotations

import pytest

from callboard.contracts.commands.permission import (
    AddRule,
    RevokeRule,
    RevokeTrust,
    RuleChanged,
    TrustChanged,
    TrustWorkspace,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import PermissionRuleAdded, PermissionRuleRevoked, Rule
from callboard.contracts.facts.workspace import WorkspaceOpened, WorkspaceTrusted, WorkspaceTrustRevoked
from callboard.contracts.record import NewFact
from callboard.contracts.settings import RequestedPermission, RequestedPermissions
from callboard.control.decide.permission import add_workspace_rule, revoke_trust, revoke_workspace_rule, trust_workspace
from tests.control.rigs.examples import FOLDER, NOW, WORKSPACE

from .test_workspace import workspace_after

DIGEST = "a" * 64
REQUESTED = RequestedPermissions(
    digest=DIGEST,
    widenings=(RequestedPermission(what="shell", code="network", detail="commands reach the network", file="s.toml"),),
)
OPENED = NewFact(WorkspaceOpened(path=FOLDER, name="site"))
TRUSTED = NewFact(WorkspaceTrusted(digest=DIGEST, allowed=("s.toml: commands reach the network",)))
RULE = Rule(rule_id="rul_1", matcher="Edit(a)", verdict="deny", scope="workspace")


def test_trust_is_granted_once_for_the_digest_that_the_person_saw():
    """SAFE-08"""
    request = TrustWorkspace(workspace_id=WORKSPACE, digest=DIGEST)
    answer = TrustChanged(workspace_id=WORKSPACE, trusted=DIGEST, sequence=2)
    assert trust_workspace(workspace_after(OPENED), request, REQUESTED) == ((TRUSTED,), answer)
    assert trust_workspace(workspace_after(OPENED, TRUSTED), request, REQUESTED) == ((), answer)


@pytest.mark.parametrize(
    ("requested", "code"), [(RequestedPermissions(), "nothing_to_trust"), (REQUESTED, "trust_changed")]
)
def test_trust_for_another_digest_is_refused(requested: RequestedPermissions, code: str):
    """SAFE-08"""
    with pytest.raises(Refusal) as refused:
        trust_workspace(workspace_after(OPENED), TrustWorkspace(workspace_id=WORKSPACE, digest="b" * 64), requested)
    assert (refused.value.code, refused.value.problem.field) == (code, "digest")


def test_trust_is_revoked_only_if_it_was_granted():
    request = RevokeTrust(workspace_id=WORKSPACE, reason="enough")
    revoked = NewFact(WorkspaceTrustRevoked(reason="enough"))
    assert revoke_trust(workspace_after(OPENED, TRUSTED), request)[0] == (revoked,)
    assert revoke_trust(workspace_after(OPENED), request)[0] == ()
    assert workspace_after(OPENED, TRUSTED).trusted == DIGEST
    assert workspace_after(OPENED, TRUSTED, revoked).trusted == ""


def test_a_workspace_rule_is_added_and_revoked():
    request = AddRule(workspace_id=WORKSPACE, matcher=" Edit(a) ", verdict="deny")
    added = NewFact(PermissionRuleAdded(rule=RULE))
    assert add_workspace_rule(workspace_after(OPENED), request, "rul_1", NOW) == (
        (added,),
        RuleChanged(rule_id="rul_1", sequence=2),
    )
    revoke = RevokeRule(workspace_id=WORKSPACE, rule_id="rul_1", reason="no more")
    revoked = NewFact(PermissionRuleRevoked(rule_id="rul_1", reason="no more"))
    assert revoke_workspace_rule(workspace_after(OPENED, added), revoke) == (
        (revoked,),
        RuleChanged(rule_id="rul_1", sequence=3),
    )
    with pytest.raises(Refusal) as refused:
        revoke_workspace_rule(workspace_after(OPENED, added, revoked), revoke)
    assert (refused.value.code, refused.value.problem.field) == ("unknown_rule", "ruleId")


def test_a_rule_that_has_already_expired_is_refused():
    """SAFE-05"""
    request = AddRule(workspace_id=WORKSPACE, matcher="Edit(a)", verdict="allow", expires_at=NOW)
    with pytest.raises(Refusal) as refused:
        add_workspace_rule(workspace_after(OPENED), request, "rul_1", NOW)
    assert (refused.value.code, refused.value.problem.field) == ("invalid_input", "expiresAt")
