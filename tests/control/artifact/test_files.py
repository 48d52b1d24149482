"""Artifacts of files that were removed or recreated."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts.commands.artifact import CreateArtifact, DeleteArtifact, RetryArtifact, RollbackArtifact
from callboard.contracts.facts.artifact import ArtifactCreated, ArtifactDeleted, ArtifactFailed, ArtifactSaveRequested
from callboard.contracts.facts.tool import ToolCompleted
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ToolEnded
from tests.control.rigs.artifacts import (
    ARTIFACT,
    FIRST_TEXT,
    PATH,
    SECOND_TEXT,
    THIRD_TEXT,
    artifact_request,
    change_reported,
    edit_artifact,
    file_change,
    session_in_second_call,
    session_with_artifact,
    version_created,
    write_end,
)
from tests.control.rigs.examples import SESSION, at


def test_a_missing_file_that_a_call_recreates_gets_another_artifact():
    """UI-13: the batch of the later call, which saw the file missing, records its deletion."""
    second = msgspec.structs.replace(at(turn=1, run=1, step=4, call=2), artifact="art_2")
    session = session_in_second_call(file_change(FIRST_TEXT))
    decision = session.when(write_end(file_change(SECOND_TEXT), call=2)).decision
    assert [(new.fact, new.scope) for new in decision.facts[:3]] == [
        (ArtifactDeleted(file=True, reason="the file was gone when it was recreated"), ARTIFACT),
        (ArtifactCreated(artifact_kind="document", path=PATH), second),
        (version_created(1, SECOND_TEXT.ref, lines=(1, 0)), second),
    ]
    assert decision.facts[3].fact.type == "tool.completed"
    assert decision.closed[0] == "art_1"
    assert sorted(session.state.artifacts.open) == ["art_2"]
    back = RollbackArtifact(session_id=SESSION, artifact_id="art_1", version=1, base_version=1)
    assert session.refuses(artifact_request(back, FIRST_TEXT, on_disk=SECOND_TEXT)).code == "artifact_deleted"


@pytest.mark.parametrize(
    "outcome",
    [
        write_end(file_change(SECOND_TEXT, SECOND_TEXT), call=2),
        msgspec.structs.replace(write_end(file_change(SECOND_TEXT), call=2), is_self_reported=True),
        write_end(call=2, merged=(file_change(SECOND_TEXT),)),
        write_end(file_change(SECOND_TEXT, path="b.md"), call=2),
    ],
    ids=["it existed", "reported by an external agent", "merged", "another path"],
)
def test_a_file_that_no_call_saw_missing_keeps_its_artifact(outcome: ToolEnded):
    """An unobserved deletion is not recorded."""
    session = session_in_second_call(file_change(FIRST_TEXT))
    assert not [fact for fact in session.when(outcome).facts if isinstance(fact, ArtifactDeleted)]
    assert "art_1" in session.state.artifacts.open


def test_a_version_recorded_during_a_call_prevents_a_recorded_deletion():
    """Two writers of one file have no known order, so no deletion is recorded."""
    session = session_in_second_call(file_change(FIRST_TEXT)).after(
        artifact_request(edit_artifact(), SECOND_TEXT), change_reported()
    )
    assert session.when(write_end(file_change(THIRD_TEXT), call=2)).facts[0] == version_created(
        3, THIRD_TEXT.ref, lines=(1, 0)
    )


def test_a_persons_draft_stays_when_its_missing_file_is_recreated():
    """CTX-04: a draft belongs to its artifact, so the artifact stays while it has one."""
    session = session_in_second_call(file_change(FIRST_TEXT)).after(
        artifact_request(edit_artifact(base=9), SECOND_TEXT)
    )
    assert session.when(write_end(file_change(THIRD_TEXT), call=2)).facts[0] == version_created(
        2, THIRD_TEXT.ref, lines=(1, 0)
    )
    assert session.state.artifacts.drafts["art_1"].draft == SECOND_TEXT.ref
    retry = RetryArtifact(session_id=SESSION, artifact_id="art_1", base_version=2)
    assert session.when(artifact_request(retry, SECOND_TEXT, on_disk=THIRD_TEXT)).facts == (
        ArtifactSaveRequested(base=2, draft=SECOND_TEXT.ref),
    )


def test_a_running_save_reports_a_conflict_itself():
    """CTX-04: during a person's save, another writer does not end the artifact."""
    session = session_in_second_call(file_change(FIRST_TEXT)).after(artifact_request(edit_artifact(), SECOND_TEXT))
    assert session.when(write_end(file_change(THIRD_TEXT), call=2)).facts[0] == version_created(
        2, THIRD_TEXT.ref, lines=(1, 0)
    )
    (failed,) = session.when(change_reported("file_changed", THIRD_TEXT)).facts
    assert isinstance(failed, ArtifactFailed)
    assert (failed.code, failed.current, failed.draft) == ("artifact_conflict", 2, SECOND_TEXT.ref)


