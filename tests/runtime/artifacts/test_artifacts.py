"""Artifacts with versions, written by agents and saved by people."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.contracts.commands.artifact import (
    ArtifactDiff,
    CreateArtifact,
    DeleteArtifact,
    EditArtifact,
    GetArtifact,
    GetArtifactDiff,
    ListArtifacts,
    RetryArtifact,
    RollbackArtifact,
)
from callboard.contracts.commands.subagent import CloseSubagent
from callboard.contracts.facts.artifact import ArtifactFailed, ArtifactSaveRequested, ArtifactVersionCreated
from callboard.contracts.rows.artifact import ArtifactPart
from callboard.contracts.scope import PERSON
from callboard.secrets.named_secret import NamedSecret
from callboard.secrets.redaction import Redaction
from tests.runtime.rigs.acp_agent import open_coder, start_session
from tests.runtime.rigs.artifacts import (
    NOTES,
    artifact_session,
    edit_command,
    list_artifacts,
    read_artifact,
    read_refusal,
    read_single_artifact,
    read_versions,
)
from tests.runtime.rigs.runtime_rig import calls, open_runtime, says, use_tool
from tests.runtime.worktrees.test_merge import changed_worktree, merge


async def test_a_file_that_an_agent_writes_is_an_artifact_with_a_step_per_version(tmp_path: Path) -> None:
    """UI-13: kind, version and state come from facts, and the conversation has a card at the call's
    step."""
    writes = (
        use_tool("Write", file_path=NOTES, content="one\n"),
        use_tool("Edit", file_path=NOTES, old_string="one", new_string="two"),
    )
    async with artifact_session(tmp_path, *writes) as (rig, session):
        row = await read_single_artifact(rig, session)
        assert (row.title, row.path, row.artifact_kind, row.status, row.version) == (
            NOTES,
            NOTES,
            "document",
            "saved",
            2,
        )
        facts = await rig.facts(session)
        started = [record.scope for record in facts if record.header.type == "tool.started"]
        versions = (await read_artifact(rig, session, row.key)).versions
        assert [(version.version, version.base, version.added, version.removed) for version in versions] == [
            (1, 0, 1, 0),
            (2, 1, 1, 1),
        ]
        assert [(version.agent_id, version.turn_id, version.tool_call_id) for version in versions] == [
            (scope.agent, scope.turn, scope.tool_call) for scope in started
        ]
        assert await read_versions(rig, session, row.key) == [(1, "agent", "one\n"), (2, "agent", "two\n")]
        parts = [part for part in await rig.parts(session, started[0].turn) if isinstance(part, ArtifactPart)]
        assert [(part.artifact_id, part.title, part.version, part.added, part.removed) for part in parts] == [
            (row.key, NOTES, 1, 1, 0),
            (row.key, NOTES, 2, 1, 1),
        ]


async def test_an_existing_file_is_recorded_as_found_before_its_change(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / NOTES).write_text("mine\n")
    async with artifact_session(tmp_path) as (rig, session):
        row = await read_single_artifact(rig, session)
        assert await read_versions(rig, session, row.key) == [(1, "found", "mine\n"), (2, "agent", "one\n")]


async def test_a_diff_compares_two_named_versions(tmp_path: Path) -> None:
    """UI-14"""
    writes = [use_tool("Write", file_path=NOTES, content=text) for text in ("one\n", "two\n", "three\n")]
    async with artifact_session(tmp_path, *writes) as (rig, session):
        row = await read_single_artifact(rig, session)
        command = GetArtifactDiff(session_id=session, artifact_id=row.key, from_version=3, to_version=1)
        assert await rig.do(command) == ArtifactDiff(
            session_id=session,
            artifact_id=row.key,
            from_version=3,
            to_version=1,
            diff="--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-three\n+one\n",
            added=1,
            removed=1,
        )
        none = GetArtifactDiff(session_id=session, artifact_id=row.key, from_version=1, to_version=9)
        assert (await read_refusal(rig, none)).field == "toVersion"


async def test_a_binary_version_is_marked_and_not_compared(tmp_path: Path) -> None:
    """UI-14"""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    async with artifact_session(tmp_path, use_tool("Write", file_path="logo.png", content="no image\n")) as (
        rig,
        session,
    ):
        row = await read_single_artifact(rig, session)
        diff = await rig.do(GetArtifactDiff(session_id=session, artifact_id=row.key, from_version=1, to_version=2))
        assert (diff.binary, diff.diff, diff.added) == (True, "", 0)
        assert (await read_artifact(rig, session, row.key)).versions[0].content.media == "image/png"


async def test_a_person_saves_a_text_over_its_base_version(tmp_path: Path) -> None:
    """CTX-04: the intent is a fact before the file is touched, and the version a fact after it."""
    async with artifact_session(tmp_path) as (rig, session):
        row = await read_single_artifact(rig, session)
        done = await rig.do(edit_command(session, row.key, 1, "one\nmore\n"))
        assert (done.version, done.status) == (2, "saved")
        assert (rig.folder / NOTES).read_text() == "one\nmore\n"
        records = [
            record for record in await rig.facts(session) if record.header.actor == PERSON and record.scope.artifact
        ]
        assert [type(record.fact) for record in records] == [ArtifactSaveRequested, ArtifactVersionCreated]
        assert [record.scope.agent for record in records] == ["", ""]
        entry = (await read_artifact(rig, session, row.key)).versions[-1]
        assert (entry.version_origin, entry.base, entry.added, entry.removed) == ("person", 1, 1, 0)


async def test_a_save_against_another_version_is_a_conflict_and_loses_neither_side(tmp_path: Path) -> None:
    """CTX-04, UI-13: the newest version and the draft both stay. The person can save the draft over
    it."""
    async with artifact_session(tmp_path) as (rig, session):
        row = await read_single_artifact(rig, session)
        await rig.do(edit_command(session, row.key, 1, "theirs\n"))
        problem = await read_refusal(rig, edit_command(session, row.key, 1, "mine\n"))
        assert (problem.code, problem.field) == ("artifact_conflict", "baseVersion")
        assert (rig.folder / NOTES).read_text() == "theirs\n"
        row = await read_single_artifact(rig, session)
        assert (row.status, row.version, row.draft_base, row.code) == ("conflict", 2, 1, "artifact_conflict")
        assert row.draft is not None
        assert await rig.runtime.dependencies.store.blobs.get(row.draft.hash) == b"mine\n"
        still = await read_refusal(rig, RetryArtifact(session_id=session, artifact_id=row.key))
        assert still.code == "artifact_conflict"
        done = await rig.do(RetryArtifact(session_id=session, artifact_id=row.key, base_version=2))
        assert (done.version, done.status) == (3, "saved")
        assert (rig.folder / NOTES).read_text() == "mine\n"
        row = await read_single_artifact(rig, session)
        assert (row.status, row.draft, row.code) == ("saved", None, "")


async def test_a_file_changed_outside_is_a_conflict_and_a_new_version(tmp_path: Path) -> None:
    """CTX-04"""
    async with artifact_session(tmp_path) as (rig, session):
        row = await read_single_artifact(rig, session)
        (rig.folder / NOTES).write_text("an editor's\n")
        assert (await read_refusal(rig, edit_command(session, row.key, 1, "mine\n"))).code == "artifact_conflict"
        assert await read_versions(rig, session, row.key) == [(1, "agent", "one\n"), (2, "found", "an editor's\n")]
        assert (rig.folder / NOTES).read_text() == "an editor's\n"


async def test_saving_the_current_content_discards_the_draft(tmp_path: Path) -> None:
    async with artifact_session(tmp_path) as (rig, session):
        row = await read_single_artifact(rig, session)
        assert (await read_refusal(rig, edit_command(session, row.key, 7, "mine\n"))).code == "artifact_conflict"
        done = await rig.do(edit_command(session, row.key, 1, "one\n"))
        assert (done.version, done.status) == (1, "saved")
        row = await read_single_artifact(rig, session)
        assert (row.status, row.draft, row.version) == ("saved", None, 1)


async def test_a_missing_file_is_created_again_only_if_the_person_asks(tmp_path: Path) -> None:
    async with artifact_session(tmp_path) as (rig, session):
        row = await read_single_artifact(rig, session)
        (rig.folder / NOTES).unlink()
        assert (await read_refusal(rig, edit_command(session, row.key, 1, "again\n"))).code == "artifact_conflict"
        assert not (rig.folder / NOTES).exists()
        await rig.do(RetryArtifact(session_id=session, artifact_id=row.key, base_version=1))
        assert (rig.folder / NOTES).read_text() == "again\n"


async def test_a_rollback_saves_an_earlier_version_as_a_new_one(tmp_path: Path) -> None:
    writes = [use_tool("Write", file_path=NOTES, content=text) for text in ("one\n", "two\n")]
    async with artifact_session(tmp_path, *writes) as (rig, session):
        row = await read_single_artifact(rig, session)
        back = RollbackArtifact(session_id=session, artifact_id=row.key, version=1, base_version=2)
        done = await rig.do(back)
        assert (done.version, done.status) == (3, "saved")
        assert (rig.folder / NOTES).read_text() == "one\n"
        entry = (await read_artifact(rig, session, row.key)).versions[-1]
        assert (entry.version_origin, entry.restores, entry.base) == ("rollback", 1, 2)
        assert (await read_refusal(rig, back)).code == "artifact_conflict"


async def test_a_failed_save_keeps_the_confirmed_version_and_the_draft(tmp_path: Path) -> None:
    """UI-13"""
    async with artifact_session(tmp_path) as (rig, session):
        row = await read_single_artifact(rig, session)
        (rig.folder / NOTES).chmod(0o444)
        problem = await read_refusal(rig, edit_command(session, row.key, 1, "mine\n"))
        assert problem.code == "tool_failed"
        row = await read_single_artifact(rig, session)
        assert (row.status, row.version, row.code) == ("failed", 1, "tool_failed")
        (rig.folder / NOTES).chmod(0o644)
        done = await rig.do(RetryArtifact(session_id=session, artifact_id=row.key))
        assert (done.version, (rig.folder / NOTES).read_text()) == (2, "mine\n")


async def test_a_person_creates_a_file_and_adopts_an_existing_one(tmp_path: Path) -> None:
    async with artifact_session(tmp_path, use_tool("Read", file_path="none")) as (rig, session):
        new = await rig.do(CreateArtifact(session_id=session, path="docs/plan.md", content="plan\n"))
        assert (new.version, new.status) == (1, "saved")
        assert (rig.folder / "docs/plan.md").read_text() == "plan\n"
        (rig.folder / "there.txt").write_text("there\n")
        command = CreateArtifact(session_id=session, path="there.txt", content="other\n")
        assert (await read_refusal(rig, command)).code == "artifact_conflict"
        adopted = await rig.do(CreateArtifact(session_id=session, path="there.txt"))
        assert await read_versions(rig, session, adopted.artifact_id) == [(1, "found", "there\n")]
        again = await read_refusal(rig, CreateArtifact(session_id=session, path="there.txt"))
        assert (again.code, again.field) == ("artifact_conflict", "path")
        missing = await read_refusal(rig, CreateArtifact(session_id=session, path="missing.txt"))
        assert missing.code == "invalid_input"


async def test_an_artifact_without_a_file_is_stored_only_in_callboard(tmp_path: Path) -> None:
    async with artifact_session(tmp_path, use_tool("Read", file_path="none")) as (rig, session):
        created = await rig.do(CreateArtifact(session_id=session, title="Brief.md", content="one\n"))
        done = await rig.do(edit_command(session, created.artifact_id, 1, "one\ntwo\n"))
        assert (done.version, done.status) == (2, "saved")
        row = await read_single_artifact(rig, session)
        assert (row.title, row.path, row.artifact_kind) == ("Brief.md", "", "document")
        entry = (await read_artifact(rig, session, row.key)).versions[-1]
        assert (entry.added, entry.removed) == (1, 0)
        assert list(rig.folder.iterdir()) == []
        named = await rig.do(EditArtifact(session_id=session, artifact_id=row.key, base_version=2, title="The brief"))
        assert (named.version, (await read_single_artifact(rig, session)).title) == (2, "The brief")


@pytest.mark.parametrize(
    "path", ["agents/solo.md", ".git/config", ".callboard/settings.json", "../out.md", "/etc/passwd"]
)
async def test_protected_and_outside_files_are_not_artifacts(tmp_path: Path, path: str) -> None:
    """SAFE-01, SAFE-08"""
    async with artifact_session(tmp_path, use_tool("Read", file_path="none")) as (rig, session):
        before = len(await rig.facts(session))
        problem = await read_refusal(rig, CreateArtifact(session_id=session, path=path, content="mine"))
        assert (problem.code, problem.field) == ("path_denied", "path")
        assert len(await rig.facts(session)) == before


async def test_deleting_an_artifact_keeps_its_file_unless_requested(tmp_path: Path) -> None:
    writes = use_tool("Write", file_path="a.md", content="a\n"), use_tool("Write", file_path="b.md", content="b\n")
    async with artifact_session(tmp_path, *writes) as (rig, session):
        first, other = (await list_artifacts(rig, session)).artifacts
        wrong = DeleteArtifact(session_id=session, artifact_id=first.key, confirm=other.key)
        assert (await read_refusal(rig, wrong)).field == "confirm"
        done = await rig.do(DeleteArtifact(session_id=session, artifact_id=first.key, confirm=first.key))
        assert (done.status, (rig.folder / "a.md").exists()) == ("deleted", True)
        gone = DeleteArtifact(session_id=session, artifact_id=other.key, confirm=other.key, file=True)
        assert ((await rig.do(gone)).status, (rig.folder / "b.md").exists()) == ("deleted", False)
        assert [row.status for row in (await list_artifacts(rig, session)).artifacts] == ["deleted", "deleted"]
        assert (await read_refusal(rig, gone)).code == "artifact_deleted"
        assert (await read_refusal(rig, edit_command(session, "art_none", 1, "x"))).code == "unknown_artifact"


async def test_a_file_that_differs_from_the_newest_version_is_not_removed(tmp_path: Path) -> None:
    async with artifact_session(tmp_path) as (rig, session):
        row = await read_single_artifact(rig, session)
        (rig.folder / NOTES).write_text("an editor's\n")
        gone = DeleteArtifact(session_id=session, artifact_id=row.key, confirm=row.key, file=True)
        assert (await read_refusal(rig, gone)).code == "artifact_conflict"
        assert (rig.folder / NOTES).read_text() == "an editor's\n"
        assert await read_versions(rig, session, row.key) == [(1, "agent", "one\n"), (2, "found", "an editor's\n")]


async def test_a_save_repeated_with_its_key_is_saved_once(tmp_path: Path) -> None:
    """CTL-01"""
    async with artifact_session(tmp_path) as (rig, session):
        row = await read_single_artifact(rig, session)
        command = edit_command(session, row.key, 1, "mine\n")
        first = await rig.do(command, "k1")
        assert await rig.do(command, "k1") == first
        same = edit_command(session, row.key, 2, "mine\n")
        assert await rig.do(same, "k2") == await rig.do(same, "k2")
        assert (await read_single_artifact(rig, session)).version == 2


async def test_a_save_keeps_the_files_encoding_and_line_ends(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "old.txt").write_bytes("caf\u00e9\r\n".encode("latin-1"))
    async with artifact_session(tmp_path, use_tool("Read", file_path="none")) as (rig, session):
        created = await rig.do(CreateArtifact(session_id=session, path="old.txt"))
        await rig.do(edit_command(session, created.artifact_id, 1, "caf\u00e9\ncr\u00e8me\n"))
        assert (rig.folder / "old.txt").read_bytes() == "caf\u00e9\r\ncr\u00e8me\r\n".encode("latin-1")


async def test_the_list_is_paged_and_waits_for_a_sequence(tmp_path: Path) -> None:
    writes = [use_tool("Write", file_path=f"{n}.md", content=f"{n}\n") for n in range(3)]
    async with artifact_session(tmp_path, *writes) as (rig, session):
        newest = await rig.do(ListArtifacts(session_id=session, limit=2))
        assert [row.path for row in newest.artifacts] == ["1.md", "2.md"]
        older = await rig.do(ListArtifacts(session_id=session, limit=2, before=newest.artifacts[0].order))
        assert [row.path for row in older.artifacts] == ["0.md"]
        ahead = ListArtifacts(session_id=session, wait_for=newest.head + 1)
        assert (await read_refusal(rig, ahead)).code == "gap"
        unknown = GetArtifact(session_id=session, artifact_id="art_none")
        assert (await read_refusal(rig, unknown)).code == "unknown_artifact"


async def test_a_denied_write_creates_no_artifact(tmp_path: Path) -> None:
    """CTL-05"""
    async with artifact_session(
        tmp_path, use_tool("Write", file_path="code.py", content="x"), permission_mode="planning"
    ) as (
        rig,
        session,
    ):
        assert (await list_artifacts(rig, session)).artifacts == ()


async def test_artifacts_survive_a_restart(tmp_path: Path) -> None:
    async with artifact_session(tmp_path) as (rig, session):
        row = await read_single_artifact(rig, session)
        assert (await read_refusal(rig, edit_command(session, row.key, 9, "mine\n"))).code == "artifact_conflict"
        before = await read_single_artifact(rig, session)
    async with open_runtime(tmp_path, {"calls": [says("Done.")]}) as rig:
        assert await read_single_artifact(rig, session) == before
        done = await rig.do(RetryArtifact(session_id=session, artifact_id=before.key, base_version=1))
        assert (done.version, (rig.folder / NOTES).read_text()) == (2, "mine\n")
        failed = [record.fact for record in await rig.facts(session) if isinstance(record.fact, ArtifactFailed)]
        assert [(entry.base, entry.current) for entry in failed] == [(9, 1)]


async def test_a_childs_artifacts_stay_in_its_worktree_until_the_merge(tmp_path: Path) -> None:
    """A merge creates versions of the parent's artifacts. Artifacts of a closed worktree are not
    listed."""
    async with changed_worktree(tmp_path) as (rig, session):
        own = await read_single_artifact(rig, session)
        assert (own.path, own.worktree != "", own.agent_id) == (NOTES, True, "worker-1")
        assert await read_versions(rig, session, own.key) == [(1, "found", "one\n"), (2, "agent", "one\ntwo\n")]
        await rig.do(merge(session))
        _, merged = (await list_artifacts(rig, session)).artifacts
        assert (merged.path, merged.worktree) == (NOTES, "")
        assert await read_versions(rig, session, merged.key) == [(1, "found", "one\n"), (2, "merge", "one\ntwo\n")]
        done = await rig.do(edit_command(session, merged.key, 2, "three\n"))
        assert (done.version, (rig.folder / NOTES).read_text()) == (3, "three\n")
        await rig.do(CloseSubagent(session_id=session, agent="worker-1"))
        states = {row.key: row.status for row in (await list_artifacts(rig, session)).artifacts}
        assert states == {own.key: "deleted", merged.key: "saved"}


async def test_a_literal_handle_in_a_file_is_not_replaced_on_save(tmp_path: Path) -> None:
    """SAFE-03: a handle that a person adds is replaced by its value."""
    value = "d3pl0y-Zx9wVu8tSr7qPo6n"
    (tmp_path / "work").mkdir()
    conf = tmp_path / "work" / "conf.txt"
    conf.write_text("say secret://deploy or secret://ghost\n")
    redaction = Redaction(
        [NamedSecret("deploy", value, "environment"), NamedSecret("other", f"{value[::-1]}", "environment")]
    )
    async with open_runtime(tmp_path, calls(says("Done.")), secrets=redaction) as rig:
        session = (await rig.submit("go")).session_id
        created = await rig.do(CreateArtifact(session_id=session, path="conf.txt"))
        ((_, _, text),) = await read_versions(rig, session, created.artifact_id)
        await rig.do(edit_command(session, created.artifact_id, 1, f"{text}x=secret://other\n"))
        assert conf.read_text() == f"say secret://deploy or secret://ghost\nx={value[::-1]}\n"
        conf.write_text(f"{conf.read_text()}y={value}\n")
        problem = await read_refusal(rig, edit_command(session, created.artifact_id, 2, "anything\n"))
        assert (problem.code, value in conf.read_text()) == ("invalid_input", True)


async def test_a_secret_stays_in_the_file_and_in_no_version(tmp_path: Path) -> None:
    """SAFE-03: a person edits the text with its handle. The file keeps the value, which counts as
    no change."""
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "conf.txt").write_text(f"token {token}\n")
    async with artifact_session(tmp_path, use_tool("Read", file_path="none")) as (rig, session):
        created = await rig.do(CreateArtifact(session_id=session, path="conf.txt"))
        ((_, _, text),) = await read_versions(rig, session, created.artifact_id)
        assert token not in text
        assert "secret://" in text
        done = await rig.do(edit_command(session, created.artifact_id, 1, f"{text}more\n"))
        assert (done.version, (rig.folder / "conf.txt").read_text()) == (2, f"token {token}\nmore\n")
        back = RollbackArtifact(session_id=session, artifact_id=created.artifact_id, version=1, base_version=2)
        assert (await rig.do(back)).status == "saved"
        assert (rig.folder / "conf.txt").read_text() == f"token {token}\n"
        assert [origin for _, origin, _ in await read_versions(rig, session, created.artifact_id)] == [
            "found",
            "person",
            "rollback",
        ]
    data = b"".join(path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file())
    assert token.encode() not in data


async def test_a_change_by_an_external_agent_is_a_version_of_the_whole_file(tmp_path: Path) -> None:
    """The agent reports only a part of the file."""
    change = {"call": {"id": "x", "kind": "edit", "status": "completed", "diff": ["a.py", "old\n", "new\n"]}}
    outside = {"call": {"id": "y", "kind": "edit", "status": "completed", "diff": ["/etc/none", "old\n", "new\n"]}}
    async with open_coder(tmp_path, [change, outside, {"say": "Done."}]) as rig:
        (rig.folder / "a.py").write_text("new\nrest\n")
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        row = await read_single_artifact(rig, session)
        assert (row.path, row.artifact_kind) == ("a.py", "code")
        assert await read_versions(rig, session, row.key) == [(1, "agent", "new\nrest\n")]
