"""Rules: which calls a rule matches, which rule applies, and which matchers an answer can add.

A matcher reads `Tool` or `Tool(pattern)`, with any spelling of the tool's name, or `mcp__server__*`
for every tool of a server. For file tools the pattern is a glob, anchored at the folder. A rule on
`Edit` or `Write` matches both. For the shell it is an exact command, or a prefix ending in `*`.
Deny wins over ask, and ask over allow. A rule that allows is read strictly: a prefix matches plain
commands only. A rule that denies or asks is read widely: it matches any part of a command.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import msgspec

from callboard.contracts.facts.permission import Rule, RuleScope, Verdict
from callboard.contracts.tool_names import stored_name

from ..files import globs
from ..mcp.names import is_server_tool
from ..shell_grammar.prefix import find_prefix, is_plain
from ..shell_grammar.spellings import is_match, list_spellings

SHELL = "Bash"
CHANGES = frozenset({"Edit", "Write"})

_MATCHER = re.compile(r"(?P<tool>[^()]+)(?:\((?P<pattern>.*)\))?", re.DOTALL)
_ORDER: tuple[Verdict, ...] = ("deny", "ask", "allow")
_WHOSE: dict[RuleScope, str] = {
    "session": "this session",
    "workspace": "this workspace",
    "folder_settings": "this folder's settings",
    "user_settings": "the user's settings",
}
_NAME = re.compile(r"[A-Za-z][\w.:-]{0,127}|mcp__[\w-]{1,59}__\*")


class InvalidMatcherError(ValueError):
    """Invalid matcher, or one that can never match. The text states why."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a call that rules match: a relative path, a shell command, or the digest of a
    server's declaration.

    Attributes:
        declared: Digest of the tool's declaration; None if unknown.
    """

    tool: str
    path: str | None = None
    command: str | None = None
    declared: str | None = None


def check_matcher(matcher: str) -> None:
    """Check that a rule can use the matcher. Names of unknown tools are accepted, because agents
    and servers add tools.

    Raises:
        InvalidMatcherError: The matcher is invalid.
    """
    found = _MATCHER.fullmatch(matcher.strip())
    name = found["tool"].strip() if found is not None else ""
    if found is None or not _NAME.fullmatch(name):
        raise InvalidMatcherError("it reads `Tool` or `Tool(pattern)`, such as `Bash(git status *)` or `Edit(docs/**)`")
    pattern: str | None = found["pattern"]
    if pattern is not None and not pattern.strip():
        raise InvalidMatcherError(
            "there is nothing between the parentheses; without them the rule speaks of every call"
        )
    if pattern is not None and is_server_tool(name):
        raise InvalidMatcherError(
            "what a server's tool is asked with has no pattern; without the parentheses it speaks of every call"
        )
    if pattern is None or stored_name(name) == SHELL:
        return
    try:
        globs.matches(pattern, "")
    except globs.InvalidGlobError as error:
        raise InvalidMatcherError(f"the glob cannot be used: {error}") from error


def find_rule(rules: Sequence[Rule], target: Target) -> Rule | None:
    """Return the rule that applies to the call; None if none does.

    A rule that denies a command asks instead if only running the shell could decide the match: an
    expansion names the program, a pipe provides the script, or the text is not valid shell.
    """
    for verdict in _ORDER:
        for rule in rules:
            if rule.verdict == verdict and matches(rule, target):
                return rule
        if verdict == "ask":
            for rule in rules:
                if _may_fit(rule, target):
                    return msgspec.structs.replace(rule, verdict="ask")
    return None


def find_outdated(rules: Sequence[Rule], target: Target) -> Rule | None:
    """Return the rule that allowed the tool before its server changed the declaration."""
    before = msgspec.structs.replace(target, declared=None)
    return next((rule for rule in rules if _is_of_another(rule, target) and matches(rule, before)), None)


def allows_exactly(rules: Sequence[Rule], target: Target) -> bool:
    """Return True if a rule allows this exact command."""
    if target.command is None or target.command.endswith("*"):
        return False
    return any(
        (found := _MATCHER.fullmatch(rule.matcher.strip())) is not None
        and stored_name(found["tool"].strip()) == target.tool
        and found["pattern"] == target.command
        for rule in rules
        if rule.verdict == "allow"
    )


def whose(rule: Rule) -> str:
    """Return the owner of the rule, in words that follow `a rule of`."""
    return _WHOSE[rule.scope]


def matches(rule: Rule, target: Target) -> bool:
    """Return True if the rule's matcher matches the call."""
    found = _MATCHER.fullmatch(rule.matcher.strip())
    if found is None or _is_of_another(rule, target) or not _same_tool(found["tool"].strip(), target.tool):
        return False
    pattern: str | None = found["pattern"]
    if pattern is None or (pattern == "*" and target.command is not None):
        return True
    if target.command is not None:
        return _fits_command(pattern, target.command, wide=rule.verdict != "allow")
    if target.path is not None:
        return _fits_path(pattern, target.path, wide=rule.verdict != "allow")
    return False