def test_a_persons_deletion_that_a_call_saw_is_recorded_before_the_calls_artifact():
    delete = DeleteArtifact(session_id=SESSION, artifact_id="art_1", confirm="art_1", file=True, reason="old")
    session = session_in_second_call(file_change(FIRST_TEXT)).after(artifact_request(delete))
    deleted, begun = session.when(write_end(file_change(SECOND_TEXT), call=2)).facts[:2]
    assert deleted == ArtifactDeleted(file=True, reason="old")
    assert begun == ArtifactCreated(artifact_kind="document", path=PATH)
    result = session.when(change_reported())
    assert result.facts == ()
    assert getattr(result.answer, "status", "") == "deleted"


def test_a_removed_file_is_a_conflict_while_a_person_has_an_unsaved_draft():
    """CTX-04, UI-13"""
    session = session_in_second_call(file_change(FIRST_TEXT)).after(
        artifact_request(edit_artifact(base=9), SECOND_TEXT)
    )
    (failed, ended, *_) = session.when(write_end(file_change(None), call=2)).facts
    assert failed == ArtifactFailed(
        operation="save",
        code="artifact_conflict",
        message="The file is gone.",
        base=9,
        current=1,
        draft=SECOND_TEXT.ref,
    )
    assert isinstance(ended, ToolCompleted)
    retry = RetryArtifact(session_id=SESSION, artifact_id="art_1", base_version=1)
    assert session.when(artifact_request(retry, SECOND_TEXT, on_disk=None)).facts == (
        ArtifactSaveRequested(base=1, draft=SECOND_TEXT.ref),
    )


def test_a_file_removed_during_a_save_is_reported_by_the_save():
    """CTX-04"""
    session = session_in_second_call(file_change(FIRST_TEXT)).after(artifact_request(edit_artifact(), SECOND_TEXT))
    assert isinstance(session.when(write_end(file_change(None), call=2)).facts[0], ToolCompleted)
    (failed,) = session.when(change_reported("file_changed")).facts
    assert isinstance(failed, ArtifactFailed)
    assert (failed.code, failed.draft) == ("artifact_conflict", SECOND_TEXT.ref)


RECREATE = CreateArtifact(session_id=SESSION, path=PATH, content="two", reason="again")


def test_a_person_who_recreates_a_missing_file_gets_another_artifact():
    """UI-13: as for an agent's call, in the batch of the save's intent."""
    session = session_with_artifact()
    decision = session.when(
        artifact_request(RECREATE, SECOND_TEXT, on_disk=None, file_sequence=session.state.sequence)
    ).decision
    assert [(new.fact, new.scope) for new in decision.facts] == [
        (ArtifactDeleted(file=True, reason="the file was gone when it was recreated"), ARTIFACT),
        (ArtifactCreated(artifact_kind="document", path=PATH), Scope(artifact="art_2")),
        (ArtifactSaveRequested(base=0, draft=SECOND_TEXT.ref, reason="again"), Scope(artifact="art_2")),
    ]
    assert sorted(session.state.artifacts.open) == ["art_2"]


def test_a_version_recorded_after_the_person_looked_refuses_the_recreation():
    """An unobserved deletion is not recorded."""
    session = session_with_artifact()
    refused = session.refuses(
        artifact_request(
            RECREATE, SECOND_TEXT, on_disk=None, file_sequence=session.state.artifacts.open["art_1"].last_sequence - 1
        )
    )
    assert (refused.code, refused.field, refused.hint) == ("artifact_conflict", "path", "Edit that artifact.")


def test_an_artifact_with_an_unsaved_draft_outlives_its_file_and_the_refusal_says_how_to_save_it():
    """CTX-04"""
    session = session_with_artifact().after(artifact_request(edit_artifact(base=9), SECOND_TEXT))
    refused = session.refuses(
        artifact_request(RECREATE, THIRD_TEXT, on_disk=None, file_sequence=session.state.sequence)
    )
    assert (refused.code, refused.message, refused.hint) == (
        "artifact_conflict",
        f"{PATH} is already the artifact art_1, and it has an unsaved draft.",
        "Save the draft with retry_artifact over version 1, or delete the artifact.",
    )
    saving = session_with_artifact().after(artifact_request(edit_artifact(), SECOND_TEXT))
    refused = saving.refuses(artifact_request(RECREATE, THIRD_TEXT, on_disk=None, file_sequence=saving.state.sequence))
    assert (refused.code, refused.hint) == ("artifact_conflict", "Try again in a moment.")


def test_adopting_an_artifact_without_its_file_requires_content():
    session = session_with_artifact()
    nothing = CreateArtifact(session_id=SESSION, path=PATH)
    refused = session.refuses(artifact_request(nothing, on_disk=None, file_sequence=session.state.sequence))
    assert (refused.code, refused.message, refused.hint) == (
        "artifact_conflict",
        f"{PATH} is already the artifact art_1, and its file is gone.",
        "Set content to recreate the file.",
    )
