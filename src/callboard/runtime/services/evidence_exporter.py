"""Exports of evidence packs.

The exporter reads the facts in pages and writes the pack in a thread, without blocking its session.
Only the final fact is processed in the session's command queue.
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
    EvidenceExport,
    EvidencePacked,
    ExportEvidence,
    ExportList,
    ListExports,
)
from callboard.contracts.content import Blob, make_blob
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor, Scope
from callboard.control.decide.evidence import EvidencePackReported
from callboard.evidence.layout import MEDIA
from callboard.evidence.lineage import Lineage, Selection
from callboard.evidence.pack import MAX_BLOB_BYTES, PackResult, PackWriter

from ..background_tasks import BackgroundTasks
from ..dependencies import Dependencies
from ..service import Service, answers, carries_out
from ..session_registry import SessionRegistry
from ..workspaces.registry import WorkspaceRegistry

MADE_BY = f"Callboard {__version__}"
#: Number of facts per read and write.
PAGE = 500


@dataclass
class _Export:
    """A pack that is being written."""

    request: ExportEvidence
    through: int
    started_at: int
    done: int = 0


class EvidenceExporter(Service):
    """Writes packs, one at a time, which bounds memory."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        super().__init__(dependencies, sessions, workspaces)
        self._turn = asyncio.Semaphore(1)
        self._exports: list[_Export] = []
        self._tasks = BackgroundTasks()

    @carries_out(ExportEvidence)
    async def export(self, request: ExportEvidence, actor: Actor, stored_answer: StoredAnswer | None) -> EvidencePacked:
        """Write the pack of all facts up to now."""
        return await self._tasks.run(self._export(request, actor, stored_answer))

    async def close(self) -> None:
        """Cancel the running exports. They leave no fact and can be requested again."""
        await self._tasks.cancel_all()

    async def _export(
        self, request: ExportEvidence, actor: Actor, stored_answer: StoredAnswer | None
    ) -> EvidencePacked:
        await self._sessions.get(request.session_id)
        head = await self._dependencies.store.facts.read_head(request.session_id)
        export = _Export(request, head.sequence, self._dependencies.clock.now())
        self._exports.append(export)
        try:
            async with self._turn:
                outcome = await self._make_pack(export)
        finally:
            self._exports.remove(export)
        opened = await self._sessions.get(request.session_id)
        answer = await opened.host.run_command(outcome, actor, stored_answer)
        if not isinstance(answer, EvidencePacked):
            raise TypeError(f"the session answered an export with {type(answer).__name__}")
        return answer

    @answers(ListExports)
    async def list_exports(self, query: ListExports) -> ExportList:
        """Return the running exports of a session."""
        await self._sessions.get(query.session_id)
        return ExportList(
            exports=tuple(
                EvidenceExport(
                    task_id=export.request.task_id,
                    done=export.done,
                    through=export.through,
                    started_at=export.started_at,
                )
                for export in self._exports
                if export.request.session_id == query.session_id
            )
        )

    async def _make_pack(self, export: _Export) -> EvidencePackReported:
        request = export.request
        selection, scope = await self._select(export)
        with tempfile.TemporaryFile(prefix="callboard-evidence-") as file:
            async with _open_packer(file, request.session_id, selection) as packer:
                async for page in self._read_pages(export):
                    await asyncio.to_thread(packer.add_facts, page)
                    export.done = packer.through
                await self._add_blobs(packer)
                packed = await asyncio.to_thread(packer.finish)
            blob = await asyncio.to_thread(_read_blob, file)
        return _build_outcome(request, packed, blob, scope)

    async def _select(self, export: _Export) -> tuple[Selection | None, Scope]:
        """Return the facts and scope of the requested task; None for the whole session."""
        task = export.request.task_id
        if task is None:
            return None, Scope()
        lineage = Lineage()
        async for page in self._read_pages(export):
            await asyncio.to_thread(lineage.add_facts, page)
        scope = lineage.find_scope(task)
        if scope is None:
            raise Refusal(
                "unknown_task",
                f"The session has no task {task}.",
                field="taskId",
                hint="Leave taskId out for the whole session.",
            )
        return lineage.select(task), scope

    async def _read_pages(self, export: _Export) -> AsyncGenerator[tuple[StoredBytes, ...]]:
        """Yield the stored facts 1 to `through`."""
        session, after = export.request.session_id, 0
        while after < export.through:
            page = await self._dependencies.store.facts.read_bytes(
                session, after=after, limit=PAGE, until=export.through
            )
            if not page:
                raise Refusal(
                    "unknown_session",
                    f"The session {session} was deleted during the export.",
                    field="sessionId",
                    hint="Find sessions with list_sessions.",
                )
            yield page
            after = page[-1].sequence

    async def _add_blobs(self, packer: PackWriter) -> None:
        blobs = self._dependencies.store.blobs
        for ref in packer.finish_facts():
            if packer.accept_blob(ref):
                # One extra byte shows that the blob is too large.
                data = await blobs.get_range(ref.hash, offset=0, length=MAX_BLOB_BYTES + 1)
                await asyncio.to_thread(packer.add_blob, ref, data)


@asynccontextmanager
async def _open_packer(file: IO[bytes], session: str, selection: Selection | None) -> AsyncGenerator[PackWriter]:
    packer = PackWriter(file, session, MADE_BY, selection)
    try:
        yield packer
    finally:
        await asyncio.to_thread(packer.close)


def _read_blob(file: IO[bytes]) -> Blob:
    file.seek(0)
    return make_blob(file.read(), MEDIA)


def _build_outcome(request: ExportEvidence, packed: PackResult, pack: Blob, scope: Scope) -> EvidencePackReported:
    return EvidencePackReported(
        request=request,
        pack=pack,
        through=packed.through,
        facts=packed.facts,
        link=packed.link.hex(),
        scope=scope,
    )
