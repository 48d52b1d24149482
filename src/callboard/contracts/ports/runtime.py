"""What the surfaces need of the runtime."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Protocol

import msgspec

from ..commands.base import Command
from ..live import Cursor
from ..record import Record
from ..rows.base import Op
from ..rows.run_record import AgentRunRecord, EffectiveSettings, FoundRun, OpenedFolder
from ..scope import Actor
from .live import LiveItem


class OpBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Row operations with the cursor that a client has reached once it applied them.

    `kind` is `ops` for what follows on what the client has, and `snapshot` for a window that replaces it: after a gap, or at
    the start.
    """

    kind: str
    cursor: Cursor
    ops: tuple[Op, ...]


class CommandService(Protocol):
    """The only way to change anything, and the reads beside it."""

    async def submit(self, command: Command, *, key: str = "", actor: Actor) -> Any:
        """Carries a command out and returns its answer once it is durable; of a query, the answer.

        The same key and body give the same answer, also while the first is in flight. Raises Refusal.
        """
        ...


class Feeds(Protocol):
    """What is shown, live. `stream` is a session's or a workspace's."""

    def ops(self, stream: str, *, after: Cursor | None) -> AsyncGenerator[bytes]:
        """Encoded server-sent events of row operations, from a snapshot or from the cursor on, without gap or repeat."""
        ...

    def facts(self, stream: str, *, after: int) -> AsyncGenerator[tuple[Record, ...]]:
        """The facts after a sequence, stored and then live."""
        ...

    def live(self, session: str) -> AsyncGenerator[tuple[LiveItem, ...]]:
        """All facts of a session, stored and then live, with the text in the making between them, in one order. A `LiveGap`
        comes behind the facts up to its cursor, and holds the text so far: after it pieces lead on from there."""
        ...

    def events(self, workspace: str, *, after: int | None) -> AsyncGenerator[bytes]:
        """Encoded server-sent events of the Multi-agent runtime specification, from the present state or from a `seq` on,
        without gap or repeat."""
        ...


class RunReads(Protocol):
    """Runs as the Multi-agent runtime specification records them. `project_root` is the folder of an opened workspace; it may
    be left out where only one is open. What names something that is not there raises Refusal."""

    def folder(self, project_root: str | None) -> OpenedFolder:
        """The opened workspace of a folder."""
        ...

    async def runs(self, project_root: str | None, session: str | None) -> tuple[AgentRunRecord, ...]:
        """The runs of a session, or of the workspace."""
        ...

    async def run(self, run_id: str) -> FoundRun:
        """One run."""
        ...

    async def children(self, run_id: str) -> tuple[AgentRunRecord, ...]:
        """The runs that were begun on behalf of a run."""
        ...

    async def facts(self, run: FoundRun, *, after: int = 0, limit: int = 1000) -> tuple[Record, ...]:
        """The facts of one run and of no other."""
        ...

    def settings(self, project_root: str | None) -> EffectiveSettings:
        """The settings that hold in a workspace."""
        ...
