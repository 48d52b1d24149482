"""Pieces of parts in the making: gathered into some fifty frames a second, and kept as partials now and then."""

from __future__ import annotations

import asyncio
import logging

import msgspec

from callboard.contracts.content import valid_text
from callboard.contracts.errors import Refusal
from callboard.contracts.live import Frame, PartialKind
from callboard.contracts.ports.secrets import StreamRedaction
from callboard.contracts.scope import Scope

from ..dependencies import Dependencies

log = logging.getLogger(__name__)


class PartialBuffer:
    """Gathers the pieces of one effect. Frames go out in order; `settle` must be awaited before the parts' facts are
    committed, so that no partial is written after the transaction that deletes it."""

    def __init__(self, dependencies: Dependencies, stream: str, epoch: int) -> None:
        self._dependencies = dependencies
        self._stream = stream
        self._epoch = epoch
        self._texts: dict[tuple[PartialKind, int], list[str]] = {}
        self._veils: dict[tuple[PartialKind, int], StreamRedaction] = {}
        self._lengths: dict[tuple[PartialKind, int], int] = {}
        self._waiting: Frame | None = None
        self._sent_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._kept: list[Frame] = []
        self._kept_size = 0
        self._keep_timer: asyncio.TimerHandle | None = None
        self._write: asyncio.Task[None] | None = None
        self._refused = False
        self._closed = False

    def add(self, kind: PartialKind, scope: Scope, text: str, tool: str = "") -> None:
        """Takes a piece of a part."""
        if not text or self._closed:
            return
        key = (kind, scope.step)
        text = self._shown(key, text)
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

    def text(self, kind: PartialKind, step: int) -> str:
        """All that came of a part so far, redacted, also what is not shown yet because it may be the beginning of a
        secret."""
        veil = self._veils.get((kind, step))
        return "".join(self._texts.get((kind, step), ())) + (veil.pending() if veil is not None else "")

    def steps(self, kind: PartialKind) -> list[int]:
        """The steps of the parts of a kind, in the order in which they began."""
        return [step for found, step in self._texts if found == kind]

    async def settle(self) -> None:
        """Sends and keeps nothing more, and waits for what is being written."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._keep_timer is not None:
            self._keep_timer.cancel()
            self._keep_timer = None
        if self._write is not None:
            await self._write

    def _shown(self, key: tuple[PartialKind, int], text: str) -> str:
        """What may be shown now that this piece came. A part begins with its first piece, shown or not."""
        if key not in self._veils:
            self._veils[key] = self._dependencies.secrets.redact_stream()
            self._texts[key] = []
        return self._veils[key].add(valid_text(text))

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        frame, self._waiting = self._waiting, None
        if frame is None:
            return
        self._sent_at = self._dependencies.clock.elapsed()
        self._dependencies.feed.frame(self._stream, frame)
        self._kept.append(frame)
        self._kept_size += len(frame.text)
        self._plan_keeping()

    def _plan_keeping(self) -> None:
        """What waits to be kept is written when it is enough or has waited long enough, one write at a time."""
        if self._closed or not self._kept or (self._write is not None and not self._write.done()):
            return
        if self._kept_size >= self._dependencies.limits.partial_bytes and not self._refused:
            self._keep_now()
        elif self._keep_timer is None:
            self._keep_timer = asyncio.get_running_loop().call_later(
                self._dependencies.limits.partial_interval, self._keep_now
            )

    def _keep_now(self) -> None:
        if self._keep_timer is not None:
            self._keep_timer.cancel()
            self._keep_timer = None
        if self._kept and not self._closed and (self._write is None or self._write.done()):
            self._write = asyncio.create_task(self._keep())
            self._write.add_done_callback(lambda _: self._plan_keeping())

    async def _keep(self) -> None:
        """What the store refuses waits for the next write: the part's fact will hold all of it in any case."""
        pieces, self._kept, size, self._kept_size = self._kept, [], self._kept_size, 0
        try:
            await self._dependencies.store.partials.write(self._stream, self._epoch, pieces)
            self._refused = False
        except Refusal as refusal:
            log.warning("text in the making of %s is not kept yet: %s", self._stream, refusal.problem.message)
            self._refused = True
            self._kept, self._kept_size = [*pieces, *self._kept], size + self._kept_size
