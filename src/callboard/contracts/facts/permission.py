"""Facts of the gate: checks of a tool call with their reasons, and rules of a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal, get_args

import msgspec

from ..content import Text
from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact

Verdict = Literal["allow", "ask", "deny"]
Risk = Literal["none", "low", "medium", "high"]
#: Checks of the gate, in their order.
CheckName = Literal["hooks", "tools", "policy", "mode", "paths", "rules", "approval", "sandbox"]
CHECK_NAMES: tuple[CheckName, ...] = get_args(CheckName)
#: Maximum characters of rewritten arguments that the model receives.
MAX_NOTE_CHARS = 2000
#: Where a rule applies and is stored: added by an approval, or in the settings of a folder or a
#: user.
RuleScope = Literal["session", "workspace", "folder_settings", "user_settings"]


class Check(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """The result of one check of the gate.

    `reasons` are the codes of `detail`; empty in facts without codes, and for the words of another
    program or a schema. `detail` is empty if the reasons of an approval replace it.
    """

    name: CheckName
    verdict: Verdict
    detail: str = ""
    reasons: tuple[Reason, ...] = ()


class HookOutcome(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """The result of a call's hooks, which run once per call.

    `detail` names each hook with its result, `reasons` has the codes. `code` is why the call is
    denied. `arguments` are those with which the hook `by` replaced the model's, as canonical JSON.
    """

    verdict: Verdict
    detail: str = ""
    code: str = ""
    arguments: Text | None = None
    by: str = ""
    reasons: tuple[Reason, ...] = ()

    def describe_rewrite(self, arguments: str) -> str:
        """Return the note for the model about rewritten arguments, placed before the result of the call."""
        excerpt = arguments if len(arguments) <= MAX_NOTE_CHARS else f"{arguments[:MAX_NOTE_CHARS]}…"
        return f"[A hook changed your arguments. {self.detail} Arguments used: {excerpt}]\n\n"


class Rule(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A permission rule.

    `matcher` is `Tool` or `Tool(pattern)`: a glob over the path for file tools, a command prefix
    that ends in `*` or an exact command for the shell. `expires_at` is in microseconds since the
    epoch, 0 for never. `declared` is the hash of a server's declaration of its tool at the
    approval; the rule does not apply to another declaration.
    """

    rule_id: str
    matcher: str
    verdict: Verdict
    scope: RuleScope
    expires_at: int = 0
    declared: str = ""


class PermissionEvaluated(Fact, frozen=True, kw_only=True):
    """The gate's verdict on a call with its final arguments (`arguments_hash`: SHA-256 of the canonical JSON in hex).

    `checks` has the checks with a result other than a plain pass, in order; a denial is the last.
    `passed` adds the plain passes. `secrets` are the names of stored secrets whose handles are in
    the arguments, never a value.
    """

    type: ClassVar[str] = "permission.evaluated"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "step", "tool_call")
    erased: ClassVar[ErasedForm] = {
        "tool": UNKNOWN,
        "verdict": UNKNOWN,
        "risk": "high",
        "arguments_hash": "",
        "checks": (),
    }
    tool: str
    verdict: Verdict
    risk: Risk
    arguments_hash: str
    checks: tuple[Check, ...] = ()
    secrets: tuple[str, ...] = ()


class PermissionRuleAdded(Fact, frozen=True, kw_only=True):
    """An approval with a wider scope than once added a rule."""

    type: ClassVar[str] = "permission.rule.added"
    rule: Rule


class PermissionRuleRevoked(Fact, frozen=True, kw_only=True):
    """A rule was revoked."""

    type: ClassVar[str] = "permission.rule.revoked"
    rule_id: str
    reason: str = ""


def select_unexpired(rules: Iterable[Rule], now: int) -> tuple[Rule, ...]:
    """Return the rules that have not expired at `now` (microseconds since the epoch)."""
    return tuple(rule for rule in rules if rule.expires_at == 0 or now < rule.expires_at)


def list_checks(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return a check for every check that the call reached, up to the denial; a plain pass has no detail."""
    by_name = {check.name: check for check in checks}
    denied = next((check.name for check in checks if check.verdict == "deny"), CHECK_NAMES[-1])
    come_to = CHECK_NAMES[: CHECK_NAMES.index(denied) + 1]
    return tuple(by_name.get(name) or Check(name=name, verdict="allow") for name in come_to)


PermissionFact = PermissionEvaluated | PermissionRuleAdded | PermissionRuleRevoked


#: Reasons of the gate's verdict, of hooks, and of risk. A client formats them in its language, with
#: the parameters.
ReasonCode = Literal[
    "protected",
    "makes_team",
    "for_a_person",
    "no_sandbox",
    "unkept",
    "rule_session",
    "rule_workspace",
    "rule_folder_settings",
    "rule_user_settings",
    "server_tool",
    "spends",
    "destroys",
    "changed_files",
    "changed_command",
    "changeable",
    "runs_outside",
    "own_settings",
    "own_mode",
    "leaves",
    "remote_asks",
    "remote_authorises",
    "agent_asks",
    "not_listed",
    "listed_are",
    "tool_unknown",
    "not_loaded",
    "left_out",
    "not_of_server",
    "server_gone",
    "lacks_power",
    "only_reads",
    "only_reads_server",
    "unconfinable",
    "unconfinable_merge",
    "unconfinable_command",
    "no_patch_held",
    "reader_held",
    "globs_held",
    "no_patch_unheld",
    "reader_unheld",
    "globs_unheld",
    "mode_only",
    "planning",
    "planning_unheld",
    "planning_documents",
    "planning_commands",
    "planning_merge",
    "planning_changes",
    "outside_folder",
    "outside_globs",
    "through_parent",
    "null_byte",
    "control_characters",
    "not_unicode",
    "long_path",
    "long_name",
    "kept_by_callboard",
    "names_folder",
    "kept_private",
    "not_regular",
    "named_pipe",
    "character_device",
    "block_device",
    "socket",
    "link",
    "the_folder",
    "in_protected",
    "rule_applied",
    "rule_denies_session",
    "rule_denies_workspace",
    "rule_denies_folder_settings",
    "rule_denies_user_settings",
    "rule_outdated",
    "rule_allows_session",
    "rule_allows_workspace",
    "rule_allows_folder_settings",
    "rule_allows_user_settings",
    "runs_itself",
    "approved_with",
    "changes_nothing",
    "mode_applies",
    "hook_denied",
    "hook_denied_because",
    "hook_asks",
    "hook_asks_because",
    "hook_rewrote",
    "hook_rewrote_because",
    "hook_failed",
    "hook_rewrites_own",
    "hooks_changed",
    "hooks_unasked",
]


class Reason(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A reason for a verdict or a request: a code with its parameters."""

    code: ReasonCode
    parameters: dict[str, str] = {}
