"""Requests of children during a turn in the terminal."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.app.rigs.product import PATIENCE, Product, says, uses

LEAD = """---
name: lead
description: Splits an objective.
kind: main
role: planner
lead: true
tools: ["*"]
policy: {allow: [Patch, Delegate, Finalize], delegate_targets: [worker]}
---
You coordinate.
"""
WORKER = """---
name: worker
description: Does one part.
kind: subagent
role: executor
tools: [Read, Write]
policy: [Patch]
---
You do one part.
"""
SPLIT: dict[str, Any] = {
    "agents": {
        "lead": [
            uses("spawn_subagent", agent="worker", objective="Write the note"),
            uses("wait_subagents"),
            says("The part is done."),
        ]
    },
    "match": [
        {
            "text": "Write the note",
            "agent": "worker",
            "calls": [uses("Write", file_path="note.txt", content="noted\n"), says("Done.")],
        }
    ],
}


#: A child that asks after the turn of its delegation, and one that asks in the next turn.
LATER: dict[str, Any] = {
    "agents": {
        "lead": [
            uses("spawn_subagent", agent="worker", objective="Write the old note"),
            says("It has begun."),
            uses("spawn_subagent", agent="worker", objective="Write the new note"),
            uses("wait_subagents", agents=["worker-2"]),
            says("The new one is there."),
        ]
    },
    "match": [
        {
            "text": "Write the old note",
            "agent": "worker",
            "calls": [
                [{"wait_for": "go"}, *uses("Write", file_path="old.txt", content="old\n")],
                says("Done."),
            ],
        },
        {
            "text": "Write the new note",
            "agent": "worker",
            "calls": [uses("Write", file_path="new.txt", content="new\n"), says("Done.")],
        },
    ],
}


@pytest.mark.parametrize(
    ("approve", "code", "written", "outcome"),
    [
        ("all", 0, True, "Approved by --approve all"),
        ("none", 4, False, "Rejected: no person is present to approve it"),
    ],
)
def test_a_request_of_a_child_is_answered_like_one_of_the_turn(
    product: Product, approve: str, code: int, written: bool, outcome: str
) -> None:
    """CTL-04: otherwise the turn would wait for an answer that no person can give."""
    write_team(product)
    done = product.plays(SPLIT).run("run", "Get the note written", "--approve", approve)
    assert (done.code, (product.folder / "note.txt").exists()) == (code, written)
    assert f"worker-1: Create note.txt (+1 −0)? {outcome}" in done.err
    assert done.out.endswith("The part is done.\n")


def test_ctl04_a_turn_that_ends_before_its_child_names_the_child(product: Product) -> None:
    """CTL-04: without a server the child ends with the command."""
    write_team(product)
    product.plays(LATER)
    done = product.run("run", "Begin", "--approve", "all")
    assert (done.code, "! Interrupted with this command: worker-1" in done.err) == (0, True)
    with product.up():
        done = product.run("run", "Begin", "--approve", "all")
        assert "! Still running: worker-1" in done.err
    done = product.plays(SPLIT).run("run", "Get the note written", "--approve", "all")
    assert "  ! " not in done.err


def test_the_policy_does_not_approve_a_childs_request_of_an_earlier_turn(product: Product) -> None:
    """CTL-04: the policy applies only to the turn of this command."""
    write_team(product)
    with product.plays(LATER).up():
        assert product.run("run", "Begin", "--approve", "all").code == 0
        (product.place / "go").touch()
        wait_for_request(product)
        done = product.run("run", "Go on", "--session", "last", "--approve", "all")
        pending = pending_requests(product)
    assert (done.code, done.out) == (0, "The new one is there.\n")
    assert "worker-2: Create new.txt (+1 −0)? Approved by --approve all." in done.err
    assert "worker-1: Create old.txt (+1 −0)? Not of this turn, so not answered here." in done.err
    assert [(product.folder / name).exists() for name in ("old.txt", "new.txt")] == [False, True]
    assert [action["prompt"] for action in pending] == ["Create old.txt (+1 −0)?"]


def write_team(product: Product) -> None:
    agents = product.folder / "agents"
    agents.mkdir()
    (agents / "lead.md").write_text(LEAD)
    (agents / "worker.md").write_text(WORKER)


def pending_requests(product: Product) -> list[dict[str, Any]]:
    """Return the pending requests of the newest session."""
    facts = product.run("facts", "last", "--json").json
    over = {fact["actionId"] for fact in facts if fact["type"] == "action.resolved"}
    return [fact["payload"] for fact in facts if fact["type"] == "action.required" and fact["actionId"] not in over]


def wait_for_request(product: Product) -> None:
    until = time.monotonic() + PATIENCE
    while not pending_requests(product):
        assert time.monotonic() < until, f"nothing waited within {PATIENCE} s"
