"""Exports of evidence: packs made beside the work of their session, which neither waits for them nor knows of them.

The facts are read in pages, written into a file in a thread of its own, and nothing of the session is held meanwhile. Only the
fact that tells of the finished pack takes the session's turn, like any other command.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import IO

from callboard import __version__
from callboard.contracts.chain import StoredBytes
from callboard.contracts.commands.evidence import (
    EvidencePacked,
    ExportEvidence,
    ExportList,
    ExportUnderWay,
    ListExports,
)
from callboard.contracts.content import Blob, blob_of
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor, Scope
from callboard.control.decide.evidence import EvidencePackReported
from callboard.evidence.layout import MEDIA
from callboard.evidence.lineage import Lineage, Selection
from callboard.evidence.pack import LARGEST_BLOB, PackResult, PackWriter

from .background_tasks import BackgroundTasks
from .dependencies import Dependencies
from .session_registry import SessionRegistry

MADE_BY = f"Callboard {__version__}"
#: How many facts are read and written at once.
PAGE = 500


@dataclass
class _Export:
    """A pack in the making."""

    request: ExportEvidence
    through: int
    started_at: int
    done: int = 0


class EvidenceExporter:
    """Makes packs, one at a time, so that memory is bounded however many are asked for."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._one = asyncio.Semaphore(1)
        self._exports: list[_Export] = []
        self._tasks = BackgroundTasks()

    async def export(self, request: ExportEvidence, actor: Actor, stored_answer: StoredAnswer | None) -> EvidencePacked:
        """Makes the pack of all facts that are there now. Raises Refusal `unknown_session`, `unknown_task`, `too_large`, and
        `chain_broken` where the log is not what was appended."""
        return await self._tasks.run(self._export(request, actor, stored_answer))

    async def close(self) -> None:
        """Ends what is under way: nothing is told of a pack that is not made, and it can be asked for again."""
        await self._tasks.cancel_all()

    async def _export(
        self, request: ExportEvidence, actor: Actor, stored_answer: StoredAnswer | None
    ) -> EvidencePacked:
        await self._sessions.get(request.session_id)
        head = await self._dependencies.store.facts.head(request.session_id)
        export = _Export(request, head.sequence, self._dependencies.clock.now())
        self._exports.append(export)
        try:
            async with self._one:
                made = await self._make(export)
        finally:
            self._exports.remove(export)
        found = await self._sessions.get(request.session_id)
        answer = await found.host.run_command(made, actor, stored_answer)
        if not isinstance(answer, EvidencePacked):
            raise TypeError(f"an export was answered with {type(answer).__name__}")
        return answer

    async def list(self, query: ListExports) -> ExportList:
        """The exports of a session that were not yet answered. Raises Refusal `unknown_session`."""
        await self._sessions.get(query.session_id)
        return ExportList(
            exports=tuple(
                ExportUnderWay(
                    task_id=one.request.task_id, done=one.done, through=one.through, started_at=one.started_at
                )
                for one in self._exports
                if one.request.session_id == query.session_id
            )
        )

    async def _make(self, export: _Export) -> EvidencePackReported:
        request = export.request
        selection, scope = await self._selection(export)
        with tempfile.TemporaryFile(prefix="callboard-evidence-") as file:
            async with _packer(file, request.session_id, selection) as packer:
                async for page in self._pages(export):
                    await asyncio.to_thread(packer.add_facts, page)
                    export.done = packer.through
                await self._blobs(packer)
                packed = await asyncio.to_thread(packer.finish)
            blob = await asyncio.to_thread(_read, file)
        return _made(request, packed, blob, scope)

    async def _selection(self, export: _Export) -> tuple[Selection | None, Scope]:
        """What is the task's, where one was named."""
        task = export.request.task_id
        if task is None:
            return None, Scope()
        lineage = Lineage()
        async for page in self._pages(export):
            await asyncio.to_thread(lineage.add_facts, page)
        scope = lineage.scope_of(task)
        if scope is None:
            raise Refusal(
                "unknown_task",
                f"The session has no task {task}.",
                field="taskId",
                hint="Leave taskId out for the whole session.",
            )
        return lineage.select(task), scope

    async def _pages(self, export: _Export) -> AsyncGenerator[tuple[StoredBytes, ...]]:
        """The facts 1 to `through` as they are stored. Raises Refusal `unknown_session` where they went away."""
        session, after = export.request.session_id, 0
        while after < export.through:
            page = await self._dependencies.store.facts.stored(session, after=after, limit=PAGE, until=export.through)
            if not page:
                raise Refusal("unknown_session", f"The session {session} was deleted meanwhile.", field="sessionId")
            yield page
            after = page[-1].sequence

    async def _blobs(self, packer: PackWriter) -> None:
        blobs = self._dependencies.store.blobs
        for wanted in packer.wanted_blobs():
            if packer.accepts(wanted):
                # One byte more than what fits tells that it does not.
                data = await blobs.get_range(wanted.hash, offset=0, length=LARGEST_BLOB + 1)
                await asyncio.to_thread(packer.add_blob, wanted, data)


@asynccontextmanager
async def _packer(file: IO[bytes], session: str, selection: Selection | None) -> AsyncGenerator[PackWriter]:
    packer = PackWriter(file, session, MADE_BY, selection)
    try:
        yield packer
    finally:
        await asyncio.to_thread(packer.close)


def _read(file: IO[bytes]) -> Blob:
    file.seek(0)
    return blob_of(file.read(), MEDIA)


def _made(request: ExportEvidence, packed: PackResult, pack: Blob, scope: Scope) -> EvidencePackReported:
    return EvidencePackReported(
        request=request,
        pack=pack,
        through=packed.through,
        facts=packed.facts,
        link=packed.link.hex(),
        scope=scope,
    )
