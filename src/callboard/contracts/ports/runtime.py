"""Ports of the runtime for adapters."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Protocol

import msgspec

from ..commands.base import Command
from ..live import Cursor
from ..record import Record
from ..rows.base import Op
from ..rows.run import AgentRunRecord, LocatedRun
from ..rows.settings import EffectiveSettings, OpenedFolder
from ..scope import Actor
from .live import LiveItem


class OpBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Row operations, with the cursor after them.

    `kind` is `ops` for further operations, and `snapshot` for a window that replaces the client's:
    at the start or after a gap.
    """

    kind: str
    cursor: Cursor
    ops: tuple[Op, ...]


class CommandService(Protocol):
    """The only way to change anything; it also answers queries."""

    async def submit(self, command: Command, *, key: str = "", actor: Actor) -> Any:
        """Carry out a command and return its durable answer, or answer a query.

        The same key and body give the same answer, also while the first is in flight.

        Raises:
            Refusal: The command cannot be carried out.
        """
        ...


class Feeds(Protocol):
    """Live views. `stream` is a session's or a workspace's."""

    def follow_ops(self, stream: str, *, after: Cursor | None) -> AsyncGenerator[bytes]:
        """Yield encoded server-sent events of row operations, from a snapshot or the cursor on, without gap or repeat."""
        ...

    def follow_facts(self, stream: str, *, after: int) -> AsyncGenerator[tuple[Record, ...]]:
        """Yield the facts after a sequence, stored ones and then live ones."""
        ...

    def follow_live(self, session: str) -> AsyncGenerator[tuple[LiveItem, ...]]:
        """Yield all facts of a session, stored ones and then live ones, with partials between them, in one order.

        A `LiveGap` follows the facts up to its cursor and has the text so far; later pieces
        continue it.
        """
        ...

    def follow_events(self, workspace: str, *, after: int | None) -> AsyncGenerator[bytes]:
        """Yield encoded server-sent events of the Multi-agent runtime specification.

        They begin with the present state, or after the `seq` `after`, without gap or repeat.
        """
        ...


class RunReads(Protocol):
    """Runs as the Multi-agent runtime specification records them.

    `project_root` is the folder of an open workspace; it may be omitted if only one is open.
    Unknown ids raise a Refusal.
    """

    def find_folder(self, project_root: str | None) -> OpenedFolder:
        """Return the open workspace of a folder."""
        ...

    async def list_runs(self, project_root: str | None, session: str | None) -> tuple[AgentRunRecord, ...]:
        """Return the runs of a session, or of the workspace."""
        ...

    async def find_run(self, run_id: str) -> LocatedRun:
        """Return a run."""
        ...

    async def list_children(self, run_id: str) -> tuple[AgentRunRecord, ...]:
        """Return the runs that a run started."""
        ...

    async def read_facts(self, run: LocatedRun, *, after: int = 0, limit: int = 1000) -> tuple[Record, ...]:
        """Return the facts of one run only."""
        ...

    def read_settings(self, project_root: str | None) -> EffectiveSettings:
        """Return the effective settings of a workspace."""
        ...
