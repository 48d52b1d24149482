"""Planning turns, which end with a plan that is carried out in the chosen mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.turn import SubmitTurn
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.action import ActionRequired, ActionResolved, Decision
from callboard.contracts.facts.plan import PlanUpdated
from callboard.contracts.facts.turn import TurnStarted, TurnSubmitted
from callboard.contracts.record import Record
from callboard.contracts.rows.action import ActionPart
from callboard.contracts.rows.plan import PlanPart
from tests.runtime.rigs.runtime_rig import ChangingDefinitions, RuntimeRig, calls, open_runtime, says, use_tool

PLAN = use_tool("propose_plan", summary="Write the notes.", steps=["look", "write"])
ANEW = use_tool("propose_plan", summary="Write them shorter.", steps=["write"])
WRITE = use_tool("Write", file_path="code.py", content="x\n")


async def wait_plan(rig: RuntimeRig, session: str, count: int = 1) -> Record:
    """Return the plan that waits for its decision."""
    record = await rig.until(session, "action.required", count)
    assert isinstance(record.fact, ActionRequired)
    assert record.fact.action_type == "plan_decision"
    return record


def list_modes(record: Record) -> tuple[str, ...]:
    """Return the modes that the action offers, the default first."""
    assert isinstance(record.fact, ActionRequired)
    return record.fact.modes


def respond(session: str, record: Record, decision: Decision = "approve", **more: Any) -> RespondAction:
    return RespondAction(session_id=session, action_id=record.scope.action, decision=decision, **more)


async def test_an_accepted_plan_ends_its_turn_and_runs_in_the_chosen_mode(tmp_path: Path) -> None:
    """CTX-03: queued turns come after it, and the model receives the plan."""
    async with open_runtime(tmp_path, calls(PLAN, WRITE, says("Written."), says("After."))) as rig:
        session = (await rig.submit("plan it", permission_mode="planning")).session_id
        record = await wait_plan(rig, session)
        await rig.do(SubmitTurn(session_id=session, text="then this", permission_mode="planning"))
        await rig.do(respond(session, record, permission_mode="edits", reason="Keep it short."))
        await rig.until(session, "turn.completed", 3)
        assert (rig.folder / "code.py").read_text() == "x\n"
        facts = [record.fact for record in await rig.facts(session)]
        assert [fact.permission_mode for fact in facts if isinstance(fact, TurnStarted)] == [
            "planning",
            "edits",
            "planning",
        ]
        carried = [fact.input.text for fact in facts if isinstance(fact, TurnSubmitted)][-1]
        assert carried == ("I accept the plan. Carry it out.\n\nWrite the notes.\n1. look\n2. write\n\nKeep it short.")


async def test_a_plan_accepted_without_a_mode_is_carried_out(tmp_path: Path) -> None:
    """D4: the session leaves planning, and the turn row shows the mode in force."""
    async with open_runtime(tmp_path, calls(PLAN, says("Written."))) as rig:
        session = (await rig.submit("plan it", permission_mode="planning")).session_id
        await rig.do(respond(session, await wait_plan(rig, session)))
        await rig.until(session, "turn.completed", 2)

        facts = [record.fact for record in await rig.facts(session)]
        assert [fact.permission_mode for fact in facts if isinstance(fact, TurnStarted)] == ["planning", "ask"]
        carried = [fact.input.text for fact in facts if isinstance(fact, TurnSubmitted)][-1]
        assert carried == "I accept the plan. Carry it out.\n\nWrite the notes.\n1. look\n2. write"


async def test_a_plan_runs_in_the_mode_before_planning_by_default(tmp_path: Path) -> None:
    """D4: the card lists the modes with the default first, and the answer's fact has the decision."""
    async with open_runtime(tmp_path, calls(says("Hello."), PLAN, WRITE, says("Written."))) as rig:
        session = (await rig.submit("hello", permission_mode="edits")).session_id
        await rig.until(session, "turn.completed")
        await rig.submit("plan it", session, permission_mode="planning")
        record = await wait_plan(rig, session)
        assert list_modes(record) == ("edits", "ask")
        await rig.do(respond(session, record))
        await rig.until(session, "turn.completed", 3)
        facts = [record.fact for record in await rig.facts(session)]
        assert [fact.permission_mode for fact in facts if isinstance(fact, ActionResolved)] == ["edits"]
        assert [fact.permission_mode for fact in facts if isinstance(fact, TurnStarted)] == [
            "edits",
            "planning",
            "edits",
        ]
        (line,) = [part for part in await rig.parts(session, record.scope.turn) if isinstance(part, ActionPart)]
        assert line.permission_mode == "edits"


async def test_a_plan_offers_full_access_only_if_it_was_in_force_before(tmp_path: Path) -> None:
    """D4"""
    async with open_runtime(tmp_path, calls(says("Hello."), PLAN, says("Written."), PLAN)) as rig:
        session = (await rig.submit("hello", permission_mode="full")).session_id
        await rig.until(session, "turn.completed")
        await rig.submit("plan it", session, permission_mode="planning")
        first = await wait_plan(rig, session)
        assert list_modes(first) == ("full", "ask", "edits")
        await rig.do(respond(session, first, permission_mode="ask"))
        await rig.until(session, "turn.completed", 3)
        await rig.submit("plan it", session, permission_mode="planning")
        second = await wait_plan(rig, session, 2)
        assert list_modes(second) == ("ask", "edits")
        with pytest.raises(Refusal) as refused:
            await rig.do(respond(session, second, permission_mode="full"))
        assert (refused.value.code, refused.value.problem.field) == ("invalid_input", "permissionMode")
        assert "Accepted: ask, edits." in refused.value.problem.message


