"""The gate. Every call of every agent in every mode passes these stations in order.

hooks      hooks of the person decided, and may have rewritten the arguments tools      the agent's
list has the tool, and the arguments are valid policy     the agent has the policy: Patch to write,
Finalize to end the work; a read-only agent never writes mode       while planning, only Markdown
files in docs/ or at the top of the folder are written paths      the path stays in the folder,
follows no link, and matches the agent's globs; the change is computed rules      deny wins over
ask, and ask over allow approval   whether approval is required; in every mode for the use of a
stored secret sandbox    the confinement of the call
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

#: Result of a station without a check.
PASSED = StationResult("allow")
#: Reasons for a read-only shell, and their counterparts where no sandbox can enforce it.
_UNHELD: dict[ReasonCode, ReasonCode] = {
    "no_patch_held": "no_patch_unheld",
    "reader_held": "reader_unheld",
    "globs_held": "globs_unheld",
}


def evaluate(call: ToolCall, context: ToolContext, ground: GateEnvironment) -> Evaluation:
    """Return the gate's verdict. Reads files and changes nothing. Blocks."""
    case = CallContext(call=call, context=context, environment=ground)
    checks: list[Check] = []
    for name, station in _STATIONS:
        try:
            said = station(case)
        except Denial as denied:
            return _denied(case, checks, name, denied.code, denied.problem.message, denied.reasons)
        except Refusal as refusal:
            return _denied(case, checks, name, refusal.code, refusal.problem.message)
        except PathDenied as denied:
            return _denied(case, checks, name, "path_denied", denied.message, denied.reasons)
        except OSError as error:
            return _denied(case, checks, name, "tool_failed", f"{_subject(case)}: {error.strerror or error}.")
        if said != PASSED:
            checks.append(to_check(name, said))
    return _passed(case, checks)


def _hooks(case: CallContext) -> StationResult:
    said = case.call.hook_result
    if said is None:
        return PASSED
    if said.verdict == "deny":
        raise HookDenial(said)
    return StationResult(said.verdict, said.detail, said.reasons)


def _tools(case: CallContext) -> StationResult:
    name, there = display(model_name(case.call.tool)), case.environment.server_tools
    kind = declarations.find_tool(case.call.tool, there)
    finds = case.call.tool == find_tools.NAME and bool(declarations.list_findable(case.context, there))
    if not (finds or declarations.is_listed(case.call.tool, case.context)):
        known = ", ".join(model_name(spec.name) for spec in declarations.list_specs(case.context, there)) or "none"
        raise Denial("tool_not_listed", reason("not_listed", tool=name), reason("listed_are", tools=known))
    if is_server_tool(case.call.tool) and (kind is None or kind.offer is None or there.find_outage(kind.offer.server)):
        raise catalog.explain_missing(case.call.tool, there)
    if kind is None:
        raise Denial(
            "tool_unknown", reason("tool_unknown", tool=name, tools=", ".join(map(model_name, declarations.TOOLS)))
        )
    case.tool = kind
    if kind.offer is not None:
        if kind.offer.deferred and kind.name not in case.context.loaded_tools:
            raise Denial("tool_not_listed", reason("not_loaded", tool=name, find=model_name(find_tools.NAME)))
        given = catalog.decode(kind.offer, case.call.arguments)
        case.arguments, case.canonical = given, given.canonical()
        return PASSED
    case.arguments = arguments.decode(kind.arguments, case.call.arguments)
    case.canonical = arguments.canonical(case.arguments)
    if isinstance(case.arguments, bash.BashArguments):
        bash.check_command(case.arguments)
    return PASSED


