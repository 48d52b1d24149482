"""The panels of a team: live, rebuilt, repeated, reordered and restored."""

from __future__ import annotations

import random
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.contracts.facts import FACTS
from callboard.contracts.facts.agent import AgentDefined
from callboard.contracts.facts.base import ErasedFact, Fact
from callboard.contracts.facts.exchange.channel import ChannelClosed, ChannelOpened
from callboard.contracts.facts.exchange.handoff import HandoffCompleted
from callboard.contracts.facts.exchange.inbox import InboxConsumed
from callboard.contracts.facts.permission import PermissionRuleAdded, PermissionRuleRevoked
from callboard.contracts.facts.process import ProcessInputGiven
from callboard.contracts.facts.session import SessionTakenOver, ThreadOpened
from callboard.contracts.facts.subagent import SubagentMergeRequested, WorkerNotification
from callboard.contracts.facts.task import SnapshotUpdated
from callboard.contracts.facts.tool import ToolCatalogResolved, ToolServerConnected, ToolServerLost
from callboard.contracts.rows import decode_row
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.exchange.handoff import HandoffRow
from callboard.contracts.rows.exchange.review import ReviewRow
from callboard.contracts.rows.team import TEAM_PANELS, EdgeRow
from callboard.contracts.scope import Scope
from callboard.projection.rows import Table
from callboard.projection.view import SessionView
from tests.control.rigs.jobs import session_with_retried_job
from tests.projection.histories import History, random_history
from tests.projection.runs import Choose
from tests.projection.session_builder import RUN, model_session
from tests.projection.team.scenarios import all_sessions, handoff_session, process_session, review_session
from tests.projection.team.worker_team import (
    add_facts,
    child_scope,
    conformance_session,
    generate_team,
    handoff_fact,
    join_facts,
    start_facts,
    team_histories,
    team_session,
    write_facts,
)
from tests.projection.test_context import context_sessions
from tests.projection.test_view import fold_records

#: Facts that no panel of a session shows. Their effect is visible through other facts: an ended
#: turn, settings, messages, a call, a merge result, the output of a process.
UNSHOWN: frozenset[type[Fact]] = frozenset(
    {
        SessionTakenOver,
        PermissionRuleAdded,
        PermissionRuleRevoked,
        ChannelOpened,
        ChannelClosed,
        AgentDefined,
        SubagentMergeRequested,
        SnapshotUpdated,
        ProcessInputGiven,
        ToolCatalogResolved,
        ToolServerConnected,
        ToolServerLost,
    }
)
HISTORY = random_history(11, moves=1500, threads=2).records


def seeded_choice(number: int) -> Choose:
    """Return a random chooser that repeats itself."""
    return random.Random(number).randrange


@given(history=team_histories(), seed=st.integers(0, 2**16))
@settings(max_examples=40, deadline=None)
def test_a_teams_view_is_the_same_live_repeated_reordered_and_restored(history: History, seed: int):
    """UI-34, SUB-01: the rows depend on the facts alone, not on the way to the client."""
    source = random.Random(seed)
    whole = fold_records(history.records).group_rows()
    delivered = [record for record in history.records for _ in range(source.choice((1, 1, 2)))]
    for place in range(0, len(delivered), 8):
        part = delivered[place : place + 8]
        source.shuffle(part)
        delivered[place : place + 8] = part
    view, table = SessionView(), Table()
    for record in delivered:
        table.apply(view.apply(record))
    assert table.group_rows() == whole
    cut = source.randrange(len(history.records) + 1)
    view_before, resumed = SessionView(), Table()
    for record in history.records[:cut]:
        resumed.apply(view_before.apply(record))
    restored = SessionView.from_state(view_before.encode_state())
    resumed.apply(op for record in history.records[cut:] for op in restored.apply(record))
    assert resumed.group_rows() == whole


@given(history=team_histories(), seed=st.integers(0, 2**16))
@settings(max_examples=40, deadline=None)
def test_a_team_with_erased_facts_keeps_its_roster(history: History, seed: int):
    """UI-26: every member is on the roster, and every row decodes."""
    source, view, blank = random.Random(seed), SessionView(), Table()
    for record in history.records:
        erased = source.random() < 0.4
        blank.apply(view.apply(msgspec.structs.replace(record, fact=ErasedFact()) if erased else record))
    for rows in blank.group_rows().values():
        assert [decode_row(msgspec.json.encode(row)) for row in rows] == rows
    opened = [record.scope.agent for record in history.records if record.header.type == ThreadOpened.type]
    assert [row.key for row in blank.group_rows()["agents"]] == opened


