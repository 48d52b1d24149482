"""The reader threads of a file: short transactions, because a long one would block checkpoints."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from .failures import build_unusable_refusal, is_fatal, to_refusal

T = TypeVar("T")


class Readers:
    """A pool of connections, each used by one thread at a time.

    Args:
        damaged: Called in a reader thread if the file is damaged.
    Raises:
        sqlite3.Error: The store is unreadable. It connects immediately.
    """

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        path: str,
        count: int = 3,
        damaged: Callable[[], None] | None = None,
    ) -> None:
        self._path = path
        self._damaged = damaged
        self._connections = [connect() for _ in range(count)]
        self._free: queue.SimpleQueue[sqlite3.Connection] = queue.SimpleQueue()
        for connection in self._connections:
            self._free.put(connection)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix=f"reader of {path}")
        self._closed = False

    def read_first(self, query: str) -> Any:
        """Return the first row of a query. Blocks. Raises sqlite3.Error."""
        return self._connections[0].execute(query).fetchone()

    async def run(self, read: Callable[[sqlite3.Connection], T]) -> T:
        """Read in a reader thread. Raises Refusal, `store_unusable` for a damaged or closed file."""
        if self._closed:
            raise build_unusable_refusal(self._path, "it has been closed")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._read, read)

    async def close(self) -> None:
        """Wait for reads in progress and disconnect. Can be repeated."""
        self._closed = True
        await asyncio.to_thread(self._threads.shutdown)
        while self._connections:
            self._connections.pop().close()

    def _read(self, read: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._free.get()
        try:
            return read(connection)
        except sqlite3.Error as error:
            if self._damaged is not None and is_fatal(error):
                self._damaged()
            raise to_refusal(error, self._path) from error
        finally:
            self._free.put(connection)
