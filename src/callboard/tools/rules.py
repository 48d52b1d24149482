"""Standing answers: whether a rule speaks of a call, which of several holds, and what a wider answer would say.

A matcher reads `Tool` or `Tool(pattern)`, or `mcp__server__*` for all that a server brings. For tools that take a path the
pattern is a glob over it, anchored at the folder; a rule on `Edit` or on `Write` speaks of both, for they are one power. For
the shell it is an exact command, or a prefix ending in `*`. Deny wins, then ask, then allow. What loosens is read strictly and
what tightens is read widely: a prefix lets through plain commands only, and stops whatever any part of a command begins with.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import msgspec

from callboard.contracts.facts.permission import Rule, RuleScope, Verdict
from callboard.contracts.tools import TOOL_NAMES

from . import globs
from .commands import is_plain, parts, prefix
from .mcp.names import is_brought

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
_SPELLED = {name.casefold(): name for name in TOOL_NAMES}


class BadMatcher(ValueError):
    """The text is no matcher, or one that could never fit; it says why."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What rules look at in a call: the path of ours that it names, or its shell command, or what a server declares of its
    tool (`declared`, None where that is not known)."""

    tool: str
    path: str | None = None
    command: str | None = None
    declared: str | None = None


def check(matcher: str) -> None:
    """Raises BadMatcher for a text that no rule can be made of. Tools that only some agents or servers bring are known by
    nobody here, so that another name than ours is taken as it is."""
    found = _MATCHER.fullmatch(matcher.strip())
    name = found["tool"].strip() if found is not None else ""
    if found is None or not _NAME.fullmatch(name):
        raise BadMatcher("it reads `Tool` or `Tool(pattern)`, such as `Bash(git status *)` or `Edit(docs/**)`")
    meant = _SPELLED.get(name.casefold(), name)
    if meant != name:
        raise BadMatcher(f"there is no tool `{name}`; `{meant}` may be meant")
    pattern: str | None = found["pattern"]
    if pattern is not None and not pattern.strip():
        raise BadMatcher("there is nothing between the parentheses; without them the rule speaks of every call")
    if pattern is not None and is_brought(name):
        raise BadMatcher(
            "what a server's tool is asked with has no pattern; without the parentheses it speaks of every call"
        )
    if pattern is None or name == SHELL:
        return
    try:
        globs.matches(pattern, "")
    except globs.BadGlob as error:
        raise BadMatcher(f"the glob cannot be used: {error}") from error


def decide(rules: Sequence[Rule], target: Target) -> Rule | None:
    """The rule that holds for the call, or None where no rule speaks of it."""
    for verdict in _ORDER:
        for rule in rules:
            if rule.verdict == verdict and speaks_of(rule, target):
                return rule
    return None


def outdated(rules: Sequence[Rule], target: Target) -> Rule | None:
    """The rule that allowed the tool as its server declared it before, where it declares it otherwise by now."""
    before = msgspec.structs.replace(target, declared=None)
    return next((rule for rule in rules if _is_of_another(rule, target) and speaks_of(rule, before)), None)


def allows_exactly(rules: Sequence[Rule], target: Target) -> bool:
    """True where a rule allows this very command, to the letter."""
    if target.command is None or target.command.endswith("*"):
        return False
    return any(
        (found := _MATCHER.fullmatch(rule.matcher.strip())) is not None
        and found["tool"].strip() == target.tool
        and found["pattern"] == target.command
        for rule in rules
        if rule.verdict == "allow"
    )


def whose(rule: Rule) -> str:
    """Where the rule stands, in words that follow `a rule of`."""
    return _WHOSE[rule.scope]


def speaks_of(rule: Rule, target: Target) -> bool:
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


def kept_from_search(rules: Sequence[Rule], tool: str) -> tuple[str, ...]:
    """The globs over paths that a search leaves out: what the tool is denied, and what may not be read without asking."""
    found: list[str] = []
    for rule in rules:
        matcher = _MATCHER.fullmatch(rule.matcher.strip())
        named = matcher["tool"].strip() if matcher is not None else ""
        if matcher is not None and (
            (rule.verdict == "deny" and named == tool)
            or (rule.verdict != "allow" and named == "Read" and tool == "Grep")
        ):
            found.append(matcher["pattern"] or "**")
    return tuple(found)


def offer(target: Target, *, exactly: bool = False) -> str:
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
    return named == tool or (named in CHANGES and tool in CHANGES)


def _fits_command(pattern: str, command: str, *, wide: bool) -> bool:
    if not pattern.endswith("*"):
        return command == pattern or (wide and any(part == pattern for part in parts(command)))
    start = pattern[:-1]
    if not wide:
        return is_plain(command) and _begins(command, start)
    return any(_begins(part, start) for part in parts(command))


def _begins(command: str, start: str) -> bool:
    return command.startswith(start) or command == start.rstrip(" ")


def _fits_path(pattern: str, path: str, *, wide: bool) -> bool:
    try:
        if globs.matches(pattern, path):
            return True
        return wide and globs.matches(_alike(pattern), _alike(path))
    except globs.BadGlob:
        return wide


def _alike(text: str) -> str:
    """The same text for all spellings that a careless file system takes for one name."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