def _policy(case: CallContext) -> StationResult:
    power = case.tool.policy
    if not declarations.has_policy(case.tool, case.context):
        raise Denial("policy_denied", reason("lacks_power", tool=model_name(case.tool.name), power=power or ""))
    if power == "Patch" and case.context.read_only:
        code = "only_reads_server" if case.is_server_tool else "only_reads"
        raise Denial("policy_denied", reason(code, tool=model_name(case.tool.name)))
    if power == "Patch" and case.is_server_tool and case.globs:
        raise Denial("policy_denied", reason("unconfinable", tool=case.tool.name, globs=", ".join(case.globs)))
    if case.is_merge and case.globs:
        raise Denial("policy_denied", reason("unconfinable_merge", globs=", ".join(case.globs)))
    if case.is_shell and (why := case.read_only_reason) is not None:
        if not case.is_sandboxed:
            unheld = {**why.parameters, "why": case.environment.explain_no_sandbox(case.context.folder)}
            raise Denial("policy_denied", reason(_UNHELD[why.code], **unheld))
        return allow(why)
    return StationResult("allow", power or "")


def _mode(case: CallContext) -> StationResult:
    only = case.tool.only_mode
    if only is not None and case.context.mode != only:
        raise Denial("mode_denied", reason("mode_only", tool=model_name(case.tool.name), mode=only))
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


def _paths(case: CallContext) -> StationResult:
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
        _within(case.path, case.context.work_globs, case.context.parent_globs)
    with Folder(case.context.folder, case.environment.hidden) as folder:
        folder.read_status(case.path)
        match case.arguments:
            case write.WriteArguments() as asked:
                case.plan = write.plan(folder, case.path, asked)
            case edit.EditArguments() as asked:
                case.plan = edit.plan(folder, case.path, asked)
            case GlobArguments(pattern=pattern) | GrepArguments(glob=pattern):
                relative(case.context.folder, pattern)
                return _went_to(case)
            case _:
                return _went_to(case)
    case.protected = find_guarded(case.context.folder, case.path) or _program(case, case.path)
    if case.protected:
        return allow(reason("in_protected", path=case.path, protected=case.protected))
    return _went_to(case)


def _program(case: CallContext, path: str) -> str:
    """Return the folder of programs that a change would go to; empty for none."""
    folder = case.context.folder.rstrip("/")
    own = list_programs_in(folder, case.environment.programs, str(Path.home()), os.environ.get("PATH", ""))
    return next((one[len(folder) + 1 :] for one in own if f"{folder}/{path}".startswith(f"{one}/")), "")


def _within(path: str, *limits: tuple[str, ...]) -> None:
    """Check that a path matches each set of globs; an empty set matches every path.

    Raises:
        PathDenied: The path is outside a set.
    """
    for limit in limits:
        if limit and not any(_fits(one, path) for one in limit):
            raise PathDenied("outside_globs", path=display(path), globs=", ".join(limit))


def _fits(glob: str, path: str) -> bool:
    try:
        return globs.matches(glob, path)
    except globs.InvalidGlobError:
        return False


def _went_to(case: CallContext) -> StationResult:
    """Return the relative path if it differs from the model's text."""
    if case.path == case.written_path:
        return PASSED
    return StationResult("allow", case.path) if case.path else allow(reason("the_folder"))


def _rules(case: CallContext) -> StationResult:
    case.rule = rules.find_rule(case.context.rules, case.target)
    if case.rule is None:
        former = rules.find_outdated(case.context.rules, case.target)
        return PASSED if former is None else allow(reason("rule_outdated", matcher=former.matcher))
    if case.rule.verdict == "deny":
        raise Denial("rule_denied", explain_denial(case.rule, display(case.rule.matcher)))
    return apply_rule(case.rule)


def _sandbox(case: CallContext) -> StationResult:
    # The fact `sandbox.applied` follows for an allowed call.
    case.sandbox = case.confinement()
    return PASSED


_STATIONS: tuple[tuple[CheckName, Callable[[CallContext], StationResult]], ...] = (
    ("hooks", _hooks),
    ("tools", _tools),
    ("policy", _policy),
    ("mode", _mode),
    ("paths", _paths),
    ("rules", _rules),
    ("approval", approval.decide),
    ("sandbox", _sandbox),
)


