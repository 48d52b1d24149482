"""Check that a call is the one that was approved."""

from __future__ import annotations

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext

from .. import arguments
from ..builtin import declarations
from ..files.paths import display

CHANGED = "What the approval was for is no longer so: {what} changed. Nothing was done; look again and ask anew."


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
    asked = arguments.decode(kind.arguments, call.arguments)
    digest = arguments.digest(arguments.canonical(asked))
    binding = evaluation.binding
    if digest != evaluation.arguments_hash or (binding is not None and digest != binding.arguments_hash):
        raise Refusal("file_changed", CHANGED.format(what="the arguments"))
    if binding is not None and (binding.tool, binding.folder) != (call.tool, context.folder):
        raise Refusal("file_changed", CHANGED.format(what="the tool or the folder"))
    if binding is not None and binding.definition_hash != context.definition_hash:
        raise Refusal("file_changed", CHANGED.format(what="the agent's definition"))
    return asked