def list_unsearchable(rules: Sequence[Rule], tool: str) -> tuple[str, ...]:
    """Return the globs of paths that a search leaves out: denied to the tool, or not readable
    without approval.
    """
    found: list[str] = []
    for rule in rules:
        matcher = _MATCHER.fullmatch(rule.matcher.strip())
        named = stored_name(matcher["tool"].strip()) if matcher is not None else ""
        if matcher is not None and (
            (rule.verdict == "deny" and named == tool)
            or (rule.verdict != "allow" and named == "Read" and tool == "Grep")
        ):
            found.append(matcher["pattern"] or "**")
    return tuple(found)


def offer_matcher(target: Target, *, exactly: bool = False) -> str:
    """Return the matcher that a lasting approval would add; empty if none is safe. `exactly` offers
    commands only.
    """
    if exactly and target.command is None:
        return ""
    if target.command is not None:
        words = "" if exactly else find_prefix(target.command)
        if words:
            return f"{target.tool}({words} *)"
        # A `*` at the end would turn the exact command into a prefix. A longer text is not readable
        # on a card.
        exact = target.command
        shown = exact == exact.strip() and not exact.endswith("*") and len(exact) <= 500
        return f"{target.tool}({exact})" if shown else ""
    if is_server_tool(target.tool):
        return target.tool
    if target.path is not None:
        pattern = globs.escape(target.path)
        return f"{'Edit' if target.tool in CHANGES else target.tool}({pattern})" if pattern else ""
    return ""


def _is_of_another(rule: Rule, target: Target) -> bool:
    """Return True if a person allowed an earlier declaration of the tool. Rules that deny or ask
    still apply.
    """
    return rule.verdict == "allow" and rule.declared != "" and target.declared not in (None, rule.declared)


def _same_tool(named: str, tool: str) -> bool:
    if named.endswith("__*") and is_server_tool(named):
        return tool.startswith(named[:-1])
    named = stored_name(named)
    return named == tool or (named in CHANGES and tool in CHANGES)


def _fits_command(pattern: str, command: str, *, wide: bool) -> bool:
    if not wide:
        if not pattern.endswith("*"):
            return command == pattern
        return is_plain(command) and _begins(command, pattern[:-1])
    return command == pattern or any(is_match(pattern, one) for one in list_spellings(command).commands)


def _may_fit(rule: Rule, target: Target) -> bool:
    """Return whether a rule on commands may match, where only running the shell could decide."""
    matcher = _MATCHER.fullmatch(rule.matcher.strip())
    if matcher is None or target.command is None or matcher["pattern"] is None:
        return False
    if rule.verdict == "allow" or not _same_tool(matcher["tool"].strip(), target.tool):
        return False
    read = list_spellings(target.command)
    return not read.is_clear or any(is_match(matcher["pattern"], one) is None for one in read.commands)


def _begins(command: str, start: str) -> bool:
    return command.startswith(start) or command == start.rstrip(" ")


def _fits_path(pattern: str, path: str, *, wide: bool) -> bool:
    try:
        if globs.matches(pattern, path):
            return True
        return wide and globs.matches(_alike(pattern), _alike(path))
    except globs.InvalidGlobError:
        return wide


def _alike(text: str) -> str:
    """Normalise a name as the most permissive file system does."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
