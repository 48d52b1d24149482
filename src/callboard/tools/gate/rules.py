"""Rules on calls: matching, precedence, and the matchers that an approval can add.

A matcher has the form `Tool` or `Tool(pattern)`, with any spelling of the tool's name, or
`mcp__server__*` for all tools of a server. For file tools the pattern is a glob, anchored at the
folder. A rule on `Edit` or `Write` matches both. For the shell the pattern is an exact command, or a
prefix that ends in `*`. Deny wins over ask, and ask over allow. A rule that allows is strict: a
prefix matches only plain commands. A rule that denies or asks is broad: it matches any part of a
command.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import msgspec

from callboard.contracts.facts.permission import Rule, Verdict
from callboard.contracts.settings import SettingsProblemCode
from callboard.contracts.tool_names import to_stored_name

from ..files import globs
from ..mcp.names import is_server_tool
from ..shell_grammar.prefix import find_prefix, is_plain
from ..shell_grammar.spellings import is_match, list_spellings

SHELL = "Bash"
CHANGES = frozenset({"Edit", "Write"})

_MATCHER = re.compile(r"(?P<tool>[^()]+)(?:\((?P<pattern>.*)\))?", re.DOTALL)
_ORDER: tuple[Verdict, ...] = ("deny", "ask", "allow")
_NAME = re.compile(r"[A-Za-z][\w.:-]{0,127}|mcp__[\w-]{1,59}__\*")


class InvalidMatcherError(ValueError):
    """Invalid matcher. The text states why, and `code` with `parameters` the same for translation."""

    def __init__(self, code: SettingsProblemCode, message: str, **parameters: str) -> None:
        super().__init__(message)
        self.code: SettingsProblemCode = code
        self.parameters = parameters


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a call that rules match: a relative path or a shell command.

    Attributes:
        declared: Digest of the declaration of a server's tool; None if unknown.
    """

    tool: str
    path: str | None = None
    command: str | None = None
    declared: str | None = None


def check_matcher(matcher: str) -> None:
    """Check a matcher. Unknown tools are valid, because agents and servers add tools. Raises InvalidMatcherError."""
    match = _MATCHER.fullmatch(matcher.strip())
    name = match["tool"].strip() if match is not None else ""
    if match is None or not _NAME.fullmatch(name):
        raise InvalidMatcherError(
            "matcher_syntax", "use `Tool` or `Tool(pattern)`, such as `Bash(git status *)` or `Edit(docs/**)`"
        )
    pattern: str | None = match["pattern"]
    if pattern is not None and not pattern.strip():
        raise InvalidMatcherError(
            "matcher_empty_pattern", "the pattern is empty; remove the parentheses to match every call"
        )
    if pattern is not None and is_server_tool(name):
        raise InvalidMatcherError(
            "matcher_server_pattern", "tools of servers have no pattern; remove the parentheses to match every call"
        )
    if pattern is None or to_stored_name(name) == SHELL:
        return
    try:
        globs.matches(pattern, "")
    except globs.InvalidGlobError as error:
        raise InvalidMatcherError("matcher_glob", f"invalid glob: {error}", reason=str(error)) from error


def find_rule(rules: Sequence[Rule], target: Target) -> Rule | None:
    """Return the rule that applies to the call; None if none does.

    A rule that denies a command asks instead if only the shell can decide the match: an expansion
    names the program, a pipe provides the script, or the text is invalid.
    """
    for verdict in _ORDER:
        for rule in rules:
            if rule.verdict == verdict and matches(rule, target):
                return rule
        if verdict == "ask":
            for rule in rules:
                if _may_match(rule, target):
                    return msgspec.structs.replace(rule, verdict="ask")
    return None


def find_outdated(rules: Sequence[Rule], target: Target) -> Rule | None:
    """Return the rule that allowed the tool before its server changed the declaration."""
    undeclared = msgspec.structs.replace(target, declared=None)
    return next((rule for rule in rules if _is_outdated(rule, target) and matches(rule, undeclared)), None)


def is_exactly_allowed(rules: Sequence[Rule], target: Target) -> bool:
    """Return True if a rule allows this exact command."""
    if target.command is None or target.command.endswith("*"):
        return False
    return any(
        (match := _MATCHER.fullmatch(rule.matcher.strip())) is not None
        and to_stored_name(match["tool"].strip()) == target.tool
        and match["pattern"] == target.command
        for rule in rules
        if rule.verdict == "allow"
    )


