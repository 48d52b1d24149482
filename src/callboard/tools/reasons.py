"""Why a person is asked about a call: codes with parameters, and the same in English."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from callboard.contracts.facts.action import Reason, ReasonCode
from callboard.contracts.facts.permission import Rule, RuleScope

_RULES: Final[Mapping[RuleScope, ReasonCode]] = {
    "session": "rule_session",
    "workspace": "rule_workspace",
    "folder_settings": "rule_folder_settings",
    "user_settings": "rule_user_settings",
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
}


def reason(code: ReasonCode, **parameters: str) -> Reason:
    """Return a reason with the values that its text names."""
    return Reason(code=code, parameters=parameters)


def of_rule(rule: Rule) -> Reason:
    """Return that a rule asks."""
    return reason(_RULES[rule.scope], matcher=rule.matcher)


def english(reasons: Iterable[Reason]) -> str:
    """Return the reasons in English, without a full stop."""
    return "; ".join(_text(one) for one in reasons)


def _text(one: Reason) -> str:
    text = _ENGLISH[one.code].format(**one.parameters)
    several = one.code == "spends" and ", " in one.parameters["secrets"]
    return text.replace("the secret ", "the secrets ", 1) if several else text
