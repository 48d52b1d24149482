"""Artifacts: what calls do to files are versions; a person saves against the version that a text was made from."""

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
    CALL,
    MADE,
    MINE,
    ONE,
    PATH,
    THREE,
    TWO,
    ask,
    calling,
    change,
    done,
    edit,
    kept,
    version,
    wrote,
)
from tests.control.rigs.decisions import given
from tests.control.rigs.examples import SESSION, answered, at, says, submit, wants
from tests.control.rigs.expected_facts import asked


def test_the_first_change_of_a_path_makes_an_artifact_before_the_call_ends():
    session = given(submit(), answered(wants(1, 2)))
    session.when(wrote(change(ONE))).then(
        (ArtifactCreated(artifact_kind="document", path=PATH), MADE),
        (version(1, ONE.ref, lines=(1, 0)), MADE),
        (ToolCompleted(output=Text(text="done"), duration_ms=4, changes=(change(ONE),)), CALL),
        asked(2, at(turn=1, run=1, step=3)),
    )
    told = next(one.sequence for one in session.records if one.header.type == "artifact.version.created")
    assert session.state.artifacts.open == {"art_1": OpenArtifact(PATH, 1, ONE.ref.hash[:16], last_sequence=told)}


def test_a_file_that_was_there_is_a_version_of_nobodys_first():
    session = given(submit(), answered(wants(1, 2)))
    assert session.when(wrote(change(TWO, ONE))).facts[:3] == (
        ArtifactCreated(artifact_kind="document", path=PATH),
        version(1, ONE.ref, "found"),
        version(2, TWO.ref, lines=(1, 1)),
    )
    assert [one.scope for one in session.records if one.header.type == "artifact.version.created"] == [MINE, MADE]


def test_a_file_that_somebody_else_changed_meanwhile_is_told_as_found():
    """CTX-04: what superseded the newest version is told, never written over in silence."""
    second = msgspec.structs.replace(at(turn=1, run=1, step=4, call=2), artifact="art_1")
    told = calling(change(ONE)).when(wrote(change(THREE, TWO), call=2)).decision.facts
    assert [(new.fact, new.scope) for new in told[:2]] == [
        (version(2, TWO.ref, "found"), MINE),
        (version(3, THREE.ref, lines=(1, 1)), second),
    ]


def test_a_change_of_what_is_the_newest_is_the_next_version_and_no_more():
    facts = calling(change(ONE)).when(wrote(change(TWO, ONE), call=2)).facts
    assert [fact for fact in facts if isinstance(fact, ArtifactVersionCreated)] == [version(2, TWO.ref, lines=(1, 1))]


def test_a_call_that_removes_a_file_deletes_its_artifact_and_a_new_file_gets_another():
    session = calling(change(ONE))
    assert session.when(wrote(change(None), call=2)).facts[0] == ArtifactDeleted(file=True)
    session.after(answered(wants(3, 6), step=5))
    facts = session.when(wrote(change(TWO), call=3)).facts
    assert facts[0] == ArtifactCreated(artifact_kind="document", path=PATH)
    assert sorted(session.state.artifacts.open) == ["art_2"]


def test_a_change_whose_content_nobody_kept_is_no_version():
    told = msgspec.structs.replace(change(ONE), after=None)
    facts = given(submit(), answered(wants(1, 2))).when(wrote(told)).facts
    assert [fact for fact in facts if isinstance(fact, ArtifactCreated | ArtifactVersionCreated)] == []


def test_what_a_merge_brought_is_told_as_merged_and_not_as_the_calls_own():
    session = given(submit(), answered(wants(1, 2)))
    facts = session.when(wrote(brought=(change(ONE), change(TWO, path="b.py")))).facts
    assert facts[:4] == (
        ArtifactCreated(artifact_kind="document", path=PATH),
        version(1, ONE.ref, "merge", lines=(1, 0)),
        ArtifactCreated(artifact_kind="code", path="b.py"),
        version(1, TWO.ref, "merge", lines=(1, 0), path="b.py"),
    )
    assert isinstance(facts[4], ToolCompleted)
    assert facts[4].changes == ()


def test_a_save_is_an_intent_before_the_file_is_touched_and_a_version_behind_it():
    """CTX-04"""
    session = kept()
    begun = session.when(ask(edit(), TWO))
    begun.then((ArtifactSaveRequested(base=1, draft=TWO.ref), MINE)).answered(
        ArtifactChanged(
            session_id=SESSION, artifact_id="art_1", version=1, status="saving", sequence=session.state.sequence
        )
    )
    ended = msgspec.structs.replace(done(), added=1, removed=1)
    session.when(ended).then((version(2, TWO.ref, "person", lines=(1, 1)), MINE)).answered(
        ArtifactChanged(
            session_id=SESSION, artifact_id="art_1", version=2, status="saved", sequence=session.state.sequence
        )
    )


