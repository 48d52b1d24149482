"""Artifacts: versions from tool calls, and saves of a person against a base version."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts.commands.artifact import (
    ArtifactChanged,
    CreateArtifact,
    DeleteArtifact,
    ExportArtifact,
    ExportStarted,
    RetryArtifact,
    RollbackArtifact,
)
from callboard.contracts.content import Blob, Text
from callboard.contracts.entities.artifact import classify_artifact
from callboard.contracts.facts.artifact import (
    ArtifactCreated,
    ArtifactDeleted,
    ArtifactExportCompleted,
    ArtifactExportProgressed,
    ArtifactExportStarted,
    ArtifactFailed,
    ArtifactSaveRequested,
    ArtifactUpdated,
    ArtifactVersionCreated,
)
from callboard.contracts.facts.base import ErasedFact
from callboard.contracts.facts.session import SessionTakenOver
from callboard.contracts.facts.tool import ToolCompleted
from callboard.control.effects import SettleArtifact, derive_pending_effects
from callboard.control.evolve import evolve
from callboard.control.outcomes import HostTakenOver
from callboard.control.state.artifact import (
    ExportReported,
    ExportRequested,
    FileState,
    InterruptedSaveReported,
    OpenArtifact,
)
from tests.control.rigs.artifacts import (
    ARTIFACT,
    CALL,
    CALL_ARTIFACT,
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
from tests.control.rigs.decisions import session_after
from tests.control.rigs.examples import SESSION, at, model_response, requested_call, submit, text_response
from tests.control.rigs.expected_facts import model_request


def test_the_first_change_of_a_path_creates_an_artifact_before_the_call_ends():
    session = session_after(submit(), model_response(requested_call(1, 2)))
    session.when(write_end(file_change(FIRST_TEXT))).then(
        (ArtifactCreated(artifact_kind="document", path=PATH), CALL_ARTIFACT),
        (version_created(1, FIRST_TEXT.ref, lines=(1, 0)), CALL_ARTIFACT),
        (ToolCompleted(output=Text(text="done"), duration_ms=4, changes=(file_change(FIRST_TEXT),)), CALL),
        model_request(2, at(turn=1, run=1, step=3)),
    )
    version_sequence = next(
        record.sequence for record in session.records if record.header.type == "artifact.version.created"
    )
    assert session.state.artifacts.open == {
        "art_1": OpenArtifact(PATH, 1, FIRST_TEXT.ref.hash[:16], last_sequence=version_sequence)
    }


def test_the_earlier_content_of_a_file_is_a_found_version_before_the_calls_version():
    session = session_after(submit(), model_response(requested_call(1, 2)))
    assert session.when(write_end(file_change(SECOND_TEXT, FIRST_TEXT))).facts[:3] == (
        ArtifactCreated(artifact_kind="document", path=PATH),
        version_created(1, FIRST_TEXT.ref, "found"),
        version_created(2, SECOND_TEXT.ref, lines=(1, 1)),
    )
    assert [record.scope for record in session.records if record.header.type == "artifact.version.created"] == [
        ARTIFACT,
        CALL_ARTIFACT,
    ]


def test_a_concurrent_change_by_another_program_is_recorded_as_a_found_version():
    """CTX-04: the superseding content is recorded, never silently overwritten."""
    second = msgspec.structs.replace(at(turn=1, run=1, step=4, call=2), artifact="art_1")
    new_facts = (
        session_in_second_call(file_change(FIRST_TEXT))
        .when(write_end(file_change(THIRD_TEXT, SECOND_TEXT), call=2))
        .decision.facts
    )
    assert [(new.fact, new.scope) for new in new_facts[:2]] == [
        (version_created(2, SECOND_TEXT.ref, "found"), ARTIFACT),
        (version_created(3, THIRD_TEXT.ref, lines=(1, 1)), second),
    ]


def test_a_change_of_the_newest_version_adds_one_version():
    facts = (
        session_in_second_call(file_change(FIRST_TEXT))
        .when(write_end(file_change(SECOND_TEXT, FIRST_TEXT), call=2))
        .facts
    )
    assert [fact for fact in facts if isinstance(fact, ArtifactVersionCreated)] == [
        version_created(2, SECOND_TEXT.ref, lines=(1, 1))
    ]


def test_removing_a_file_deletes_its_artifact_and_a_new_file_gets_another_artifact():
    session = session_in_second_call(file_change(FIRST_TEXT))
    assert session.when(write_end(file_change(None), call=2)).facts[0] == ArtifactDeleted(file=True)
    session.after(model_response(requested_call(3, 6), step=5))
    facts = session.when(write_end(file_change(SECOND_TEXT), call=3)).facts
    assert facts[0] == ArtifactCreated(artifact_kind="document", path=PATH)
    assert sorted(session.state.artifacts.open) == ["art_2"]


def test_a_change_without_stored_content_adds_no_version():
    unstored = msgspec.structs.replace(file_change(FIRST_TEXT), after=None)
    facts = session_after(submit(), model_response(requested_call(1, 2))).when(write_end(unstored)).facts
    assert [fact for fact in facts if isinstance(fact, ArtifactCreated | ArtifactVersionCreated)] == []


def test_merged_changes_are_recorded_as_merge_versions_and_not_as_changes_of_the_call():
    session = session_after(submit(), model_response(requested_call(1, 2)))
    facts = session.when(write_end(merged=(file_change(FIRST_TEXT), file_change(SECOND_TEXT, path="b.py")))).facts
    assert facts[:4] == (
        ArtifactCreated(artifact_kind="document", path=PATH),
        version_created(1, FIRST_TEXT.ref, "merge", lines=(1, 0)),
        ArtifactCreated(artifact_kind="code", path="b.py"),
        version_created(1, SECOND_TEXT.ref, "merge", lines=(1, 0), path="b.py"),
    )
    assert isinstance(facts[4], ToolCompleted)
    assert facts[4].changes == ()


def test_a_save_records_an_intent_before_the_file_changes_and_a_version_after_it():
    """CTX-04"""
    session = session_with_artifact()
    begun = session.when(artifact_request(edit_artifact(), SECOND_TEXT))
    begun.then((ArtifactSaveRequested(base=1, draft=SECOND_TEXT.ref), ARTIFACT)).with_answer(
        ArtifactChanged(
            session_id=SESSION, artifact_id="art_1", version=1, status="saving", sequence=session.state.sequence
        )
    )
    ended = msgspec.structs.replace(change_reported(), added=1, removed=1)
    session.when(ended).then((version_created(2, SECOND_TEXT.ref, "person", lines=(1, 1)), ARTIFACT)).with_answer(
        ArtifactChanged(
            session_id=SESSION, artifact_id="art_1", version=2, status="saved", sequence=session.state.sequence
        )
    )


def test_a_save_against_another_version_keeps_the_draft_and_the_newest_version():
    """CTX-04"""
    session = session_with_artifact()
    result = session.when(artifact_request(edit_artifact(base=3), SECOND_TEXT))
    result.then(
        (
            ArtifactFailed(
                operation="save",
                code="artifact_conflict",
                message="The newest version is 1, but the change was made from 3.",
                base=3,
                current=1,
                draft=SECOND_TEXT.ref,
            ),
            ARTIFACT,
        )
    )
    assert result.decision.blobs == (SECOND_TEXT,)
    assert getattr(result.answer, "status", "") == "conflict"
    retry = RetryArtifact(session_id=SESSION, artifact_id="art_1", base_version=1)
    assert session.when(artifact_request(retry, SECOND_TEXT)).facts == (
        ArtifactSaveRequested(base=1, draft=SECOND_TEXT.ref),
    )


def test_a_file_that_differs_from_the_newest_version_is_a_conflict():
    """CTX-04"""
    result = session_with_artifact().when(artifact_request(edit_artifact(), SECOND_TEXT, on_disk=THIRD_TEXT))
    found_version, failed = result.facts
    assert found_version == version_created(2, THIRD_TEXT.ref, "found")
    assert isinstance(failed, ArtifactFailed)
    assert (failed.code, failed.base, failed.current, failed.draft) == ("artifact_conflict", 1, 2, SECOND_TEXT.ref)


def test_a_save_overtaken_by_another_change_keeps_both_contents():
    """CTX-04"""
    session = session_with_artifact().after(artifact_request(edit_artifact(), SECOND_TEXT))
    found_version, failed = session.when(change_reported("file_changed", THIRD_TEXT)).facts
    assert found_version == version_created(2, THIRD_TEXT.ref, "found")
    assert isinstance(failed, ArtifactFailed)
    assert (failed.code, failed.current, failed.draft) == ("artifact_conflict", 2, SECOND_TEXT.ref)


def test_a_call_that_read_a_persons_save_records_the_saved_version_first():
    """The call read the file after the person's write and is decided before the save is reported."""
    session = session_in_second_call(file_change(FIRST_TEXT)).after(artifact_request(edit_artifact(), SECOND_TEXT))
    facts = session.when(write_end(file_change(THIRD_TEXT, SECOND_TEXT), call=2)).facts
    assert facts[:2] == (
        version_created(2, SECOND_TEXT.ref, "person"),
        version_created(3, THIRD_TEXT.ref, lines=(1, 1)),
    )
    result = session.when(change_reported())
    assert result.facts == ()
    assert getattr(result.answer, "version", 0) == 3


