"""Standing answers: whether a rule speaks of a call, which of several holds, and what a wider answer would say.

A matcher reads `Tool` or `Tool(pattern)`, with any spelling of the tool's name, or `mcp__server__*` for all tools that a server
provides. For tools that take a path the pattern is a glob over it, anchored at the folder; a rule on `Edit` or on `Write`
speaks of both, for they are one power. For the shell it is an exact command, or a prefix ending in `*`. Deny wins, then ask,
then allow. What loosens is read strictly and what tightens is read widely: a prefix lets through plain commands only, and stops
whatever any part of a command begins with.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import msgspec

from callboard.contracts.facts.permission import Rule, RuleScope, Verdict
from callboard.contracts.tool_names import stored_name

from ..files import globs
from ..mcp.names import is_brought
from ..shell_grammar.prefix import is_plain, prefix
from ..shell_grammar.spellings import is_match, spellings

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
    """The text is no matcher, or one that could never fit; it says why."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What rules look at in a call: the path of ours that it names, or its shell command, or what a server declares of its
    tool (`declared`, None where that is not known)."""

    tool: str
    path: str | None = None
    command: str | None = None
    declared: str | None = None


def check_matcher(matcher: str) -> None:
    """Raises BadMatcher for a text that no rule can be made of. Tools that only some agents or servers bring are known by
    nobody here, so that another name than ours is taken as it is."""
    found = _MATCHER.fullmatch(matcher.strip())
    name = found["tool"].strip() if found is not None else ""
    if found is None or not _NAME.fullmatch(name):
        raise InvalidMatcherError("it reads `Tool` or `Tool(pattern)`, such as `Bash(git status *)` or `Edit(docs/**)`")
    pattern: str | None = found["pattern"]
    if pattern is not None and not pattern.strip():
        raise InvalidMatcherError(
            "there is nothing between the parentheses; without them the rule speaks of every call"
        )
    if pattern is not None and is_brought(name):
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
    """The rule that applies to the call, or None.

    A rule that denies a command asks instead where only running the shell could tell whether it applies: an expansion that
    names the program, a script out of a pipe, a text that is no shell text.
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
    """The rule that allowed the tool as its server declared it before, where it declares it otherwise by now."""
    before = msgspec.structs.replace(target, declared=None)
    return next((rule for rule in rules if _is_of_another(rule, target) and matches(rule, before)), None)


def allows_exactly(rules: Sequence[Rule], target: Target) -> bool:
    """True where a rule allows this very command, to the letter."""
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
    """Where the rule stands, in words that follow `a rule of`."""
    return _WHOSE[rule.scope]


def matches(rule: Rule, target: Target) -> bool:
    """True where the rule's matcher fits the call."""
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
    """The globs over paths that a search leaves out: what the tool is denied, and what may not be read without asking."""
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
    """The matcher that an answer beyond this once would make, or the empty text where none is safe to offer. One that speaks
    `exactly` of the call is there for commands alone."""
    if exactly and target.command is None:
        return ""
    if target.command is not None:
        words = "" if exactly else prefix(target.command)
        if words:
            return f"{target.tool}({words} *)"
        # Such an ending would make a prefix of what is meant exactly, and nobody reads past a screenful.
        exact = target.command
        shown = exact == exact.strip() and not exact.endswith("*") and len(exact) <= 500
        return f"{target.tool}({exact})" if shown else ""
    if is_brought(target.tool):
        return target.tool
    if target.path is not None:
        pattern = globs.escape(target.path)
        return f"{'Edit' if target.tool in CHANGES else target.tool}({pattern})" if pattern else ""
    return ""


def _is_of_another(rule: Rule, target: Target) -> bool:
    """True where a person allowed what the server declares otherwise by now. A rule that forbids or asks holds all the same."""
    return rule.verdict == "allow" and rule.declared != "" and target.declared not in (None, rule.declared)


def _same_tool(named: str, tool: str) -> bool:
    if named.endswith("__*") and is_brought(named):
        return tool.startswith(named[:-1])
    named = stored_name(named)
    return named == tool or (named in CHANGES and tool in CHANGES)


def _fits_command(pattern: str, command: str, *, wide: bool) -> bool:
    if not wide:
        if not pattern.endswith("*"):
            return command == pattern
        return is_plain(command) and _begins(command, pattern[:-1])
    return command == pattern or any(is_match(pattern, one) for one in spellings(command).commands)


def _may_fit(rule: Rule, target: Target) -> bool:
    """Whether a rule on commands may speak of this one, where only running the shell could tell."""
    matcher = _MATCHER.fullmatch(rule.matcher.strip())
    if matcher is None or target.command is None or matcher["pattern"] is None:
        return False
    if rule.verdict == "allow" or not _same_tool(matcher["tool"].strip(), target.tool):
        return False
    read = spellings(target.command)
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
    """The same text for all spellings that a careless file system takes for one name."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
