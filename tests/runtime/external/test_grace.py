"""Calls that an agent reports as running before it requests permission (A1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.contracts.commands.turn import InterruptTurn
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.permission import PermissionEvaluated
from callboard.contracts.facts.tool import ToolCancelled, ToolFailed
from tests.runtime.rigs.acp_agent import Steps, answer, list_facts, open_coder, start_session

NEVER = 3600.0
MAKE: Steps = [
    {"call": {"id": "c", "title": "make", "kind": "execute", "input": {"command": "make all"}}},
    {"call": {"id": "c", "status": "in_progress"}},
]


@pytest.mark.parametrize(("decision", "says"), [("approve", "[yes]"), ("reject", "[no]")])
async def test_a_running_call_with_a_later_question_is_not_recorded_as_unasked(
    tmp_path: Path, decision: str, says: str
):
    """A1: OpenCode reports each command as in progress a moment before it requests permission."""
    steps: Steps = [*MAKE, {"permit": {"id": "c", "title": "make", "kind": "execute"}}]
    async with open_coder(tmp_path, steps, external_grace=NEVER) as rig:
        session = await start_session(rig)
        await answer(rig, session, decision, count=2)
        await rig.until(session, "turn.completed")
        types = await rig.types(session)
        verdicts = [fact.verdict for fact in await list_facts(rig, session, PermissionEvaluated)]
        text = "".join(fact.content.text for fact in await list_facts(rig, session, MessageText))

    assert verdicts == ["ask", "ask"]
    connected_at = types.index("agent.connected")
    assert types[connected_at + 1 : connected_at + 5] == [
        "tool.requested",
        "permission.evaluated",
        "action.required",
        "action.resolved",
    ]
    assert text == says


@pytest.mark.parametrize("between", [{"say": "A note."}, {"think": "Hm."}, {"plan": ["Make it"]}])
async def test_a_call_with_a_question_after_more_text_is_not_recorded_as_unasked(
    tmp_path: Path, between: dict[str, object]
):
    """A1: Claude Code can send text between announcing a call and requesting permission."""
    steps: Steps = [MAKE[0], between, {"permit": {"id": "c", "title": "make", "kind": "execute"}}, {"say": "Done."}]
    async with open_coder(tmp_path, steps, external_grace=NEVER) as rig:
        session = await start_session(rig)
        await answer(rig, session, "approve", count=2)
        await rig.until(session, "turn.completed")
        types = await rig.types(session)
        verdicts = [fact.verdict for fact in await list_facts(rig, session, PermissionEvaluated)]

    assert verdicts == ["ask", "ask"]
    output_type = next(tag for tag in types if tag in ("message.text", "reasoning.completed", "plan.updated"))
    assert types.index(output_type) < types.index("tool.requested", types.index("agent.connected"))


async def test_a_running_call_without_a_question_is_recorded_while_it_runs(tmp_path: Path):
    """A1"""
    async with open_coder(tmp_path, [*MAKE, {"hang": True}], external_grace=0.01) as rig:
        session = await start_session(rig)
        await rig.until(session, "tool.started", count=2)
        verdicts = [fact.verdict for fact in await list_facts(rig, session, PermissionEvaluated)]

    assert verdicts == ["ask", "allow"]


async def test_a_running_call_is_recorded_as_started_when_its_turn_is_interrupted(tmp_path: Path):
    """A1: also before its grace period ends."""
    async with open_coder(tmp_path, [*MAKE, {"mode": "plan"}, {"hang": True}], external_grace=NEVER) as rig:
        session = await start_session(rig)
        # Events arrive in order: when the mode is recorded, so is the call.
        await rig.until(session, "agent.mode.changed")
        await rig.do(InterruptTurn(session_id=session))
        await rig.until(session, "turn.interrupted")
        (cancelled,) = await list_facts(rig, session, ToolCancelled)

    assert cancelled.started


async def test_a_running_call_is_recorded_when_its_agent_dies(tmp_path: Path):
    """A1"""
    async with open_coder(tmp_path, [*MAKE, {"die": 7}], external_grace=NEVER) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.failed")
        types = await rig.types(session)
        failed = await list_facts(rig, session, ToolFailed)

    assert types.count("tool.started") == 2
    assert types[-3:] == ["model.failed", "tool.lost", "turn.failed"]
    assert failed == []