def test_saving_the_current_content_adds_no_version():
    session = session_with_artifact()
    assert session.when(artifact_request(edit_artifact(content="one"), FIRST_TEXT)).facts == ()
    session.after(artifact_request(edit_artifact(base=9), SECOND_TEXT))
    assert session.when(artifact_request(edit_artifact(content="one"), FIRST_TEXT)).facts == (
        ArtifactUpdated(dropped=True),
    )
    assert session.state.artifacts.drafts == {}


def test_a_second_change_during_a_save_is_refused():
    session = session_with_artifact().after(artifact_request(edit_artifact(), SECOND_TEXT))
    assert session.refuses(artifact_request(edit_artifact(), THIRD_TEXT)).code == "artifact_conflict"


def test_an_earlier_version_is_restored_as_a_new_version():
    back = RollbackArtifact(session_id=SESSION, artifact_id="art_1", version=1, base_version=2)
    session = session_with_artifact().after(artifact_request(edit_artifact(), SECOND_TEXT), change_reported())
    assert session.when(artifact_request(back, FIRST_TEXT, on_disk=SECOND_TEXT)).facts == (
        ArtifactSaveRequested(base=2, draft=FIRST_TEXT.ref, restores=1),
    )
    assert session.when(change_reported()).facts == (version_created(3, FIRST_TEXT.ref, "rollback", restores=1),)


