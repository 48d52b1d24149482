"""What a tool tells while it runs: its output, how far it is, what it asks a person."""

from __future__ import annotations

from callboard.contracts.ports.tools import Question, Reply
from callboard.contracts.scope import Scope

from .gather import Gatherer


class Reporting:
    """Implements the port `Reporter` for one call."""

    def __init__(self, gather: Gatherer, scope: Scope, tool: str) -> None:
        self._gather = gather
        self._scope = scope
        self._tool = tool

    def output(self, text: str) -> None:
        """A piece of its output."""
        self._gather.add("output", self._scope, text, self._tool)

    def progress(self, done: float, total: float | None, message: str) -> None:
        """How far it is."""

    async def ask(self, question: Question) -> Reply:
        """Nobody can be asked yet."""
        return Reply(said="nothing")
