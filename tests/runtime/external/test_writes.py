"""Writes of an external agent through Callboard: one question, one version, a final rejection (A2,
A3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.artifact import ArtifactVersionCreated
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.permission import PermissionEvaluated
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed, ToolRequested, ToolStarted
from tests.runtime.rigs.acp_agent import Steps, answer, list_facts, open_coder, start_session


def asking(path: Path, before: str | None, after: str) -> dict[str, Any]:
    return {"id": "e1", "title": "Edit it", "kind": "edit", "path": str(path), "diff": [str(path), before, after]}


@pytest.mark.parametrize(
    ("before", "diff", "after"),
    [
        (None, (None, "new\n"), "new\n"),
        ("one\ntwo\n", ("one\ntwo\n", "one\nTWO\n"), "one\nTWO\n"),
        ("one\ntwo\n", ("two", "TWO"), "one\nTWO\n"),
    ],
    ids=["a new file", "a whole file", "a part"],
)
async def test_an_approved_edit_and_its_write_need_one_question_and_make_one_version(
    tmp_path: Path, before: str | None, diff: tuple[str | None, str], after: str
):
    """A2."""
    path = tmp_path / "work" / "a.txt"
    steps: Steps = [
        {"permit": asking(path, *diff)},
        {"write": {"path": str(path), "content": after}},
        {"call": {"id": "e1", "status": "completed", "diff": [str(path), *diff]}},
    ]
    async with open_coder(tmp_path, steps) as rig:
        if before is not None:
            path.write_text(before)
        session = await start_session(rig)
        await answer(rig, session, count=2)
        await rig.until(session, "turn.completed")
        actions = await list_facts(rig, session, ActionRequired)
        versions = [
            fact for fact in await list_facts(rig, session, ArtifactVersionCreated) if fact.version_origin == "agent"
        ]
        verdicts = await list_facts(rig, session, PermissionEvaluated)
        ended = [[change.kind for change in fact.changes] for fact in await list_facts(rig, session, ToolCompleted)]

    assert path.read_text() == after
    assert [fact.tool for fact in actions] == ["StartAgent", "Edit"]
    assert len(versions) == 1
    write = next(fact for fact in verdicts if fact.tool == "Write")
    assert write.verdict == "allow"
    assert [reason.code for reason in write.checks[-1].reasons] == ["approved_with"]
    assert ended == [[], ["modified" if before else "created"], []]


@pytest.mark.parametrize(
    "write",
    [{"path": "a.txt", "content": "something else\n"}, {"path": "other.txt", "content": "new\n"}],
    ids=["other content", "another file"],
)
async def test_an_unapproved_write_needs_a_question_and_its_rejection_is_final(tmp_path: Path, write: dict[str, str]):
    """A2."""
    path = tmp_path / "work" / "a.txt"
    target = tmp_path / "work" / write["path"]
    steps: Steps = [
        {"permit": asking(path, None, "new\n")},
        {"write": {"path": str(target), "content": write["content"]}},
        {"write": {"path": str(path), "content": "new\n"}},
        {"call": {"id": "e1", "status": "completed"}},
        {"write": {"path": str(path), "content": "later\n"}},
    ]
    async with open_coder(tmp_path, steps) as rig:
        session = await start_session(rig)
        await answer(rig, session, count=2)
        await answer(rig, session, "reject", count=3)
        await answer(rig, session, "reject", count=4)
        await rig.until(session, "turn.completed")
        tools = [fact.tool for fact in await list_facts(rig, session, ActionRequired)]

    assert tools == ["StartAgent", "Edit", "Write", "Write"], (
        "the approved write is covered, before its call ended only"
    )
    assert path.read_text() == "new\n"
    assert not (tmp_path / "work" / "other.txt").exists()


@pytest.mark.parametrize(
    ("approved", "later"),
    [
        ({"kind": "edit", "diff": True}, {"diff": True}),
        ({"kind": "edit"}, {}),
        ({"kind": "read"}, {}),
        ({"kind": "read"}, {"kind": "edit"}),
        ({"kind": "execute", "input": {"command": "cat a.txt"}}, {}),
    ],
    ids=["another diff", "no diff", "a read", "a read that becomes an edit", "a command"],
)
async def test_an_approval_covers_the_shown_call_and_no_later_change(
    tmp_path: Path, approved: dict[str, Any], later: dict[str, Any]
):
    """A2: a call that is not an edit, or that changes after its approval, covers no write."""
    path = tmp_path / "work" / "a.txt"

    def call(fields: dict[str, Any], after: str) -> dict[str, Any]:
        diff = {"diff": [str(path), "one\n", after]} if fields.get("diff") else {}
        return {"id": "e1", "title": "a.txt", "path": str(path), **fields, **diff}

    steps: Steps = [
        {"permit": call(approved, "shown\n")},
        {"call": {**call(later, "other\n"), "status": "in_progress"}},
        {"write": {"path": str(path), "content": "other\n"}},
    ]
    async with open_coder(tmp_path, steps) as rig:
        path.write_text("one\n")
        session = await start_session(rig)
        questions = 3 - (approved["kind"] == "read")
        if questions == 3:
            await answer(rig, session, count=2)
        await answer(rig, session, "reject", count=questions)
        await rig.until(session, "turn.completed")
        tools = [fact.tool for fact in await list_facts(rig, session, ActionRequired)]

    assert tools[-1] == "Write"
    assert path.read_text() == "one\n"


async def test_a_second_question_within_a_call_is_recorded_as_another_call(tmp_path: Path):
    """A2: otherwise the log would say that the first approval covered what ran."""
    steps: Steps = [
        {"permit": {"id": "c", "title": "it", "kind": "execute", "input": {"command": command}}}
        for command in ("ls", "rm -rf /")
    ]
    async with open_coder(tmp_path, [*steps, {"call": {"id": "c", "status": "completed", "output": "done"}}]) as rig:
        session = await start_session(rig)
        await answer(rig, session, count=2)
        await answer(rig, session, count=3)
        await rig.until(session, "turn.completed")
        records = await rig.facts(session)

    def calls(kind: type[Any]) -> list[tuple[str, Any]]:
        return [(record.scope.tool_call, record.fact) for record in records if isinstance(record.fact, kind)][-2:]

    (first, requested), (second, asked_again) = calls(ToolRequested)
    assert first != second
    assert [msgspec.json.decode(entry.arguments.text) for entry in (requested, asked_again)] == [
        {"command": "ls"},
        {"command": "rm -rf /"},
    ]
    assert [call for call, _ in calls(ToolStarted)] == [first, second]
    assert [call for call, _ in calls(ToolFailed)] == [first]
    assert calls(ToolCompleted)[-1][0] == second


async def test_a_write_after_a_rejected_call_needs_another_question(tmp_path: Path):
    """A2."""
    path = tmp_path / "work" / "a.txt"
    steps: Steps = [
        {"permit": asking(path, None, "new\n")},
        {"write": {"path": str(path), "content": "new\n"}},
    ]
    async with open_coder(tmp_path, steps) as rig:
        session = await start_session(rig)
        await answer(rig, session, "reject", count=2)
        await answer(rig, session, "reject", count=3)
        await rig.until(session, "turn.completed")
        texts = "".join(fact.content.text for fact in await list_facts(rig, session, MessageText))

    assert not path.exists()
    assert texts == "[no][refused: {'details': 'The person rejected the call.'}]"


@pytest.mark.parametrize(
    ("script", "heard"),
    [({}, "[-32002 Resource not found]"), ({"agent": "gemini-cli", "modes": ["default"]}, "[]")],
    ids=["any agent", "Gemini CLI"],
)
async def test_a_missing_file_is_reported_as_missing(tmp_path: Path, script: dict[str, Any], heard: str):
    """A3: Gemini CLI does not infer it from an error, and it creates a file that reads as empty."""
    read = {"read": {"path": str(tmp_path / "work" / "new.txt")}}
    async with open_coder(tmp_path, [read], script=script) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        (text,) = await list_facts(rig, session, MessageText)

    assert text.content.text == heard


async def test_an_agents_copy_of_its_own_write_makes_no_question_and_no_version(tmp_path: Path):
    """A2: OpenCode writes the file in any case."""
    path = tmp_path / "work" / "a.txt"
    steps: Steps = [{"write": {"path": str(path), "content": "new\n"}}]
    async with open_coder(tmp_path, steps, script={"agent": "OpenCode", "modes": ["build"]}) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        tools = [fact.tool for fact in await list_facts(rig, session, ActionRequired)]
        (text,) = await list_facts(rig, session, MessageText)

    assert (tools, text.content.text) == (["StartAgent"], "[done]")
    assert not path.exists()