def test_an_artifact_without_a_file_is_saved_at_once():
    create = CreateArtifact(session_id=SESSION, title="Brief", content="one")
    session = session_after(submit(), text_response("Done."))
    request = msgspec.structs.replace(artifact_request(create, FIRST_TEXT), file=None)
    session.when(request).then(
        (ArtifactCreated(artifact_kind="text", title="Brief"), ARTIFACT),
        (version_created(1, FIRST_TEXT.ref, "person", path="", title="Brief"), ARTIFACT),
    )
    save = msgspec.structs.replace(artifact_request(edit_artifact(), SECOND_TEXT), file=None)
    assert session.when(save).facts == (version_created(2, SECOND_TEXT.ref, "person", path="", title="Brief"),)


def test_a_person_confirms_a_deletion_by_its_id():
    session = session_with_artifact()
    delete = DeleteArtifact(session_id=SESSION, artifact_id="art_1", confirm="art_2")
    assert session.refuses(artifact_request(delete)).field == "confirm"
    delete = msgspec.structs.replace(delete, confirm="art_1", file=True, reason="old")
    assert session.when(artifact_request(delete)).facts == (ArtifactSaveRequested(base=1, reason="old"),)
    assert session.when(change_reported()).facts == (ArtifactDeleted(file=True, reason="old"),)
    assert session.refuses(artifact_request(edit_artifact(), SECOND_TEXT)).code == "artifact_deleted"
    assert session.state.artifacts.open == {}


@pytest.mark.parametrize(
    ("on_disk", "fact_type"),
    [
        (SECOND_TEXT, "artifact.version.created"),
        (FIRST_TEXT, "artifact.failed"),
        (THIRD_TEXT, "artifact.failed"),
        (None, "artifact.failed"),
    ],
    ids=["saved", "not saved", "changed by another", "deleted"],
)
def test_a_save_interrupted_by_a_crash_is_settled_from_the_files_content(on_disk: Blob | None, fact_type: str):
    """CTX-04: never silently, and the draft stays if nothing was saved."""
    session = session_with_artifact().after(artifact_request(edit_artifact(), SECOND_TEXT))
    assert [effect for effect in derive_pending_effects(session.state) if isinstance(effect, SettleArtifact)] == [
        SettleArtifact("art_1")
    ]
    report = InterruptedSaveReported(artifact="art_1", file=FileState(content=on_disk))
    session.when(report).then_nothing()
    session.epoch = 2
    assert session.when(report).facts[-1].type == fact_type
    assert session.state.artifacts.saves == {}
    assert (session.state.artifacts.drafts == {}) is (on_disk is SECOND_TEXT)
    session.when(report).then_nothing()


