"""Trial of rules on past calls from the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import msgspec

from callboard.contracts.facts.permission import Rule, Verdict

from ..files.paths import PathDenied, display, find_protected, to_relative_path
from .rules import CHANGES, SHELL, Target, find_rule, is_exactly_allowed

_PATHS = ("file_path", "path")


class RuleVerdict(NamedTuple):
    """The rule that applies and its effective verdict. Protected paths and stored secrets still ask."""

    rule: Rule
    verdict: Verdict


def read_target(tool: str, arguments: str, folder: str) -> Target:
    """Return the part of a call that rules match."""
    try:
        decoded: Any = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        decoded = None
    fields = cast("dict[str, Any]", decoded) if isinstance(decoded, dict) else {}
    command = fields.get("command") if tool == SHELL else None
    written = next((fields[key] for key in _PATHS if isinstance(fields.get(key), str)), None)
    try:
        path = None if written is None else to_relative_path(folder, written)
    except PathDenied:
        path = None
    return Target(tool=tool, path=path, command=command if isinstance(command, str) else None)


def try_rules(rules: Sequence[Rule], target: Target, *, spends: bool = False) -> RuleVerdict | None:
    """Return the verdict of the rules; None if none matches. `spends`: the call received a stored secret."""
    rule = find_rule(rules, target)
    if rule is None:
        return None
    asks_for_path = (
        rule.verdict == "allow" and target.tool in CHANGES and target.path is not None and find_protected(target.path)
    )
    asks_for_secret = spends and rule.verdict == "allow" and not is_exactly_allowed(rules, target)
    return RuleVerdict(rule, "ask" if asks_for_path or asks_for_secret else rule.verdict)


def describe_target(target: Target) -> str:
    """Return the subject of the call on one line."""
    return display(target.command if target.command is not None else target.path or "")
