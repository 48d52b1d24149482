"""The one gate. Every call of every agent in every mode passes its stations in their order, and each that has something to
say leaves a check.

hooks      what programs of the person's own said when the call was asked for; they may have rewritten the arguments
tools      the agent's list has the tool, and the arguments are what the tool takes
policy     the agent has the power: Patch for every way to write, Finalize to end the work; one that reads only writes nothing
mode       while planning only documents are written: Markdown in docs/ or at the top of the folder
paths      the path stays in the folder, through no link, and within the agent's globs; what would change is worked out
rules      deny wins, then ask, then allow
approval   whether a person has to say yes: to what spends a secret that is kept, in every mode
sandbox    what holds the call in
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from callboard.contracts.errors import Code, Refusal
from callboard.contracts.facts.action import ApprovalScope, Binding
from callboard.contracts.facts.permission import Check, CheckName, Verdict
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext
from callboard.contracts.tool_names import model_name

from . import approval, arguments, bash, brought, changes, edit, find, globs, kit, rules, telling, trying, write
from .case import Case, Ground
from .command.grammar import count_commands
from .glob import GlobArguments
from .grep import GrepArguments
from .handles import Folder
from .mcp.names import is_brought
from .paths import PathDenied, display, relative
from .protection.private import programs_in
from .protection.watch import Watch, guarded
from .replacing import fingerprint
from .sandbox import keeping

Said = tuple[Verdict, str]
#: Of a station that has nothing to say.
PASSED: Said = ("allow", "")


def evaluate(call: ToolCall, context: ToolContext, ground: Ground) -> Evaluation:
    """The gate's verdict. Reads files, changes nothing, blocks while it reads."""
    case = Case(call=call, context=context, ground=ground)
    checks: list[Check] = []
    for name, station in _STATIONS:
        try:
            verdict, detail = station(case)
        except Refusal as refusal:
            return _denied(case, checks, name, refusal.code, refusal.problem.message)
        except PathDenied as denied:
            return _denied(case, checks, name, "path_denied", denied.message)
        except OSError as error:
            return _denied(case, checks, name, "tool_failed", f"{_subject(case)}: {error.strerror or error}.")
        if detail or verdict != "allow":
            checks.append(Check(name=name, verdict=verdict, detail=detail))
    return _passed(case, checks)


def _hooks(case: Case) -> Said:
    said = case.call.hooked
    if said is None:
        return PASSED
    if said.verdict == "deny":
        raise Refusal(said.code or "hook_denied", said.detail)
    return said.verdict, said.detail


def _tools(case: Case) -> Said:
    name, there = display(model_name(case.call.tool)), case.ground.brought
    kind = kit.kind_of(case.call.tool, there)
    finds = case.call.tool == find.NAME and bool(kit.to_find(case.context, there))
    if not (finds or kit.listed(case.call.tool, case.context)):
        known = ", ".join(model_name(spec.name) for spec in kit.specs(case.context, there)) or "none"
        raise Refusal("tool_not_listed", f"{name} is not among the tools of this agent. They are: {known}.")
    if is_brought(case.call.tool) and (kind is None or kind.offered is None or there.gone(kind.offered.server)):
        raise brought.not_there(case.call.tool, there)
    if kind is None:
        raise Refusal("tool_unknown", f"There is no tool {name}. There are: {', '.join(map(model_name, kit.KINDS))}.")
    case.kind = kind
    if kind.offered is not None:
        if kind.offered.deferred and kind.name not in case.context.found:
            raise Refusal("tool_not_listed", f"{name} is not loaded. Look for it with {model_name(find.NAME)} first.")
        given = brought.decode(kind.offered, case.call.arguments)
        case.asked, case.canonical = given, given.text()
        return PASSED
    case.asked = arguments.decode(kind.arguments, case.call.arguments)
    case.canonical = arguments.canonical(case.asked)
    if isinstance(case.asked, bash.BashArguments):
        bash.check(case.asked)
    return PASSED