async def test_a_plan_offers_no_mode_that_the_agent_may_not_use(tmp_path: Path) -> None:
    """D4: a mode wider than the agent's own is refused. An agent that may only plan continues its
    turn."""
    agent = ChangingDefinitions(permission_mode="ask")
    async with open_runtime(tmp_path, calls(PLAN, PLAN, says("Only planned.")), agent) as rig:
        session = (await rig.submit("plan it", permission_mode="planning")).session_id
        first = await wait_plan(rig, session)
        assert list_modes(first) == ("ask",)
        with pytest.raises(Refusal):
            await rig.do(respond(session, first, permission_mode="edits"))
        await rig.do(respond(session, first, "answer", answer="Shorter."))
        second = await wait_plan(rig, session, 2)
        agent.change(permission_mode="planning", hash="changed")
        with pytest.raises(Refusal):
            await rig.do(respond(session, second, permission_mode="ask"))
        await rig.do(respond(session, second))
        await rig.until(session, "turn.completed")
        facts = [record.fact for record in await rig.facts(session)]
        assert [fact.permission_mode for fact in facts if isinstance(fact, TurnStarted)] == ["planning"]
        assert [fact.permission_mode for fact in facts if isinstance(fact, ActionResolved)] == [None, None]


async def test_an_accepted_plan_ends_its_turn_with_its_last_open_call(tmp_path: Path) -> None:
    """D4: the planning model is not called again."""
    both = [*use_tool("ask_person", question="Which name?"), *PLAN]
    done = use_tool("Finalize", summary="Written.")
    async with open_runtime(tmp_path, calls(both, done)) as rig:
        session = (await rig.submit("plan it", mode="auto", permission_mode="planning")).session_id
        record = await rig.until(session, "action.required", 2)
        waiting = [record for record in await rig.facts(session) if isinstance(record.fact, ActionRequired)]
        plan = next(record for record in waiting if getattr(record.fact, "action_type", "") == "plan_decision")
        (question,) = [entry for entry in waiting if entry is not plan]
        await rig.do(respond(session, plan, permission_mode="ask"))
        await rig.do(respond(session, question, "answer", answer="notes.md"))
        await rig.until(session, "turn.completed", 2)
        types = await rig.types(session)
        assert types.count("model.requested") == 2
        first, second = [
            record.scope.turn for record in await rig.facts(session) if record.header.type == "model.requested"
        ]
        assert (first, second != first) == (record.scope.turn, True)


async def test_a_plan_with_requested_changes_is_proposed_as_its_next_revision(tmp_path: Path) -> None:
    """CTX-03: both stay in the conversation, linked to each other, and the last one is final once."""
    async with open_runtime(tmp_path, calls(PLAN, ANEW, says("Good."))) as rig:
        session = (await rig.submit("plan it", permission_mode="planning")).session_id
        first = await wait_plan(rig, session)
        await rig.do(respond(session, first, "answer", answer="Shorter."))
        second = await wait_plan(rig, session, 2)
        table = await rig.watch(session, lambda table: len(table.list_rows(PlanPart)) == 2)
        former, later = table.list_rows(PlanPart)
        assert [step.content for step in former.steps] == ["look", "write"]
        assert (former.state, former.revision, former.later) == ("final", 1, later.key)
        assert (later.state, later.revision, later.former) == ("streaming", 2, former.key)
        await rig.do(respond(session, second))
        await rig.until(session, "turn.completed")
        updates = [record.fact for record in await rig.facts(session) if isinstance(record.fact, PlanUpdated)]
        assert updates[-1] == PlanUpdated(steps=(PlanStep("write", "pending"),), final=True, revision=2)
        assert [entry.final for entry in updates] == [False, False, True]


async def test_a_rejected_plan_keeps_its_reason_and_changes_nothing(tmp_path: Path) -> None:
    """CTX-03"""
    async with open_runtime(tmp_path, calls(PLAN, says("As you say."))) as rig:
        session = (await rig.submit("plan it", permission_mode="planning")).session_id
        record = await wait_plan(rig, session)
        await rig.do(respond(session, record, "reject", reason="Not now."))
        await rig.until(session, "turn.completed")
        (resolved,) = [record.fact for record in await rig.facts(session) if record.header.type == "action.resolved"]
        assert (getattr(resolved, "decision", ""), getattr(resolved, "reason", "")) == ("reject", "Not now.")
        assert list(rig.folder.iterdir()) == []


async def test_a_planning_agent_is_instructed_to_end_with_the_plan(tmp_path: Path) -> None:
    """CTX-03: in the mode layer of the prompt, only in planning mode."""
    async with open_runtime(tmp_path, calls(PLAN, says("Done."), says("Done."))) as rig:
        session = (await rig.submit("plan it", permission_mode="planning")).session_id
        record = await wait_plan(rig, session)
        await rig.do(respond(session, record, permission_mode="ask"))
        await rig.until(session, "turn.completed", 2)
        instructed: list[bool] = []
        for entry in await rig.facts(session):
            if isinstance(entry.fact, TurnStarted):
                (layer,) = [prompt for prompt in entry.fact.prompts if prompt.layer == "mode"]
                data = await rig.runtime.dependencies.store.blobs.get(layer.hash)
                instructed.append(b"propose_plan" in (data or b""))
        assert instructed == [True, False]


async def test_a_plan_approval_takes_a_mode_only_in_planning(tmp_path: Path) -> None:
    async with open_runtime(tmp_path, calls(PLAN, says("Done."))) as rig:
        session = (await rig.submit("plan it", permission_mode="ask")).session_id
        record = await wait_plan(rig, session)
        with pytest.raises(Refusal) as refused:
            await rig.do(respond(session, record, permission_mode="edits"))
        assert (refused.value.code, refused.value.problem.field) == ("invalid_input", "permissionMode")
