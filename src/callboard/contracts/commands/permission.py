"""Commands that manage a folder's trust, permission rules and approvals."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..errors import Code
from ..facts.action import ApprovalScope
from ..facts.permission import Check, Risk, Verdict
from ..facts.turn import Mode, PermissionMode
from ..settings import ListedRule, RequestedPermission, RuleEntry, SettingsProblem
from .action import ActionAnswered
from .base import Answer, Command, Id, Reason, command

#: `changed`: the folder's files ask for other permissions than it was trusted with. `nothing`: they
#: ask for none.
TrustState = Literal["trusted", "untrusted", "changed", "nothing"]


Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]


Matcher = Annotated[str, Meta(min_length=1, max_length=500)]


#: Microseconds since the epoch; 0 for never.
Time = Annotated[int, Meta(ge=0, le=9_007_199_254_740_991)]


ShortName = Annotated[str, Meta(min_length=1, max_length=100)]


class TrustRead(Answer, frozen=True, kw_only=True):
    """The trust of a folder.

    `digest` is the digest to trust it by, empty if its files ask for nothing. `trusted` is the
    digest that it is trusted by. `problems` are unreadable files, which grant nothing.
    """

    workspace_id: str
    folder: str
    state: TrustState
    digest: str
    trusted: str
    widenings: tuple[RequestedPermission, ...]
    problems: tuple[SettingsProblem, ...]


@command("get_trust", TrustRead, serial="workspace", authority="anyone", query=True)
class GetTrust(Command, frozen=True, kw_only=True):
    """Read what a folder's own files would allow, and whether the folder is trusted."""

    workspace_id: Id


class TrustChanged(Answer, frozen=True, kw_only=True):
    """The digest that the folder is now trusted by; empty for none."""

    workspace_id: str
    trusted: str
    sequence: int


@command("trust_workspace", TrustChanged, serial="workspace")
class TrustWorkspace(Command, frozen=True, kw_only=True):
    """Trust a folder: its own files may allow exactly what was shown under this digest."""

    workspace_id: Id
    digest: Digest
    reason: Reason = ""


@command("revoke_trust", TrustChanged, serial="workspace")
class RevokeTrust(Command, frozen=True, kw_only=True):
    """Revoke the trust in a folder; its own files allow nothing from then on."""

    workspace_id: Id
    reason: Reason = ""


class RuleList(Answer, frozen=True, kw_only=True):
    """The rules."""

    rules: tuple[ListedRule, ...]


@command("list_rules", RuleList, serial="workspace", authority="anyone", query=True)
class ListRules(Command, frozen=True, kw_only=True):
    """List the rules of a workspace or a session, and the place of each."""

    workspace_id: Id | None = None
    session_id: Id | None = None


class RuleChanged(Answer, frozen=True, kw_only=True):
    """The id of the rule."""

    rule_id: str
    sequence: int


@command("add_rule", RuleChanged, serial="workspace")
class AddRule(Command, frozen=True, kw_only=True):
    """Add a rule to a session or, without a session, to the workspace.

    `expires_at` ends it; without it the rule has no end.
    """

    matcher: Matcher
    verdict: Verdict
    workspace_id: Id | None = None
    session_id: Id | None = None
    expires_at: Time = 0
    reason: Reason = ""


@command("revoke_rule", RuleChanged, serial="workspace")
class RevokeRule(Command, frozen=True, kw_only=True):
    """Revoke a rule.

    A rule of a file is removed from that file.
    """

    rule_id: Id
    workspace_id: Id | None = None
    session_id: Id | None = None
    reason: Reason = ""


class DryRunResult(Answer, frozen=True, kw_only=True):
    """Result of rules on `calls` of `sessions`, newest first.

    `whole` is False if there are more calls. `turned` counts the calls with another verdict,
    `unspoken` the calls that no rule matches. `examples` are the newest of each.
    """

    sessions: int
    calls: int
    whole: bool
    unspoken: int
    turned: dict[VerdictChange, int]
    rules: tuple[DryRunRule, ...]
    examples: tuple[DryRunCall, ...]


@command("dry_run_rules", DryRunResult, serial="workspace", authority="anyone")
class DryRunRules(Command, frozen=True, kw_only=True):
    """Evaluate rules against the past calls of a workspace or of one session; nothing changes.

    It is a POST although it only reads, because rules do not fit into an address.
    """

    workspace_id: Id
    rules: Annotated[tuple[RuleEntry, ...], Meta(max_length=200)]
    session_id: Id | None = None


#: The verdict that a call would have instead: allowed without a question, asked, or denied.
VerdictChange = Literal["allowed", "asked", "denied"]


class DryRunCall(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A past call with another verdict: `was` is the gate's, `would` is the verdict of the rule `matcher`."""

    session_id: str
    turn_id: str
    tool_call_id: str
    tool: str
    subject: str
    was: Verdict
    would: Verdict
    matcher: str


class DryRunRule(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The number of calls that the rule would decide."""

    matcher: str
    verdict: Verdict
    calls: int


class PermissionEvaluation(Answer, frozen=True, kw_only=True):
    """The gate's verdict with every check that the call reached.

    `arguments` are the final ones, as canonical JSON. `code` and `message` are set for a denial.
    `matchers` are the rules that wider approvals would add.
    """

    agent: str
    permission_mode: PermissionMode
    verdict: Verdict
    risk: Risk
    read_only: bool
    summary: str
    arguments: str
    checks: tuple[Check, ...]
    code: Code | None
    message: str
    preview: str
    matchers: dict[ApprovalScope, str]


@command("evaluate_permission", PermissionEvaluation, authority="anyone")
class EvaluatePermission(Command, frozen=True, kw_only=True):
    """Preview the gate's verdict on a call, which is not made.

    The call is of a thread's agent in a session, or of an agent of a workspace in a mode. Nothing is recorded. It is a
    POST although it only reads, because arguments do not fit into an address.
    """

    tool: ShortName
    arguments: Annotated[str, Meta(max_length=1_000_000)] = "{}"
    workspace_id: Id | None = None
    session_id: Id | None = None
    thread_id: Id | None = None
    agent: Annotated[str, Meta(max_length=100)] = ""
    mode: Mode = "chat"
    permission_mode: PermissionMode = "ask"


@command("resolve_permission", ActionAnswered)
class ResolvePermission(Command, frozen=True, kw_only=True):
    """Resolve a pending action on behalf of a host policy or an approval system.

    The decision and the scope must be offered by the action.
    """

    session_id: Id
    action_id: Id
    decision: Literal["approve", "reject"]
    policy: ShortName
    scope: ApprovalScope = "once"
    reason: Reason = ""
    expires_at: Time = 0
