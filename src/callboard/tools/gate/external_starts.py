"""Verdicts on starting or contacting an external agent, and on requests of remote agents.

A person or a rule allows the exact command or address that a file of the folder names.
"""

from __future__ import annotations

import shlex

import msgspec

from callboard.contracts.facts.action import ApprovalScope, Binding
from callboard.contracts.facts.permission import Check, Reason, Risk, Rule
from callboard.contracts.ports.external import CONNECT_AGENT, OWN_MODE, REMOTE_INPUT, START_AGENT, NeedReported
from callboard.contracts.ports.tools import Evaluation, ToolContext
from callboard.contracts.text.reasons import to_english

from ..arguments import digest
from ..files.paths import display
from ..reasons import StationResult, apply_rule, explain_denial, reason, to_check
from ..unsandboxed.binding import CommandBinding
from ..unsandboxed.variables import list_loaders, read_assignments
from . import rules
from .call_description import command_line, one_line
from .rules import Target

#: A rule on it reads `StartAgent(the exact command)`.
START = START_AGENT
#: A rule on it reads `ConnectAgent(the exact address)`.
CONNECT = CONNECT_AGENT

#: Maximum length of a remote agent's text on a card, in characters. The fact has the whole text.
_LONGEST_SAID = 2000


def evaluate_start(
    command: tuple[str, ...], context: ToolContext, bound: CommandBinding | None = None, mode: str = ""
) -> Evaluation:
    """Return the verdict on starting an agent's command.

    Args:
        command: Words of the command, secrets as handles.
        context: Context of the run that needs the agent.
        bound: The command as it would start now. A lasting approval applies to exactly that.
        mode: The agent's own mode from its definition. It is part of the approval, because in some
            modes the agent does
            not ask.
    """
    text = shlex.join(command)
    loaders = ", ".join(list_loaders(read_assignments(command)))
    if loaders:
        return msgspec.structs.replace(
            _evaluation(START, {"command": list(command)}, "high", context),
            verdict="deny",
            summary=f"{START} {one_line(text)}",
            checks=(Check(name="approval", verdict="deny", detail=f"it sets {loaders}"),),
            code="policy_denied",
            message=f"The command sets {loaders}, which makes programs load other code. Remove it from agents/*.md.",
        )
    if mode:
        # No word of a command has a bracket without quotes.
        text = f"{text} [mode {one_line(mode)}]"
    prompt = f"Start the agent {context.agent}: {command_line(text)}?"
    own = () if not mode else (reason("own_settings") if mode == OWN_MODE else reason("own_mode", mode=one_line(mode)),)
    arguments: dict[str, object] = {"command": list(command), **({"mode": mode} if mode else {})}
    made = _joining(START, text, arguments, prompt, (reason("runs_outside"), *own), context, bound)
    files = bound.list_inside(context.folder) if bound is not None else ()
    return msgspec.structs.replace(made, preview="\n".join((text, *(f"runs {one.description}" for one in files))))


def evaluate_connection(url: str, context: ToolContext) -> Evaluation:
    """Return the verdict on contacting a remote agent."""
    prompt = f"Contact the agent {context.agent} at {command_line(url)}?"
    return _joining(CONNECT, url, {"url": url}, prompt, (reason("leaves"),), context)


def evaluate_request(need: NeedReported, url: str, context: ToolContext) -> Evaluation:
    """Return the verdict on a remote agent's request. Only a person can answer, and no rule can."""
    asks = need.tool == REMOTE_INPUT
    why = reason("remote_asks" if asks else "remote_authorises")
    said = need.message.strip() or ("It asks for more, and does not say what." if asks else "It does not say how.")
    more = len(said) - _LONGEST_SAID
    cut = said if more <= 0 else f"{said[:_LONGEST_SAID]}… ({more:,} more characters)"
    made = _evaluation(need.tool, {"task": need.task, "url": url}, "low" if asks else "medium", context)
    where = f"The agent {context.agent} at {command_line(url)}"
    go_on = "" if asks else "\n\nApprove once you have authorised it there. Give no secret here."
    return msgspec.structs.replace(
        made,
        verdict="ask",
        summary=f"{need.tool} {one_line(need.task)}",
        checks=(to_check("approval", StationResult("ask", to_english((why,)), (why,))),),
        reasons=(why,),
        prompt=f"{where} {'asks' if asks else 'needs to be authorised'}:\n\n{cut}{go_on}",
        scopes=("once",),
    )


def _joining(
    tool: str,
    text: str,
    arguments: dict[str, object],
    prompt: str,
    reasons: tuple[Reason, ...],
    context: ToolContext,
    bound: CommandBinding | None = None,
) -> Evaluation:
    target = Target(tool=tool, command=text, declared=bound.token if bound is not None else None)
    rule = rules.find_rule(context.rules, target)
    made = msgspec.structs.replace(
        _evaluation(tool, arguments, "high", context), summary=f"{tool} {one_line(text)}", preview=text
    )
    if bound is not None and made.binding is not None:
        made = msgspec.structs.replace(made, binding=msgspec.structs.replace(made.binding, declared=bound.token))
        changed = _changed(bound, rule, target, context)
        if changed is not None:
            rule, reasons = None, (changed, *reasons)
    if rule is not None and rule.verdict != "ask":
        if rule.verdict == "allow":
            return msgspec.structs.replace(made, checks=(to_check("rules", apply_rule(rule)),))
        why = (explain_denial(rule, display(rule.matcher)),)
        message = to_english(why)
        said = Check(name="rules", verdict="deny", detail=message, reasons=why)
        return msgspec.structs.replace(made, verdict="deny", checks=(said,), code="rule_denied", message=message)
    matcher = f"{tool}({text})" if not text.endswith("*") else ""
    matchers: dict[ApprovalScope, str] = {"session": matcher, "workspace": matcher} if matcher else {}
    why = to_english(reasons)
    return msgspec.structs.replace(
        made,
        verdict="ask",
        checks=(to_check("approval", StationResult("ask", why, reasons)),),
        reasons=reasons,
        prompt=f"{prompt} {why}",
        scopes=("once", *matchers),
        matchers=matchers,
    )


def _changed(bound: CommandBinding, rule: Rule | None, target: Target, context: ToolContext) -> Reason | None:
    """Return why a lasting approval does not cover this start; None if it does or there is none.

    A rule that a person wrote has no digest. It covers programs that no agent can change.
    """
    if rule is not None and (rule.verdict != "allow" or rule.declared):
        return None
    exact = (one for one in context.rules if one.verdict == "allow" and one.declared == bound.token)
    if rule is not None and (not bound.list_inside(context.folder) or any(rules.matches(one, target) for one in exact)):
        return None
    former = rules.find_outdated(context.rules, target)
    if former is not None:
        paths = ", ".join(map(display, bound.list_changed(former.declared)))
        return reason("changed_files", paths=paths) if paths else reason("changed_command")
    files = ", ".join(display(one.path) for one in bound.list_inside(context.folder))
    return None if rule is None else reason("changeable", paths=files)


def _evaluation(tool: str, arguments: dict[str, object], risk: Risk, context: ToolContext) -> Evaluation:
    final = msgspec.json.encode(arguments).decode()
    return Evaluation(
        verdict="allow",
        risk=risk,
        read_only=False,
        arguments=final,
        arguments_hash=digest(final),
        summary=tool,
        checks=(),
        binding=Binding(
            tool=tool,
            arguments_hash=digest(final),
            folder=context.folder,
            definition_hash=context.definition_hash,
        ),
    )
