"""Recovery of artifact changes that an ended process did not finish."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.contracts.commands.artifact import DeleteArtifact, RetryArtifact
from callboard.contracts.content import make_blob
from callboard.contracts.facts.artifact import ArtifactDeleted, ArtifactFailed, ArtifactVersionCreated
from callboard.contracts.facts.base import Fact
from callboard.contracts.scope import PERSON
from callboard.control.state.artifact import ArtifactRequest, ArtifactRequested, FileState
from tests.runtime.rigs.artifacts import NOTES, artifact_session, edit_command, read_single_artifact, read_versions
from tests.runtime.rigs.runtime_rig import RuntimeRig, open_runtime, says
from tests.runtime.sessions.test_recovery import copy_as_killed

MEDIA = "text/plain; charset=utf-8"
AGAIN = {"calls": [says("Again.")]}


async def record_intent(rig: RuntimeRig, session: str, request: ArtifactRequest, artifact: str) -> None:
    """Record the intent as a process would that ended before it touched the file."""
    host = (await rig.runtime.sessions.get(session)).host
    draft = None if isinstance(request, DeleteArtifact) else make_blob(b"mine\n", MEDIA)
    look = FileState(content=make_blob(b"one\n", MEDIA))
    command = ArtifactRequested(session_id=session, artifact_id=artifact, request=request, draft=draft, file=look)
    await host.run_command(command, PERSON)


async def read_outcome(rig: RuntimeRig, session: str) -> Fact:
    """Return the outcome that the next process records."""
    sequence = next(
        record.sequence for record in await rig.facts(session) if record.header.type == "artifact.save.requested"
    )
    await rig.runtime.sessions.get(session)
    async for records in rig.runtime.dependencies.store.facts.subscribe(session, after=sequence):
        for record in records:
            if isinstance(record.fact, ArtifactDeleted | ArtifactFailed | ArtifactVersionCreated):
                return record.fact
    raise AssertionError("the session ended")


@pytest.mark.parametrize(
    ("there", "expected"),
    [("mine\n", "person"), ("one\n", "save_interrupted"), ("an editor's\n", "found"), (None, "save_interrupted")],
    ids=["written", "not written", "changed by another", "gone"],
)
async def test_an_interrupted_save_is_recorded_as_the_file_shows(
    tmp_path: Path, there: str | None, expected: str
) -> None:
    """CTX-04: it is saved, or failed with its draft. It is never written again automatically."""
    async with artifact_session(tmp_path) as (rig, session):
        row = await read_single_artifact(rig, session)
        await record_intent(rig, session, edit_command(session, row.key, 1, "mine\n"), row.key)
        assert (await read_single_artifact(rig, session)).status == "saving"
        after = copy_as_killed(rig, tmp_path)
        if there is None:
            (rig.folder / NOTES).unlink()
        else:
            (rig.folder / NOTES).write_text(there)
        async with open_runtime(after, AGAIN) as next_one:
            fact = await read_outcome(next_one, session)
            assert getattr(fact, "version_origin", getattr(fact, "code", "")) == expected
            if expected == "found":
                await next_one.until(session, "artifact.failed")
            row = await read_single_artifact(next_one, session)
            if expected == "person":
                assert (row.status, row.version, row.draft) == ("saved", 2, None)
                return
            assert (rig.folder / NOTES).exists() is (there is not None)
            assert (row.status, row.draft_base) == ("conflict" if expected == "found" else "failed", 1)
            retry = RetryArtifact(session_id=session, artifact_id=row.key, base_version=row.version)
            await next_one.do(retry)
            assert (rig.folder / NOTES).read_text() == "mine\n"
            assert (await read_versions(next_one, session, row.key))[-1][1:] == ("person", "mine\n")


@pytest.mark.parametrize("gone", [True, False], ids=["removed", "not removed"])
async def test_an_interrupted_deletion_is_recorded_as_the_folder_shows(tmp_path: Path, gone: bool) -> None:
    async with artifact_session(tmp_path) as (rig, session):
        row = await read_single_artifact(rig, session)
        delete = DeleteArtifact(session_id=session, artifact_id=row.key, confirm=row.key, file=True)
        await record_intent(rig, session, delete, row.key)
        after = copy_as_killed(rig, tmp_path)
        if gone:
            (rig.folder / NOTES).unlink()
        async with open_runtime(after, AGAIN) as next_one:
            fact = await read_outcome(next_one, session)
            row = await read_single_artifact(next_one, session)
            assert (type(fact), row.status) == ((ArtifactDeleted, "deleted") if gone else (ArtifactFailed, "failed"))
            assert (rig.folder / NOTES).exists() is not gone