def test_a_save_against_another_version_keeps_the_draft_and_the_newest():
    """CTX-04"""
    session = kept()
    then = session.when(ask(edit(base=3), TWO))
    then.then(
        (
            ArtifactFailed(
                operation="save",
                code="artifact_conflict",
                message="The newest version is 1, but the change was made from 3.",
                base=3,
                current=1,
                draft=TWO.ref,
            ),
            MINE,
        )
    )
    assert then.decision.blobs == (TWO,)
    assert getattr(then.answer, "status", "") == "conflict"
    retry = RetryArtifact(session_id=SESSION, artifact_id="art_1", base_version=1)
    assert session.when(ask(retry, TWO)).facts == (ArtifactSaveRequested(base=1, draft=TWO.ref),)


def test_a_file_that_is_not_what_the_newest_version_says_is_a_conflict():
    """CTX-04"""
    then = kept().when(ask(edit(), TWO, there=THREE))
    found, failed = then.facts
    assert found == version(2, THREE.ref, "found")
    assert isinstance(failed, ArtifactFailed)
    assert (failed.code, failed.base, failed.current, failed.draft) == ("artifact_conflict", 1, 2, TWO.ref)


def test_a_save_that_was_overtaken_while_it_was_made_keeps_both():
    """CTX-04"""
    session = kept().after(ask(edit(), TWO))
    found, failed = session.when(done("file_changed", THREE)).facts
    assert found == version(2, THREE.ref, "found")
    assert isinstance(failed, ArtifactFailed)
    assert (failed.code, failed.current, failed.draft) == ("artifact_conflict", 2, TWO.ref)


def test_a_call_that_finds_the_save_of_a_person_made_says_so_first():
    """The call read the file behind the person's write, and is decided before what came of that is told."""
    session = calling(change(ONE)).after(ask(edit(), TWO))
    facts = session.when(wrote(change(THREE, TWO), call=2)).facts
    assert facts[:2] == (version(2, TWO.ref, "person"), version(3, THREE.ref, lines=(1, 1)))
    then = session.when(done())
    assert then.facts == ()
    assert getattr(then.answer, "version", 0) == 3


def test_saving_what_is_there_already_makes_no_version():
    session = kept()
    assert session.when(ask(edit(content="one"), ONE)).facts == ()
    session.after(ask(edit(base=9), TWO))
    assert session.when(ask(edit(content="one"), ONE)).facts == (ArtifactUpdated(dropped=True),)
    assert session.state.artifacts.drafts == {}


def test_while_one_change_is_made_another_is_refused():
    session = kept().after(ask(edit(), TWO))
    assert session.refuses(ask(edit(), THREE)).code == "artifact_conflict"


def test_a_former_version_is_restored_as_a_new_one():
    back = RollbackArtifact(session_id=SESSION, artifact_id="art_1", version=1, base_version=2)
    session = kept().after(ask(edit(), TWO), done())
    assert session.when(ask(back, ONE, there=TWO)).facts == (ArtifactSaveRequested(base=2, draft=ONE.ref, restores=1),)
    assert session.when(done()).facts == (version(3, ONE.ref, "rollback", restores=1),)


def test_an_artifact_that_is_no_file_is_saved_at_once():
    create = CreateArtifact(session_id=SESSION, title="Brief", content="one")
    session = given(submit(), says("Done."))
    asks = msgspec.structs.replace(ask(create, ONE), file=None)
    session.when(asks).then(
        (ArtifactCreated(artifact_kind="text", title="Brief"), MINE),
        (version(1, ONE.ref, "person", path="", title="Brief"), MINE),
    )
    again = msgspec.structs.replace(ask(edit(), TWO), file=None)
    assert session.when(again).facts == (version(2, TWO.ref, "person", path="", title="Brief"),)


def test_a_person_confirms_a_deletion_by_its_id():
    session = kept()
    delete = DeleteArtifact(session_id=SESSION, artifact_id="art_1", confirm="art_2")
    assert session.refuses(ask(delete)).field == "confirm"
    delete = msgspec.structs.replace(delete, confirm="art_1", file=True, reason="old")
    assert session.when(ask(delete)).facts == (ArtifactSaveRequested(base=1, reason="old"),)
    assert session.when(done()).facts == (ArtifactDeleted(file=True, reason="old"),)
    assert session.refuses(ask(edit(), TWO)).code == "artifact_deleted"
    assert session.state.artifacts.open == {}


