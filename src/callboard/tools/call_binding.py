"""Comparison of a call with the one that was approved."""

from __future__ import annotations

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext


def refuse_changed(what: str) -> Refusal:
    """Return the refusal of a call that is no longer the approved one."""
    return Refusal(
        "file_changed", f"{what} changed after approval. The call did not run.", hint="Look again, and make a new call."
    )


def check_binding(call: ToolCall, evaluation: Evaluation, context: ToolContext, digest: str) -> None:
    """Raise Refusal if the arguments, tool, folder or definition differ from the approved ones."""
    binding = evaluation.binding
    if digest != evaluation.arguments_hash or (binding is not None and digest != binding.arguments_hash):
        raise refuse_changed("The arguments")
    if binding is not None and (binding.tool, binding.folder) != (call.tool, context.folder):
        raise refuse_changed("The tool or the folder")
    if binding is not None and binding.definition_hash != context.definition_hash:
        raise refuse_changed("The agent's definition")
