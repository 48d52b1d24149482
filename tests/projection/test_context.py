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
from callboard.contracts.rows.conversation import TextPart, TurnRow, part_order
from callboard.projection.view import SessionView
from tests.projection.story import RUN, THREAD, TURN, Story, model_story, opened, started, step

NOTES = ContextRef(ref="notes.md", kind="text", source="mentioned", content=BlobRef(hash="a" * 64, size=9))
RULES = ContextRef(ref="AGENTS.md", kind="instructions", source="folder", content=BlobRef(hash="b" * 64, size=9))
GONE = MissingRef(ref="gone.md", source="mentioned", reason="not_found")
OLDER = Omission(reason="older_turns", count=3)


def given_something() -> Story:
    """Return a turn that names two files, one of which is missing."""
    story = opened().say(
        TurnSubmitted(input=Text(text="see"), mode="chat", permission_mode="ask", given=(NOTES,), missing=(GONE,)),
        TURN,
    )
    story.say(started(), RUN)
    return story.say(
        ContextResolved(refs=(RULES, NOTES), missing=(GONE,), omitted=(OLDER,), window=8000, budget=6400, used=700),
        RUN,
    )


def summing() -> Story:
    """Return a turn whose thread is compacted by the model call at step 1."""
    story = given_something()
    story.say(CompactionStarted(cause="window", through=2, tokens=7000), step(1))
    return story.say(
        ModelRequested(provider="p", model="m", iteration=0, context_through=2, purpose="compaction"), step(1)
    )


def every_fact() -> tuple[Story, ...]:
    """Return sessions with every fact of context."""
    failed = summing().say(CompactionFailed(code="model_refused_request", message="No."), step(1))
    pinned = opened().say(ContextPinned(pinned=("rules.md",)), THREAD)
    done = summing().say(CompactionCompleted(summary=Text(text="They said so."), through=2), step(1))
    return failed, pinned, done


def row(story: Story) -> ContextRow:
    return story.table.panel(ContextRow)[-1]


def part(story: Story) -> ContextPart:
    return story.table.panel(ContextPart)[-1]


def test_the_context_of_a_turn_is_in_its_row_and_its_threads_row():
    """CTX-01, CTX-02: the turn shows what is missing."""
    story = given_something()

    turn = story.table.panel(TurnRow)[-1]
    assert (turn.given, turn.missing) == ((NOTES,), (GONE,))
    assert row(story) == ContextRow(
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
    assert (part(story).event, part(story).given, part(story).missing, part(story).omitted) == (
        "resolved",
        1,
        (GONE,),
        (OLDER,),
    )


def test_a_folders_own_context_is_not_shown_in_every_turn():
    """UI-25"""
    story = model_story().say(
        ContextResolved(refs=(RULES,), omitted=(Omission(reason="excluded", ref="CLAUDE.md"),)), RUN
    )

    assert row(story).refs == (RULES,)
    assert not story.table.panel(ContextPart)


def test_a_providers_token_count_replaces_the_estimate():
    """CTX-01"""
    story = given_something()
    story.say(ModelRequested(provider="p", model="m", iteration=1, context_through=5), step(1))
    story.say(CostRecorded(input_tokens=900, output_tokens=20), step(1))

    assert row(story).used == 920


def test_a_compaction_is_one_part_and_not_a_text():
    """UI-25: a compaction repeats no answer, and its own tokens do not count for the window."""
    story = summing()
    assert (part(story).event, part(story).cause, part(story).tokens_before) == ("compacting", "window", 7000)

    story.say(ModelCompleted(stop_reason="stop"), step(1))
    story.say(CostRecorded(input_tokens=7000, output_tokens=20), step(1))
    assert row(story).used == 700
    story.say(
        CompactionCompleted(
            summary=Text(text="They said so."),
            through=2,
            tokens_before=7000,
            tokens_after=400,
            said=(Quote(sequence=3, size=3),),
        ),
        step(1),
    )

    done = part(story)
    assert (done.key, done.order) == ("run_1.1", part_order(4, 1))
    assert (done.event, done.cause, done.summary.text) == ("compacted", "window", "They said so.")
    assert (done.said, done.tokens_before, done.tokens_after, row(story).used) == (1, 7000, 400, 400)
    assert not story.table.panel(TextPart)


def test_a_failed_compaction_shows_its_error():
    """UI-25"""
    story = summing().say(CompactionFailed(code="model_refused_request", message="No."), step(1))

    assert (part(story).event, part(story).code, part(story).message) == (
        "compaction_failed",
        "model_refused_request",
        "No.",
    )


def test_the_next_turn_keeps_pins_and_drops_the_last_context():
    """CTX-01"""
    story = given_something().say(ContextPinned(pinned=("rules.md",)), THREAD)
    story.say(started(), RUN)

    assert (row(story).refs, row(story).missing, row(story).pinned) == ((), (), ("rules.md",))


def test_a_rebuilt_view_shows_the_same_context():
    """UI-34"""
    for story in every_fact():
        view = SessionView.from_state(story.view.state())
        assert view.state() == story.view.state()
