"""Writes through us that belong to a call which the agent asked about: they are asked about once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from callboard.contracts.facts.permission import Check
from callboard.contracts.ports.external import CallKind, ExternalCall, ExternalDiff, WriteRequested
from callboard.contracts.ports.tools import Evaluation, ToolContext
from callboard.tools.gate import external_calls
from callboard.tools.reasons import allow, reason, to_check

#: Kinds of calls that write the files which they name. An approval of any other kind covers no write.
_WRITING: Final[frozenset[CallKind]] = frozenset({"edit", "move"})


class ApprovedWrites:
    """The files that one approved call may still write through us, each once."""

    def __init__(self) -> None:
        self.written: set[str] = set()
        self._approved: ExternalCall | None = None

    def open(self, call: ExternalCall) -> None:
        """The call runs from now on. It was approved as it is here, whatever the agent says of it later."""
        self._approved = call

    def close(self) -> None:
        """The call has ended: it covers no further write."""
        self._approved = None

    def covers(self, asked: WriteRequested, before: str | None, context: ToolContext) -> bool:
        """Return whether the write is what was approved: to a file of the call, with the content that its diff showed.

        Args:
            before: Text of the file as it stands; None if there is none.
        """
        call, path = self._approved, external_calls.to_relative(asked.path, context)
        if call is None or call.kind not in _WRITING:
            return False
        if path in self.written or path not in external_calls.list_paths(call, context):
            return False
        diffs = [one for one in call.diffs if external_calls.to_relative(one.path, context) == path]
        return any(_makes(one, before, asked.content) for one in diffs)


def apply_approval(evaluation: Evaluation, call: str) -> Evaluation:
    """Return the verdict on a write that call covers: a question is answered by that call's approval, a denial stays."""
    if evaluation.verdict != "ask":
        return evaluation
    approval = to_check("approval", allow(reason("approved_with", call=call)))
    return external_calls.to_allowed(evaluation, (*_without_approval(evaluation.checks), approval))


def _without_approval(checks: Iterable[Check]) -> tuple[Check, ...]:
    return tuple(one for one in checks if one.name != "approval")


def _makes(diff: ExternalDiff, before: str | None, content: str) -> bool:
    """True if the diff results in the content: as the whole file, or as a part of it that occurs once."""
    if content == diff.after:
        return True
    part = diff.before or ""
    return bool(part and before is not None and before.count(part) == 1 and before.replace(part, diff.after) == content)
