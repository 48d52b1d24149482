"""Why a call is allowed, asked about or denied: codes with parameters, and the same in English."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from callboard.contracts.errors import Code, Refusal
from callboard.contracts.facts.permission import Check, CheckName, Rule, RuleScope, Verdict
from callboard.contracts.facts.reason import Reason, ReasonCode
from callboard.contracts.ports.tools import HookResult
from callboard.contracts.text.sentences import punctuated

_RULES: Final[Mapping[RuleScope, ReasonCode]] = {
    "session": "rule_session",
    "workspace": "rule_workspace",
    "folder_settings": "rule_folder_settings",
    "user_settings": "rule_user_settings",
}
_DENIES: Final[Mapping[RuleScope, ReasonCode]] = {
    "session": "rule_denies_session",
    "workspace": "rule_denies_workspace",
    "folder_settings": "rule_denies_folder_settings",
    "user_settings": "rule_denies_user_settings",
}
_ALLOWS: Final[Mapping[RuleScope, ReasonCode]] = {
    "session": "rule_allows_session",
    "workspace": "rule_allows_workspace",
    "folder_settings": "rule_allows_folder_settings",
    "user_settings": "rule_allows_user_settings",
}
_ENGLISH: Final[Mapping[ReasonCode, str]] = {
    "protected": "what is in {path} is changed with an approval only",
    "makes_team": "what makes more of the team takes a yes every time",
    "for_a_person": "a person is to say something",
    "no_sandbox": "there is no sandbox here ({why}): it may do what you may",
    "unkept": "the sandbox cannot keep {paths} from being written",
    "rule_session": "a rule of this session says so",
    "rule_workspace": "a rule of this workspace says so",
    "rule_folder_settings": "a rule of this folder's settings says so",
    "rule_user_settings": "a rule of the user's settings says so",
    "server_tool": "a server's own word lets nothing pass",
    "spends": "it is given the secret {secrets}",
    "destroys": "it may delete or overwrite what Callboard cannot restore",
    "changed_files": "changed since you approved it: {paths}",
    "changed_command": "changed since you approved it: its command or environment",
    "changeable": "agents can change {paths}",
    "runs_outside": "it runs outside our sandbox and may do what you may",
    "own_settings": "its own settings decide what it asks you about",
    "own_mode": "it works in its own mode {mode}",
    "leaves": "what is said to it is in its hands, and what it answers is not ours",
    "remote_asks": "the agent elsewhere asks",
    "remote_authorises": "the agent elsewhere wants to be authorised there",
    "agent_asks": "the agent asks, and the permission mode is {mode}",
    "not_listed": "{tool} is not among the tools of this agent",
    "listed_are": "They are: {tools}",
    "tool_unknown": "There is no tool {tool}. There are: {tools}",
    "not_loaded": "{tool} is not loaded. Look for it with {find} first",
    "left_out": "The settings leave {tool} out",
    "not_of_server": "No server here has a tool {tool}",
    "server_gone": "There is no {tool} now: {why}. Nothing was run",
    "lacks_power": "{tool} takes the policy {power}, which this agent does not have",
    "only_reads": "{tool} changes files: this agent only reads",
    "only_reads_server": "{tool} may change things: this agent only reads",
    "unconfinable": "{tool} cannot be held to {globs}, where this agent may write",
    "unconfinable_merge": "A merge cannot be held to {globs}, where this agent may write",
    "unconfinable_command": "A command of the agent's own cannot be held to where this agent may write, so it is not run",
    "no_patch_held": "without Patch the folder is read-only for the shell",
    "reader_held": "for a read-only agent the folder is read-only for the shell",
    "globs_held": "for an agent that is held to {globs} the folder is read-only for the shell",
    "no_patch_unheld": "Without Patch a command must not write, and no sandbox here could hold it to that ({why})",
    "reader_unheld": "For a read-only agent a command must not write, and no sandbox here could hold it to that ({why})",
    "globs_unheld": "For an agent that is held to {globs} a command must not write, and no sandbox here could hold it to that "
    "({why})",
    "mode_only": "{tool} ends work in {mode} mode. In chat an answer without a call does",
    "planning": "planning",
    "planning_unheld": "While planning a command must not write, and no sandbox here could hold it to that ({why})",
    "planning_documents": "While planning only documents are written: Markdown files in docs/ or at the top of the folder",
    "planning_commands": "While planning only documents are written, and no command is run",
    "planning_merge": "While planning nothing is merged",
    "planning_changes": "While planning nothing is changed, and {tool} may",
    "outside_folder": "{path} is outside the folder. Use a path relative to the folder",
    "outside_globs": "{path} is outside of where this agent may write: {globs}",
    "through_parent": "{path} goes through a parent folder (..). Name the file from the folder down",
    "null_byte": "{path} contains a NUL byte",
    "control_characters": "{path} contains control characters",
    "not_unicode": "{path} is not valid Unicode text",
    "long_path": "The path is too long: {size} bytes, at most {most}",
    "long_name": "{path} has a name of more than {most} bytes",
    "kept_by_callboard": "The folder holds what Callboard keeps; no tool works there",
    "names_folder": "The path names the folder itself, not a file in it",
    "kept_private": "{path} is kept from agents",
    "not_regular": "{path} is not a regular file",
    "named_pipe": "{path} is a named pipe",
    "character_device": "{path} is a character device",
    "block_device": "{path} is a block device",
    "socket": "{path} is a socket",
    "link": "{path} is a symbolic link, which no tool follows",
    "the_folder": "the folder",
    "in_protected": "{path} is in {protected}, which is protected",
    "rule_applied": "{verdict} {matcher} ({scope})",
    "rule_denies_session": "A rule of this session forbids it: {matcher}",
    "rule_denies_workspace": "A rule of this workspace forbids it: {matcher}",
    "rule_denies_folder_settings": "A rule of this folder's settings forbids it: {matcher}",
    "rule_denies_user_settings": "A rule of the user's settings forbids it: {matcher}",
    "rule_outdated": "{matcher} was allowed as its server declared it before",
    "rule_allows_session": "a rule of this session says so",
    "rule_allows_workspace": "a rule of this workspace says so",
    "rule_allows_folder_settings": "a rule of this folder's settings says so",
    "rule_allows_user_settings": "a rule of the user's settings says so",
    "runs_itself": "run by the agent itself, without asking and outside our sandbox",
    "approved_with": "approved with the call {call}",
    "changes_nothing": "it changes nothing",
    "mode_applies": "the permission mode is {mode}",
    "hook_denied": "The hook {hook} forbids it",
    "hook_denied_because": "The hook {hook} forbids it: {said}",
    "hook_asks": "the hook {hook} asks",
    "hook_asks_because": "the hook {hook} asks: {said}",
    "hook_rewrote": "the hook {hook} rewrote the arguments",
    "hook_rewrote_because": "the hook {hook} rewrote the arguments: {said}",
    "hook_failed": "The hook {hook} {how}. A call that it cannot judge is not made",
    "hook_rewrites_own": "The hook {hook} would rewrite the arguments of a call that the agent runs by itself. It is not made",
    "hooks_changed": "the folder changed since it was trusted, and its hooks are not run: {hooks}",
    "hooks_unasked": "no program is run here; it would be asked of: {hooks}",
}


class StationResult(NamedTuple):
    """What a station says: `detail` in English, and the same as reasons where it has codes."""

    verdict: Verdict
    detail: str = ""
    reasons: tuple[Reason, ...] = ()


class Denial(Refusal):
    """A station denies a call, for reasons that a client can word."""

    def __init__(self, code: Code, *reasons: Reason) -> None:
        super().__init__(code, " ".join(punctuated(_text(one)) for one in reasons))
        self.reasons = reasons


class HookDenial(Denial):
    """A hook denies a call. Its message is the hook's, which may name its own reason."""

    def __init__(self, said: HookResult) -> None:
        Refusal.__init__(self, said.code or "hook_denied", said.detail)
        self.reasons = said.reasons