def matches(rule: Rule, target: Target) -> bool:
    """Return True if the rule's matcher matches the call."""
    match = _MATCHER.fullmatch(rule.matcher.strip())
    if match is None or _is_outdated(rule, target) or not _is_same_tool(match["tool"].strip(), target.tool):
        return False
    pattern: str | None = match["pattern"]
    if pattern is None or (pattern == "*" and target.command is not None):
        return True
    if target.command is not None:
        return _matches_command(pattern, target.command, wide=rule.verdict != "allow")
    if target.path is not None:
        return _matches_path(pattern, target.path, wide=rule.verdict != "allow")
    return False


def list_unsearchable(rules: Sequence[Rule], tool: str) -> tuple[str, ...]:
    """Return the globs of paths that a search skips: denied to the tool, or unreadable without approval."""
    excluded: list[str] = []
    for rule in rules:
        matcher = _MATCHER.fullmatch(rule.matcher.strip())
        tool_name = to_stored_name(matcher["tool"].strip()) if matcher is not None else ""
        if matcher is not None and (
            (rule.verdict == "deny" and tool_name == tool)
            or (rule.verdict != "allow" and tool_name == "Read" and tool == "Grep")
        ):
            excluded.append(matcher["pattern"] or "**")
    return tuple(excluded)


def offer_matcher(target: Target, *, exactly: bool = False) -> str:
    """Return the matcher that a lasting approval would add; empty if none is safe. `exactly`: only exact commands."""
    if exactly and target.command is None:
        return ""
    if target.command is not None:
        prefix = "" if exactly else find_prefix(target.command)
        if prefix:
            return f"{target.tool}({prefix} *)"
        # A `*` at the end would turn the command into a prefix. A longer text is unreadable on a card.
        exact = target.command
        is_offered = exact == exact.strip() and not exact.endswith("*") and len(exact) <= 500
        return f"{target.tool}({exact})" if is_offered else ""
    if is_server_tool(target.tool):
        return target.tool
    if target.path is not None:
        pattern = globs.escape(target.path)
        return f"{'Edit' if target.tool in CHANGES else target.tool}({pattern})" if pattern else ""
    return ""


def _is_outdated(rule: Rule, target: Target) -> bool:
    """Return True if the rule allows an earlier declaration of the tool. Rules that deny or ask still apply."""
    return rule.verdict == "allow" and rule.declared != "" and target.declared not in (None, rule.declared)


def _is_same_tool(name: str, tool: str) -> bool:
    if name.endswith("__*") and is_server_tool(name):
        return tool.startswith(name[:-1])
    name = to_stored_name(name)
    return name == tool or (name in CHANGES and tool in CHANGES)


def _matches_command(pattern: str, command: str, *, wide: bool) -> bool:
    if not wide:
        if not pattern.endswith("*"):
            return command == pattern
        return is_plain(command) and _has_prefix(command, pattern[:-1])
    return command == pattern or any(is_match(pattern, spelling) for spelling in list_spellings(command).commands)


def _may_match(rule: Rule, target: Target) -> bool:
    """Return True if a rule on commands may match, but only the shell can decide it."""
    matcher = _MATCHER.fullmatch(rule.matcher.strip())
    if matcher is None or target.command is None or matcher["pattern"] is None:
        return False
    if rule.verdict == "allow" or not _is_same_tool(matcher["tool"].strip(), target.tool):
        return False
    spellings = list_spellings(target.command)
    return not spellings.is_clear or any(
        is_match(matcher["pattern"], spelling) is None for spelling in spellings.commands
    )


def _has_prefix(command: str, start: str) -> bool:
    return command.startswith(start) or command == start.rstrip(" ")


def _matches_path(pattern: str, path: str, *, wide: bool) -> bool:
    try:
        if globs.matches(pattern, path):
            return True
        return wide and globs.matches(_normalise(pattern), _normalise(path))
    except globs.InvalidGlobError:
        return wide


def _normalise(text: str) -> str:
    """Normalise a name as in the most permissive file system."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
