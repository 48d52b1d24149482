"""Plans of an external agent, from a real process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callboard.contracts.commands.turn import InterruptTurn
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.facts.plan import PlanUpdated
from callboard.contracts.record import Record
from tests.runtime.rigs.acp_agent import Steps, open_coder, start_session
from tests.runtime.rigs.runtime_rig import RuntimeRig

LOOK, FIX, TEST = (PlanStep(content, "pending") for content in ("look", "fix", "test"))
LOOKING, FIXING = PlanStep("look", "in_progress"), PlanStep("fix", "in_progress")
LOOKED, FIXED = PlanStep("look", "completed"), PlanStep("fix", "completed")


def plan(*steps: PlanStep) -> dict[str, Any]:
    return {"plan": [[step.content, step.status] for step in steps]}


async def list_plans(rig: RuntimeRig, session: str) -> list[Record]:
    return [record for record in await rig.facts(session) if isinstance(record.fact, PlanUpdated)]


async def test_each_plan_change_is_a_fact_at_its_first_step_and_the_last_is_final(tmp_path: Path):
    steps: Steps = [
        {"say": "Let me plan."},
        plan(LOOK, FIX),
        plan(LOOK, FIX),
        {"say": "Now looking."},
        plan(LOOKING, FIX),
        {"call": {"id": "x", "title": "Look", "kind": "read", "status": "pending"}},
        {"call": {"id": "x", "status": "completed", "output": "seen"}},
        plan(LOOKED, FIXED),
    ]
    async with open_coder(tmp_path, steps, plan_interval=0.0) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        plan_facts = await list_plans(rig, session)
        types = await rig.types(session)
        texts = [record.scope.step for record in await rig.facts(session) if record.header.type == "message.text"]

    assert [record.fact for record in plan_facts] == [
        PlanUpdated(steps=(LOOK, FIX)),
        PlanUpdated(steps=(LOOKING, FIX)),
        PlanUpdated(steps=(LOOKED, FIXED)),
        PlanUpdated(steps=(LOOKED, FIXED), final=True),
    ]
    assert [record.scope.step for record in plan_facts] == [texts[0] + 1] * 4
    assert texts[1] == texts[0] + 2
    assert types[-5:] == ["model.completed", "cost.recorded", "plan.updated", "output.final", "turn.completed"]


async def test_many_plan_changes_leave_few_facts_including_the_last(tmp_path: Path):
    storm: Steps = [plan(PlanStep(f"step {index}", "in_progress"), TEST) for index in range(500)]
    async with open_coder(tmp_path, [*storm, {"say": "Done."}], plan_interval=3600.0) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.completed")
        plan_facts = [record.fact for record in await list_plans(rig, session)]

    first, last = PlanStep("step 0", "in_progress"), PlanStep("step 499", "in_progress")
    assert plan_facts == [
        PlanUpdated(steps=(first, TEST)),
        PlanUpdated(steps=(last, TEST)),
        PlanUpdated(steps=(last, TEST), final=True),
    ]


async def test_a_pending_plan_is_recorded_while_the_agent_is_silent(tmp_path: Path):
    async with open_coder(tmp_path, [plan(LOOK), plan(LOOKED), {"hang": True}], plan_interval=0.05) as rig:
        session = await start_session(rig)
        await rig.until(session, "plan.updated", 2)
        plan_facts = [record.fact for record in await list_plans(rig, session)]

    assert plan_facts == [PlanUpdated(steps=(LOOK,)), PlanUpdated(steps=(LOOKED,))]


async def test_the_last_plan_is_final_when_the_turn_is_interrupted(tmp_path: Path):
    steps: Steps = [plan(LOOK, FIX), plan(LOOKED, FIXING), {"say": "Half"}, {"hang": True}]
    async with open_coder(tmp_path, steps, plan_interval=3600.0, external_stop=60.0) as rig:
        session = await start_session(rig)
        await rig.wait_partial(session, "Half")
        await rig.do(InterruptTurn(session_id=session))
        await rig.until(session, "turn.interrupted")
        plan_facts = [record.fact for record in await list_plans(rig, session)]
        types = await rig.types(session)

    assert plan_facts == [
        PlanUpdated(steps=(LOOK, FIX)),
        PlanUpdated(steps=(LOOKED, FIXING)),
        PlanUpdated(steps=(LOOKED, FIXING), final=True),
    ]
    assert types[types.index("turn.interrupt.requested") :] == [
        "turn.interrupt.requested",
        "plan.updated",
        "message.interrupted",
        "model.interrupted",
        "plan.updated",
        "turn.interrupted",
    ]


async def test_the_last_plan_is_final_when_the_agent_dies(tmp_path: Path):
    async with open_coder(
        tmp_path, [plan(LOOK), plan(LOOKED), {"say": "So f"}, {"die": 3}], plan_interval=3600.0
    ) as rig:
        session = await start_session(rig)
        await rig.until(session, "turn.failed")
        plan_facts = [record.fact for record in await list_plans(rig, session)]
        types = await rig.types(session)

    assert plan_facts == [
        PlanUpdated(steps=(LOOK,)),
        PlanUpdated(steps=(LOOKED,)),
        PlanUpdated(steps=(LOOKED,), final=True),
    ]
    assert types[-2:] == ["plan.updated", "turn.failed"]
