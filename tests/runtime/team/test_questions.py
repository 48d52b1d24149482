"""Questions of agents to a person: in every mode, over a restart, and from children."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.permission import PermissionEvaluated
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused
from callboard.contracts.rows.agent import AgentRow
from callboard.contracts.rows.plan import PlanPart
from tests.runtime.rigs.runtime_rig import RuntimeRig, open_runtime, says, use_tool
from tests.runtime.rigs.team import list_facts, plays, write_crew

PLAN = use_tool("propose_plan", summary="Fix the parser.", steps=["look", "fix"])
CHILD = plays(
    (
        "lead",
        "go",
        [use_tool("spawn_subagent", agent="worker", objective="fix"), use_tool("wait_subagents"), says("Done.")],
    ),
    ("worker", "fix", [PLAN, says("Fixed.")]),
)


async def answer(rig: RuntimeRig, session: str, decision: Any, **more: Any) -> ActionRequired:
    """Answer the question as a person."""
    action = await rig.until(session, "action.required")
    assert isinstance(action.fact, ActionRequired)
    await rig.do(RespondAction(session_id=session, action_id=action.scope.action, decision=decision, **more))
    return action.fact


async def test_a_teammates_plan_waits_for_a_decision_and_the_agent_receives_it(tmp_path: Path) -> None:
    """CTX-03, UI-24: also in a mode without other questions. No rule is offered."""
    async with open_runtime(tmp_path, CHILD, FolderDefinitions()) as rig:
        write_crew(rig)
        session = (await rig.submit("go", permission_mode="full")).session_id
        await rig.until(session, "action.required")
        table = await rig.watch(
            session, lambda table: any(row.state == "plan_ready" for row in table.list_rows(AgentRow))
        )
        assert [row.agent_id for row in table.list_rows(AgentRow) if row.state == "plan_ready"] == ["worker-1"]
        action = await answer(rig, session, "answer", answer="Look only.")
        assert (action.action_type, action.scopes, action.matchers) == ("teammate_plan_decision", ("once",), {})
        await rig.until(session, "turn.completed", 2)
        (output, *_) = [
            fact.output.text for fact in await list_facts(rig, session, ToolCompleted) if "decision" in fact.output.text
        ]
        assert output == '{"decision":"changes_wanted","answer":"Look only.","reason":""}'
        evaluated = [
            fact for fact in await list_facts(rig, session, PermissionEvaluated) if fact.tool == "propose_plan"
        ]
        assert [(entry.verdict, entry.risk) for entry in evaluated] == [("ask", "none")]


async def test_a_pending_plan_survives_a_restart(tmp_path: Path) -> None:
    """CTX-03, CTL-06: it is shown and decided on, and its agent continues."""
    async with open_runtime(tmp_path, CHILD, FolderDefinitions()) as rig:
        write_crew(rig)
        session = (await rig.submit("go")).session_id
        await rig.until(session, "action.required")
    async with open_runtime(tmp_path, CHILD, FolderDefinitions()) as rig:
        table = await rig.watch(session, lambda table: table.list_rows(PlanPart) != [])
        (plan,) = table.list_rows(PlanPart)
        assert (plan.steps, plan.state) == ((PlanStep("look", "pending"), PlanStep("fix", "pending")), "streaming")
        await answer(rig, session, "approve")
        await rig.until(session, "turn.completed", 2)


async def test_an_agent_without_a_team_can_ask(tmp_path: Path) -> None:
    """It asks its person."""
    scenario = plays(
        ("solo", "go", [use_tool("ask_person", question="Which?", options=["a", "b"]), says("b it is.")]),
    )
    async with open_runtime(tmp_path, scenario) as rig:
        session = (await rig.submit("go")).session_id
        action = await answer(rig, session, "answer", answer="b")
        assert (action.action_type, action.decisions) == ("structured_input", ("answer", "reject"))
        await rig.until(session, "turn.completed")


async def test_an_unattended_question_is_not_reported_as_answered(tmp_path: Path) -> None:
    """CTL-05"""
    scenario = plays(("solo", "go", [use_tool("ask_person", question="Which?", options=["a", "b"]), says("Later.")]))
    async with open_runtime(tmp_path, scenario) as rig:
        session = (await rig.submit("go")).session_id
        await answer(rig, session, "reject", unattended=True)
        await rig.until(session, "turn.completed")
        assert await list_facts(rig, session, ToolCompleted) == []
        assert [fact.code for fact in await list_facts(rig, session, ToolRefused)] == ["nobody_there"]
