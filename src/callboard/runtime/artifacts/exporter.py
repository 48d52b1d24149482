"""Exports of artifacts, made beside the work of their session: a version as it is, a diff, a page, an archive.

That one begins is a fact before anything is read; how far it is, is one now and then; what it came to is one behind it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import msgspec

from callboard.contracts.commands.artifacts import ExportArtifact, ExportBegun, RetryArtifact
from callboard.contracts.content import Blob
from callboard.contracts.entities.artifact import ExportForm
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.rows import ArtifactRow, ExportEntry
from callboard.contracts.scope import Actor
from callboard.control.state.artifact import ExportReported, ExportRequested

from ..background_tasks import BackgroundTasks
from ..dependencies import Dependencies
from ..session_registry import SessionRegistry
from .export_formats import ExportPart, render_archive, render_diff, render_file, render_page
from .queries import ArtifactReads

log = logging.getLogger(__name__)

#: How many artifacts an archive holds at most, and how many bytes of them.
MOST_ARTIFACTS = 1000
LARGEST_EXPORT = 256 * 1024 * 1024


class ArtifactExporter:
    """Makes exports, one at a time, so that memory is bounded however many are asked for."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._reads = ArtifactReads(dependencies, sessions, self.list_running)
        self._one = asyncio.Semaphore(1)
        self._entries: dict[str, dict[str, ExportEntry]] = {}
        self._tasks = BackgroundTasks()
        self._beginning = BackgroundTasks()
        self._closing = False

    @property
    def reads(self) -> ArtifactReads:
        """The reads of artifacts, which tell of these exports."""
        return self._reads

    def list_running(self, session: str) -> tuple[ExportEntry, ...]:
        """The exports of a session that are being made, with how far each is."""
        return tuple(self._entries.get(session, {}).values())

    async def start(
        self, request: ExportArtifact | RetryArtifact, actor: Actor, stored_answer: StoredAnswer | None
    ) -> ExportBegun:
        """Begins an export; it goes on when this has answered, and where its asker goes away. Raises Refusal `unknown_session`,
        `unknown_artifact`, `artifact_deleted`, `unknown_export`, `invalid_input`."""
        return await self._beginning.run(self._begin(request, actor, stored_answer))

    async def _begin(
        self, request: ExportArtifact | RetryArtifact, actor: Actor, stored_answer: StoredAnswer | None
    ) -> ExportBegun:
        host = (await self._sessions.get(request.session_id)).host
        asked = await self._asked(request)
        answer = await host.run_command(asked, actor, stored_answer)
        if not isinstance(answer, ExportBegun):
            raise TypeError(f"an export was answered with {type(answer).__name__}")
        entry = ExportEntry(
            export=answer.export_id,
            version=asked.version,
            form=asked.form,
            source=asked.source,
            artifacts=len(asked.artifacts) + 1,
            everything=asked.everything,
        )
        self._entries.setdefault(request.session_id, {})[entry.export] = entry
        self._tasks.start(self._export(asked, entry))
        return answer

    async def close(self) -> None:
        """Ends what is under way, and says so where there is room for that: else whoever opens the session next does."""
        self._closing = True
        await self._beginning.wait_all()
        await self._tasks.cancel_all()

    async def _asked(self, request: ExportArtifact | RetryArtifact) -> ExportRequested:
        """What is exported. One that is made again is what it was."""
        session = request.session_id
        if isinstance(request, RetryArtifact):
            host = (await self._sessions.get(session)).host
            former = host.state.artifacts.exports.get(request.export_id or "")
            if former is None:
                raise Refusal("unknown_export", f"No export {request.export_id} failed here.", field="exportId")
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
        named = request.artifact_ids
        if request.form != "zip" and len(named) != 1:
            raise Refusal(
                "invalid_input", f"The form {request.form} is of one artifact.", field="artifactIds", hint="Name it."
            )
        await self._reads.wait_for_rows(session)
        if not named:
            named = tuple(row.key for row in (await self._whole(session))[:1])
            if not named:
                raise Refusal("invalid_input", "The session has no artifact yet.", field="artifactIds")
        rows = [await self._reads.row(session, one) for one in dict.fromkeys(named)]
        version = request.version or rows[0].version
        source = max(version - 1, 0) if request.from_version is None else request.from_version
        await self._reads.version(session, rows[0].key, version)
        if request.form == "diff" and source:
            await self._reads.version(session, rows[0].key, source, "fromVersion")
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

    async def _whole(self, session: str) -> Sequence[ArtifactRow]:
        rows = await self._reads.newest(session, MOST_ARTIFACTS)
        return [row for row in reversed(rows) if row.status != "deleted" and row.version]

    async def _export(self, asked: ExportRequested, entry: ExportEntry) -> None:
        try:
            told = await self._told(asked, entry)
        except asyncio.CancelledError:
            told = ExportReported(export=entry.export, code="export_interrupted", message="The process was stopped.")
        except Refusal as refusal:
            told = ExportReported(export=entry.export, code=refusal.code, message=refusal.problem.message)
        except Exception as error:
            log.exception("an export failed in a way that it does not tell")
            told = ExportReported(export=entry.export, code="internal", message=f"It failed ({type(error).__name__}).")
        try:
            await self._end(asked, told)
        finally:
            self._entries[asked.session_id].pop(entry.export, None)

    async def _end(self, asked: ExportRequested, told: ExportReported) -> None:
        """Tells what it came to. While the disk has no room for that, that it failed for want of room is told as soon as
        there is some: it must not look as if it went on."""
        while True:
            try:
                await self._tell(asked, told)
                return
            except Refusal as refusal:
                if refusal.code not in ("store_full", "store_locked"):
                    raise
                log.warning("the end of an export is not told yet: %s", refusal.problem.message)
                told = ExportReported(export=told.export, code=refusal.code, message=refusal.problem.message)
            if self._closing:
                return
            await asyncio.sleep(self._dependencies.limits.retry_interval)

    async def _told(self, asked: ExportRequested, entry: ExportEntry) -> ExportReported:
        async with self._one:
            parts, left_out = await self._gathered(asked, entry)
            made = await asyncio.to_thread(_made, asked.form, parts, asked)
        return ExportReported(export=entry.export, content=made.blob, name=made.name, left_out=left_out)

    async def _gathered(self, asked: ExportRequested, entry: ExportEntry) -> tuple[list[ExportPart], int]:
        """What is exported, read; and how many are left out since their bytes were erased."""
        wanted = await self._wanted(asked)
        total = sum(part.content.size for part in wanted)
        if total > LARGEST_EXPORT:
            raise Refusal("too_large", f"{total:,} bytes are more than an export holds ({LARGEST_EXPORT:,}).")
        parts: list[ExportPart] = []
        clock = self._dependencies.clock
        done, told_at = 0, clock.elapsed()
        for part in wanted:
            try:
                blob = await self._reads.blob(part.content)
                parts.append(msgspec.structs.replace(part, data=blob.data))
            except Refusal:
                if asked.form != "zip":
                    raise
            done += part.content.size
            self._entries[asked.session_id][entry.export] = msgspec.structs.replace(entry, done=done, total=total)
            if clock.elapsed() - told_at >= self._dependencies.limits.export_interval:
                told_at = clock.elapsed()
                await self._tell(asked, ExportReported(export=entry.export, done=done, total=total))
        return parts, len(wanted) - len(parts)

    async def _wanted(self, asked: ExportRequested) -> list[ExportPart]:
        session = asked.session_id
        if asked.form == "zip":
            await self._reads.wait_for_rows(session)
            rows = await self._whole(session) if asked.everything else await self._named(asked)
            found = [(row, await self._reads.version(session, row.key, row.version)) for row in rows if row.version]
            return [
                ExportPart(artifact=row, version=version.version, content=version.content) for row, version in found
            ]
        row = await self._reads.row(session, asked.artifact_id)
        numbers = (asked.source, asked.version) if asked.form == "diff" and asked.source else (asked.version,)
        versions = [await self._reads.version(session, row.key, number) for number in numbers]
        return [ExportPart(artifact=row, version=version.version, content=version.content) for version in versions]

    async def _named(self, asked: ExportRequested) -> list[ArtifactRow]:
        named = (asked.artifact_id, *asked.artifacts)
        return [await self._reads.row(asked.session_id, one) for one in named]

    async def _tell(self, asked: ExportRequested, told: ExportReported) -> None:
        found = await self._sessions.get(asked.session_id)
        await found.host.report(told)


def _made(form: ExportForm, parts: list[ExportPart], asked: ExportRequested) -> _Export:
    match form:
        case "zip":
            return _Export(*render_archive(parts))
        case "diff":
            return _Export(*render_diff(parts, asked.source))
        case "html":
            return _Export(*render_page(parts[0]))
        case "file":
            return _Export(*render_file(parts[0]))


class _Export(msgspec.Struct, frozen=True):
    name: str
    blob: Blob