def _policy(case: Case) -> Said:
    power = case.kind.power
    if not kit.allowed(case.kind, case.context):
        message = f"{model_name(case.kind.name)} takes the policy {power}, which this agent does not have."
        raise Refusal("policy_denied", message)
    if power == "Patch" and case.context.read_only:
        what = "may change things" if case.is_brought else "changes files"
        raise Refusal("policy_denied", f"{model_name(case.kind.name)} {what}: this agent only reads.")
    if power == "Patch" and case.is_brought and case.globs:
        raise Refusal(
            "policy_denied",
            f"{case.kind.name} cannot be held to {', '.join(case.globs)}, where this agent may write.",
        )
    if case.is_merge and case.globs:
        raise Refusal(
            "policy_denied", f"A merge cannot be held to {', '.join(case.globs)}, where this agent may write."
        )
    if case.is_shell and case.shell_reads_only:
        why = case.shell_reads_only
        if not case.held:
            raise Refusal(
                "policy_denied",
                f"{why[:1].upper()}{why[1:]} a command must not write, and no sandbox here could hold it to that "
                f"({case.ground.why_not(case.context.folder)}).",
            )
        return "allow", f"{why} the folder is read-only for the shell"
    return "allow", power or ""


def _mode(case: Case) -> Said:
    only = case.kind.only_in
    if only is not None and case.context.mode != only:
        raise Refusal(
            "mode_denied",
            f"{model_name(case.kind.name)} ends work in {only} mode. In chat an answer without a call does.",
        )
    if case.context.permission_mode != "planning":
        return PASSED
    if case.is_shell and not case.held:
        raise Refusal(
            "mode_denied",
            "While planning a command must not write, and no sandbox here could hold it to that "
            f"({case.ground.why_not(case.context.folder)}).",
        )
    if case.is_change and not is_document(case.lexical):
        raise Refusal(
            "mode_denied",
            "While planning only documents are written: Markdown files in docs/ or at the top of the folder.",
        )
    if case.is_merge:
        raise Refusal("mode_denied", "While planning nothing is merged.")
    if case.is_brought and case.kind.power is not None:
        raise Refusal("mode_denied", f"While planning nothing is changed, and {case.kind.name} may.")
    return "allow", "planning"


def _paths(case: Case) -> Said:
    if case.is_shell:
        with Folder(case.context.folder, case.ground.hidden) as folder:
            if case.held and case.may_write:
                watch = Watch(folder.path)
                case.unkept, case.nested = (*keeping.unkept(folder), *watch.unkept), watch.nested
        return PASSED
    if case.named is None:
        return PASSED
    case.path = relative(case.context.folder, case.named)
    if case.is_change:
        _within(case.path, case.context.work_globs, case.context.given_globs)
    with Folder(case.context.folder, case.ground.hidden) as folder:
        folder.look(case.path)
        match case.asked:
            case write.WriteArguments() as asked:
                case.plan = write.plan(folder, case.path, asked)
            case edit.EditArguments() as asked:
                case.plan = edit.plan(folder, case.path, asked)
            case GlobArguments(pattern=pattern) | GrepArguments(glob=pattern):
                relative(case.context.folder, pattern)
                return _went_to(case)
            case _:
                return _went_to(case)
    case.protected = guarded(case.context.folder, case.path) or _program(case, case.path)
    return ("allow", f"{case.path} is in {case.protected}, which is protected") if case.protected else _went_to(case)


def _program(case: Case, path: str) -> str:
    """Return the folder of programs that a change would go to; empty for none."""
    folder = case.context.folder.rstrip("/")
    own = programs_in(folder, case.ground.programs, str(Path.home()), os.environ.get("PATH", ""))
    return next((one[len(folder) + 1 :] for one in own if f"{folder}/{path}".startswith(f"{one}/")), "")


def _within(path: str, *limits: tuple[str, ...]) -> None:
    """Raises PathDenied for a path that is outside of a set of globs; an empty set is everywhere."""
    for limit in limits:
        if limit and not any(_fits(one, path) for one in limit):
            raise PathDenied(f"{display(path)} is outside of where this agent may write: {', '.join(limit)}.")


def _fits(glob: str, path: str) -> bool:
    try:
        return globs.matches(glob, path)
    except globs.BadGlob:
        return False


def _went_to(case: Case) -> Said:
    """The path, where it is not what the model wrote."""
    return PASSED if case.path == case.named else ("allow", case.path or "the folder")


def _rules(case: Case) -> Said:
    case.rule = rules.decide(case.context.rules, case.target)
    if case.rule is None:
        former = rules.outdated(case.context.rules, case.target)
        return PASSED if former is None else ("allow", f"{former.matcher} was allowed as its server declared it before")
    said = f"{case.rule.verdict} {case.rule.matcher} ({case.rule.scope})"
    if case.rule.verdict == "deny":
        raise Refusal("rule_denied", f"A rule of {rules.whose(case.rule)} forbids it: {display(case.rule.matcher)}.")
    return case.rule.verdict, said


