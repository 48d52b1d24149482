"""Agents that are not of our loop, before they take part: starting a command and contacting an address that a file of the
folder names. A person says yes to the very command or address, or has given a rule for it. And what one elsewhere asks of a
person while it works."""

from __future__ import annotations

import shlex

import msgspec

from callboard.contracts.facts.action import ApprovalScope, Binding
from callboard.contracts.facts.permission import Check, Risk
from callboard.contracts.ports.external import CONNECT_AGENT, REMOTE_INPUT, START_AGENT, NeedTold
from callboard.contracts.ports.tools import Evaluation, ToolContext

from . import rules
from .arguments import digest
from .paths import display
from .rules import Target
from .telling import one_line

#: A rule on it reads `StartAgent(the exact command)`.
START = START_AGENT
#: A rule on it reads `ConnectAgent(the exact address)`.
CONNECT = CONNECT_AGENT

_OUTSIDE = "it runs outside our sandbox and may do what you may"
_LEAVES = "what is said to it is in its hands, and what it answers is not ours"
#: How much of what an agent elsewhere says stands on a card, in characters. All of it is in what it told.
_LONGEST_SAID = 2000


def starting(command: tuple[str, ...], context: ToolContext) -> Evaluation:
    """The verdict on starting an agent's command."""
    text = shlex.join(command)
    prompt = f"Start the agent {context.agent}: {one_line(text)}?"
    return _joining(START, text, {"command": list(command)}, prompt, _OUTSIDE, context)


def connecting(url: str, context: ToolContext) -> Evaluation:
    """The verdict on contacting an agent elsewhere."""
    prompt = f"Contact the agent {context.agent} at {one_line(url)}?"
    return _joining(CONNECT, url, {"url": url}, prompt, _LEAVES, context)


def needing(need: NeedTold, url: str, context: ToolContext) -> Evaluation:
    """The verdict on what an agent elsewhere needs: a person answers, and no rule does."""
    asks = need.tool == REMOTE_INPUT
    why = "the agent elsewhere asks" if asks else "the agent elsewhere wants to be authorised there"
    said = need.message.strip() or ("It asks for more, and does not say what." if asks else "It does not say how.")
    cut = said if len(said) <= _LONGEST_SAID else f"{said[:_LONGEST_SAID]}…"
    made = _evaluation(need.tool, {"task": need.task, "url": url}, "low" if asks else "medium", context)
    where = f"The agent {context.agent} at {one_line(url)}"
    go_on = "" if asks else "\n\nApprove once you have authorised it there. Give no secret here."
    return msgspec.structs.replace(
        made,
        verdict="ask",
        summary=f"{need.tool} {one_line(need.task)}",
        checks=(Check(name="approval", verdict="ask", detail=why),),
        prompt=f"{where} {'asks' if asks else 'needs to be authorised'}:\n\n{cut}{go_on}",
        scopes=("once",),
    )


def _joining(
    tool: str, text: str, arguments: dict[str, object], prompt: str, why: str, context: ToolContext
) -> Evaluation:
    rule = rules.decide(context.rules, Target(tool=tool, command=text))
    made = msgspec.structs.replace(
        _evaluation(tool, arguments, "high", context), summary=f"{tool} {one_line(text)}", preview=text
    )
    if rule is not None and rule.verdict != "ask":
        check = Check(name="rules", verdict=rule.verdict, detail=f"{rule.verdict} {rule.matcher} ({rule.scope})")
        if rule.verdict == "allow":
            return msgspec.structs.replace(made, checks=(check,))
        message = f"A rule of {rules.whose(rule)} forbids it: {display(rule.matcher)}."
        return msgspec.structs.replace(made, verdict="deny", checks=(check,), code="rule_denied", message=message)
    matcher = f"{tool}({text})" if not text.endswith("*") else ""
    matchers: dict[ApprovalScope, str] = {"session": matcher, "workspace": matcher} if matcher else {}
    return msgspec.structs.replace(
        made,
        verdict="ask",
        checks=(Check(name="approval", verdict="ask", detail=why),),
        prompt=f"{prompt} {why[0].upper()}{why[1:]}.",
        scopes=("once", *matchers),
        matchers=matchers,
    )


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
