"""Files of artifacts that are removed or moved outside the file tools."""

from __future__ import annotations

from pathlib import Path

from callboard.contracts.commands.artifact import CreateArtifact, ListArtifacts, RetryArtifact
from callboard.contracts.facts.artifact import ArtifactDeleted
from tests.runtime.rigs.acp_agent import open_coder, start_session
from tests.runtime.rigs.artifacts import (
    NOTES,
    artifact_session,
    edit_command,
    list_artifacts,
    read_refusal,
    read_single_artifact,
    read_versions,
)
from tests.runtime.rigs.runtime_rig import calls, open_runtime, says, use_tool


async def test_a_moved_file_that_is_written_again_is_a_new_artifact(
    tmp_path: Path,
) -> None:
    """UI-13: the old artifact is recorded as deleted, with a reason, in the batch of the next call."""
    writes = (
        use_tool("Write", file_path=NOTES, content="one\n"),
        use_tool("Bash", command=f"mv {NOTES} kept.md"),
        use_tool("Write", file_path=NOTES, content="two\n"),
    )
    async with artifact_session(tmp_path, *writes, permission_mode="full") as (rig, session):
        former, new = (await list_artifacts(rig, session)).artifacts
        assert [(fact.path, fact.status, fact.version) for fact in (former, new)] == [
            (NOTES, "deleted", 1),
            (NOTES, "saved", 1),
        ]
        assert await read_versions(rig, session, former.key) == [(1, "agent", "one\n")]
        assert await read_versions(rig, session, new.key) == [(1, "agent", "two\n")]
        (gone,) = [record for record in await rig.facts(session) if isinstance(record.fact, ArtifactDeleted)]
        assert gone.fact == ArtifactDeleted(file=True, reason="the file was gone when it was recreated")
        assert (gone.scope.artifact, gone.scope.tool_call) == (former.key, "")
        types = (await rig.types(session))[gone.sequence - 1 :]
        assert types[:4] == ["artifact.deleted", "artifact.created", "artifact.version.created", "tool.completed"]


async def test_a_missing_file_that_a_person_creates_again_is_a_new_artifact(tmp_path: Path) -> None:
    """UI-13: the old artifact is recorded as deleted before the file is touched."""
    async with artifact_session(tmp_path) as (rig, session):
        former = await read_single_artifact(rig, session)
        (rig.folder / NOTES).unlink()
        created = await rig.do(CreateArtifact(session_id=session, path=NOTES, content="mine\n"))
        assert (created.artifact_id != former.key, created.version, created.status) == (True, 1, "saved")
        assert (rig.folder / NOTES).read_text() == "mine\n"
        rows = (await rig.do(ListArtifacts(session_id=session, wait_for=created.sequence))).artifacts
        assert [(row.key, row.status) for row in rows] == [(former.key, "deleted"), (created.artifact_id, "saved")]
        there = await read_refusal(rig, CreateArtifact(session_id=session, path=NOTES, content="other\n"))
        assert (there.code, there.hint) == ("artifact_conflict", "Edit that artifact.")


async def test_a_draft_stays_when_an_agent_replaces_the_file(
    tmp_path: Path,
) -> None:
    """CTX-04: neither side is lost."""
    writes = (
        use_tool("Write", file_path=NOTES, content="one\n"),
        says("Done."),
        use_tool("Bash", command=f"rm {NOTES}"),
        use_tool("Write", file_path=NOTES, content="two\n"),
        says("Done."),
    )
    async with open_runtime(tmp_path, calls(*writes)) as rig:
        session = (await rig.submit("write it", permission_mode="full")).session_id
        await rig.until(session, "turn.completed")
        row = await read_single_artifact(rig, session)
        assert (await read_refusal(rig, edit_command(session, row.key, 9, "mine\n"))).code == "artifact_conflict"
        await rig.submit("anew", session=session, permission_mode="full")
        await rig.until(session, "turn.completed", count=2)
        row = await read_single_artifact(rig, session)
        assert (row.status, row.version, row.draft is not None) == ("conflict", 2, True)
        await rig.do(RetryArtifact(session_id=session, artifact_id=row.key, base_version=2))
        assert [text for _, _, text in await read_versions(rig, session, row.key)] == ["one\n", "two\n", "mine\n"]


async def test_an_external_agent_that_reports_a_file_as_new_ends_no_artifact(tmp_path: Path) -> None:
    """Its report is not reliable: some agents report every written file as new."""
    first = {
        "call": {"id": "a", "title": "Write", "kind": "edit", "status": "completed", "diff": [NOTES, None, "one\n"]}
    }
    again = {
        "call": {"id": "b", "title": "Write", "kind": "edit", "status": "completed", "diff": [NOTES, None, "two\n"]}
    }
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / NOTES).write_text("two\n")
    async with open_coder(tmp_path, [first, again, {"say": "Done."}]) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        row = await read_single_artifact(rig, session)
        assert (row.status, row.version) == ("saved", 2)