@pytest.mark.parametrize(
    ("there", "told"),
    [
        (TWO, "artifact.version.created"),
        (ONE, "artifact.failed"),
        (THREE, "artifact.failed"),
        (None, "artifact.failed"),
    ],
    ids=["made", "not made", "changed by another", "gone"],
)
def test_a_save_whose_process_ended_is_settled_by_looking_at_the_file(there: Blob | None, told: str):
    """CTX-04: never silently, and the draft is kept where nothing was saved."""
    session = kept().after(ask(edit(), TWO))
    assert [one for one in derive_pending_effects(session.state) if isinstance(one, SettleArtifact)] == [
        SettleArtifact("art_1")
    ]
    looked = InterruptedSaveReported(artifact="art_1", file=FileState(content=there))
    session.when(looked).then_nothing()
    session.epoch = 2
    assert session.when(looked).facts[-1].type == told
    assert session.state.artifacts.saves == {}
    assert (session.state.artifacts.drafts == {}) is (there is TWO)
    session.when(looked).then_nothing()


def test_an_export_is_begun_told_and_made():
    export = ExportArtifact(session_id=SESSION, artifact_ids=("art_1",), form="diff")
    wants_it = ExportRequested(session_id=SESSION, artifact_id="art_1", request=export, form="diff", version=1)
    session = kept()
    session.when(wants_it).then((ArtifactExportStarted(export="exp_1", version=1, form="diff"), MINE)).answered(
        ExportStarted(session_id=SESSION, artifact_id="art_1", export_id="exp_1", sequence=session.state.sequence)
    )
    session.when(ExportReported(export="exp_1", done=1, total=3)).then(
        (ArtifactExportProgressed(export="exp_1", done=1, total=3), MINE)
    )
    session.when(ExportReported(export="exp_1", content=TWO, name="a.diff")).then(
        (ArtifactExportCompleted(export="exp_1", content=TWO.ref, name="a.diff"), MINE)
    )
    session.when(ExportReported(export="exp_1", code="internal", message="late")).then_nothing()


def test_an_export_whose_process_ended_has_failed_and_can_be_made_again():
    export = ExportArtifact(session_id=SESSION, artifact_ids=("art_1",))
    wants_it = ExportRequested(session_id=SESSION, artifact_id="art_1", request=export, form="file", version=1)
    session = kept().after(wants_it)
    retry = RetryArtifact(session_id=SESSION, artifact_id="art_1", export_id="exp_1")
    again = msgspec.structs.replace(wants_it, request=retry)
    assert session.refuses(again).code == "unknown_export"
    session.epoch = 2
    (failed,) = session.when(HostTakenOver(partials=())).facts
    assert isinstance(failed, ArtifactFailed)
    assert (failed.operation, failed.export, failed.code) == ("export", "exp_1", "export_interrupted")
    assert session.when(again).facts == (ArtifactExportStarted(export="exp_1", version=1, form="file"),)


def test_an_erased_version_still_counts():
    session = calling(change(ONE))
    state = session.state
    session.state = msgspec.structs.replace(state, sequence=0, artifacts=type(state.artifacts)())
    for record in session.records:
        gone = record.header.type == "artifact.version.created"
        session.state = evolve(session.state, msgspec.structs.replace(record, fact=ErasedFact()) if gone else record)
    known = session.state.artifacts.open["art_1"]
    assert (known.path, known.version, known.hash_prefix) == (PATH, 1, "")
    assert SessionTakenOver not in [type(record.fact) for record in session.records]


def test_an_artifact_takes_little_of_what_deciders_know():
    """A session that wrote 10,000 files is decided on and kept like any other: so many bytes for each of them."""
    session = kept()
    known = session.state.artifacts
    many = {
        f"art_{n:022}": OpenArtifact(f"src/package/module/file_{n}.py", 3, ONE.ref.hash[:16], last_sequence=100_000 + n)
        for n in range(10_000)
    }
    data = msgspec.json.encode(msgspec.structs.replace(known, open=many))
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
def test_what_an_artifact_is_comes_from_its_name_and_its_bytes(name: str, media: str, kind: str):
    """UI-13: never from what anybody says of it."""
    assert classify_artifact(name, media) == kind
