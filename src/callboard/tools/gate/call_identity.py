"""Check that a call of a built-in tool is the approved call."""

from __future__ import annotations

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext

from .. import arguments
from ..builtin import declarations
from ..call_binding import check_binding
from ..files.paths import display


def check_same_call(call: ToolCall, evaluation: Evaluation, context: ToolContext) -> Arguments:
    """Return the arguments of an approved call. Raises Refusal if it was denied, or changed after approval."""
    if evaluation.verdict == "deny":
        raise Refusal(evaluation.code or "policy_denied", evaluation.message)
    tool = declarations.TOOLS.get(call.tool)
    if tool is None:
        raise Refusal("tool_unknown", f"There is no tool {display(call.tool)}.", hint="Use a tool from your list.")
    decoded = arguments.decode(tool.arguments, call.arguments)
    check_binding(call, evaluation, context, arguments.compute_digest(arguments.encode_canonical(decoded)))
    return decoded
