"""Stations of the gate. Every call of every agent in every mode passes them in order.

- hooks: apply the decision of the hooks, which may have rewritten the arguments.
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
from callboard.contracts.tool_names import to_model_name

from .. import arguments
from ..builtin import bash, declarations, edit, find_tools, write
from ..builtin.glob import GlobArguments
from ..builtin.grep import GrepArguments
from ..files import changes, globs
from ..files.handles import Folder
from ..files.paths import PathDenied, display, to_relative_path
from ..mcp import catalog
from ..mcp.names import is_server_tool
from ..protection import protected_paths
from ..protection.atomic_write import compute_fingerprint
from ..protection.private_paths import list_programs_in
from ..protection.watch import Watch, find_guarded
from ..reasons import Denial, HookDenial, StationResult, allow, apply_rule, explain_denial, reason, to_check
from ..shell_grammar.parser import count_commands
from . import approval_station, call_description, rule_trial, rules
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
    call_context = CallContext(call=call, context=context, environment=environment)
    checks: list[Check] = []
    for name, station in _STATIONS:
        try:
            result = station(call_context)
        except Denial as denied:
            return _deny(call_context, checks, name, denied.code, denied.problem.message, denied.reasons)
        except Refusal as refusal:
            return _deny(call_context, checks, name, refusal.code, refusal.text)
        except PathDenied as denied:
            return _deny(call_context, checks, name, "path_denied", denied.message, denied.reasons)
        except OSError as error:
            return _deny(
                call_context,
                checks,
                name,
                "tool_failed",
                f"{_describe_subject(call_context)}: {error.strerror or error}.",
            )
        if result != PASSED:
            checks.append(to_check(name, result))
    return _to_evaluation(call_context, checks)


def _check_hooks(call_context: CallContext) -> StationResult:
    hook_result = call_context.call.hook_result
    if hook_result is None:
        return PASSED
    if hook_result.verdict == "deny":
        raise HookDenial(hook_result)
    return StationResult(hook_result.verdict, hook_result.detail, hook_result.reasons)


def _check_tool(call_context: CallContext) -> StationResult:
    name, server_tools = display(to_model_name(call_context.call.tool)), call_context.environment.server_tools
    tool = declarations.find_tool(call_context.call.tool, server_tools)
    can_find = call_context.call.tool == find_tools.NAME and bool(
        declarations.list_findable(call_context.context, server_tools)
    )
    if not (can_find or declarations.is_listed(call_context.call.tool, call_context.context)):
        available = (
            ", ".join(to_model_name(spec.name) for spec in declarations.list_specs(call_context.context, server_tools))
            or "none"
        )
        raise Denial("tool_not_listed", reason("not_listed", tool=name), reason("listed_are", tools=available))
    if is_server_tool(call_context.call.tool) and (
        tool is None or tool.offer is None or server_tools.find_outage(tool.offer.server)
    ):
        raise catalog.explain_missing(call_context.call.tool, server_tools)
    if tool is None:
        raise Denial(
            "tool_unknown", reason("tool_unknown", tool=name, tools=", ".join(map(to_model_name, declarations.TOOLS)))
        )
    call_context.tool = tool
    if tool.offer is not None:
        if tool.offer.deferred and tool.name not in call_context.context.loaded_tools:
            raise Denial("tool_not_listed", reason("not_loaded", tool=name, find=to_model_name(find_tools.NAME)))
        decoded = catalog.decode(tool.offer, call_context.call.arguments)
        call_context.arguments, call_context.canonical = decoded, decoded.canonical()
        return PASSED
    call_context.arguments = arguments.decode(tool.arguments, call_context.call.arguments)
    call_context.canonical = arguments.encode_canonical(call_context.arguments)
    if isinstance(call_context.arguments, bash.BashArguments):
        bash.check_command(call_context.arguments)
    return PASSED


def _check_policy(call_context: CallContext) -> StationResult:
    policy = call_context.tool.policy
    if not declarations.has_policy(call_context.tool, call_context.context):
        raise Denial(
            "policy_denied", reason("lacks_power", tool=to_model_name(call_context.tool.name), power=policy or "")
        )
    if policy == "Patch" and call_context.context.read_only:
        code = "only_reads_server" if call_context.is_server_tool else "only_reads"
        raise Denial("policy_denied", reason(code, tool=to_model_name(call_context.tool.name)))
    if policy == "Patch" and call_context.is_server_tool and call_context.globs:
        raise Denial(
            "policy_denied", reason("unconfinable", tool=call_context.tool.name, globs=", ".join(call_context.globs))
        )
    if call_context.is_merge and call_context.globs:
        raise Denial("policy_denied", reason("unconfinable_merge", globs=", ".join(call_context.globs)))
    if call_context.is_shell and (read_only_reason := call_context.read_only_reason) is not None:
        if not call_context.is_sandboxed:
            unheld = {
                **read_only_reason.parameters,
                "why": call_context.environment.explain_no_sandbox(call_context.context.folder),
            }
            raise Denial("policy_denied", reason(_UNENFORCEABLE[read_only_reason.code], **unheld))
        return allow(read_only_reason)
    return StationResult("allow", policy or "")


def _check_mode(call_context: CallContext) -> StationResult:
    only_mode = call_context.tool.only_mode
    if only_mode is not None and call_context.context.mode != only_mode:
        raise Denial("mode_denied", reason("mode_only", tool=to_model_name(call_context.tool.name), mode=only_mode))
    if call_context.context.permission_mode != "planning":
        return PASSED
    if call_context.is_shell and not call_context.is_sandboxed:
        raise Denial(
            "mode_denied",
            reason("planning_unheld", why=call_context.environment.explain_no_sandbox(call_context.context.folder)),
        )
    if call_context.is_change and not is_document(call_context.lexical_path):
        raise Denial("mode_denied", reason("planning_documents"))
    if call_context.is_merge:
        raise Denial("mode_denied", reason("planning_merge"))
    if call_context.is_server_tool and call_context.tool.policy is not None:
        raise Denial("mode_denied", reason("planning_changes", tool=call_context.tool.name))
    return allow(reason("planning"))


def _check_paths(call_context: CallContext) -> StationResult:
    if call_context.is_shell:
        with Folder(call_context.context.folder, call_context.environment.hidden) as folder:
            if call_context.is_sandboxed and call_context.may_write:
                watch = Watch(folder.path)
                call_context.unprotected, call_context.protected_below = (
                    (*protected_paths.list_unprotectable(folder), *watch.unprotected),
                    watch.relative_protected,
                )
        return PASSED
    if call_context.written_path is None:
        return PASSED
    call_context.path = to_relative_path(call_context.context.folder, call_context.written_path)
    if call_context.is_change:
        require_match(call_context.path, call_context.context.work_globs, call_context.context.parent_globs)
    with Folder(call_context.context.folder, call_context.environment.hidden) as folder:
        folder.read_status(call_context.path)
        match call_context.arguments:
            case write.WriteArguments() as planned:
                call_context.plan = write.plan(folder, call_context.path, planned)
            case edit.EditArguments() as planned:
                call_context.plan = edit.plan(folder, call_context.path, planned)
            case GlobArguments(pattern=pattern) | GrepArguments(glob=pattern):
                to_relative_path(call_context.context.folder, pattern)
                return _report_path(call_context)
            case _:
                return _report_path(call_context)
    call_context.protected = find_guarded(call_context.context.folder, call_context.path) or _find_program_folder(
        call_context, call_context.path
    )
    if call_context.protected:
        return allow(reason("in_protected", path=call_context.path, protected=call_context.protected))
    return _report_path(call_context)


def _find_program_folder(call_context: CallContext, path: str) -> str:
    """Return the folder of programs that contains the path; empty for none."""
    folder = call_context.context.folder.rstrip("/")
    programs = list_programs_in(folder, call_context.environment.programs, str(Path.home()), os.environ.get("PATH", ""))
    return next(
        (program[len(folder) + 1 :] for program in programs if f"{folder}/{path}".startswith(f"{program}/")), ""
    )


def require_match(path: str, *limits: tuple[str, ...]) -> None:
    """Raise PathDenied unless the path matches each set of globs. An empty set matches every path."""
    for limit in limits:
        if limit and not any(globs.is_match(glob, path) for glob in limit):
            raise PathDenied("outside_globs", path=display(path), globs=", ".join(limit))


def _report_path(call_context: CallContext) -> StationResult:
    """Report the relative path if it differs from the model's text."""
    if call_context.path == call_context.written_path:
        return PASSED
    return StationResult("allow", call_context.path) if call_context.path else allow(reason("the_folder"))


