"""Exports of artifacts: a file, a diff, a page or an archive.

The start of an export is a fact before anything is read. Facts record its progress now and then,
and its outcome.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import msgspec

from callboard.contracts.commands.artifact import ExportArtifact, ExportStarted, RetryArtifact
from callboard.contracts.content import Blob
from callboard.contracts.entities.artifact import ExportForm
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.rows.artifact import ArtifactRow, ExportEntry
from callboard.contracts.scope import Actor
from callboard.control.decide.artifact.exports import build_unknown_export
from callboard.control.state.artifact import ExportReported, ExportRequested

from ..background_tasks import BackgroundTasks
from ..dependencies import Dependencies
from ..service import Service, carries_out
from ..session_registry import SessionRegistry
from ..workspaces.registry import WorkspaceRegistry
from .export_formats import ExportPart, render_archive, render_diff, render_file, render_page
from .queries import ArtifactReads

log = logging.getLogger(__name__)

#: Number and total bytes of artifacts in one export.
MAX_ARTIFACTS = 1000
MAX_BYTES = 256 * 1024 * 1024


class ArtifactExporter(Service):
    """Makes exports, one at a time, which bounds memory."""

    def __init__(
        self,
        dependencies: Dependencies,
        sessions: SessionRegistry,
        workspaces: WorkspaceRegistry,
        reads: ArtifactReads,
    ) -> None:
        super().__init__(dependencies, sessions, workspaces)
        self._reads = reads
        self._entries = reads.running_exports
        self._turn = asyncio.Semaphore(1)
        self._tasks = BackgroundTasks()
        self._starting = BackgroundTasks()
        self._closing = False

    @carries_out(ExportArtifact)
    async def start(self, request: ExportArtifact, actor: Actor, stored_answer: StoredAnswer | None) -> ExportStarted:
        """Start an export. It continues in the background."""
        return await self._starting.run(self._start(request, actor, stored_answer))

    async def retry(self, request: RetryArtifact, actor: Actor, stored_answer: StoredAnswer | None) -> ExportStarted:
        """Start a failed export again."""
        return await self._starting.run(self._start(request, actor, stored_answer))

    async def _start(
        self, request: ExportArtifact | RetryArtifact, actor: Actor, stored_answer: StoredAnswer | None
    ) -> ExportStarted:
        host = (await self._sessions.get(request.session_id)).host
        resolved = await self._resolve(request)
        answer = await host.run_command(resolved, actor, stored_answer)
        if not isinstance(answer, ExportStarted):
            raise TypeError(f"the session answered an export with {type(answer).__name__}")
        entry = ExportEntry(
            export=answer.export_id,
            version=resolved.version,
            form=resolved.form,
            source=resolved.source,
            artifacts=len(resolved.artifacts) + 1,
            everything=resolved.everything,
        )
        self._entries.setdefault(request.session_id, {})[entry.export] = entry
        self._tasks.start(self._export(resolved, entry))
        return answer

    async def close(self) -> None:
        """Cancel the running exports and record it. If the store is full, the next opening of the session records it."""
        self._closing = True
        await self._starting.wait_all()
        await self._tasks.cancel_all()

    async def _resolve(self, request: ExportArtifact | RetryArtifact) -> ExportRequested:
        """Return what to export. A retry exports the same as before."""
        session = request.session_id
        if isinstance(request, RetryArtifact):
            host = (await self._sessions.get(session)).host
            former = host.state.artifacts.exports.get(request.export_id or "")
            if former is None:
                raise build_unknown_export(request.export_id)
            return ExportRequested(
                session_id=session,
                artifact_id=former.artifact,
                request=request,
                form=former.form,
                version=former.version,
                source=former.source,
                artifacts=former.artifacts,
                everything=former.everything,
            )
        artifact_ids = request.artifact_ids
        if request.form != "zip" and len(artifact_ids) != 1:
            raise Refusal(
                "invalid_input",
                f"The form {request.form} exports exactly one artifact.",
                field="artifactIds",
                hint="Enter one id.",
            )
        await self._reads.wait_for_rows(session)
        if not artifact_ids:
            artifact_ids = tuple(row.key for row in (await self._list_artifacts(session))[:1])
            if not artifact_ids:
                raise Refusal(
                    "invalid_input",
                    "The session has no artifacts.",
                    field="artifactIds",
                    hint="Create an artifact with create_artifact first.",
                )
        rows = [await self._reads.read_row(session, artifact_id) for artifact_id in dict.fromkeys(artifact_ids)]
        version = request.version or rows[0].version
        source = max(version - 1, 0) if request.from_version is None else request.from_version
        await self._reads.read_version(session, rows[0].key, version)
        if request.form == "diff" and source:
            await self._reads.read_version(session, rows[0].key, source, "fromVersion")
        return ExportRequested(
            session_id=session,
            artifact_id=rows[0].key,
            request=request,
            form=request.form,
            version=version,
            source=source if request.form == "diff" else 0,
            artifacts=tuple(row.key for row in rows[1:]),
            everything=not request.artifact_ids,
        )

    async def _list_artifacts(self, session: str) -> Sequence[ArtifactRow]:
        rows = await self._reads.list_newest(session, MAX_ARTIFACTS)
        return [row for row in reversed(rows) if row.status != "deleted" and row.version]

    async def _export(self, request: ExportRequested, entry: ExportEntry) -> None:
        try:
            report = await self._export_outcome(request, entry)
        except asyncio.CancelledError:
            report = ExportReported(
                export=entry.export, code="export_interrupted", message="The process was stopped. Export it again."
            )
        except Refusal as refusal:
            report = ExportReported(export=entry.export, code=refusal.code, message=refusal.text)
        except Exception as error:
            log.exception("an export raised an unexpected error")
            report = ExportReported(
                export=entry.export,
                code="internal",
                message=f"The export failed unexpectedly ({type(error).__name__}).",
            )
        try:
            await self._report_end(request, report)
        finally:
            self._entries[request.session_id].pop(entry.export, None)

    async def _report_end(self, request: ExportRequested, report: ExportReported) -> None:
        """Report the outcome. While the disk is full, retry with that as the reason, because the
        export must not appear to be running."""
        while True:
            try:
                await self._report(request, report)
                return
            except Refusal as refusal:
                if refusal.code not in ("store_full", "store_locked"):
                    raise
                log.warning("the end of an export was not recorded yet: %s", refusal.problem.message)
                report = ExportReported(export=report.export, code=refusal.code, message=refusal.text)
            if self._closing:
                return
            await asyncio.sleep(self._dependencies.limits.retry_interval)

    async def _export_outcome(self, request: ExportRequested, entry: ExportEntry) -> ExportReported:
        async with self._turn:
            parts, left_out = await self._read_parts(request, entry)
            rendered = await asyncio.to_thread(_render, request.form, parts, request)
        return ExportReported(export=entry.export, content=rendered.blob, name=rendered.name, left_out=left_out)

    async def _read_parts(self, request: ExportRequested, entry: ExportEntry) -> tuple[list[ExportPart], int]:
        """Return the parts with their bytes, and the number of erased ones."""
        selected = await self._select_parts(request)
        total = sum(part.content.size for part in selected)
        if total > MAX_BYTES:
            raise Refusal(
                "too_large",
                f"The export has {total:,} bytes. The limit is {MAX_BYTES:,}.",
                hint="Name fewer artifacts in artifactIds.",
            )
        parts: list[ExportPart] = []
        clock = self._dependencies.clock
        done, reported_at = 0, clock.elapsed()
        for part in selected:
            try:
                blob = await self._reads.read_blob(part.content)
                parts.append(msgspec.structs.replace(part, data=blob.data))
            except Refusal:
                if request.form != "zip":
                    raise
            done += part.content.size
            self._entries[request.session_id][entry.export] = msgspec.structs.replace(entry, done=done, total=total)
            if clock.elapsed() - reported_at >= self._dependencies.limits.export_interval:
                reported_at = clock.elapsed()
                await self._report(request, ExportReported(export=entry.export, done=done, total=total))
        return parts, len(selected) - len(parts)

    async def _select_parts(self, request: ExportRequested) -> list[ExportPart]:
        session = request.session_id
        if request.form == "zip":
            await self._reads.wait_for_rows(session)
            rows = (
                await self._list_artifacts(session) if request.everything else await self._read_requested_rows(request)
            )
            versions = [
                (row, await self._reads.read_version(session, row.key, row.version)) for row in rows if row.version
            ]
            return [
                ExportPart(artifact=row, version=version.version, content=version.content) for row, version in versions
            ]
        row = await self._reads.read_row(session, request.artifact_id)
        numbers = (request.source, request.version) if request.form == "diff" and request.source else (request.version,)
        part_rows = [await self._reads.read_version(session, row.key, number) for number in numbers]
        return [ExportPart(artifact=row, version=version.version, content=version.content) for version in part_rows]

    async def _read_requested_rows(self, request: ExportRequested) -> list[ArtifactRow]:
        rows = (request.artifact_id, *request.artifacts)
        return [await self._reads.read_row(request.session_id, artifact) for artifact in rows]

    async def _report(self, request: ExportRequested, report: ExportReported) -> None:
        opened = await self._sessions.get(request.session_id)
        await opened.host.report(report)


def _render(form: ExportForm, parts: list[ExportPart], request: ExportRequested) -> _RenderedExport:
    match form:
        case "zip":
            return _RenderedExport(*render_archive(parts))
        case "diff":
            return _RenderedExport(*render_diff(parts, request.source))
        case "html":
            return _RenderedExport(*render_page(parts[0]))
        case "file":
            return _RenderedExport(*render_file(parts[0]))


class _RenderedExport(msgspec.Struct, frozen=True):
    name: str
    blob: Blob
