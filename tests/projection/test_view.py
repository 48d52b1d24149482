"""Every panel: live, rebuilt, late, restored, out of order and compacted."""

from __future__ import annotations

import random
from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.message import MessageInterrupted, MessageText, ReasoningCompleted, ReasoningInterrupted
from callboard.contracts.facts.model import ModelFailed
from callboard.contracts.facts.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolLost, ToolRequested
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted
from callboard.contracts.live import Frame, Partial, build_partial_key
from callboard.contracts.record import Record
from callboard.contracts.rows import SESSION_PANELS, decode_ops, decode_row
from callboard.contracts.rows.base import Upsert
from callboard.contracts.rows.tool import ToolPart
from callboard.projection.rows import Table, compact
from callboard.projection.view import MAX_EARLY_RECORDS, SessionView
from tests.projection.histories import History, histories, random_history

PANELS = (*SESSION_PANELS, "sessions")


def fold_records(records: tuple[Record, ...]) -> Table:
    view = SessionView()
    return Table(op for record in records for op in view.apply(record))


def choose_position(history: History, seed: int) -> int:
    """Return a position between batches at which a client may look: at a frame, or at the end."""
    moments = [place for place, item in enumerate(history.live) if isinstance(item, Frame)]
    return random.Random(seed).choice([*moments, *(place + 1 for place in moments), len(history.live)])


def partials_of(live: Iterable[Record | Frame]) -> list[Partial]:
    """Return the stored partials: pieces are joined, and the fact that ends a part removes them."""
    stored: dict[str, Partial] = {}
    for item in live:
        if isinstance(item, Frame):
            key = build_partial_key(item.kind, item.scope)
            before = stored[key].text if key in stored else ""
            stored[key] = Partial(kind=item.kind, scope=item.scope, text=before + item.text, tool=item.tool)
            continue
        match item.fact:
            case MessageText() | MessageInterrupted():
                ended = [build_partial_key("text", item.scope)]
            case ReasoningCompleted() | ReasoningInterrupted():
                ended = [build_partial_key("reasoning", item.scope)]
            case ToolRequested():
                ended = [build_partial_key("arguments", item.scope)]
            case ToolCompleted() | ToolFailed() | ToolCancelled() | ToolLost():
                ended = [build_partial_key("output", item.scope)]
            case ModelFailed() | TurnCompleted() | TurnFailed() | TurnInterrupted():
                ended = [key for key in stored if stored[key].scope.run == item.scope.run]
            case _:
                ended = []
        for key in ended:
            stored.pop(key, None)
    return list(stored.values())


@pytest.mark.parametrize("panel", PANELS)
@given(history=histories())
@settings(max_examples=15, deadline=None)
def test_a_panel_built_live_equals_the_panel_rebuilt_from_facts(panel: str, history: History):
    """UI-05, UI-34, MAR-17: final facts replace streamed text once and completely."""
    view, table = SessionView(), Table()
    for item in history.live:
        table.apply(view.apply(item) if isinstance(item, Record) else view.apply_frame(item))
    assert table.group_rows().get(panel, []) == fold_records(history.records).group_rows().get(panel, [])


@given(history=histories(finish=False), seed=st.integers(0, 2**16))
@settings(max_examples=100, deadline=None)
def test_a_late_viewer_sees_the_same_as_the_first_viewer(history: History, seed: int):
    """Facts and partial text are the whole view at any moment, without a gap or a repeat."""
    received = history.live[: choose_position(history, seed)]
    view, table = SessionView(), Table()
    for item in received:
        table.apply(view.apply(item) if isinstance(item, Record) else view.apply_frame(item))
    late, late_table = SessionView(), Table()
    for item in received:
        late_table.apply(late.apply(item) if isinstance(item, Record) else [])
    late_table.apply(late.resume(partials_of(received)))
    assert late_table.group_rows() == table.group_rows()


@given(history=histories(finish=False))
@settings(max_examples=30, deadline=None)
def test_live_text_changes_only_its_part_and_the_status(history: History):
    """UI-07: a frame changes its part and the status line, never a title, a card or a turn."""
    view = SessionView()
    for item in history.live:
        if isinstance(item, Record):
            view.apply(item)
            continue
        ops = view.apply_frame(item)
        assert {op.panel for op in ops} <= {"parts", "status"}
        for op in ops:
            if isinstance(op, Upsert) and isinstance(op.row, ToolPart) and op.row.state == "input-streaming":
                assert op.row.summary == ""