def test_a_solo_run_shows_its_run_and_no_team():
    """UI-18, SUB-05"""
    rows = model_session().table.group_rows()
    assert {panel for panel in TEAM_PANELS if panel in rows} == {"runs"}


def test_a_delegating_run_fills_every_panel_of_a_team():
    """SUB-01, UI-18: graph, roster, board, handoff lane and review lane."""
    rows = conformance_session().table.group_rows()
    assert [panel for panel in TEAM_PANELS if panel not in rows] == []
    assert [row.key for row in rows["edges"]] == ["child:solo>writer-1", "handoff:writer-1>solo"]


def test_the_state_of_a_teams_view_does_not_grow_with_ended_work():
    """Ended work is in the rows and not in the state."""
    session, sizes = team_session(), list[int]()
    for number in range(60):
        add_facts(
            session,
            *start_facts(1),
            *write_facts(1),
            handoff_fact(),
            (HandoffCompleted(source="writer-1", target="solo"), handoff_fact()[1]),
        )
        note = WorkerNotification(item=f"itm_{number}", to_thread="thr_1", status="completed", summary="")
        add_facts(session, (note, child_scope(1)), (InboxConsumed(items=(f"itm_{number}",)), RUN))
        sizes.append(len(session.view.encode_state()))
    # A task's row has at most its newest twenty attempts.
    assert sizes[-1] < sizes[20] + 200


def test_a_team_of_one_child_has_both_on_its_roster():
    """UI-18"""
    assert [row.key for row in team_session().table.group_rows()["agents"]] == ["solo", "writer-1"]


def test_a_handoff_and_a_review_with_erased_texts_remain_in_their_lanes():
    """UI-26: the participants are unknown, and no edge of the graph is guessed."""
    view, table = SessionView(), Table()
    for record in handoff_session().records():
        gone = record.header.type.startswith("handoff.")
        table.apply(view.apply(msgspec.structs.replace(record, fact=ErasedFact()) if gone else record))
    rows = [(row.key, row.source, row.state, row.reply) for row in table.list_rows(HandoffRow)]
    assert rows == [
        ("han_1", "unknown", "completed", ""),
        ("han_2", "unknown", "rejected", ""),
        ("han_3", "unknown", "handoff_requested", "unknown"),
    ]
    assert [row.key for row in table.list_rows(EdgeRow)] == []
    view, table = SessionView(), Table()
    for record in review_session().records():
        gone = record.header.type.startswith("review.")
        table.apply(view.apply(msgspec.structs.replace(record, fact=ErasedFact()) if gone else record))
    assert [(row.target, row.state) for row in table.list_rows(ReviewRow)] == [
        ("unknown", "applied"),
        ("unknown", "unknown"),
        ("unknown", "unknown"),
    ]


def test_every_type_of_fact_is_shown_or_listed_as_unshown():
    """UI-17: no fact is invisible by accident. A fact without a history is applied while every
    entity is open.
    """
    visible: set[str] = set()
    for records in (
        *(session.records() for session in all_sessions()),
        *(generate_team(seeded_choice(n), 80).records for n in range(4)),
        HISTORY,
        *(session.records() for session in context_sessions()),
        session_with_retried_job().records,
    ):
        view = SessionView()
        visible |= {record.header.type for record in records if view.apply(record)}
    facts = {tag: fact for tag, fact in FACTS.items() if not tag.startswith("workspace.")}
    visible |= {tag for tag, fact in facts.items() if tag not in visible and sample_ops(fact)}
    assert [tag for tag, fact in facts.items() if tag not in visible and fact not in UNSHOWN] == []
    assert [fact.type for fact in UNSHOWN if fact.type in visible] == []


def sample_ops(fact: type[Fact]) -> list[Op]:
    """Return the row operations of the fact's erased form in a session where the entities of `OPEN`
    are open.
    """
    if fact.erased is None:
        return []
    ids: dict[str, Any] = {key: getattr(OPEN, key) or f"{key}_1" for key in fact.needs}
    return add_facts(process_session(), *join_facts(1), (fact(**fact.erased), Scope(**ids))).ops


#: A child that works on a task, in an open run of the lead.
OPEN = msgspec.structs.replace(child_scope(1), turn=RUN.turn, run=RUN.run, step=9, attempt=1, tool_call="cal_1")
