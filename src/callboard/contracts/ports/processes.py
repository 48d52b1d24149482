"""Ports of background commands."""

from __future__ import annotations

from typing import Protocol

import msgspec

from ..commands.process import ExecutionEnvironment
from .secrets import StreamRedaction
from .tools import Evaluation, ToolCall, ToolContext, ToolOutcome


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """Part of an output.

    Attributes:
        start: Offset of the first character. Greater than the requested offset if the middle of a
            long output was dropped.
        next: Offset after the last character.
        total: Number of characters so far.
    """

    text: str
    start: int
    next: int
    total: int


class Process(Protocol):
    """Command behind its guard. It runs until it ends, is stopped, or this process ends."""

    def read(self, offset: int, max_chars: int) -> Excerpt:
        """Return at most `max_chars` characters of the output, from an offset on."""
        ...

    async def wait_for_output(self, offset: int) -> None:
        """Wait until there is output after the offset, or the process has ended."""
        ...

    async def write(self, text: str, *, end: bool) -> None:
        """Write to the command's input.

        Raises:
            Refusal: `process_unavailable` if the command no longer reads its input.
        """
        ...

    async def stop(self) -> None:
        """End the command and every process that it started. Return when all have ended."""
        ...

    async def wait(self) -> ToolOutcome:
        """Wait until every process of the command has ended, and return its outcome.

        The code is `resource_limit` if a limit ended it.
        """
        ...


class Shells(Protocol):
    """Starter of background commands."""

    async def start(
        self, call: ToolCall, evaluation: Evaluation, context: ToolContext, redactor: StreamRedaction | None = None
    ) -> Process:
        """Start the command of a call that the gate or a person allowed.

        `redactor` redacts its output.

        Raises:
            Refusal: The call changed after approval, or its sandbox is unavailable. Nothing ran.
        """
        ...

    async def describe_environment(self, context: ToolContext) -> ExecutionEnvironment:
        """Return what a command of this context could access."""
        ...
