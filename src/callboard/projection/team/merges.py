"""Merges by agents: the call names the child, and its result completes the merge."""

from __future__ import annotations

import msgspec

from callboard.contracts import casing
from callboard.contracts.commands.subagent import MergeArguments
from callboard.contracts.facts.tool import (
    ToolCompleted,
    ToolEndFact,
    ToolRequested,
)
from callboard.contracts.record import Record
from callboard.contracts.team_tools import MERGE

from ..reducer import Reducer, on


class OpenMerges(Reducer):
    """The merging calls in progress, each with its child."""

    calls: dict[str, str] = msgspec.field(default={})

    def apply(self, record: Record) -> str:
        """Apply the fact, and return the child that it merges; empty for other facts."""
        return self.handle(record) or ""

    @on
    def request(self, record: Record, fact: ToolRequested) -> None:
        agent = _parse_child(fact.final.text) if fact.tool == MERGE else ""
        if agent:
            self.calls[record.scope.tool_call] = agent

    @on
    def end(self, record: Record, fact: ToolEndFact) -> str:
        agent = self.calls.pop(record.scope.tool_call, "")
        return agent if isinstance(fact, ToolCompleted) else ""


def _parse_child(arguments: str) -> str:
    """Return the child that the arguments name; empty for invalid arguments, which the gate refuses."""
    try:
        return casing.decode(arguments, MergeArguments).agent
    except msgspec.MsgspecError:
        return ""
