"""Helpers for artifact tests: sessions whose agent writes files, and a person's commands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands.artifact import ArtifactList, ArtifactRead, EditArtifact, GetArtifact, ListArtifacts
from callboard.contracts.commands.base import Command
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.rows.artifact import ArtifactRow, ExportEntry
from tests.runtime.rigs.runtime_rig import PATIENCE, RuntimeRig, calls, open_runtime, says, use_tool

NOTES = "notes.md"


@asynccontextmanager
async def artifact_session(
    place: Path, *played: list[dict[str, Any]], permission_mode: str = "edits", **limits: Any
) -> AsyncIterator[tuple[RuntimeRig, str]]:
    """Yield a session whose agent has completed these calls."""
    scenario = calls(*(played or (use_tool("Write", file_path=NOTES, content="one\n"),)), says("Done."))
    async with open_runtime(place, scenario, **limits) as rig:
        turn = await rig.submit("write it", permission_mode=permission_mode)
        await rig.until(turn.session_id, "turn.completed")
        yield rig, turn.session_id


async def list_artifacts(rig: RuntimeRig, session: str) -> ArtifactList:
    """Return the session's artifacts."""
    return await rig.do(ListArtifacts(session_id=session))


async def read_single_artifact(rig: RuntimeRig, session: str) -> ArtifactRow:
    """Return the session's only artifact."""
    (row,) = (await list_artifacts(rig, session)).artifacts
    return row


async def read_artifact(rig: RuntimeRig, session: str, artifact: str) -> ArtifactRead:
    """Return an artifact with all its versions."""
    return await rig.do(GetArtifact(session_id=session, artifact_id=artifact))


async def read_versions(rig: RuntimeRig, session: str, artifact: str) -> list[tuple[int, str, str]]:
    """Return the versions: number, origin and text."""
    versions: list[tuple[int, str, str]] = []
    for version in (await read_artifact(rig, session, artifact)).versions:
        data = await rig.runtime.dependencies.store.blobs.get(version.content.hash)
        assert data is not None
        versions.append((version.version, version.version_origin, data.decode()))
    return versions


async def wait_export(rig: RuntimeRig, session: str, export: str) -> tuple[ExportEntry, bytes]:
    """Return an export when it has ended, and its outcome."""

    ends = ("artifact.export.completed", "artifact.failed")
    async with asyncio.timeout(PATIENCE):
        async for records in rig.runtime.dependencies.store.facts.subscribe(session):
            if any(record.header.type in ends and getattr(record.fact, "export", "") == export for record in records):
                break
    entry = next(entry for entry in await _entries(rig, session) if entry.export == export)
    data = await rig.runtime.dependencies.store.blobs.get(entry.content.hash) if entry.content else b""
    assert data is not None
    return entry, data


async def _entries(rig: RuntimeRig, session: str) -> list[ExportEntry]:
    return [export for row in (await list_artifacts(rig, session)).artifacts for export in row.exports]


async def read_refusal(rig: RuntimeRig, command: Command, key: str = "") -> Problem:
    """Return the refusal of a command."""
    with pytest.raises(Refusal) as refusal:
        await rig.do(command, key)
    return refusal.value.problem


def edit_command(session: str, artifact: str, base: int, content: str) -> EditArtifact:
    """Save a text over a version."""
    return EditArtifact(session_id=session, artifact_id=artifact, base_version=base, content=content)