@given(history=histories(), seed=st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_repeated_and_reordered_facts_give_the_same_view(history: History, seed: int):
    """UI-34"""
    source = random.Random(seed)
    delivered = [record for record in history.records for _ in range(source.choice((1, 1, 2)))]
    for place in range(0, len(delivered), 8):
        part = delivered[place : place + 8]
        source.shuffle(part)
        delivered[place : place + 8] = part
    view, table = SessionView(), Table()
    for record in delivered:
        table.apply(view.apply(record))
    assert table.group_rows() == fold_records(history.records).group_rows()


@given(history=histories(), seed=st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_a_view_continues_from_its_stored_state_at_any_fact(history: History, seed: int):
    """Ids and rows survive a reopening."""
    cut = random.Random(seed).randrange(len(history.records) + 1)
    view, table = SessionView(), Table()
    for record in history.records[:cut]:
        table.apply(view.apply(record))
    restored = SessionView.from_state(view.encode_state())
    assert restored.sequence == cut
    for record in history.records[cut:]:
        table.apply(restored.apply(record))
    assert table.group_rows() == fold_records(history.records).group_rows()


@given(history=histories(finish=False), seed=st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_a_view_shows_the_same_after_rests_between_facts(history: History, seed: int):
    """R8: a quiet session's panels are stored as bytes between facts, also during streaming."""
    chance = random.Random(seed)
    view, resting = SessionView(), SessionView()
    for item in history.live:
        if chance.random() < 0.5:
            resting.compress()
        if isinstance(item, Record):
            assert resting.apply(item) == view.apply(item)
        else:
            assert resting.apply_frame(item) == view.apply_frame(item)
    assert (resting.sequence, resting.list_open_tasks()) == (view.sequence, view.list_open_tasks())


@given(history=histories(finish=False), seed=st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_a_restored_view_continues_from_partials(history: History, seed: int):
    """The partial text comes from the partials. No later frame is repeated or lost."""
    cut = choose_position(history, seed)
    view, table, restored_table = SessionView(), Table(), Table()
    for item in history.live[:cut]:
        if isinstance(item, Record):
            ops = view.apply(item)
            restored_table.apply(ops)
            table.apply(ops)
        else:
            table.apply(view.apply_frame(item))
    restored = SessionView.from_state(view.encode_state())
    restored_table.apply(restored.resume(partials_of(history.live[:cut])))
    for item in history.live[cut:]:
        table.apply(view.apply(item) if isinstance(item, Record) else view.apply_frame(item))
        restored_table.apply(restored.apply(item) if isinstance(item, Record) else restored.apply_frame(item))
    assert restored_table.group_rows() == table.group_rows()


@given(history=histories())
@settings(max_examples=30, deadline=None)
def test_a_compacted_batch_has_the_same_effect(history: History):
    """A client may receive the operations of many facts at once."""
    view = SessionView()
    ops = [
        op for item in history.live for op in (view.apply(item) if isinstance(item, Record) else view.apply_frame(item))
    ]
    assert Table(compact(ops)).group_rows() == Table(ops).group_rows()
    assert len(compact(ops)) <= len(ops)


@given(history=histories(largest=30))
@settings(max_examples=30, deadline=None)
def test_rows_and_operations_survive_the_wire(history: History):
    view = SessionView()
    for item in history.live:
        ops = tuple(view.apply(item) if isinstance(item, Record) else view.apply_frame(item))
        assert decode_ops(msgspec.json.encode(ops)) == ops
    for rows in fold_records(history.records).group_rows().values():
        assert [decode_row(msgspec.json.encode(row)) for row in rows] == rows


def test_the_state_of_a_view_does_not_grow_with_ended_work():
    """A window of the newest turns needs no older state than the open ones."""
    few, many = (random_history(3, moves=moves).records for moves in (400, 8_000))
    sizes: list[int] = []
    for records in (few, many):
        view = SessionView()
        for record in records:
            view.apply(record)
        sizes.append(len(view.encode_state()))
    assert len(many) > 15 * len(few)
    assert sizes[1] < 1.5 * sizes[0]


def test_a_missing_fact_is_refused_as_a_gap():
    """A view does not guess a missing fact."""
    records = random_history(1, moves=2_000).records
    view = SessionView()
    early = [view.apply(record) for record in records[1 : MAX_EARLY_RECORDS + 1]]
    with pytest.raises(Refusal, match="gap: The fact 1 of"):
        view.apply(records[MAX_EARLY_RECORDS + 1])
    assert view.sequence == 0
    assert early == [[]] * MAX_EARLY_RECORDS


def test_a_state_of_another_version_is_refused():
    """A state that does not fit is discarded and folded again."""
    with pytest.raises(msgspec.ValidationError):
        SessionView.from_state(b"\x81\xa8sequence\xa1x")