def _sandbox(case: Case) -> Said:
    # What it is stands in `sandbox.applied`, which follows where the call is let through.
    case.applied = case.confinement()
    return PASSED


_STATIONS: tuple[tuple[CheckName, Callable[[Case], Said]], ...] = (
    ("hooks", _hooks),
    ("tools", _tools),
    ("policy", _policy),
    ("mode", _mode),
    ("paths", _paths),
    ("rules", _rules),
    ("approval", approval.station),
    ("sandbox", _sandbox),
)


def is_document(path: str | None) -> bool:
    """True for what may be written while planning: Markdown in docs/ or at the top of the folder.

    None is no path at all, about which the next station has more to say.
    """
    return path is None or (path.lower().endswith(".md") and ("/" not in path or path.startswith("docs/")))


def _denied(case: Case, checks: list[Check], station: CheckName, code: Code, message: str) -> Evaluation:
    final = case.canonical or case.call.arguments
    return Evaluation(
        verdict="deny",
        risk="none",
        read_only=not (case.is_shell or case.is_change or case.is_merge or case.makes or case.is_brought),
        arguments=final,
        arguments_hash=arguments.digest(final),
        summary=_told(case),
        checks=(*checks, Check(name=station, verdict="deny", detail=message)),
        code=code,
        message=message,
    )


def _told(case: Case) -> str:
    """One line for the row of a call that was denied, also where that was before anybody read its arguments."""
    tool = display(case.call.tool)
    if case.asked is not None:
        return telling.summary(tool, case.asked, case.shown)
    of = trying.target(case.call.tool, case.call.arguments, case.context.folder)
    return f"{tool} {telling.one_line(trying.subject(of))}".rstrip()


def _passed(case: Case, checks: list[Check]) -> Evaluation:
    found = changes.diff(case.plan) if case.plan is not None else None
    asks = any(check.verdict == "ask" for check in checks)
    matchers = _matchers(case) if asks else {}
    tool = case.kind.name
    return Evaluation(
        verdict="ask" if asks else "allow",
        risk="high"
        if case.spends
        else brought.risk(case.kind.offered)
        if case.kind.offered is not None
        else telling.risk(case.settled, case.plan, case.protected, case.applied),
        read_only=not (
            case.is_change
            or case.is_merge
            or case.makes
            or (case.is_shell and (case.may_write or not case.held))
            or (case.is_brought and case.kind.power is not None)
        ),
        arguments=case.canonical,
        arguments_hash=arguments.digest(case.canonical),
        summary=telling.summary(tool, case.asked, case.shown),
        checks=tuple(checks),
        prompt=telling.prompt(tool, case.settled, case.shown, case.plan, found, case.applied, approval.why(case))
        if asks
        else "",
        preview=found.text if found is not None else case.target.command or case.pretty,
        binding=_binding(case) if asks or case.is_change or case.is_shell or case.is_brought else None,
        scopes=("once", *matchers) if asks else (),
        matchers=matchers,
        sandbox=case.applied,
        background=isinstance(case.asked, bash.BashArguments) and case.asked.background,
        commands=count_commands(case.asked.command) if asks and isinstance(case.asked, bash.BashArguments) else 0,
        reasons=(*case.reasons, *approval.stakes(case)) if asks else (),
    )


def _binding(case: Case) -> Binding:
    return Binding(
        tool=case.kind.name,
        arguments_hash=arguments.digest(case.canonical),
        folder=case.context.folder,
        definition_hash=case.context.definition_hash,
        file=case.plan.path if case.plan is not None else "",
        file_hash=fingerprint(case.plan.before) if case.plan is not None else "",
        declared=case.kind.offered.declared if case.kind.offered is not None else "",
    )


def _matchers(case: Case) -> dict[ApprovalScope, str]:
    """The rules that wider answers would make: none where no rule could take the place of the next question."""
    ruled = (case.rule is not None and case.rule.verdict == "ask") or case.hook_asks
    matcher = (
        ""
        if case.protected or case.unkept or case.makes or case.asks or ruled or (case.is_shell and not case.held)
        else rules.offer(case.target, exactly=bool(case.spends))
    )
    return {"session": matcher, "workspace": matcher} if matcher else {}


def _subject(case: Case) -> str:
    return display(case.shown or case.context.folder)
