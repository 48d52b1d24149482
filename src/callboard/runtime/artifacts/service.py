"""The service of artifacts: what persons ask of them, and what is read of them."""

from __future__ import annotations

from callboard.contracts.commands.artifacts import (
    ArtifactChanged,
    ArtifactCommand,
    ArtifactDiff,
    ArtifactList,
    ArtifactQuery,
    ArtifactRead,
    ExportArtifact,
    ExportBegun,
    RetryArtifact,
)
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor

from ..dependencies import Dependencies
from ..session_registry import SessionRegistry
from .exporter import ArtifactExporter
from .writer import ArtifactWriter


class ArtifactService:
    """Each request goes to who carries it out."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry) -> None:
        self._exporting = ArtifactExporter(dependencies, sessions)
        self._saving = ArtifactWriter(dependencies, sessions, self._exporting.reads)

    async def submit(
        self, command: ArtifactCommand, actor: Actor, stored_answer: StoredAnswer | None
    ) -> ArtifactChanged | ExportBegun:
        """Carries a command out. Raises Refusal."""
        match command:
            case ExportArtifact() | RetryArtifact(export_id=str()):
                return await self._exporting.start(command, actor, stored_answer)
            case _:
                return await self._saving.change(command, actor, stored_answer)

    async def answer(self, query: ArtifactQuery) -> ArtifactList | ArtifactRead | ArtifactDiff:
        """The answer of a query. Raises Refusal."""
        return await self._exporting.reads.answer(query)

    async def wait_settled(self) -> None:
        """Waits for files that are being changed, and ends exports: they can be made again."""
        await self._saving.wait_settled()
        await self._exporting.close()
