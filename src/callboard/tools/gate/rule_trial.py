"""Trial of rules on past calls, from the log alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import msgspec

from callboard.contracts.facts.permission import Rule, Verdict

from ..files.paths import PathDenied, display, find_protected, relative
from .rules import CHANGES, SHELL, Target, allows_exactly, find_rule

_PATHS = ("file_path", "path")


class RuleVerdict(NamedTuple):
    """The rule that applies and its effective verdict. Protected paths and stored secrets ask
    although a rule allows.
    """

    rule: Rule
    verdict: Verdict


def read_target(tool: str, arguments: str, folder: str) -> Target:
    """Return the part of a call that rules match."""
    try:
        decoded: Any = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        decoded = None
    given = cast("dict[str, Any]", decoded) if isinstance(decoded, dict) else {}
    command = given.get("command") if tool == SHELL else None
    named = next((given[key] for key in _PATHS if isinstance(given.get(key), str)), None)
    try:
        path = None if named is None else relative(folder, named)
    except PathDenied:
        path = None
    return Target(tool=tool, path=path, command=command if isinstance(command, str) else None)


def try_rules(rules: Sequence[Rule], target_: Target, *, spends: bool = False) -> RuleVerdict | None:
    """Return the verdict of the rules; None if no rule matches. `spends` is true if the call
    received a stored secret.
    """
    rule = find_rule(rules, target_)
    if rule is None:
        return None
    kept = (
        rule.verdict == "allow"
        and target_.tool in CHANGES
        and target_.path is not None
        and find_protected(target_.path)
    )
    given = spends and rule.verdict == "allow" and not allows_exactly(rules, target_)
    return RuleVerdict(rule, "ask" if kept or given else rule.verdict)


def describe_target(of: Target) -> str:
    """Return the subject of the call on one line."""
    return display(of.command if of.command is not None else of.path or "")