def test_an_export_records_its_start_progress_and_completion():
    export = ExportArtifact(session_id=SESSION, artifact_ids=("art_1",), form="diff")
    request = ExportRequested(session_id=SESSION, artifact_id="art_1", request=export, form="diff", version=1)
    session = session_with_artifact()
    session.when(request).then((ArtifactExportStarted(export="exp_1", version=1, form="diff"), ARTIFACT)).with_answer(
        ExportStarted(session_id=SESSION, artifact_id="art_1", export_id="exp_1", sequence=session.state.sequence)
    )
    session.when(ExportReported(export="exp_1", done=1, total=3)).then(
        (ArtifactExportProgressed(export="exp_1", done=1, total=3), ARTIFACT)
    )
    session.when(ExportReported(export="exp_1", content=SECOND_TEXT, name="a.diff")).then(
        (ArtifactExportCompleted(export="exp_1", content=SECOND_TEXT.ref, name="a.diff"), ARTIFACT)
    )
    session.when(ExportReported(export="exp_1", code="internal", message="late")).then_nothing()


def test_an_export_interrupted_by_a_crash_fails_and_can_be_retried():
    export = ExportArtifact(session_id=SESSION, artifact_ids=("art_1",))
    request = ExportRequested(session_id=SESSION, artifact_id="art_1", request=export, form="file", version=1)
    session = session_with_artifact().after(request)
    retry = RetryArtifact(session_id=SESSION, artifact_id="art_1", export_id="exp_1")
    retry_request = msgspec.structs.replace(request, request=retry)
    assert session.refuses(retry_request).code == "unknown_export"
    session.epoch = 2
    (failed,) = session.when(HostTakenOver(partials=())).facts
    assert isinstance(failed, ArtifactFailed)
    assert (failed.operation, failed.export, failed.code) == ("export", "exp_1", "export_interrupted")
    assert session.when(retry_request).facts == (ArtifactExportStarted(export="exp_1", version=1, form="file"),)


def test_an_erased_version_still_counts():
    session = session_in_second_call(file_change(FIRST_TEXT))
    state = session.state
    session.state = msgspec.structs.replace(state, sequence=0, artifacts=type(state.artifacts)())
    for record in session.records:
        is_version = record.header.type == "artifact.version.created"
        session.state = evolve(
            session.state, msgspec.structs.replace(record, fact=ErasedFact()) if is_version else record
        )
    artifact = session.state.artifacts.open["art_1"]
    assert (artifact.path, artifact.version, artifact.hash_prefix) == (PATH, 1, "")
    assert SessionTakenOver not in [type(record.fact) for record in session.records]


def test_an_artifact_takes_few_bytes_of_the_decider_state():
    """The state of a session that wrote 10,000 files stays small: at most 110 bytes for each file."""
    session = session_with_artifact()
    artifacts = session.state.artifacts
    many = {
        f"art_{n:022}": OpenArtifact(
            f"src/package/module/file_{n}.py", 3, FIRST_TEXT.ref.hash[:16], last_sequence=100_000 + n
        )
        for n in range(10_000)
    }
    data = msgspec.json.encode(msgspec.structs.replace(artifacts, open=many))
    assert len(data) / 10_000 < 110


@pytest.mark.parametrize(
    ("name", "media", "kind"),
    [
        ("src/a.py", "text/plain; charset=utf-8", "code"),
        ("Makefile", "text/plain", "code"),
        ("docs/PLAN.MD", "text/plain", "document"),
        ("report.pdf", "application/octet-stream", "document"),
        ("a/b.json", "text/plain", "data"),
        ("logo.PNG", "application/octet-stream", "image"),
        ("logo.png", "text/plain", "text"),
        (".env", "text/plain", "text"),
        ("tool", "application/octet-stream", "binary"),
        ("picture", "image/webp", "image"),
    ],
)
def test_the_kind_of_an_artifact_derives_from_its_name_and_its_bytes(name: str, media: str, kind: str):
    """UI-13: never from a description."""
    assert classify_artifact(name, media) == kind
