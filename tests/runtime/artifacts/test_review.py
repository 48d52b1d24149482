"""Reviews of artifact versions that an agent requests of a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused
from callboard.contracts.rows.action import ActionRow
from tests.runtime.rigs.artifacts import NOTES, read_single_artifact
from tests.runtime.rigs.runtime_rig import calls, open_runtime, says, use_tool

WROTE = use_tool("Write", file_path=NOTES, content="one\n")
REVIEW = use_tool("ask_person", question="Is this what you meant?", artifact=NOTES)


@pytest.mark.parametrize(
    ("decision", "more", "expected"),
    [
        ("approve", {}, '{"decision":"accepted","answer":"","reason":""}'),
        ("answer", {"answer": "Shorter."}, '{"decision":"changes_wanted","answer":"Shorter.","reason":""}'),
        ("reject", {"reason": "Not this."}, '{"decision":"rejected","answer":"","reason":"Not this."}'),
    ],
)
async def test_a_person_reviews_a_version(tmp_path: Path, decision: Any, more: dict[str, Any], expected: str) -> None:
    """Agent UI specification, Human-in-the-loop taxonomy, artifact_review: the request names the
    version."""
    async with open_runtime(tmp_path, calls(WROTE, REVIEW, says("Done."))) as rig:
        session = (await rig.submit("go", permission_mode="edits")).session_id
        record = await rig.until(session, "action.required")
        row = await read_single_artifact(rig, session)
        assert isinstance(record.fact, ActionRequired)
        assert (record.fact.action_type, record.fact.decisions, record.fact.scopes) == (
            "artifact_review",
            ("approve", "answer", "reject"),
            ("once",),
        )
        table = await rig.watch(session, lambda table: bool(table.list_rows(ActionRow)))
        (action_row,) = table.list_rows(ActionRow)
        assert (action_row.artifact_id, action_row.artifact_version, action_row.prompt) == (
            row.key,
            1,
            "Is this what you meant?",
        )
        await rig.do(RespondAction(session_id=session, action_id=record.scope.action, decision=decision, **more))
        await rig.until(session, "turn.completed")
        ended = [record.fact for record in await rig.facts(session) if isinstance(record.fact, ToolCompleted)]
        assert ended[-1].output.text == expected


async def test_a_review_of_an_unknown_artifact_is_refused_without_a_question(tmp_path: Path) -> None:
    async with open_runtime(tmp_path, calls(REVIEW, says("Done."))) as rig:
        session = (await rig.submit("go", permission_mode="edits")).session_id
        await rig.until(session, "turn.completed")
        (refused,) = [record.fact for record in await rig.facts(session) if isinstance(record.fact, ToolRefused)]
        assert refused.code == "unknown_artifact"
        assert "action.required" not in await rig.types(session)
