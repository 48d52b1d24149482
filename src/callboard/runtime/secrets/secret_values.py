"""Where values are put in place of handles: between the gate's final arguments and the tool, in memory only.

The gate looks at what would really run, so that rules, paths and the content of files are judged as they are. What it says is
recorded with handles, and an approval is bound to the arguments as they are recorded.
"""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.team_tools import TEAM_TOOLS
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import Check, Rule
from callboard.contracts.ports.secrets import HANDLE, Secrets
from callboard.contracts.ports.tools import Evaluation, Toolbox, ToolCall, ToolContext
from callboard.tools.arguments import digest

from .append_redactor import redact_evaluation, reveal_json


async def evaluate_call(toolbox: Toolbox, call: ToolCall, context: ToolContext, secrets: Secrets) -> Evaluation:
    """The gate's verdict on a call whose arguments may have handles. One with a handle that nothing is known of is denied."""
    missing: Refusal | None = None
    call = msgspec.structs.replace(call, arguments=_plain(call.arguments))
    if _runs(call):
        used = secrets.find_stored(call.arguments)
        try:
            call = msgspec.structs.replace(call, arguments=_revealed(call.arguments, secrets), secrets=used)
        except Refusal as refusal:
            missing = refusal
    known = msgspec.structs.replace(context, rules=tuple(_rule(one, secrets) for one in context.rules))
    evaluation = redact_evaluation(await toolbox.evaluate(call, known), secrets)
    if call.secrets:
        evaluation = msgspec.structs.replace(evaluation, secrets=call.secrets)
    return evaluation if missing is None or evaluation.verdict == "deny" else _denied(evaluation, missing)


def reveal_call(call: ToolCall, evaluation: Evaluation, secrets: Secrets) -> tuple[ToolCall, Evaluation]:
    """The call with values in place of handles, and its verdict bound to them; both as they are where there are none.

    Raises Refusal `file_changed` where the call is not the one that was let through, `secret_missing`.
    """
    if not _runs(call) or evaluation.verdict == "deny":
        return call, evaluation
    binding = evaluation.binding
    bound = evaluation.arguments_hash if binding is None else binding.arguments_hash
    if digest(call.arguments) != evaluation.arguments_hash or bound != evaluation.arguments_hash:
        raise Refusal(
            "file_changed", "The arguments are not those that the call was let through with. Nothing was done."
        )
    arguments = _revealed(call.arguments, secrets)
    real = digest(arguments)
    return msgspec.structs.replace(call, arguments=arguments), msgspec.structs.replace(
        evaluation,
        arguments=arguments,
        arguments_hash=real,
        binding=None if binding is None else msgspec.structs.replace(binding, arguments_hash=real),
    )


def _runs(call: ToolCall) -> bool:
    """Whether there is a handle in what a tool is to carry out. What an agent asks of its team is told on with handles."""
    return HANDLE in call.arguments and call.tool not in TEAM_TOOLS


def _plain(arguments: str) -> str:
    """The arguments with every handle as it reads: JSON can spell one with escapes, and what runs has it without."""
    if "\\" not in arguments:
        return arguments
    try:
        plain = msgspec.json.encode(msgspec.json.decode(arguments), order="sorted").decode()
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return arguments
    return plain if HANDLE in plain else arguments


def _revealed(arguments: str, secrets: Secrets) -> str:
    try:
        return reveal_json(arguments, secrets)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        # The gate says what is wrong with it.
        return arguments


def _rule(rule: Rule, secrets: Secrets) -> Rule:
    if HANDLE not in rule.matcher:
        return rule
    try:
        return msgspec.structs.replace(rule, matcher=secrets.reveal(rule.matcher))
    except Refusal:
        # What it was given for cannot come any more.
        return rule


def _denied(evaluation: Evaluation, why: Refusal) -> Evaluation:
    message = f"{why.problem.message} {why.problem.hint}".rstrip()
    return msgspec.structs.replace(
        evaluation,
        verdict="deny",
        code=why.code,
        message=message,
        checks=(*evaluation.checks, Check(name="tools", verdict="deny", detail=message)),
        prompt="",
        preview="",
        binding=None,
        scopes=(),
        matchers={},
        sandbox=None,
    )
