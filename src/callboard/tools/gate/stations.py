"""Stations of the gate. Every call of every agent in every mode passes them in order.

- hooks: apply the decision of the user's hooks, which may have rewritten the arguments.
- tools: the agent's list has the tool, and the arguments are valid.
- policy: the agent has Patch to write or Finalize to end the work. A read-only agent never writes.
- mode: while planning, write only Markdown files in docs/ or at the top of the folder.
- paths: the path is in the folder, follows no link, and matches the agent's globs. Plan the change.
- rules: deny wins over ask, and ask over allow.
- approval: decide whether approval is required. The use of a stored secret requires it in every mode.
- sandbox: decide the sandbox of the call.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from callboard.contracts.errors import Code, Refusal
from callboard.contracts.facts.action import ApprovalScope, Binding
from callboard.contracts.facts.permission import Check, CheckName, Reason, ReasonCode
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext
from callboard.contracts.tool_names import model_name

from .. import arguments
from ..builtin import bash, declarations, edit, find_tools, write
from ..builtin.glob import GlobArguments
from ..builtin.grep import GrepArguments
from ..files import changes, globs
from ..files.handles import Folder
from ..files.paths import PathDenied, display, relative
from ..mcp import catalog
from ..mcp.names import is_server_tool
from ..protection import protected_paths
from ..protection.atomic_write import fingerprint
from ..protection.private_paths import list_programs_in
from ..protection.watch import Watch, find_guarded
from ..reasons import Denial, HookDenial, StationResult, allow, apply_rule, explain_denial, reason, to_check
from ..shell_grammar.parser import count_commands
from . import approval, call_description, rule_trial, rules
from .call_context import CallContext, GateEnvironment

#: Result of a station that records no check.
PASSED = StationResult("allow")
#: Reasons for a read-only shell, with their counterparts if no sandbox can enforce it.
_UNENFORCEABLE: dict[ReasonCode, ReasonCode] = {
    "no_patch_held": "no_patch_unheld",
    "reader_held": "reader_unheld",
    "globs_held": "globs_unheld",
}


def evaluate(call: ToolCall, context: ToolContext, environment: GateEnvironment) -> Evaluation:
    """Return the gate's verdict. Read files and change nothing. Blocks."""
    case = CallContext(call=call, context=context, environment=environment)
    checks: list[Check] = []
    for name, station in _STATIONS:
        try:
            result = station(case)
        except Denial as denied:
            return _deny(case, checks, name, denied.code, denied.problem.message, denied.reasons)
        except Refusal as refusal:
            return _deny(case, checks, name, refusal.code, refusal.problem.message)
        except PathDenied as denied:
            return _deny(case, checks, name, "path_denied", denied.message, denied.reasons)
        except OSError as error:
            return _deny(case, checks, name, "tool_failed", f"{_describe_subject(case)}: {error.strerror or error}.")
        if result != PASSED:
            checks.append(to_check(name, result))
    return _to_evaluation(case, checks)


def _check_hooks(case: CallContext) -> StationResult:
    hook_result = case.call.hook_result
    if hook_result is None:
        return PASSED
    if hook_result.verdict == "deny":
        raise HookDenial(hook_result)
    return StationResult(hook_result.verdict, hook_result.detail, hook_result.reasons)


def _check_tool(case: CallContext) -> StationResult:
    name, server_tools = display(model_name(case.call.tool)), case.environment.server_tools
    tool = declarations.find_tool(case.call.tool, server_tools)
    can_find = case.call.tool == find_tools.NAME and bool(declarations.list_findable(case.context, server_tools))
    if not (can_find or declarations.is_listed(case.call.tool, case.context)):
        available = (
            ", ".join(model_name(spec.name) for spec in declarations.list_specs(case.context, server_tools)) or "none"
        )
        raise Denial("tool_not_listed", reason("not_listed", tool=name), reason("listed_are", tools=available))
    if is_server_tool(case.call.tool) and (
        tool is None or tool.offer is None or server_tools.find_outage(tool.offer.server)
    ):
        raise catalog.explain_missing(case.call.tool, server_tools)
    if tool is None:
        raise Denial(
            "tool_unknown", reason("tool_unknown", tool=name, tools=", ".join(map(model_name, declarations.TOOLS)))
        )
    case.tool = tool
    if tool.offer is not None:
        if tool.offer.deferred and tool.name not in case.context.loaded_tools:
            raise Denial("tool_not_listed", reason("not_loaded", tool=name, find=model_name(find_tools.NAME)))
        decoded = catalog.decode(tool.offer, case.call.arguments)
        case.arguments, case.canonical = decoded, decoded.canonical()
        return PASSED
    case.arguments = arguments.decode(tool.arguments, case.call.arguments)
    case.canonical = arguments.canonical(case.arguments)
    if isinstance(case.arguments, bash.BashArguments):
        bash.check_command(case.arguments)
    return PASSED


