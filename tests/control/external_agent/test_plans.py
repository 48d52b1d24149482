"""The plan of an external agent's run: updates, and the final plan at every kind of end."""

from __future__ import annotations

from typing import Any

from callboard.contracts.content import MAX_INLINE_BYTES
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.facts.plan import PlanUpdated
from callboard.control.decide.turn.plan import MAX_LINE_CHARS
from callboard.control.outcomes import ExternalPlanReported, HostTakenOver
from tests.control.external_agent.test_program import fact_types, prompted_session
from tests.control.rigs.examples import (
    THREAD,
    at,
    attempt_failure,
    interrupt,
    model_response,
    run_stop,
    steer,
    text_part,
)

PLAN = at(turn=1, run=1, step=2)
LOOK, FIX = PlanStep("look", "in_progress"), PlanStep("fix", "pending")
LOOKED = PlanStep("look", "completed")


def plan_reported(*steps: PlanStep, step: int = 2, prompt: int = 1) -> ExternalPlanReported:
    return ExternalPlanReported(thread=THREAD, run="run_1", prompt=prompt, step=step, steps=steps)


def test_a_plan_keeps_its_step_and_an_unchanged_plan_is_not_recorded_again():
    session = prompted_session()
    session.when(plan_reported()).then_nothing()
    session.when(plan_reported(LOOK, FIX)).then((PlanUpdated(steps=(LOOK, FIX)), PLAN))
    session.when(plan_reported(LOOK, FIX)).then_nothing()
    session.when(plan_reported(LOOKED, step=7)).then((PlanUpdated(steps=(LOOKED,)), PLAN))
    session.when(plan_reported()).then((PlanUpdated(steps=()), PLAN))


def test_every_kind_of_run_end_makes_the_plan_final():
    def run() -> Any:
        return prompted_session().after(plan_reported(LOOK, FIX))

    final = PlanUpdated(steps=(LOOK, FIX), final=True)
    completed = run().when(model_response(text_part(3, "Done."))).facts
    broken = run().when(attempt_failure()).facts
    interrupted = run().after(interrupt()).when(run_stop()).facts
    crashed_session = run()
    crashed_session.epoch = 2
    crashed = crashed_session.when(HostTakenOver(partials=())).facts

    assert fact_types(completed)[-3:] == ["plan.updated", "output.final", "turn.completed"]
    assert [fact_types(facts)[-1] for facts in (broken, interrupted, crashed)] == [
        "turn.failed",
        "turn.interrupted",
        "turn.interrupted",
    ]
    for facts in (completed, broken, interrupted, crashed):
        assert [fact for fact in facts if isinstance(fact, PlanUpdated)] == [final]


def test_a_run_that_continues_with_a_steer_keeps_its_plan():
    session = prompted_session().after(plan_reported(LOOK), steer("Also this."), model_response(text_part(3, "Done.")))
    session.when(plan_reported(LOOKED, step=9, prompt=4)).then((PlanUpdated(steps=(LOOKED,)), PLAN))
    last = session.when(model_response(text_part(10, "Both."), step=4))

    assert [fact for fact in last.facts if isinstance(fact, PlanUpdated)] == [PlanUpdated(steps=(LOOKED,), final=True)]


def test_a_plan_reported_after_its_prompt_changes_nothing():
    session = prompted_session().after(model_response(text_part(2, "Done.")))
    session.when(plan_reported(LOOK, step=3)).then_nothing()


def test_a_huge_plan_is_truncated_with_the_number_of_omitted_steps():
    lines = tuple(PlanStep("é" * 1000, "pending") for _ in range(500))
    (fact,) = prompted_session().when(plan_reported(*lines)).facts

    assert isinstance(fact, PlanUpdated)
    assert all(len(step.content) <= MAX_LINE_CHARS for step in fact.steps)
    assert fact.steps[-1] == PlanStep(f"… {500 - (len(fact.steps) - 1)} more", "pending")
    assert sum(len(step.content.encode()) for step in fact.steps) < MAX_INLINE_BYTES
