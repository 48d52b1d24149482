"""Writes of an external agent that an approved call already covers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from callboard.contracts.facts.permission import Check
from callboard.contracts.ports.external import CallKind, ExternalCall, ExternalDiff, WriteRequested
from callboard.contracts.ports.tools import Evaluation, ToolContext
from callboard.tools.gate import external_calls
from callboard.tools.reasons import allow, reason, to_check

#: Kinds of calls that write files. An approval of another kind covers no write.
_WRITING: Final[frozenset[CallKind]] = frozenset({"edit", "move"})


class ApprovedWrites:
    """The files that one approved call may still write through Callboard, each once."""

    def __init__(self) -> None:
        self.written: set[str] = set()
        self._approved: ExternalCall | None = None

    def open(self, call: ExternalCall) -> None:
        """Start covering writes with the call as it was approved. Later changes by the agent do not count."""
        self._approved = call

    def close(self) -> None:
        """Stop covering writes: the call has ended."""
        self._approved = None

    def is_approved(self, write: WriteRequested, before: str | None, context: ToolContext) -> bool:
        """Return True if the write was approved: to a file of the call, with the content of its
        diff.

        Args:
            before: Current text of the file; None if it does not exist.
        """
        call, path = self._approved, external_calls.to_relative(write.path, context)
        if call is None or call.kind not in _WRITING:
            return False
        if path in self.written or path not in external_calls.list_paths(call, context):
            return False
        diffs = [diff for diff in call.diffs if external_calls.to_relative(diff.path, context) == path]
        return any(_has_result(diff, before, write.content) for diff in diffs)


def apply_approval(evaluation: Evaluation, call: str) -> Evaluation:
    """Return the evaluation of a covered write: the approval replaces a question, and a denial stays."""
    if evaluation.verdict != "ask":
        return evaluation
    approval = to_check("approval", allow(reason("approved_with", call=call)))
    return external_calls.to_allowed(evaluation, (*_drop_approval(evaluation.checks), approval))


def _drop_approval(checks: Iterable[Check]) -> tuple[Check, ...]:
    return tuple(check_result for check_result in checks if check_result.name != "approval")


def _has_result(diff: ExternalDiff, before: str | None, content: str) -> bool:
    """Return True if the diff results in the content, as the whole file or as a part that occurs once."""
    if content == diff.after:
        return True
    part = diff.before or ""
    return bool(part and before is not None and before.count(part) == 1 and before.replace(part, diff.after) == content)
