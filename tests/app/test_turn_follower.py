"""Requests that belong to a followed turn."""

from __future__ import annotations

from typing import Any

from callboard.app.turn_follower import TurnFollower
from callboard.contracts.content import Text
from callboard.contracts.live import Cursor
from callboard.contracts.ports.runtime import OpBatch
from callboard.contracts.rows import AnyRow
from callboard.contracts.rows.action import ActionRow
from callboard.contracts.rows.base import Upsert
from callboard.contracts.rows.run import RunRow
from callboard.contracts.rows.turn import TurnRow

MINE = "trn_2"


class RecordedRequests:
    """Records of requests to answer here and in another program."""

    def __init__(self) -> None:
        self.answered: list[str] = []
        self.waiting: list[str] = []

    def request_answer(self, row: ActionRow) -> None:
        self.answered.append(row.turn_id)

    def request_answer_elsewhere(self, row: ActionRow) -> None:
        self.waiting.append(row.turn_id)

    def settle(self, action: str) -> None: ...

    def settle_except(self, actions: set[str]) -> None: ...


def turn(name: str, **rest: Any) -> TurnRow:
    return TurnRow(
        key=name,
        order=1,
        sequence=1,
        turn_id=name,
        thread_id="thr_1",
        agent_id="lead",
        input=Text(),
        mode="chat",
        permission_mode="ask",
        submitted_at=1,
        **{"state": "running", **rest},
    )


def run(of: str, parent: str = "", agent: str = "worker-1") -> RunRow:
    return RunRow(
        key=f"run_{of}",
        order=1,
        sequence=1,
        agent_id=agent,
        agent_kind="subagent" if parent else "main",
        thread_id="thr_2",
        turn_id=of,
        status="running",
        parent_run_id=parent,
    )


def request_row(of: str, parent: str = "") -> ActionRow:
    return ActionRow(
        key=f"act_{of}",
        order=1,
        sequence=1,
        action_id=f"act_{of}",
        action_type="tool_approval",
        turn_id=of,
        thread_id="thr_2",
        agent_id="worker-1",
        parent_agent_id=parent,
        tool_call_id="cal_1",
        tool="Write",
        prompt="Write it?",
        risk="low",
        decisions=("approve", "reject"),
        required_at=1,
    )


def list_requests(*rows: AnyRow) -> tuple[list[str], list[str]]:
    requests = RecordedRequests()
    batch = OpBatch(kind="snapshot", cursor=Cursor(1, 0), ops=tuple(Upsert(row.panel, row) for row in rows))
    assert TurnFollower(MINE, requests).apply(batch) is None
    return requests.answered, requests.waiting


def test_requests_of_the_turn_and_of_its_runs_children_are_answered():
    """CTL-04"""
    mine = (turn(MINE, run_id="run_2"), run(MINE, agent="lead"), run("trn_3", "run_2"))
    assert list_requests(*mine, request_row(MINE), request_row("trn_3", "lead")) == ([MINE, "trn_3"], [])


def test_requests_of_other_children_are_answered_elsewhere():
    """CTL-04"""
    mine = (turn(MINE, run_id="run_2"), run("trn_3", "run_1"), run("trn_4"))
    assert list_requests(
        *mine, request_row("trn_3", "lead"), request_row("trn_4", "lead"), request_row("trn_5", "lead")
    ) == (
        [],
        ["trn_3", "trn_4", "trn_5"],
    )


def test_a_turn_that_has_not_started_has_no_children():
    """CTL-04: requests of the turn before belong to that turn."""
    mine = (turn(MINE, state="queued"), turn("trn_1", run_id="run_1"), run("trn_1", agent="lead"))
    assert list_requests(*mine, request_row("trn_1"), request_row("trn_9", "other")) == ([], [])