def _check_policy(case: CallContext) -> StationResult:
    policy = case.tool.policy
    if not declarations.has_policy(case.tool, case.context):
        raise Denial("policy_denied", reason("lacks_power", tool=model_name(case.tool.name), power=policy or ""))
    if policy == "Patch" and case.context.read_only:
        code = "only_reads_server" if case.is_server_tool else "only_reads"
        raise Denial("policy_denied", reason(code, tool=model_name(case.tool.name)))
    if policy == "Patch" and case.is_server_tool and case.globs:
        raise Denial("policy_denied", reason("unconfinable", tool=case.tool.name, globs=", ".join(case.globs)))
    if case.is_merge and case.globs:
        raise Denial("policy_denied", reason("unconfinable_merge", globs=", ".join(case.globs)))
    if case.is_shell and (read_only_reason := case.read_only_reason) is not None:
        if not case.is_sandboxed:
            unheld = {**read_only_reason.parameters, "why": case.environment.explain_no_sandbox(case.context.folder)}
            raise Denial("policy_denied", reason(_UNENFORCEABLE[read_only_reason.code], **unheld))
        return allow(read_only_reason)
    return StationResult("allow", policy or "")


def _check_mode(case: CallContext) -> StationResult:
    only_mode = case.tool.only_mode
    if only_mode is not None and case.context.mode != only_mode:
        raise Denial("mode_denied", reason("mode_only", tool=model_name(case.tool.name), mode=only_mode))
    if case.context.permission_mode != "planning":
        return PASSED
    if case.is_shell and not case.is_sandboxed:
        raise Denial(
            "mode_denied", reason("planning_unheld", why=case.environment.explain_no_sandbox(case.context.folder))
        )
    if case.is_change and not is_document(case.lexical_path):
        raise Denial("mode_denied", reason("planning_documents"))
    if case.is_merge:
        raise Denial("mode_denied", reason("planning_merge"))
    if case.is_server_tool and case.tool.policy is not None:
        raise Denial("mode_denied", reason("planning_changes", tool=case.tool.name))
    return allow(reason("planning"))


def _check_paths(case: CallContext) -> StationResult:
    if case.is_shell:
        with Folder(case.context.folder, case.environment.hidden) as folder:
            if case.is_sandboxed and case.may_write:
                watch = Watch(folder.path)
                case.unprotected, case.protected_below = (
                    (*protected_paths.list_unprotectable(folder), *watch.unprotected),
                    watch.relative_protected,
                )
        return PASSED
    if case.written_path is None:
        return PASSED
    case.path = relative(case.context.folder, case.written_path)
    if case.is_change:
        require_match(case.path, case.context.work_globs, case.context.parent_globs)
    with Folder(case.context.folder, case.environment.hidden) as folder:
        folder.read_status(case.path)
        match case.arguments:
            case write.WriteArguments() as planned:
                case.plan = write.plan(folder, case.path, planned)
            case edit.EditArguments() as planned:
                case.plan = edit.plan(folder, case.path, planned)
            case GlobArguments(pattern=pattern) | GrepArguments(glob=pattern):
                relative(case.context.folder, pattern)
                return _report_path(case)
            case _:
                return _report_path(case)
    case.protected = find_guarded(case.context.folder, case.path) or _find_program_folder(case, case.path)
    if case.protected:
        return allow(reason("in_protected", path=case.path, protected=case.protected))
    return _report_path(case)


def _find_program_folder(case: CallContext, path: str) -> str:
    """Return the folder of programs that contains the path; empty for none."""
    folder = case.context.folder.rstrip("/")
    programs = list_programs_in(folder, case.environment.programs, str(Path.home()), os.environ.get("PATH", ""))
    return next(
        (program[len(folder) + 1 :] for program in programs if f"{folder}/{path}".startswith(f"{program}/")), ""
    )


def require_match(path: str, *limits: tuple[str, ...]) -> None:
    """Raise PathDenied unless the path matches each set of globs. An empty set matches every path."""
    for limit in limits:
        if limit and not any(globs.is_match(glob, path) for glob in limit):
            raise PathDenied("outside_globs", path=display(path), globs=", ".join(limit))


def _report_path(case: CallContext) -> StationResult:
    """Report the relative path if it differs from the model's text."""
    if case.path == case.written_path:
        return PASSED
    return StationResult("allow", case.path) if case.path else allow(reason("the_folder"))


def _check_rules(case: CallContext) -> StationResult:
    case.rule = rules.find_rule(case.context.rules, case.target)
    if case.rule is None:
        former = rules.find_outdated(case.context.rules, case.target)
        return PASSED if former is None else allow(reason("rule_outdated", matcher=former.matcher))
    if case.rule.verdict == "deny":
        raise Denial("rule_denied", explain_denial(case.rule, display(case.rule.matcher)))
    return apply_rule(case.rule)