def is_document(path: str | None) -> bool:
    """Return True for files that may be written while planning: Markdown in docs/ or at the top of
    the folder.

    None is an invalid path, which the next station denies.
    """
    return path is None or (path.lower().endswith(".md") and ("/" not in path or path.startswith("docs/")))


def _denied(
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
        summary=_told(case),
        checks=(*checks, Check(name=station, verdict="deny", detail=message, reasons=reasons)),
        code=code,
        message=message,
    )


def _told(case: CallContext) -> str:
    """Return one line for the row of a denied call, also if its arguments were never decoded."""
    tool = display(case.call.tool)
    if case.arguments is not None:
        return call_description.summary(tool, case.arguments, case.shown_path)
    of = rule_trial.read_target(case.call.tool, case.call.arguments, case.context.folder)
    return f"{tool} {call_description.one_line(rule_trial.describe_target(of))}".rstrip()


def _passed(case: CallContext, checks: list[Check]) -> Evaluation:
    found = changes.diff(case.plan) if case.plan is not None else None
    asks = any(one.verdict == "ask" for one in checks)
    matchers = _matchers(case) if asks else {}
    tool = case.tool.name
    return Evaluation(
        verdict="ask" if asks else "allow",
        risk="high"
        if case.unapproved_secrets
        else catalog.assess_risk(case.tool.offer)
        if case.tool.offer is not None
        else call_description.risk(case.checked_arguments, case.plan, case.protected, case.sandbox),
        read_only=not (
            case.is_change
            or case.is_merge
            or case.creates_team
            or (case.is_shell and (case.may_write or not case.is_sandboxed))
            or (case.is_server_tool and case.tool.policy is not None)
        ),
        arguments=case.canonical,
        arguments_hash=arguments.digest(case.canonical),
        summary=call_description.summary(tool, case.arguments, case.shown_path),
        checks=tuple(checks),
        prompt=call_description.prompt(
            tool, case.checked_arguments, case.shown_path, case.plan, found, case.sandbox, approval.explain(case)
        )
        if asks
        else "",
        preview=found.text if found is not None else case.target.command or case.formatted_arguments,
        binding=_binding(case) if asks or case.is_change or case.is_shell or case.is_server_tool else None,
        scopes=("once", *matchers) if asks else (),
        matchers=matchers,
        sandbox=case.sandbox,
        background=isinstance(case.arguments, bash.BashArguments) and case.arguments.background,
        commands=count_commands(case.arguments.command)
        if asks and isinstance(case.arguments, bash.BashArguments)
        else 0,
        reasons=(*case.reasons, *approval.list_stakes(case)) if asks else (),
    )


def _binding(case: CallContext) -> Binding:
    return Binding(
        tool=case.tool.name,
        arguments_hash=arguments.digest(case.canonical),
        folder=case.context.folder,
        definition_hash=case.context.definition_hash,
        file=case.plan.path if case.plan is not None else "",
        file_hash=fingerprint(case.plan.before) if case.plan is not None else "",
        declared=case.tool.offer.digest if case.tool.offer is not None else "",
    )


def _matchers(case: CallContext) -> dict[ApprovalScope, str]:
    """Return the rules that wider approvals would add; empty if no rule could replace the next question."""
    ruled = (case.rule is not None and case.rule.verdict == "ask") or case.hook_asks
    matcher = (
        ""
        if case.protected
        or case.unprotected
        or case.creates_team
        or case.asks_person
        or ruled
        or (case.is_shell and not case.is_sandboxed)
        else rules.offer_matcher(case.target, exactly=bool(case.unapproved_secrets))
    )
    return {"session": matcher, "workspace": matcher} if matcher else {}


def _subject(case: CallContext) -> str:
    return display(case.shown_path or case.context.folder)
