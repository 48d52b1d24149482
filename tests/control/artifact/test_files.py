"""Files that were removed, or were gone when they were made anew: what becomes of their artifacts."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts.commands.artifact import CreateArtifact, DeleteArtifact, RetryArtifact, RollbackArtifact
from callboard.contracts.facts.artifact import ArtifactCreated, ArtifactDeleted, ArtifactFailed, ArtifactSaveRequested
from callboard.contracts.facts.tool import ToolCompleted
from callboard.contracts.scope import Scope
from callboard.control.outcomes import ToolEnded
from tests.control.rigs.artifacts import (
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
from tests.control.rigs.examples import SESSION, at


def test_a_missing_file_that_a_call_makes_anew_begins_another_artifact():
    """UI-13: what a command removed is told where a later call saw that it was gone, in the batch of that call."""
    second = msgspec.structs.replace(at(turn=1, run=1, step=4, call=2), artifact="art_2")
    session = calling(change(ONE))
    told = session.when(wrote(change(TWO), call=2)).decision
    assert [(new.fact, new.scope) for new in told.facts[:3]] == [
        (ArtifactDeleted(file=True, reason="the file was gone when it was made anew"), MINE),
        (ArtifactCreated(artifact_kind="document", path=PATH), second),
        (version(1, TWO.ref, lines=(1, 0)), second),
    ]
    assert told.facts[3].fact.type == "tool.completed"
    assert told.closed[0] == "art_1"
    assert sorted(session.state.artifacts.open) == ["art_2"]
    back = RollbackArtifact(session_id=SESSION, artifact_id="art_1", version=1, base_version=1)
    assert session.refuses(ask(back, ONE, there=TWO)).code == "artifact_deleted"


@pytest.mark.parametrize(
    "told",
    [
        wrote(change(TWO, TWO), call=2),
        msgspec.structs.replace(wrote(change(TWO), call=2), is_self_reported=True),
        wrote(call=2, brought=(change(TWO),)),
        wrote(change(TWO, path="b.md"), call=2),
    ],
    ids=["it was there", "an agent's own call said so", "a merge brought it", "another path"],
)
def test_a_file_that_nobody_saw_gone_keeps_its_artifact(told: ToolEnded):
    """What is not known is not told."""
    session = calling(change(ONE))
    assert not [fact for fact in session.when(told).facts if isinstance(fact, ArtifactDeleted)]
    assert "art_1" in session.state.artifacts.open


def test_what_was_told_after_a_call_began_may_have_come_behind_it():
    """Two work on one file: which of them was first is not known, so nothing is told as gone."""
    session = calling(change(ONE)).after(ask(edit(), TWO), done())
    assert session.when(wrote(change(THREE), call=2)).facts[0] == version(3, THREE.ref, lines=(1, 0))


def test_what_a_person_wrote_stays_where_its_file_was_gone_and_is_made_anew():
    """CTX-04: a draft goes with its artifact, so that goes on while there is one."""
    session = calling(change(ONE)).after(ask(edit(base=9), TWO))
    assert session.when(wrote(change(THREE), call=2)).facts[0] == version(2, THREE.ref, lines=(1, 0))
    assert session.state.artifacts.drafts["art_1"].draft == TWO.ref
    retry = RetryArtifact(session_id=SESSION, artifact_id="art_1", base_version=2)
    assert session.when(ask(retry, TWO, there=THREE)).facts == (ArtifactSaveRequested(base=2, draft=TWO.ref),)


def test_a_save_under_way_tells_itself_what_it_met():
    """CTX-04: while a person's change is being made, what others do to the file does not end its artifact."""
    session = calling(change(ONE)).after(ask(edit(), TWO))
    assert session.when(wrote(change(THREE), call=2)).facts[0] == version(2, THREE.ref, lines=(1, 0))
    (failed,) = session.when(done("file_changed", THREE)).facts
    assert isinstance(failed, ArtifactFailed)
    assert (failed.code, failed.current, failed.draft) == ("artifact_conflict", 2, TWO.ref)


