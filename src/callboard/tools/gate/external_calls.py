"""Verdicts on calls of an external agent's own tools, and the file changes that it reports.

These calls run outside our sandbox. If the agent asks first, the same rules apply as to our tools.
Otherwise the verdict records that the call ran without approval.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from callboard.contracts.content import Blob, fit_text
from callboard.contracts.errors import Code
from callboard.contracts.facts.action import ApprovalScope, Binding
from callboard.contracts.facts.permission import Check, CheckName, Reason, Risk, Rule
from callboard.contracts.facts.tool import FileChange
from callboard.contracts.ports.external import CallKind, ExternalCall
from callboard.contracts.ports.tools import Evaluation, ToolContext
from callboard.contracts.text.reasons import to_english

from ..arguments import compute_digest
from ..builtin.declarations import ALL, is_listed
from ..files.changes import PlannedChange, diff
from ..files.paths import PathDenied, display, to_relative_path
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
from .call_description import count_prefix, to_command_line, to_one_line
from .rules import Target
from .stations import is_document, require_match

#: Maximum number of files in a summary.
MAX_FILES = 3


class _Kind(NamedTuple):
    """Tool name of a kind of call in facts and rules, whether it changes files, and its risk."""

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
#: Tools that the agent's list has under another name; an empty name is always allowed.
_LISTED_AS = {"Move": "Edit", "Delete": "Edit", "Think": "", "Edit": "Edit"}


def get_tool(call: ExternalCall) -> str:
    """Return the tool's name in facts and rules."""
    return _KINDS[call.kind].tool


def evaluate_observed(call: ExternalCall, context: ToolContext) -> Evaluation:
    """Return the verdict on a call that the agent runs without asking."""
    return _allow(call, context, (to_check("approval", allow(reason("runs_itself"))),))


def evaluate_permission(call: ExternalCall, context: ToolContext) -> Evaluation:
    """Return the verdict on a call for which the agent asks permission."""
    checks: list[Check] = []
    try:
        _check_list(call, context)
        _check_policy(call, context)
        _check_mode(call, context)
        protected = _check_paths(call, context)
    except _DeniedError as denied:
        return _deny(call, context, checks, denied.station, denied)
    rule = _find_rule(call, context)
    if rule is not None:
        if rule.verdict == "deny":
            denied = Denial("rule_denied", explain_denial(rule, display(rule.matcher)))
            return _deny(call, context, checks, "rules", denied)
        checks.append(to_check("rules", apply_rule(rule)))
    question = _find_question(call, context, protected, rule)
    if question is None:
        mode = reason("mode_applies", mode=context.permission_mode)
        checks.append(to_check("approval", allow(mode if rule is None else explain_allowance(rule))))
        return _allow(call, context, tuple(checks))
    checks.append(to_check("approval", StationResult("ask", to_english((question,)), (question,))))
    matcher = "" if protected or (rule is not None and rule.verdict == "ask") else _offer_matcher(call, context)
    return _to_question(call, _allow(call, context, tuple(checks)), matcher, question)


def to_relative(path: str, context: ToolContext) -> str:
    """Return a path as facts store it: relative to the folder if it is inside."""
    return _to_relative(path, context)


def list_paths(call: ExternalCall, context: ToolContext) -> frozenset[str]:
    """Return the files of the call, as facts store them."""
    return frozenset(_to_relative(path, context) for path in _list_named(call))


def to_allowed(evaluation: Evaluation, checks: tuple[Check, ...]) -> Evaluation:
    """Convert an evaluation that asks to an allowed one with these checks."""
    return msgspec.structs.replace(evaluation, verdict="allow", checks=checks, prompt="", scopes=(), matchers={})


