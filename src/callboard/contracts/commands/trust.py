"""The commands of trust, rules and permissions."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..errors import Code
from ..facts.action import ApprovalScope
from ..facts.permission import Check, Risk, Verdict
from ..facts.turn import Mode, PermissionMode
from ..settings import RuleEntry, SettingsProblem, StandingRule, Widening
from .actions import ActionAnswered
from .base import Answer, Command, Declaration
from .turns import Id, Reason

#: `changed` is a folder that was trusted for something else than what its files say now; `nothing` asks for nothing.
TrustState = Literal["trusted", "untrusted", "changed", "nothing"]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
Matcher = Annotated[str, Meta(min_length=1, max_length=500)]
#: Microseconds since the epoch; 0 for never.
Time = Annotated[int, Meta(ge=0, le=9_007_199_254_740_991)]
Named = Annotated[str, Meta(min_length=1, max_length=100)]


class GetTrust(Command, frozen=True, kw_only=True):
    """What a folder's own files would allow, and whether its person lets them."""

    workspace_id: Id


class TrustRead(Answer, frozen=True, kw_only=True):
    """`digest` is the one to trust it by, empty where its files ask for nothing; `trusted` is the one that it is trusted by.
    `problems` are files that could not be read and so allow nothing."""

    workspace_id: str
    folder: str
    state: TrustState
    digest: str
    trusted: str
    widenings: tuple[Widening, ...]
    problems: tuple[SettingsProblem, ...]


class TrustWorkspace(Command, frozen=True, kw_only=True):
    """Let the folder's own files widen what holds in it: exactly what was shown under this digest, and nothing else."""

    workspace_id: Id
    digest: Digest
    reason: Reason = ""


class RevokeTrust(Command, frozen=True, kw_only=True):
    """Let the folder's own files widen nothing any more."""

    workspace_id: Id
    reason: Reason = ""


class TrustChanged(Answer, frozen=True, kw_only=True):
    workspace_id: str
    trusted: str
    sequence: int


class ListRules(Command, frozen=True, kw_only=True):
    """The rules that hold in a workspace, and in one session of it where it is named."""

    workspace_id: Id | None = None
    session_id: Id | None = None


class RuleList(Answer, frozen=True, kw_only=True):
    rules: tuple[StandingRule, ...]


class AddRule(Command, frozen=True, kw_only=True):
    """Give a standing answer: for a session where one is named, else for the workspace. `expires_at` is when it ends."""

    matcher: Matcher
    verdict: Verdict
    workspace_id: Id | None = None
    session_id: Id | None = None
    expires_at: Time = 0
    reason: Reason = ""


class RevokeRule(Command, frozen=True, kw_only=True):
    """Take a rule back that an answer or a person gave. One of a file is taken out of that file."""

    rule_id: Id
    workspace_id: Id | None = None
    session_id: Id | None = None
    reason: Reason = ""


class RuleChanged(Answer, frozen=True, kw_only=True):
    rule_id: str
    sequence: int


class DryRunRules(Command, frozen=True, kw_only=True):
    """What rules would have decided of the past calls of a workspace's sessions, or of one. Changes nothing; it is no query
    only because rules do not fit an address."""

    workspace_id: Id
    rules: Annotated[tuple[RuleEntry, ...], Meta(max_length=200)]
    session_id: Id | None = None


#: What would be other than it was: let through without a question, asked about, or refused.
Turned = Literal["allowed", "asked", "denied"]


class TriedCall(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A past call that a rule would have decided otherwise. `was` is the gate's verdict then, `matcher` the rule's."""

    session_id: str
    turn_id: str
    tool_call_id: str
    tool: str
    subject: str
    was: Verdict
    would: Verdict
    matcher: str


class TriedRule(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Of how many calls the rule would have had the word."""

    matcher: str
    verdict: Verdict
    calls: int


class RulesTried(Answer, frozen=True, kw_only=True):
    """`calls` of `sessions` were looked at, the newest first; `whole` is False where there are more. `turned` counts those that
    would have been decided otherwise, `unspoken` those that no rule speaks of. `examples` are the newest of each."""

    sessions: int
    calls: int
    whole: bool
    unspoken: int
    turned: dict[Turned, int]
    rules: tuple[TriedRule, ...]
    examples: tuple[TriedCall, ...]


class EvaluatePermission(Command, frozen=True, kw_only=True):
    """What the gate would say of a call: of the agent of a thread of a session, or of an agent of a workspace in a mode. The
    call is not made, and nothing is kept of it; it is no query only because arguments do not fit an address."""

    tool: Named
    arguments: Annotated[str, Meta(max_length=1_000_000)] = "{}"
    workspace_id: Id | None = None
    session_id: Id | None = None
    thread_id: Id | None = None
    agent: Annotated[str, Meta(max_length=100)] = ""
    mode: Mode = "chat"
    permission_mode: PermissionMode = "ask"


class PermissionSeen(Answer, frozen=True, kw_only=True):
    """The gate's word, with every station that the call came to. `arguments` are the final ones, as canonical JSON; `code` and
    `message` are set where it denies; `matchers` are the rules that wider answers would make."""

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


class ResolvePermission(Command, frozen=True, kw_only=True):
    """Answer an action that waits in the name of a policy: the decision and scope must be among those that it offers."""

    session_id: Id
    action_id: Id
    decision: Literal["approve", "reject"]
    policy: Named
    scope: ApprovalScope = "once"
    reason: Reason = ""
    expires_at: Time = 0


TRUST_TABLE: tuple[Declaration, ...] = (
    Declaration(
        name="get_trust",
        command=GetTrust,
        answer=TrustRead,
        serial="workspace",
        authority="anyone",
        query=True,
        summary="What a folder's own files would allow, and whether its person lets them.",
    ),
    Declaration(
        name="trust_workspace",
        command=TrustWorkspace,
        answer=TrustChanged,
        serial="workspace",
        summary="Let the folder's own files widen exactly what was shown under this digest.",
    ),
    Declaration(
        name="revoke_trust",
        command=RevokeTrust,
        answer=TrustChanged,
        serial="workspace",
        summary="Let the folder's own files widen nothing any more.",
    ),
    Declaration(
        name="list_rules",
        command=ListRules,
        answer=RuleList,
        serial="workspace",
        authority="anyone",
        query=True,
        summary="The rules that hold in a workspace or session, and where each stands.",
    ),
    Declaration(
        name="add_rule",
        command=AddRule,
        answer=RuleChanged,
        serial="workspace",
        summary="Give a standing answer for a session or a workspace, for a time or for good.",
    ),
    Declaration(
        name="revoke_rule",
        command=RevokeRule,
        answer=RuleChanged,
        serial="workspace",
        summary="Take back a rule that an answer or a person gave.",
    ),
    Declaration(
        name="dry_run_rules",
        command=DryRunRules,
        answer=RulesTried,
        serial="workspace",
        authority="anyone",
        summary="What rules would have decided of past calls; changes nothing.",
    ),
    Declaration(
        name="evaluate_permission",
        command=EvaluatePermission,
        answer=PermissionSeen,
        serial="session",
        authority="anyone",
        summary="What the gate would say of a call; the call is not made.",
    ),
    Declaration(
        name="resolve_permission",
        command=ResolvePermission,
        answer=ActionAnswered,
        serial="session",
        summary="Answer an action that waits in the name of a host policy or an approval system.",
    ),
)