def allow(*reasons: Reason) -> StationResult:
    """Return that a station lets a call pass, and why."""
    return StationResult("allow", to_english(reasons), reasons)


def to_check(name: CheckName, said: StationResult) -> Check:
    """Return what a station said, as its fact stores it. Why it allows a call is stored as reasons alone."""
    detail = "" if said.verdict == "allow" and said.reasons else said.detail
    return Check(name=name, verdict=said.verdict, detail=detail, reasons=said.reasons)


def apply_rule(rule: Rule) -> StationResult:
    """Return what a rule that allows or asks decides."""
    found = reason("rule_applied", verdict=rule.verdict, matcher=rule.matcher, scope=rule.scope)
    return StationResult(rule.verdict, to_english((found,)), (found,))


def explain_denial(rule: Rule, shown: str) -> Reason:
    """Return that a rule denies, with its matcher as it can be shown."""
    return reason(_DENIES[rule.scope], matcher=shown)


def explain_allowance(rule: Rule) -> Reason:
    """Return that a rule allows."""
    return reason(_ALLOWS[rule.scope], matcher=rule.matcher)


def reason(code: ReasonCode, **parameters: str) -> Reason:
    """Return a reason with the values that its text names."""
    return Reason(code=code, parameters=parameters)


def explain_question(rule: Rule) -> Reason:
    """Return that a rule asks."""
    return reason(_RULES[rule.scope], matcher=rule.matcher)


def to_english(reasons: Iterable[Reason]) -> str:
    """Return the reasons in English, without a full stop."""
    return "; ".join(_text(one) for one in reasons)


def _text(one: Reason) -> str:
    text = _ENGLISH[one.code].format(**one.parameters)
    several = one.code == "spends" and ", " in one.parameters["secrets"]
    return text.replace("the secret ", "the secrets ", 1) if several else text