def _check_rules(call_context: CallContext) -> StationResult:
    call_context.rule = rules.find_rule(call_context.context.rules, call_context.target)
    if call_context.rule is None:
        former = rules.find_outdated(call_context.context.rules, call_context.target)
        return PASSED if former is None else allow(reason("rule_outdated", matcher=former.matcher))
    if call_context.rule.verdict == "deny":
        raise Denial("rule_denied", explain_denial(call_context.rule, display(call_context.rule.matcher)))
    return apply_rule(call_context.rule)


def _decide_sandbox(call_context: CallContext) -> StationResult:
    # The fact `sandbox.applied` follows for an allowed call.
    call_context.sandbox = call_context.confinement()
    return PASSED


_STATIONS: tuple[tuple[CheckName, Callable[[CallContext], StationResult]], ...] = (
    ("hooks", _check_hooks),
    ("tools", _check_tool),
    ("policy", _check_policy),
    ("mode", _check_mode),
    ("paths", _check_paths),
    ("rules", _check_rules),
    ("approval", approval_station.decide),
    ("sandbox", _decide_sandbox),
)


def is_document(path: str | None) -> bool:
    """Return True for Markdown files in docs/ or at the top, which agents may write while planning.

    None is an invalid path, which the next station denies.
    """
    return path is None or (path.lower().endswith(".md") and ("/" not in path or path.startswith("docs/")))


