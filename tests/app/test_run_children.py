"""What children ask while a turn is followed in the terminal."""

from __future__ import annotations

from typing import Any

import pytest

from tests.app.product import Product, says, uses

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


@pytest.mark.parametrize(
    ("approve", "code", "written", "said"),
    [
        ("all", 0, True, "approved by --approve all"),
        ("none", 4, False, "rejected, since nobody is there to approve it"),
    ],
)
def test_what_a_child_asks_is_answered_as_what_the_turn_itself_asks(
    product: Product, approve: str, code: int, written: bool, said: str
) -> None:
    """CTL-04: a turn that waits for a child does not wait for an answer that nobody was asked for."""
    agents = product.folder / "agents"
    agents.mkdir()
    (agents / "lead.md").write_text(LEAD)
    (agents / "worker.md").write_text(WORKER)
    done = product.plays(SPLIT).run("run", "Get the note written", "--approve", approve)
    assert (done.code, (product.folder / "note.txt").exists()) == (code, written)
    assert f"worker-1: Make note.txt (+1 −0)?: {said}" in done.err
    assert done.out.endswith("The part is done.\n")
