"""Check that a built-in tool's call is the one that was approved."""

from __future__ import annotations

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext

from .. import arguments
from ..builtin import declarations
from ..call_binding import check_binding
from ..files.paths import display


def check_same_call(call: ToolCall, evaluation: Evaluation, context: ToolContext) -> Arguments:
    """Return the arguments of a call that is the approved one.

    Raises:
        Refusal: The call was denied, or it changed after approval.
    """
    if evaluation.verdict == "deny":
        raise Refusal(evaluation.code or "policy_denied", evaluation.message)
    kind = declarations.TOOLS.get(call.tool)
    if kind is None:
        raise Refusal("tool_unknown", f"There is no tool {display(call.tool)}.")
    decoded = arguments.decode(kind.arguments, call.arguments)
    check_binding(call, evaluation, context, arguments.digest(arguments.canonical(decoded)))
    return decoded
