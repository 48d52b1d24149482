"""Verdicts on calls of an external agent's own tools, and the file changes that it reports.

These calls run outside our sandbox. If the agent asks first, the same rules apply as for our own
tools. If it does not ask, the verdict records that the call ran without approval.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from callboard.contracts.content import Blob, fit
from callboard.contracts.errors import Code
from callboard.contracts.facts.action import ApprovalScope, Binding
from callboard.contracts.facts.permission import Check, CheckName, Reason, Risk, Rule
from callboard.contracts.facts.tool import FileChange
from callboard.contracts.ports.external import CallKind, ExternalCall
from callboard.contracts.ports.tools import Evaluation, ToolContext
from callboard.contracts.text.reasons import to_english

from ..arguments import digest
from ..builtin.declarations import ALL, is_listed
from ..files import globs
from ..files.changes import PlannedChange, diff
from ..files.paths import PathDenied, display, relative
from ..protection import watch
from ..reasons import (
    Denial,
    StationResult,
    allow,
    apply_rule,
    explain_allowance,
    explain_denial,
    explain_question,
    reason,
    to_check,
)
from ..shell_grammar.parser import count_commands
from . import rules
from .call_description import command_line, count_prefix, one_line
from .rules import Target
from .stations import is_document

#: Maximum number of files in a summary.
MOST_FILES = 3


class _Kind(NamedTuple):
    """Name of a kind of call in facts and rules, whether it changes files, and its risk."""

    tool: str
    changes: bool
    risk: Risk


_KINDS: dict[CallKind, _Kind] = {
    "read": _Kind("Read", False, "low"),
    "search": _Kind("Grep", False, "low"),
    "think": _Kind("Think", False, "none"),
    "edit": _Kind("Edit", True, "medium"),
    "move": _Kind("Move", True, "medium"),
    "delete": _Kind("Delete", True, "high"),
    "execute": _Kind("Bash", False, "high"),
    "fetch": _Kind("Fetch", False, "high"),
    "switch_mode": _Kind("SwitchMode", False, "high"),
    "other": _Kind("Other", False, "high"),
}
#: Tools that the agent's list covers under another name; empty needs no entry.
_LISTED_AS = {"Move": "Edit", "Delete": "Edit", "Think": "", "Edit": "Edit"}


def get_tool(call: ExternalCall) -> str:
    """Return the tool's name in facts and rules."""
    return _KINDS[call.kind].tool


def evaluate_observed(call: ExternalCall, context: ToolContext) -> Evaluation:
    """Return the verdict on a call that the agent runs without asking."""
    return _evaluation(call, context, (to_check("approval", allow(reason("runs_itself"))),))


def evaluate_asked(call: ExternalCall, context: ToolContext) -> Evaluation:
    """Return the verdict on a call for which the agent asks permission."""
    checks: list[Check] = []
    try:
        _list(call, context)
        _policy(call, context)
        _mode(call, context)
        guarded = _paths(call, context)
    except _DeniedError as denied:
        return _refused(call, context, checks, denied.station, denied)
    rule = _rule(call, context)
    if rule is not None:
        if rule.verdict == "deny":
            denied = Denial("rule_denied", explain_denial(rule, display(rule.matcher)))
            return _refused(call, context, checks, "rules", denied)
        checks.append(to_check("rules", apply_rule(rule)))
    why = _why_ask(call, context, guarded, rule)
    if why is None:
        mode = reason("mode_applies", mode=context.permission_mode)
        checks.append(to_check("approval", allow(mode if rule is None else explain_allowance(rule))))
        return _evaluation(call, context, tuple(checks))
    checks.append(to_check("approval", StationResult("ask", to_english((why,)), (why,))))
    matcher = "" if guarded or (rule is not None and rule.verdict == "ask") else _offer(call, context)
    return _question(call, _evaluation(call, context, tuple(checks)), matcher, why)


def to_relative(path: str, context: ToolContext) -> str:
    """Return a path as facts name it: relative to the folder, if it is below it."""
    return _shown(path, context)


def list_paths(call: ExternalCall, context: ToolContext) -> frozenset[str]:
    """Return the files that the call names, as facts name them."""
    return frozenset(_shown(path, context) for path in _named(call))


