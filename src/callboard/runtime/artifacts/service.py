"""Entry point for artifact commands and queries."""

from __future__ import annotations

from callboard.contracts.commands.artifact import (
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
    """Passes each request to the exporter, the writer or the reads."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry) -> None:
        self._exporter = ArtifactExporter(dependencies, sessions)
        self._writer = ArtifactWriter(dependencies, sessions, self._exporter.reads)

    async def submit(
        self, command: ArtifactCommand, actor: Actor, stored_answer: StoredAnswer | None
    ) -> ArtifactChanged | ExportBegun:
        """Run a command.

        Raises:
            Refusal: What the command refuses.
        """
        match command:
            case ExportArtifact() | RetryArtifact(export_id=str()):
                return await self._exporter.start(command, actor, stored_answer)
            case _:
                return await self._writer.change(command, actor, stored_answer)

    async def answer(self, query: ArtifactQuery) -> ArtifactList | ArtifactRead | ArtifactDiff:
        """Answer a query.

        Raises:
            Refusal: What the query refuses.
        """
        return await self._exporter.reads.answer(query)

    async def wait_settled(self) -> None:
        """Wait for file changes in progress, and cancel exports, which can be repeated."""
        await self._writer.wait_settled()
        await self._exporter.close()