def list_changes(call: ExternalCall, context: ToolContext) -> tuple[tuple[FileChange, ...], tuple[Blob, ...]]:
    """Return the file changes that the agent reports. They can be partial, so no content is stored."""
    changes: list[FileChange] = []
    blobs: list[Blob] = []
    for change in call.diffs:
        path = _to_relative(change.path, context)
        plan = PlannedChange(path, None if change.before is None else change.before.encode(), change.after.encode())
        unified = diff(plan)
        text, more = fit_text(unified.text)
        blobs += more
        kind = "created" if change.before is None else "modified"
        changes.append(FileChange(path=path, kind=kind, added=unified.added, removed=unified.removed, diff=text))
    return tuple(changes), tuple(blobs)


class _DeniedError(Denial):
    """Denial by a station."""

    def __init__(self, station: CheckName, code: Code, *reasons: Reason) -> None:
        super().__init__(code, *reasons)
        self.station: CheckName = station


def _check_list(call: ExternalCall, context: ToolContext) -> None:
    tool = get_tool(call)
    name = _LISTED_AS.get(tool, tool)
    is_listed_ = (
        not name or is_listed(name, context) or (name == "Edit" and is_listed("Write", context)) or ALL in context.tools
    )
    if not is_listed_:
        raise _DeniedError("tools", "tool_not_listed", reason("not_listed", tool=name))


def _check_policy(call: ExternalCall, context: ToolContext) -> None:
    kind = _KINDS[call.kind]
    if kind.changes and ("Patch" not in context.policy or context.read_only):
        raise _DeniedError("policy", "policy_denied", reason("lacks_power", tool=kind.tool, power="Patch"))
    is_limited = "Patch" not in context.policy or context.read_only or context.work_globs or context.parent_globs
    if call.kind == "execute" and is_limited:
        raise _DeniedError("policy", "policy_denied", reason("unconfinable_command"))


def _check_mode(call: ExternalCall, context: ToolContext) -> None:
    if context.permission_mode != "planning":
        return
    writes_documents = _KINDS[call.kind].changes and all(
        is_document(_to_relative(path, context)) for path in _list_named(call)
    )
    if call.kind == "execute" or (_KINDS[call.kind].changes and not writes_documents):
        raise _DeniedError("mode", "mode_denied", reason("planning_commands"))


def _check_paths(call: ExternalCall, context: ToolContext) -> str:
    """Check the paths. Return the protected name that the call would write to; empty for none."""
    changes, protected = _KINDS[call.kind].changes, ""
    for written in _list_named(call):
        try:
            path = to_relative_path(context.folder, written)
            if changes:
                require_match(path, context.work_globs, context.parent_globs)
        except PathDenied as denied:
            raise _DeniedError("paths", "path_denied", *denied.reasons) from denied
        protected = protected or (watch.find_guarded(context.folder, path) if changes else "")
    return protected


def _find_rule(call: ExternalCall, context: ToolContext) -> Rule | None:
    """Return the strictest rule that matches. A rule that allows must match every file of the call."""
    applying = [rules.find_rule(context.rules, target) for target in _list_targets(call, context)]
    for verdict in ("deny", "ask"):
        for rule in applying:
            if rule is not None and rule.verdict == verdict:
                return rule
    return applying[0] if all(rule is not None for rule in applying) else None


def _find_question(call: ExternalCall, context: ToolContext, protected: str, rule: Rule | None) -> Reason | None:
    """Return why approval is required; None if it is not."""
    if protected:
        return reason("protected", path=protected)
    if rule is not None:
        return None if rule.verdict == "allow" else explain_question(rule)
    kind = _KINDS[call.kind]
    if call.kind in ("read", "search", "think"):
        return None
    if kind.changes and context.permission_mode in ("edits", "full"):
        return None
    return reason("agent_asks", mode=context.permission_mode)


def _offer_matcher(call: ExternalCall, context: ToolContext) -> str:
    targets = _list_targets(call, context)
    return rules.offer_matcher(targets[0]) if len(targets) == 1 else ""


def _list_targets(call: ExternalCall, context: ToolContext) -> tuple[Target, ...]:
    tool = get_tool(call)
    if call.kind == "execute":
        return (Target(tool=tool, command=call.command or call.title),)
    targets = tuple(Target(tool=tool, path=_to_relative(path, context)) for path in _list_named(call))
    return targets or (Target(tool=tool),)