def to_allowed(evaluation: Evaluation, checks: tuple[Check, ...]) -> Evaluation:
    """Return an evaluation that asks as an allowed one, with these checks."""
    return msgspec.structs.replace(evaluation, verdict="allow", checks=checks, prompt="", scopes=(), matchers={})


def list_changes(call: ExternalCall, context: ToolContext) -> tuple[tuple[FileChange, ...], tuple[Blob, ...]]:
    """Return the file changes that the agent reports.

    A report can cover only a part of a file, so no content is stored as the file's content.
    """
    found: list[FileChange] = []
    blobs: list[Blob] = []
    for one in call.diffs:
        path = _shown(one.path, context)
        plan = PlannedChange(path, None if one.before is None else one.before.encode(), one.after.encode())
        told = diff(plan)
        text, more = fit(told.text)
        blobs += more
        kind = "created" if one.before is None else "modified"
        found.append(FileChange(path=path, kind=kind, added=told.added, removed=told.removed, diff=text))
    return tuple(found), tuple(blobs)


class _DeniedError(Denial):
    """Denial by a station."""

    def __init__(self, station: CheckName, code: Code, *reasons: Reason) -> None:
        super().__init__(code, *reasons)
        self.station: CheckName = station


def _list(call: ExternalCall, context: ToolContext) -> None:
    tool = get_tool(call)
    name = _LISTED_AS.get(tool, tool)
    held = (
        not name or is_listed(name, context) or (name == "Edit" and is_listed("Write", context)) or ALL in context.tools
    )
    if not held:
        raise _DeniedError("tools", "tool_not_listed", reason("not_listed", tool=name))


def _policy(call: ExternalCall, context: ToolContext) -> None:
    kind = _KINDS[call.kind]
    if kind.changes and ("Patch" not in context.policy or context.read_only):
        raise _DeniedError("policy", "policy_denied", reason("lacks_power", tool=kind.tool, power="Patch"))
    held = "Patch" not in context.policy or context.read_only or context.work_globs or context.parent_globs
    if call.kind == "execute" and held:
        raise _DeniedError("policy", "policy_denied", reason("unconfinable_command"))


def _mode(call: ExternalCall, context: ToolContext) -> None:
    if context.permission_mode != "planning":
        return
    documents = _KINDS[call.kind].changes and all(is_document(_shown(path, context)) for path in _named(call))
    if call.kind == "execute" or (_KINDS[call.kind].changes and not documents):
        raise _DeniedError("mode", "mode_denied", reason("planning_commands"))


def _paths(call: ExternalCall, context: ToolContext) -> str:
    """Return the protected name that the call would write to; empty for none."""
    changes, guarded = _KINDS[call.kind].changes, ""
    for named in _named(call):
        try:
            path = relative(context.folder, named)
        except PathDenied as denied:
            raise _DeniedError("paths", "path_denied", *denied.reasons) from denied
        for limit in (context.work_globs, context.parent_globs) if changes else ():
            if limit and not any(_names(one, path) for one in limit):
                where = reason("outside_globs", path=display(path), globs=", ".join(limit))
                raise _DeniedError("paths", "path_denied", where)
        guarded = guarded or (watch.find_guarded(context.folder, path) if changes else "")
    return guarded


def _names(pattern: str, path: str) -> bool:
    try:
        return globs.matches(pattern, path)
    except globs.InvalidGlobError:
        return False


def _rule(call: ExternalCall, context: ToolContext) -> Rule | None:
    """Return the strictest rule that matches. A rule that allows must match every file of the call."""
    found = [rules.find_rule(context.rules, target) for target in _targets(call, context)]
    for verdict in ("deny", "ask"):
        for rule in found:
            if rule is not None and rule.verdict == verdict:
                return rule
    return found[0] if all(rule is not None for rule in found) else None


def _why_ask(call: ExternalCall, context: ToolContext, guarded: str, rule: Rule | None) -> Reason | None:
    """Return why approval is required; None if it is not."""
    if guarded:
        return reason("protected", path=guarded)
    if rule is not None:
        return None if rule.verdict == "allow" else explain_question(rule)
    kind = _KINDS[call.kind]
    if call.kind in ("read", "search", "think"):
        return None
    if kind.changes and context.permission_mode in ("edits", "full"):
        return None
    return reason("agent_asks", mode=context.permission_mode)


