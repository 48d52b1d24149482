"""What stands in for the room of tools, which these tests do not need: an agent without tools."""

from __future__ import annotations

from collections.abc import Callable

from callboard.contracts.ports.model import ToolSpec
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext, ToolOutcome


class NoTools:
    def specs(self, context: ToolContext) -> tuple[ToolSpec, ...]:
        return ()

    async def evaluate(self, call: ToolCall, context: ToolContext) -> Evaluation:
        raise AssertionError("no agent calls a tool here")

    async def run(
        self, call: ToolCall, evaluation: Evaluation, context: ToolContext, output: Callable[[str], None]
    ) -> ToolOutcome:
        raise AssertionError("no agent calls a tool here")