def test_a_deletion_that_a_call_found_made_is_told_before_what_the_call_made():
    delete = DeleteArtifact(session_id=SESSION, artifact_id="art_1", confirm="art_1", file=True, reason="old")
    session = calling(change(ONE)).after(ask(delete))
    deleted, begun = session.when(wrote(change(TWO), call=2)).facts[:2]
    assert deleted == ArtifactDeleted(file=True, reason="old")
    assert begun == ArtifactCreated(artifact_kind="document", path=PATH)
    then = session.when(done())
    assert then.facts == ()
    assert getattr(then.answer, "status", "") == "deleted"


def test_a_removed_file_is_a_conflict_while_a_person_has_something_unsaved():
    """CTX-04, UI-13"""
    session = calling(change(ONE)).after(ask(edit(base=9), TWO))
    (failed, ended, *_) = session.when(wrote(change(None), call=2)).facts
    assert failed == ArtifactFailed(
        operation="save",
        code="artifact_conflict",
        message="The file is gone.",
        base=9,
        current=1,
        draft=TWO.ref,
    )
    assert isinstance(ended, ToolCompleted)
    retry = RetryArtifact(session_id=SESSION, artifact_id="art_1", base_version=1)
    assert session.when(ask(retry, TWO, there=None)).facts == (ArtifactSaveRequested(base=1, draft=TWO.ref),)


def test_a_file_removed_under_a_save_is_told_by_the_save():
    """CTX-04"""
    session = calling(change(ONE)).after(ask(edit(), TWO))
    assert isinstance(session.when(wrote(change(None), call=2)).facts[0], ToolCompleted)
    (failed,) = session.when(done("file_changed")).facts
    assert isinstance(failed, ArtifactFailed)
    assert (failed.code, failed.draft) == ("artifact_conflict", TWO.ref)


ANEW = CreateArtifact(session_id=SESSION, path=PATH, content="two", reason="again")


def test_a_person_who_makes_a_missing_file_anew_begins_another_artifact():
    """UI-13: as for a call of an agent's, in the batch that says what is to be made."""
    session = kept()
    told = session.when(ask(ANEW, TWO, there=None, file_sequence=session.state.sequence)).decision
    assert [(new.fact, new.scope) for new in told.facts] == [
        (ArtifactDeleted(file=True, reason="the file was gone when it was made anew"), MINE),
        (ArtifactCreated(artifact_kind="document", path=PATH), Scope(artifact="art_2")),
        (ArtifactSaveRequested(base=0, draft=TWO.ref, reason="again"), Scope(artifact="art_2")),
    ]
    assert sorted(session.state.artifacts.open) == ["art_2"]


def test_what_was_told_after_a_person_looked_may_have_come_behind_that():
    """What is not known is not told."""
    session = kept()
    refused = session.refuses(
        ask(ANEW, TWO, there=None, file_sequence=session.state.artifacts.open["art_1"].last_sequence - 1)
    )
    assert (refused.code, refused.field, refused.hint) == ("artifact_conflict", "path", "Edit that artifact.")


def test_an_artifact_with_an_unsaved_draft_outlives_its_file_and_the_refusal_says_how_to_save_it():
    """CTX-04"""
    session = kept().after(ask(edit(base=9), TWO))
    refused = session.refuses(ask(ANEW, THREE, there=None, file_sequence=session.state.sequence))
    assert (refused.code, refused.message, refused.hint) == (
        "artifact_conflict",
        f"{PATH} is already the artifact art_1, and it has an unsaved draft.",
        "Save the draft with retry_artifact over version 1, or delete the artifact.",
    )
    under_way = kept().after(ask(edit(), TWO))
    refused = under_way.refuses(ask(ANEW, THREE, there=None, file_sequence=under_way.state.sequence))
    assert (refused.code, refused.hint) == ("artifact_conflict", "Try again in a moment.")


def test_an_artifact_whose_file_is_gone_is_not_taken_as_it_is():
    session = kept()
    nothing = CreateArtifact(session_id=SESSION, path=PATH)
    refused = session.refuses(ask(nothing, there=None, file_sequence=session.state.sequence))
    assert (refused.code, refused.message, refused.hint) == (
        "artifact_conflict",
        f"{PATH} is already the artifact art_1, and its file is gone.",
        "Set content to make the file anew.",
    )