def _offer(call: ExternalCall, context: ToolContext) -> str:
    targets = _targets(call, context)
    return rules.offer_matcher(targets[0]) if len(targets) == 1 else ""


def _targets(call: ExternalCall, context: ToolContext) -> tuple[Target, ...]:
    tool = get_tool(call)
    if call.kind == "execute":
        return (Target(tool=tool, command=call.command or call.title),)
    named = tuple(Target(tool=tool, path=_shown(path, context)) for path in _named(call))
    return named or (Target(tool=tool),)


def _named(call: ExternalCall) -> tuple[str, ...]:
    if call.kind == "execute":
        return ()
    return tuple(dict.fromkeys((*call.paths, *(one.path for one in call.diffs))))


def _shown(path: str, context: ToolContext) -> str:
    try:
        return relative(context.folder, path)
    except PathDenied:
        return display(path)


def _evaluation(call: ExternalCall, context: ToolContext, checks: tuple[Check, ...]) -> Evaluation:
    kind = _KINDS[call.kind]
    final = call.arguments or _json({"title": call.title} if call.title else {})
    return Evaluation(
        verdict="allow",
        risk=kind.risk,
        read_only=not kind.changes and call.kind != "execute",
        arguments=final,
        arguments_hash=digest(final),
        summary=_summary(call, context),
        checks=checks,
        preview=call.command or (call.title if call.kind == "execute" else "\n".join(_preview(call, context))),
        binding=_binding(kind.tool, call, context),
        commands=count_commands(call.command or call.title) if call.kind == "execute" else 0,
    )


def _question(call: ExternalCall, made: Evaluation, matcher: str, asks: Reason) -> Evaluation:
    matchers: dict[ApprovalScope, str] = {"session": matcher, "workspace": matcher} if matcher else {}
    return msgspec.structs.replace(
        made,
        verdict="ask",
        reasons=(asks,),
        prompt=f"{_asks(call, made)} {to_english((asks,))}",
        scopes=("once", *matchers),
        matchers=matchers,
    )


def _asks(call: ExternalCall, made: Evaluation) -> str:
    """Return the question, with the command or the files. A title alone is shown as the agent's own text."""
    tool = get_tool(call)
    if call.command:
        count = count_prefix(made.commands) if call.kind == "execute" else ""
        return f"{tool} {count}{command_line(call.command)}?"
    if _KINDS[call.kind].changes and _named(call):
        return f"{made.summary}?"
    return f"{tool}? The agent calls it: {one_line(call.title)}." if call.title else f"{made.summary}?"


def _summary(call: ExternalCall, context: ToolContext) -> str:
    """Return the tool with its command, files, or the agent's title without the tool's name in front."""
    kind = _KINDS[call.kind]
    files = [_shown(path, context) for path in _named(call)] if kind.changes else []
    if files:
        more = f" and {len(files) - MOST_FILES} more" if len(files) > MOST_FILES else ""
        return f"{kind.tool} {one_line(', '.join(files[:MOST_FILES]))}{more}"
    text = call.command or call.title
    first, _, rest = text.partition(" ")
    if not call.command and first.casefold() == kind.tool.casefold():
        text = rest
    elif kind.changes and text:
        return f"{kind.tool}: {one_line(text)}"
    return f"{kind.tool} {one_line(text)}".rstrip()


def _refused(
    call: ExternalCall, context: ToolContext, checks: list[Check], station: CheckName, denied: Denial
) -> Evaluation:
    message = denied.problem.message
    said = (*checks, Check(name=station, verdict="deny", detail=message, reasons=denied.reasons))
    return msgspec.structs.replace(
        _evaluation(call, context, said), verdict="deny", risk="none", code=denied.code, message=message
    )


def _binding(tool: str, call: ExternalCall, context: ToolContext) -> Binding:
    return Binding(
        tool=tool,
        arguments_hash=digest(call.arguments or call.title),
        folder=context.folder,
        definition_hash=context.definition_hash,
    )


def _preview(call: ExternalCall, context: ToolContext) -> list[str]:
    plans = (
        PlannedChange(
            _shown(one.path, context), None if one.before is None else one.before.encode(), one.after.encode()
        )
        for one in call.diffs
    )
    return [diff(plan).text for plan in plans]


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