def _deny(
    call_context: CallContext,
    checks: list[Check],
    station: CheckName,
    code: Code,
    message: str,
    reasons: tuple[Reason, ...] = (),
) -> Evaluation:
    final = call_context.canonical or call_context.call.arguments
    return Evaluation(
        verdict="deny",
        risk="none",
        read_only=not (
            call_context.is_shell
            or call_context.is_change
            or call_context.is_merge
            or call_context.creates_team
            or call_context.is_server_tool
        ),
        arguments=final,
        arguments_hash=arguments.compute_digest(final),
        summary=_summarize(call_context),
        checks=(*checks, Check(name=station, verdict="deny", detail=message, reasons=reasons)),
        code=code,
        message=message,
    )


def _summarize(call_context: CallContext) -> str:
    """Describe a denied call in one line, also if its arguments are invalid."""
    tool = display(call_context.call.tool)
    if call_context.arguments is not None:
        return call_description.summarize(tool, call_context.arguments, call_context.shown_path)
    target = rule_trial.read_target(call_context.call.tool, call_context.call.arguments, call_context.context.folder)
    return f"{tool} {call_description.to_one_line(rule_trial.describe_target(target))}".rstrip()


def _to_evaluation(call_context: CallContext, checks: list[Check]) -> Evaluation:
    diff = changes.diff(call_context.plan) if call_context.plan is not None else None
    needs_approval = any(check.verdict == "ask" for check in checks)
    matchers = _offer_matchers(call_context) if needs_approval else {}
    tool = call_context.tool.name
    return Evaluation(
        verdict="ask" if needs_approval else "allow",
        risk="high"
        if call_context.unapproved_secrets
        else catalog.assess_risk(call_context.tool.offer)
        if call_context.tool.offer is not None
        else call_description.assess_risk(
            call_context.checked_arguments, call_context.plan, call_context.protected, call_context.sandbox
        ),
        read_only=not (
            call_context.is_change
            or call_context.is_merge
            or call_context.creates_team
            or (call_context.is_shell and (call_context.may_write or not call_context.is_sandboxed))
            or (call_context.is_server_tool and call_context.tool.policy is not None)
        ),
        arguments=call_context.canonical,
        arguments_hash=arguments.compute_digest(call_context.canonical),
        summary=call_description.summarize(tool, call_context.arguments, call_context.shown_path),
        checks=tuple(checks),
        prompt=call_description.write_question(
            tool,
            call_context.checked_arguments,
            call_context.shown_path,
            call_context.plan,
            diff,
            call_context.sandbox,
            approval_station.explain(call_context),
        )
        if needs_approval
        else "",
        preview=diff.text if diff is not None else call_context.target.command or call_context.formatted_arguments,
        binding=_bind(call_context)
        if needs_approval or call_context.is_change or call_context.is_shell or call_context.is_server_tool
        else None,
        scopes=("once", *matchers) if needs_approval else (),
        matchers=matchers,
        sandbox=call_context.sandbox,
        background=isinstance(call_context.arguments, bash.BashArguments) and call_context.arguments.background,
        commands=count_commands(call_context.arguments.command)
        if needs_approval and isinstance(call_context.arguments, bash.BashArguments)
        else 0,
        reasons=(*call_context.reasons, *approval_station.list_stakes(call_context)) if needs_approval else (),
    )


def _bind(call_context: CallContext) -> Binding:
    return Binding(
        tool=call_context.tool.name,
        arguments_hash=arguments.compute_digest(call_context.canonical),
        folder=call_context.context.folder,
        definition_hash=call_context.context.definition_hash,
        file=call_context.plan.path if call_context.plan is not None else "",
        file_hash=compute_fingerprint(call_context.plan.before) if call_context.plan is not None else "",
        declared=call_context.tool.offer.digest if call_context.tool.offer is not None else "",
    )


def _offer_matchers(call_context: CallContext) -> dict[ApprovalScope, str]:
    """Return the rules that lasting approvals would add; empty if no rule can replace the question."""
    is_always_asked = (call_context.rule is not None and call_context.rule.verdict == "ask") or call_context.hook_asks
    matcher = (
        ""
        if call_context.protected
        or call_context.unprotected
        or call_context.creates_team
        or call_context.asks_person
        or is_always_asked
        or (call_context.is_shell and not call_context.is_sandboxed)
        else rules.offer_matcher(call_context.target, exactly=bool(call_context.unapproved_secrets))
    )
    return {"session": matcher, "workspace": matcher} if matcher else {}


def _describe_subject(call_context: CallContext) -> str:
    return display(call_context.shown_path or call_context.context.folder)
