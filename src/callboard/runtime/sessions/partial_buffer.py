"""Text of unfinished parts, sent as frames and stored as partials."""

from __future__ import annotations

import asyncio
import logging

import msgspec

from callboard.contracts.content import repair_text
from callboard.contracts.errors import Refusal
from callboard.contracts.live import Frame, PartialKind
from callboard.contracts.ports.secrets import StreamRedaction
from callboard.contracts.scope import Scope

from ..dependencies import Dependencies

log = logging.getLogger(__name__)


class PartialBuffer:
    """Collects the pieces of one effect and sends frames in order.

    Await `settle` before committing the parts' facts, so that no partial is written after the
    transaction that deletes it.
    """

    def __init__(self, dependencies: Dependencies, stream: str, epoch: int) -> None:
        self._dependencies = dependencies
        self._stream = stream
        self._epoch = epoch
        self._texts: dict[tuple[PartialKind, int], list[str]] = {}
        self._redactions: dict[tuple[PartialKind, int], StreamRedaction] = {}
        self._lengths: dict[tuple[PartialKind, int], int] = {}
        self._waiting: Frame | None = None
        self._sent_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._unwritten: list[Frame] = []
        self._unwritten_size = 0
        self._write_timer: asyncio.TimerHandle | None = None
        self._write: asyncio.Task[None] | None = None
        self._refused = False
        self._closed = False

    def add(self, kind: PartialKind, scope: Scope, text: str, tool: str = "") -> None:
        """Add a piece of a part."""
        if not text or self._closed:
            return
        key = (kind, scope.step)
        text = self._redact(key, text)
        if not text:
            return
        offset = self._lengths.get(key, 0)
        self._lengths[key] = offset + len(text)
        self._texts[key].append(text)
        waiting = self._waiting
        if waiting is not None and waiting.kind == kind and waiting.scope.step == scope.step:
            self._waiting = msgspec.structs.replace(waiting, text=waiting.text + text)
        else:
            self._send()
            self._waiting = Frame(kind=kind, scope=scope, offset=offset, text=text, tool=tool)
        interval = self._dependencies.limits.frame_interval
        if self._dependencies.clock.elapsed() - self._sent_at >= interval:
            self._send()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(interval, self._send)

    def read_text(self, kind: PartialKind, step: int) -> str:
        """Return the redacted text of a part so far.

        It includes text that is not shown yet because it may be the start of a secret.
        """
        redactor = self._redactions.get((kind, step))
        return "".join(self._texts.get((kind, step), ())) + (redactor.read_withheld() if redactor is not None else "")

    def list_steps(self, kind: PartialKind) -> list[int]:
        """Return the steps of the parts of a kind, in the order in which they began."""
        return [step for part_kind, step in self._texts if part_kind == kind]

    async def settle(self) -> None:
        """Stop sending and storing, and wait for the running write."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        if self._write is not None:
            await self._write

    def _redact(self, key: tuple[PartialKind, int], text: str) -> str:
        """Return the text that can be shown after this piece. A part begins with its first piece, even if nothing is shown."""
        if key not in self._redactions:
            self._redactions[key] = self._dependencies.secrets.redact_stream()
            self._texts[key] = []
        return self._redactions[key].add(repair_text(text))

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        frame, self._waiting = self._waiting, None
        if frame is None:
            return
        self._sent_at = self._dependencies.clock.elapsed()
        self._dependencies.feed.publish_frame(self._stream, frame)
        self._unwritten.append(frame)
        self._unwritten_size += len(frame.text)
        self._plan_write()

    def _plan_write(self) -> None:
        """Start or schedule a write when enough text waits, one write at a time."""
        if self._closed or not self._unwritten or (self._write is not None and not self._write.done()):
            return
        if self._unwritten_size >= self._dependencies.limits.partial_bytes and not self._refused:
            self._start_write()
        elif self._write_timer is None:
            self._write_timer = asyncio.get_running_loop().call_later(
                self._dependencies.limits.partial_interval, self._start_write
            )

    def _start_write(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        if self._unwritten and not self._closed and (self._write is None or self._write.done()):
            self._write = asyncio.create_task(self._write_partials())
            self._write.add_done_callback(lambda _: self._plan_write())

    async def _write_partials(self) -> None:
        """Write the waiting text. Text that the store refuses waits for the next write; the part's
        fact will contain all of it."""
        pieces, self._unwritten, size, self._unwritten_size = self._unwritten, [], self._unwritten_size, 0
        try:
            await self._dependencies.store.partials.write(self._stream, self._epoch, pieces)
            self._refused = False
        except Refusal as refusal:
            log.warning("partial text of %s was not stored: %s", self._stream, refusal.problem.message)
            self._refused = True
            self._unwritten, self._unwritten_size = [*pieces, *self._unwritten], size + self._unwritten_size
