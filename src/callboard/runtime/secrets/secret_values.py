"""Replacement of handles by values between the gate and the tool, in memory only.

The gate evaluates the real values, so that rules and paths apply to what runs. Its evaluation is
recorded with handles, and an approval is bound to the recorded arguments.
"""

from __future__ import annotations

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import Check, Rule
from callboard.contracts.ports.secrets import HANDLE, Secrets
from callboard.contracts.ports.tools import Evaluation, Toolbox, ToolCall, ToolContext
from callboard.contracts.team_tools import TEAM_TOOLS
from callboard.tools.arguments import compute_digest

from .append_redactor import redact_evaluation, reveal_json


async def evaluate_call(toolbox: Toolbox, call: ToolCall, context: ToolContext, secrets: Secrets) -> Evaluation:
    """Evaluate a call whose arguments may contain handles. An unknown handle is denied."""
    missing: Refusal | None = None
    call = msgspec.structs.replace(call, arguments=_decode_handles(call.arguments))
    if _has_handles(call):
        used = secrets.find_stored(call.arguments)
        try:
            call = msgspec.structs.replace(call, arguments=_reveal(call.arguments, secrets), secrets=used)
        except Refusal as refusal:
            missing = refusal
    revealed_context = msgspec.structs.replace(
        context, rules=tuple(_reveal_rule(rule, secrets) for rule in context.rules)
    )
    evaluation = redact_evaluation(await toolbox.evaluate(call, revealed_context), secrets)
    if call.secrets:
        evaluation = msgspec.structs.replace(evaluation, secrets=call.secrets)
    return evaluation if missing is None or evaluation.verdict == "deny" else _deny(evaluation, missing)


def reveal_call(call: ToolCall, evaluation: Evaluation, secrets: Secrets) -> tuple[ToolCall, Evaluation]:
    """Return the call and its evaluation with values in place of handles."""
    if not _has_handles(call) or evaluation.verdict == "deny":
        return call, evaluation
    binding = evaluation.binding
    bound = evaluation.arguments_hash if binding is None else binding.arguments_hash
    if compute_digest(call.arguments) != evaluation.arguments_hash or bound != evaluation.arguments_hash:
        raise Refusal(
            "file_changed", "The arguments changed after approval. The call did not run.", hint="Make a new call."
        )
    arguments = _reveal(call.arguments, secrets)
    real = compute_digest(arguments)
    return msgspec.structs.replace(call, arguments=arguments), msgspec.structs.replace(
        evaluation,
        arguments=arguments,
        arguments_hash=real,
        binding=None if binding is None else msgspec.structs.replace(binding, arguments_hash=real),
    )


def _has_handles(call: ToolCall) -> bool:
    """Return True if the tool needs values. Team tools pass handles on."""
    return HANDLE in call.arguments and call.tool not in TEAM_TOOLS


def _decode_handles(arguments: str) -> str:
    """Return the arguments with JSON escapes in handles resolved, because the tool receives them resolved."""
    if "\\" not in arguments:
        return arguments
    try:
        plain = msgspec.json.encode(msgspec.json.decode(arguments), order="sorted").decode()
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return arguments
    return plain if HANDLE in plain else arguments


def _reveal(arguments: str, secrets: Secrets) -> str:
    try:
        return reveal_json(arguments, secrets)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        # The gate reports invalid arguments.
        return arguments


def _reveal_rule(rule: Rule, secrets: Secrets) -> Rule:
    if HANDLE not in rule.matcher:
        return rule
    try:
        return msgspec.structs.replace(rule, matcher=secrets.reveal(rule.matcher))
    except Refusal:
        # Without its value, the rule cannot match.
        return rule


def _deny(evaluation: Evaluation, refusal: Refusal) -> Evaluation:
    message = refusal.text
    return msgspec.structs.replace(
        evaluation,
        verdict="deny",
        code=refusal.code,
        message=message,
        checks=(*evaluation.checks, Check(name="tools", verdict="deny", detail=message)),
        prompt="",
        preview="",
        binding=None,
        scopes=(),
        matchers={},
        sandbox=None,
    )