def _list_named(call: ExternalCall) -> tuple[str, ...]:
    if call.kind == "execute":
        return ()
    return tuple(dict.fromkeys((*call.paths, *(change.path for change in call.diffs))))


def _to_relative(path: str, context: ToolContext) -> str:
    try:
        return to_relative_path(context.folder, path)
    except PathDenied:
        return display(path)


def _allow(call: ExternalCall, context: ToolContext, checks: tuple[Check, ...]) -> Evaluation:
    kind = _KINDS[call.kind]
    final = call.arguments or _encode({"title": call.title} if call.title else {})
    return Evaluation(
        verdict="allow",
        risk=kind.risk,
        read_only=not kind.changes and call.kind != "execute",
        arguments=final,
        arguments_hash=compute_digest(final),
        summary=_summarize(call, context),
        checks=checks,
        preview=call.command or (call.title if call.kind == "execute" else "\n".join(_list_diffs(call, context))),
        binding=_bind(kind.tool, call, context),
        commands=count_commands(call.command or call.title) if call.kind == "execute" else 0,
    )


def _to_question(call: ExternalCall, evaluation: Evaluation, matcher: str, question: Reason) -> Evaluation:
    matchers: dict[ApprovalScope, str] = {"session": matcher, "workspace": matcher} if matcher else {}
    return msgspec.structs.replace(
        evaluation,
        verdict="ask",
        reasons=(question,),
        prompt=f"{_write_question(call, evaluation)} {to_english((question,))}",
        scopes=("once", *matchers),
        matchers=matchers,
    )


def _write_question(call: ExternalCall, evaluation: Evaluation) -> str:
    """Return the question with the command or the files. A title alone is marked as the agent's text."""
    tool = get_tool(call)
    if call.command:
        count = count_prefix(evaluation.commands) if call.kind == "execute" else ""
        return f"{tool} {count}{to_command_line(call.command)}?"
    if _KINDS[call.kind].changes and _list_named(call):
        return f"{evaluation.summary}?"
    return f"{tool}? The agent describes it as: {to_one_line(call.title)}." if call.title else f"{evaluation.summary}?"


def _summarize(call: ExternalCall, context: ToolContext) -> str:
    """Return the tool with its command, its files, or the agent's title without a leading tool name."""
    kind = _KINDS[call.kind]
    files = [_to_relative(path, context) for path in _list_named(call)] if kind.changes else []
    if files:
        more = f" and {len(files) - MAX_FILES} more" if len(files) > MAX_FILES else ""
        return f"{kind.tool} {to_one_line(', '.join(files[:MAX_FILES]))}{more}"
    text = call.command or call.title
    first, _, rest = text.partition(" ")
    if not call.command and first.casefold() == kind.tool.casefold():
        text = rest
    elif kind.changes and text:
        return f"{kind.tool}: {to_one_line(text)}"
    return f"{kind.tool} {to_one_line(text)}".rstrip()


def _deny(
    call: ExternalCall, context: ToolContext, checks: list[Check], station: CheckName, denied: Denial
) -> Evaluation:
    message = denied.problem.message
    all_checks = (*checks, Check(name=station, verdict="deny", detail=message, reasons=denied.reasons))
    return msgspec.structs.replace(
        _allow(call, context, all_checks), verdict="deny", risk="none", code=denied.code, message=message
    )


def _bind(tool: str, call: ExternalCall, context: ToolContext) -> Binding:
    return Binding(
        tool=tool,
        arguments_hash=compute_digest(call.arguments or call.title),
        folder=context.folder,
        definition_hash=context.definition_hash,
    )


def _list_diffs(call: ExternalCall, context: ToolContext) -> list[str]:
    plans = (
        PlannedChange(
            _to_relative(change.path, context),
            None if change.before is None else change.before.encode(),
            change.after.encode(),
        )
        for change in call.diffs
    )
    return [diff(plan).text for plan in plans]


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()
