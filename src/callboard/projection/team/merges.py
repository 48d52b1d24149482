"""Whose work an agent's call merged: the call says it, and its end says that it was."""

from __future__ import annotations

import msgspec

from callboard.contracts import casing
from callboard.contracts.commands.team import Merge
from callboard.contracts.commands.team_tools import MERGE
from callboard.contracts.facts import (
    Fact,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
)
from callboard.contracts.record import Record

#: The facts that tell of such a call.
TAKES: frozenset[type[Fact]] = frozenset(
    {ToolRequested, ToolCompleted, ToolFailed, ToolRefused, ToolCancelled, ToolLost}
)


class OpenMerges(msgspec.Struct):
    """`calls` are the calls that merge, with the child of each."""

    calls: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def merged(self, record: Record) -> str:
        """The child whose work the fact says is merged; empty where it says it of none."""
        call = record.scope.tool_call
        match record.fact:
            case ToolRequested() as fact if fact.tool == MERGE:
                agent = _named(fact.final.text)
                if agent:
                    self.calls[call] = agent
            case ToolCompleted():
                return self.calls.pop(call, "")
            case _:
                self.calls.pop(call, None)
        return ""


def _named(arguments: str) -> str:
    """The child in the call's arguments; a model may have written them wrong, and then the call is refused."""
    try:
        return casing.decode(arguments, Merge).agent
    except msgspec.MsgspecError:
        return ""
