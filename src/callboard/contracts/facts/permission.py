"""Facts of the gate: the checks of a tool call with their reasons, and the rules of a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal, get_args

import msgspec

from ..content import Text
from ..scope import ScopeKey
from .base import UNKNOWN, ErasedForm, Fact

Verdict = Literal["allow", "ask", "deny"]
Risk = Literal["none", "low", "medium", "high"]
#: The stations of the gate, in the order in which a call passes them.
CheckName = Literal["hooks", "tools", "policy", "mode", "paths", "rules", "approval", "sandbox"]
#: The same, one after the other.
STATIONS: tuple[CheckName, ...] = get_args(CheckName)
#: How much of rewritten arguments a model is told, in characters.
MOST_TOLD = 2000
#: Where a rule holds, and where it stands: given by an answer, or written in the settings of a folder or a user.
RuleScope = Literal["session", "workspace", "folder_settings", "user_settings"]


class Check(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What one station of the gate said. `reasons` say the same as `detail`, for a client to word; empty in facts of versions
    that had no codes, and for what another program or a schema says. `detail` is empty where reasons to allow say it."""

    name: CheckName
    verdict: Verdict
    detail: str = ""
    reasons: tuple[Reason, ...] = ()


class HookSaid(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What hooks said of a call when it was asked for; it holds for all that becomes of the call, and no hook is asked again.
    `detail` says which hook said what, `code` why the call is denied. `arguments` are those that the hook `by` put in place of
    the model's, as canonical JSON; None where none did. `reasons` say the same as `detail`."""

    verdict: Verdict
    detail: str = ""
    code: str = ""
    arguments: Text | None = None
    by: str = ""
    reasons: tuple[Reason, ...] = ()

    def told(self, arguments: str) -> str:
        """Return the note for the model about rewritten arguments, placed before the result of the call."""
        shown = arguments if len(arguments) <= MOST_TOLD else f"{arguments[:MOST_TOLD]}…"
        return f"[A hook changed your arguments. {self.detail} Arguments used: {shown}]\n\n"


class Rule(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A standing answer. `matcher` reads `Tool` or `Tool(pattern)`: a glob over the path for file tools, a command prefix
    ending in `*` or an exact command for the shell. `expires_at` is when it ends, in microseconds since the epoch; 0 for
    never. `declared` is of what a server declared of its tool when a person allowed it; what is declared otherwise by then is
    another tool, of which the rule does not speak."""

    rule_id: str
    matcher: str
    verdict: Verdict
    scope: RuleScope
    expires_at: int = 0
    declared: str = ""


class PermissionEvaluated(Fact, frozen=True, kw_only=True):
    """The gate's verdict on one call with its final arguments (`arguments_hash`: SHA-256 of the canonical JSON, hex).

    `checks` has, in the order of the stations, those that had something to say: what they applied, why they asked or denied.
    A station that only let the call pass is left out; `passed` gives them all. A denial is the last that was said.
    `secrets` are the names of those that a person keeps and that the arguments stand for by their handles; never a value.
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
    """An answer with a wider scope than once became a rule."""

    type: ClassVar[str] = "permission.rule.added"
    rule: Rule


class PermissionRuleRevoked(Fact, frozen=True, kw_only=True):
    """A rule holds no longer."""

    type: ClassVar[str] = "permission.rule.revoked"
    rule_id: str
    reason: str = ""


def holding(rules: Iterable[Rule], now: int) -> tuple[Rule, ...]:
    """Those of the rules whose time is not over."""
    return tuple(rule for rule in rules if rule.expires_at == 0 or now < rule.expires_at)


def passed(checks: Sequence[Check]) -> tuple[Check, ...]:
    """A check for every station that a call came to, up to the one that denied it; without detail where it had none."""
    said = {check.name: check for check in checks}
    denied = next((check.name for check in checks if check.verdict == "deny"), STATIONS[-1])
    come_to = STATIONS[: STATIONS.index(denied) + 1]
    return tuple(said.get(name) or Check(name=name, verdict="allow") for name in come_to)


PermissionFact = PermissionEvaluated | PermissionRuleAdded | PermissionRuleRevoked


#: Why the gate allows, asks or denies, what hooks decided, and what is at stake. A client words it in its language, from the
#: parameters.
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


class Reason(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One reason for a decision or a request, as a code with the values that it names."""

    code: ReasonCode
    parameters: dict[str, str] = {}
