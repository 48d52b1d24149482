"""Verdicts on starting or contacting an external agent, and on requests of remote agents.

A person or a rule allows the exact command or address from a file of the folder.
"""

from __future__ import annotations

import shlex

import msgspec

from callboard.contracts.facts.action import ApprovalScope, Binding
from callboard.contracts.facts.permission import Check, Reason, Risk, Rule
from callboard.contracts.ports.external import CONNECT_AGENT, OWN_MODE, REMOTE_INPUT, START_AGENT, NeedReported
from callboard.contracts.ports.tools import Evaluation, ToolContext
from callboard.contracts.text.reasons import to_english

from ..arguments import compute_digest
from ..files.paths import display
from ..reasons import StationResult, apply_rule, explain_denial, reason, to_check
from ..unsandboxed.binding import CommandBinding
from ..unsandboxed.variables import list_loaders, read_assignments
from . import rules
from .call_description import to_command_line, to_one_line
from .rules import Target

#: Rules have the form `StartAgent(the exact command)`.
START = START_AGENT
#: Rules have the form `ConnectAgent(the exact address)`.
CONNECT = CONNECT_AGENT

#: Maximum length of a remote agent's text on a card, in characters. The fact stores all.
_MAX_MESSAGE_CHARS = 2000


def evaluate_start(
    command: tuple[str, ...], context: ToolContext, bound: CommandBinding | None = None, mode: str = ""
) -> Evaluation:
    """Return the verdict on starting an agent's command.

    Args:
        command: Words of the command, secrets as handles.
        context: Context of the run that needs the agent.
        bound: The command as it would start now. A lasting approval applies only to it.
        mode: The agent's mode from its definition. It is part of the approval, because in some
            modes the agent does not ask.
    """
    text = shlex.join(command)
    loaders = ", ".join(list_loaders(read_assignments(command)))
    if loaders:
        return msgspec.structs.replace(
            _allow(START, {"command": list(command)}, "high", context),
            verdict="deny",
            summary=f"{START} {to_one_line(text)}",
            checks=(Check(name="approval", verdict="deny", detail=f"the command sets {loaders}"),),
            code="policy_denied",
            message=f"The command sets {loaders}, which makes programs load other code. Remove it from agents/*.md.",
        )
    if mode:
        # shlex.join quotes brackets, so a command cannot imitate this suffix.
        text = f"{text} [mode {to_one_line(mode)}]"
    prompt = f"Start the agent {context.agent}: {to_command_line(text)}?"
    mode_reason = (
        ()
        if not mode
        else (reason("own_settings") if mode == OWN_MODE else reason("own_mode", mode=to_one_line(mode)),)
    )
    arguments: dict[str, object] = {"command": list(command), **({"mode": mode} if mode else {})}
    result = _evaluate_contact(START, text, arguments, prompt, (reason("runs_outside"), *mode_reason), context, bound)
    files = bound.list_inside(context.folder) if bound is not None else ()
    return msgspec.structs.replace(result, preview="\n".join((text, *(f"runs {file.description}" for file in files))))


def evaluate_connection(url: str, context: ToolContext) -> Evaluation:
    """Return the verdict on contacting a remote agent."""
    prompt = f"Contact the agent {context.agent} at {to_command_line(url)}?"
    return _evaluate_contact(CONNECT, url, {"url": url}, prompt, (reason("leaves"),), context)


def evaluate_request(need: NeedReported, url: str, context: ToolContext) -> Evaluation:
    """Return the verdict on a remote agent's request. Only a person can answer; rules cannot."""
    is_question = need.tool == REMOTE_INPUT
    why = reason("remote_asks" if is_question else "remote_authorises")
    message = need.message.strip() or (
        "It asks for input without a message." if is_question else "It sent no instructions."
    )
    omitted = len(message) - _MAX_MESSAGE_CHARS
    text = message if omitted <= 0 else f"{message[:_MAX_MESSAGE_CHARS]}… ({omitted:,} more characters)"
    evaluation = _allow(need.tool, {"task": need.task, "url": url}, "low" if is_question else "medium", context)
    sender = f"The agent {context.agent} at {to_command_line(url)}"
    advice = "" if is_question else "\n\nAuthorise it there, then approve. Do not enter a secret here."
    return msgspec.structs.replace(
        evaluation,
        verdict="ask",
        summary=f"{need.tool} {to_one_line(need.task)}",
        checks=(to_check("approval", StationResult("ask", to_english((why,)), (why,))),),
        reasons=(why,),
        prompt=f"{sender} {'asks' if is_question else 'needs to be authorised'}:\n\n{text}{advice}",
        scopes=("once",),
    )


def _evaluate_contact(
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
    result = msgspec.structs.replace(
        _allow(tool, arguments, "high", context), summary=f"{tool} {to_one_line(text)}", preview=text
    )
    if bound is not None and result.binding is not None:
        result = msgspec.structs.replace(result, binding=msgspec.structs.replace(result.binding, declared=bound.token))
        changed_reason = _explain_change(bound, rule, target, context)
        if changed_reason is not None:
            rule, reasons = None, (changed_reason, *reasons)
    if rule is not None and rule.verdict != "ask":
        if rule.verdict == "allow":
            return msgspec.structs.replace(result, checks=(to_check("rules", apply_rule(rule)),))
        why = (explain_denial(rule, display(rule.matcher)),)
        message = to_english(why)
        check = Check(name="rules", verdict="deny", detail=message, reasons=why)
        return msgspec.structs.replace(result, verdict="deny", checks=(check,), code="rule_denied", message=message)
    matcher = f"{tool}({text})" if not text.endswith("*") else ""
    matchers: dict[ApprovalScope, str] = {"session": matcher, "workspace": matcher} if matcher else {}
    why = to_english(reasons)
    return msgspec.structs.replace(
        result,
        verdict="ask",
        checks=(to_check("approval", StationResult("ask", why, reasons)),),
        reasons=reasons,
        prompt=f"{prompt} {why}",
        scopes=("once", *matchers),
        matchers=matchers,
    )


def _explain_change(bound: CommandBinding, rule: Rule | None, target: Target, context: ToolContext) -> Reason | None:
    """Return why a lasting approval does not cover this start; None if it does, or if there is none.

    A rule that a person wrote has no digest. It covers only programs that agents cannot change.
    """
    if rule is not None and (rule.verdict != "allow" or rule.declared):
        return None
    exact_rules = (other for other in context.rules if other.verdict == "allow" and other.declared == bound.token)
    if rule is not None and (
        not bound.list_inside(context.folder) or any(rules.matches(other, target) for other in exact_rules)
    ):
        return None
    former = rules.find_outdated(context.rules, target)
    if former is not None:
        paths = ", ".join(map(display, bound.list_changed(former.declared)))
        return reason("changed_files", paths=paths) if paths else reason("changed_command")
    files = ", ".join(display(other.path) for other in bound.list_inside(context.folder))
    return None if rule is None else reason("changeable", paths=files)


def _allow(tool: str, arguments: dict[str, object], risk: Risk, context: ToolContext) -> Evaluation:
    final = msgspec.json.encode(arguments).decode()
    return Evaluation(
        verdict="allow",
        risk=risk,
        read_only=False,
        arguments=final,
        arguments_hash=compute_digest(final),
        summary=tool,
        checks=(),
        binding=Binding(
            tool=tool,
            arguments_hash=compute_digest(final),
            folder=context.folder,
            definition_hash=context.definition_hash,
        ),
    )
