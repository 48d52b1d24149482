"""The context of a turn, missing references and compactions, in the rows of the thread and at their
step.
"""

from __future__ import annotations

from callboard.contracts.content import BlobRef, Text
from callboard.contracts.facts.context import (
    CompactionCompleted,
    CompactionFailed,
    CompactionStarted,
    ContextPinned,
    ContextResolved,
    Quote,
)
from callboard.contracts.facts.model import CostRecorded, ModelCompleted, ModelRequested
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.refs import ContextRef, MissingRef, Omission
from callboard.contracts.rows.context import ContextPart, ContextRow
from callboard.contracts.rows.message import TextPart
from callboard.contracts.rows.part import compute_part_order
from callboard.contracts.rows.turn import TurnRow
from callboard.projection.view import SessionView
from tests.projection.session_builder import (
    RUN,
    THREAD,
    TURN,
    SessionBuilder,
    idle_session,
    model_session,
    step,
    turn_started,
)

NOTES = ContextRef(ref="notes.md", kind="text", source="mentioned", content=BlobRef(hash="a" * 64, size=9))
RULES = ContextRef(ref="AGENTS.md", kind="instructions", source="folder", content=BlobRef(hash="b" * 64, size=9))
GONE = MissingRef(ref="gone.md", source="mentioned", reason="not_found")
OLDER = Omission(reason="older_turns", count=3)


def session_with_context() -> SessionBuilder:
    """Return a turn that names two files, one of which is missing."""
    session = idle_session().add(
        TurnSubmitted(input=Text(text="see"), mode="chat", permission_mode="ask", given=(NOTES,), missing=(GONE,)),
        TURN,
    )
    session.add(turn_started(), RUN)
    return session.add(
        ContextResolved(refs=(RULES, NOTES), missing=(GONE,), omitted=(OLDER,), window=8000, budget=6400, used=700),
        RUN,
    )


def compacting_session() -> SessionBuilder:
    """Return a turn whose thread is compacted by the model call at step 1."""
    session = session_with_context()
    session.add(CompactionStarted(cause="window", through=2, tokens=7000), step(1))
    return session.add(
        ModelRequested(provider="p", model="m", iteration=0, context_through=2, purpose="compaction"), step(1)
    )


def context_sessions() -> tuple[SessionBuilder, ...]:
    """Return sessions with every fact of context."""
    failed = compacting_session().add(CompactionFailed(code="model_refused_request", message="No."), step(1))
    pinned = idle_session().add(ContextPinned(pinned=("rules.md",)), THREAD)
    done = compacting_session().add(CompactionCompleted(summary=Text(text="They said so."), through=2), step(1))
    return failed, pinned, done


def row(session: SessionBuilder) -> ContextRow:
    return session.table.list_rows(ContextRow)[-1]


def part(session: SessionBuilder) -> ContextPart:
    return session.table.list_rows(ContextPart)[-1]


def test_the_context_of_a_turn_is_in_its_row_and_its_threads_row():
    """CTX-01, CTX-02: the turn shows what is missing."""
    session = session_with_context()

    turn = session.table.list_rows(TurnRow)[-1]
    assert (turn.given, turn.missing) == ((NOTES,), (GONE,))
    assert row(session) == ContextRow(
        key="thr_1",
        order=5,
        sequence=5,
        thread_id="thr_1",
        turn_id="trn_1",
        refs=(RULES, NOTES),
        missing=(GONE,),
        omitted=(OLDER,),
        window=8000,
        budget=6400,
        used=700,
    )
    assert (part(session).event, part(session).given, part(session).missing, part(session).omitted) == (
        "resolved",
        1,
        (GONE,),
        (OLDER,),
    )


def test_a_folders_own_context_is_not_shown_in_every_turn():
    """UI-25"""
    session = model_session().add(
        ContextResolved(refs=(RULES,), omitted=(Omission(reason="excluded", ref="CLAUDE.md"),)), RUN
    )

    assert row(session).refs == (RULES,)
    assert not session.table.list_rows(ContextPart)


def test_a_providers_token_count_replaces_the_estimate():
    """CTX-01"""
    session = session_with_context()
    session.add(ModelRequested(provider="p", model="m", iteration=1, context_through=5), step(1))
    session.add(CostRecorded(input_tokens=900, output_tokens=20), step(1))

    assert row(session).used == 920


def test_a_compaction_is_one_part_and_not_a_text():
    """UI-25: a compaction repeats no answer, and its own tokens do not count for the window."""
    session = compacting_session()
    assert (part(session).event, part(session).cause, part(session).tokens_before) == ("compacting", "window", 7000)

    session.add(ModelCompleted(stop_reason="stop"), step(1))
    session.add(CostRecorded(input_tokens=7000, output_tokens=20), step(1))
    assert row(session).used == 700
    session.add(
        CompactionCompleted(
            summary=Text(text="They said so."),
            through=2,
            tokens_before=7000,
            tokens_after=400,
            said=(Quote(sequence=3, size=3),),
        ),
        step(1),
    )

    done = part(session)
    assert (done.key, done.order) == ("run_1.1", compute_part_order(4, 1))
    assert (done.event, done.cause, done.summary.text) == ("compacted", "window", "They said so.")
    assert (done.said, done.tokens_before, done.tokens_after, row(session).used) == (1, 7000, 400, 400)
    assert not session.table.list_rows(TextPart)


def test_a_failed_compaction_shows_its_error():
    """UI-25"""
    session = compacting_session().add(CompactionFailed(code="model_refused_request", message="No."), step(1))

    assert (part(session).event, part(session).code, part(session).message) == (
        "compaction_failed",
        "model_refused_request",
        "No.",
    )


def test_the_next_turn_keeps_pins_and_drops_the_last_context():
    """CTX-01"""
    session = session_with_context().add(ContextPinned(pinned=("rules.md",)), THREAD)
    session.add(turn_started(), RUN)

    assert (row(session).refs, row(session).missing, row(session).pinned) == ((), (), ("rules.md",))


def test_a_rebuilt_view_shows_the_same_context():
    """UI-34"""
    for session in context_sessions():
        view = SessionView.from_state(session.view.encode_state())
        assert view.encode_state() == session.view.encode_state()
