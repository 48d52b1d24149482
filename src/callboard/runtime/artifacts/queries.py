"""Reads of artifacts: the list, one artifact with its versions, and diffs."""

from __future__ import annotations

import asyncio

from callboard.contracts.commands.artifact import (
    ArtifactDiff,
    ArtifactList,
    ArtifactRead,
    GetArtifact,
    GetArtifactDiff,
    ListArtifacts,
)
from callboard.contracts.content import Blob, BlobRef
from callboard.contracts.entities.artifact import choose_title
from callboard.contracts.errors import Refusal
from callboard.contracts.rows.artifact import ArtifactRow, ArtifactVersionRow, ExportEntry, VersionEntry
from callboard.control.decide.artifact.save import build_unknown_artifact
from callboard.tools.builtin.folder_files import compare

from ..dependencies import Dependencies
from ..service import Service, answers
from ..session_registry import SessionRegistry, build_future_fact_refusal
from ..workspaces.registry import WorkspaceRegistry

#: Characters of a diff in an answer. An export contains the whole diff.
MAX_DIFF_CHARS = 200_000


class ArtifactReads(Service):
    """Answers artifact queries from rows. `running_exports` are the running exports of each session, by id."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        super().__init__(dependencies, sessions, workspaces)
        self.running_exports: dict[str, dict[str, ExportEntry]] = {}

    async def list_newest(self, session: str, limit: int, before: int | None = None) -> tuple[ArtifactRow, ...]:
        """Return the artifacts that changed last, in the order of their newest versions."""
        rows = await self._dependencies.store.rows.read_rows(session, ArtifactRow.panel, before=before, limit=limit)
        return tuple(row for row in rows if isinstance(row, ArtifactRow))

    async def read_row(self, session: str, artifact: str, wait_for: int = 0) -> ArtifactRow:
        """Return one artifact after all durable facts."""
        await self.wait_for_rows(session, wait_for)
        row = await self._dependencies.store.rows.read_row(session, ArtifactRow.panel, artifact)
        if not isinstance(row, ArtifactRow):
            raise build_unknown_artifact(artifact)
        return row

    async def read_version(self, session: str, artifact: str, version: int, field: str = "version") -> VersionEntry:
        """Return one version."""
        row = await self._dependencies.store.rows.read_row(session, ArtifactVersionRow.panel, f"{artifact}.{version}")
        if not isinstance(row, ArtifactVersionRow):
            raise Refusal(
                "invalid_input",
                f"The artifact has no version {version}.",
                field=field,
                hint="Find versions with get_artifact.",
            )
        return row.entry

    async def read_content(self, session: str, artifact: str, version: int, field: str = "version") -> Blob:
        """Return the bytes of a version."""
        await self.read_row(session, artifact)
        return await self.read_blob((await self.read_version(session, artifact, version, field)).content)

    async def read_blob(self, content: BlobRef) -> Blob:
        """Return stored bytes."""
        data = await self._dependencies.store.blobs.get(content.hash) if content.hash else None
        if data is None:
            raise Refusal(
                "unknown_blob",
                "The content of this version was erased.",
                hint="Choose another version.",
            )
        return Blob(ref=content, data=data)

    async def wait_for_rows(self, session: str, wait_for: int = 0) -> int:
        """Wait until the rows show the session's newest fact, and return its sequence."""
        opened = await self._sessions.get(session)
        head = (await self._dependencies.store.facts.read_head(session)).sequence
        if wait_for > head:
            raise build_future_fact_refusal(wait_for)
        await opened.views.wait_for(head)
        await opened.views.flush()
        return head

    @answers(ListArtifacts)
    async def list(self, query: ListArtifacts) -> ArtifactList:
        """Return the artifacts that changed last, and the running exports."""
        head = await self.wait_for_rows(query.session_id, query.wait_for)
        rows = await self.list_newest(query.session_id, query.limit, query.before)
        exports = tuple(self.running_exports.get(query.session_id, {}).values())
        return ArtifactList(artifacts=rows, exports=exports, head=head)

    @answers(GetArtifact)
    async def get(self, query: GetArtifact) -> ArtifactRead:
        """Return an artifact with its versions."""
        row = await self.read_row(query.session_id, query.artifact_id, query.wait_for)
        last = row.version if query.before is None else min(row.version, query.before - 1)
        rows = self._dependencies.store.rows
        version_rows = [
            await rows.read_row(query.session_id, ArtifactVersionRow.panel, f"{row.key}.{number}")
            for number in range(max(1, last - query.limit + 1), last + 1)
        ]
        versions = tuple(
            version_row.entry for version_row in version_rows if isinstance(version_row, ArtifactVersionRow)
        )
        return ArtifactRead(artifact=row, versions=versions, head=row.sequence)

    @answers(GetArtifactDiff)
    async def diff(self, query: GetArtifactDiff) -> ArtifactDiff:
        """Return the difference of two versions."""
        session, artifact = query.session_id, query.artifact_id
        row = await self.read_row(session, artifact)
        after = await self.read_content(session, artifact, query.to_version, "toVersion")
        before = (
            await self.read_content(session, artifact, query.from_version, "fromVersion")
            if query.from_version
            else None
        )
        name = row.path or choose_title(row.title, row.path)
        old = None if before is None else before.data
        comparison = await asyncio.to_thread(compare, name, old, after.data)
        return ArtifactDiff(
            session_id=session,
            artifact_id=artifact,
            from_version=query.from_version,
            to_version=query.to_version,
            diff=comparison.diff[:MAX_DIFF_CHARS],
            added=comparison.added,
            removed=comparison.removed,
            binary=comparison.binary,
            cut=len(comparison.diff) > MAX_DIFF_CHARS,
        )