def _decide_sandbox(case: CallContext) -> StationResult:
    # The fact `sandbox.applied` follows for an allowed call.
    case.sandbox = case.confinement()
    return PASSED


_STATIONS: tuple[tuple[CheckName, Callable[[CallContext], StationResult]], ...] = (
    ("hooks", _check_hooks),
    ("tools", _check_tool),
    ("policy", _check_policy),
    ("mode", _check_mode),
    ("paths", _check_paths),
    ("rules", _check_rules),
    ("approval", approval.decide),
    ("sandbox", _decide_sandbox),
)


def is_document(path: str | None) -> bool:
    """Return True for Markdown files in docs/ or at the top, which agents may write while planning.

    None is an invalid path, which the next station denies.
    """
    return path is None or (path.lower().endswith(".md") and ("/" not in path or path.startswith("docs/")))


def _deny(
    case: CallContext,
    checks: list[Check],
    station: CheckName,
    code: Code,
    message: str,
    reasons: tuple[Reason, ...] = (),
) -> Evaluation:
    final = case.canonical or case.call.arguments
    return Evaluation(
        verdict="deny",
        risk="none",
        read_only=not (case.is_shell or case.is_change or case.is_merge or case.creates_team or case.is_server_tool),
        arguments=final,
        arguments_hash=arguments.digest(final),
        summary=_summarize(case),
        checks=(*checks, Check(name=station, verdict="deny", detail=message, reasons=reasons)),
        code=code,
        message=message,
    )


def _summarize(case: CallContext) -> str:
    """Describe a denied call in one line, also if its arguments are invalid."""
    tool = display(case.call.tool)
    if case.arguments is not None:
        return call_description.summarize(tool, case.arguments, case.shown_path)
    target = rule_trial.read_target(case.call.tool, case.call.arguments, case.context.folder)
    return f"{tool} {call_description.one_line(rule_trial.describe_target(target))}".rstrip()


def _to_evaluation(case: CallContext, checks: list[Check]) -> Evaluation:
    diff = changes.diff(case.plan) if case.plan is not None else None
    needs_approval = any(check.verdict == "ask" for check in checks)
    matchers = _offer_matchers(case) if needs_approval else {}
    tool = case.tool.name
    return Evaluation(
        verdict="ask" if needs_approval else "allow",
        risk="high"
        if case.unapproved_secrets
        else catalog.assess_risk(case.tool.offer)
        if case.tool.offer is not None
        else call_description.assess_risk(case.checked_arguments, case.plan, case.protected, case.sandbox),
        read_only=not (
            case.is_change
            or case.is_merge
            or case.creates_team
            or (case.is_shell and (case.may_write or not case.is_sandboxed))
            or (case.is_server_tool and case.tool.policy is not None)
        ),
        arguments=case.canonical,
        arguments_hash=arguments.digest(case.canonical),
        summary=call_description.summarize(tool, case.arguments, case.shown_path),
        checks=tuple(checks),
        prompt=call_description.write_question(
            tool, case.checked_arguments, case.shown_path, case.plan, diff, case.sandbox, approval.explain(case)
        )
        if needs_approval
        else "",
        preview=diff.text if diff is not None else case.target.command or case.formatted_arguments,
        binding=_bind(case) if needs_approval or case.is_change or case.is_shell or case.is_server_tool else None,
        scopes=("once", *matchers) if needs_approval else (),
        matchers=matchers,
        sandbox=case.sandbox,
        background=isinstance(case.arguments, bash.BashArguments) and case.arguments.background,
        commands=count_commands(case.arguments.command)
        if needs_approval and isinstance(case.arguments, bash.BashArguments)
        else 0,
        reasons=(*case.reasons, *approval.list_stakes(case)) if needs_approval else (),
    )


def _bind(case: CallContext) -> Binding:
    return Binding(
        tool=case.tool.name,
        arguments_hash=arguments.digest(case.canonical),
        folder=case.context.folder,
        definition_hash=case.context.definition_hash,
        file=case.plan.path if case.plan is not None else "",
        file_hash=fingerprint(case.plan.before) if case.plan is not None else "",
        declared=case.tool.offer.digest if case.tool.offer is not None else "",
    )


def _offer_matchers(case: CallContext) -> dict[ApprovalScope, str]:
    """Return the rules that lasting approvals would add; empty if no rule can replace the question."""
    is_always_asked = (case.rule is not None and case.rule.verdict == "ask") or case.hook_asks
    matcher = (
        ""
        if case.protected
        or case.unprotected
        or case.creates_team
        or case.asks_person
        or is_always_asked
        or (case.is_shell and not case.is_sandboxed)
        else rules.offer_matcher(case.target, exactly=bool(case.unapproved_secrets))
    )
    return {"session": matcher, "workspace": matcher} if matcher else {}


def _describe_subject(case: CallContext) -> str:
    return display(case.shown_path or case.context.folder)
