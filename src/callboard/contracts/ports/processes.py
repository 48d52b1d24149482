"""A command that goes on in the background, as the tools give it to the runtime."""

from __future__ import annotations

from typing import Protocol

import msgspec

from ..commands.processes import ExecutionEnvironment
from .secrets import StreamRedaction
from .tools import Evaluation, ToolCall, ToolContext, ToolOutcome


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """Some of an output: the characters from `start` up to `next`, of `total` that there were so far. Between the head and the
    tail of a long one some are gone; then `start` is behind what was asked for."""

    text: str
    start: int
    next: int
    total: int


class Process(Protocol):
    """A command behind its guard. Unless it is stopped it goes on as long as this process lives."""

    def read(self, offset: int, most: int) -> Excerpt:
        """At most so many characters of its output from an offset on."""
        ...

    async def wait_for_output(self, offset: int) -> None:
        """Waits until there is output behind the offset, or the process is over."""
        ...

    async def write(self, text: str, *, end: bool) -> None:
        """Writes to its input. Raises Refusal `process_unavailable` where it does not read any more."""
        ...

    async def stop(self) -> None:
        """Ends it with all that came of it; returns when nothing of it is left."""
        ...

    async def wait(self) -> ToolOutcome:
        """What it came to, once nothing of it is left. A limit that ended it is the code `resource_limit`."""
        ...


class Shells(Protocol):
    """Starts commands that go on, and tells what any command would find."""

    async def start(
        self, call: ToolCall, evaluation: Evaluation, context: ToolContext, redactor: StreamRedaction | None = None
    ) -> Process:
        """Starts the command of a call that the gate or a person let through; its output passes the veil. Raises Refusal where
        it is not the very call, or its confinement cannot be had; then nothing was run."""
        ...

    async def describe_environment(self, context: ToolContext) -> ExecutionEnvironment:
        """What a command of this context would find."""
        ...
