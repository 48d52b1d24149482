"""An external agent (ACP): parts and calls that it reports during its one open prompt."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.action import ActionResolved, ActionWithdrawn
from callboard.contracts.facts.agent import AgentConnected, AgentDisconnected
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.message import MessageInterrupted, MessageText, ReasoningCompleted
from callboard.contracts.facts.model import Candidate, ModelFailed, ModelInterrupted
from callboard.contracts.facts.permission import PermissionEvaluated
from callboard.contracts.facts.session import SessionTakenOver
from callboard.contracts.facts.tool import ToolCancelled, ToolCompleted, ToolLost, ToolRefused, ToolStarted
from callboard.contracts.facts.turn import Mode, PermissionMode, TurnFailed, TurnInterrupted
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.scope import Scope
from callboard.control.decision_inputs import RunConfig
from callboard.control.effects import AskModel, RunTool
from callboard.control.outcomes import (
    ExternalCallReported,
    ExternalConnected,
    ExternalDisconnected,
    HostTakenOver,
    PartEnded,
    Piece,
    RequestedCall,
)
from tests.control.rigs.decisions import Scenario
from tests.control.rigs.examples import (
    ALLOW,
    ASK,
    DENY,
    RUN_CONFIG,
    THREAD,
    approve,
    at,
    attempt_failure,
    interrupt,
    model_response,
    reject,
    requested_call,
    run_stop,
    steer,
    submit,
    text_part,
    tool_end,
)
from tests.control.rigs.expected_facts import approval_request, tool_request

CALL = at(turn=1, run=1, step=3, call=1)
RUN = at(turn=1, run=1)
LEAD = Scope(agent="lead", thread=THREAD)
PROMPT = at(turn=1, run=1, step=1)


def external_run_config(definition: str, mode: Mode, permission_mode: PermissionMode) -> RunConfig:
    """Return a run configuration of an external agent."""
    chosen = Candidate(provider="acp", model="coder")
    return msgspec.structs.replace(RUN_CONFIG, candidates=(chosen,), tools=())


def prompted_session(**more: Any) -> Scenario:
    return Scenario(configure_run=external_run_config).after(submit(**more))


def part_ended(content: str, step: int, **more: Any) -> PartEnded:
    piece = Piece(kind=more.pop("kind", "text"), step=step, text=content)
    return PartEnded(thread=THREAD, run="run_1", prompt=1, piece=piece, **more)


def call_reported(call: RequestedCall, prompt: int = 1) -> ExternalCallReported:
    return ExternalCallReported(thread=THREAD, run="run_1", prompt=prompt, call=call)


def connected(resumed: bool = False) -> ExternalConnected:
    return ExternalConnected(thread=THREAD, provider_session="s-1", name="Coder", version="2", resumed=resumed)


def fact_types(facts: tuple[Fact, ...]) -> list[str]:
    return [fact.type for fact in facts]


def test_a_reported_part_is_recorded_during_the_prompt():
    session = prompted_session()
    session.when(part_ended("hm", 2, kind="reasoning")).then(
        (ReasoningCompleted(content=Text(text="hm")), at(turn=1, run=1, step=2))
    )
    session.when(part_ended("So.", 3)).then((MessageText(content=Text(text="So.")), at(turn=1, run=1, step=3)))
    last = session.when(model_response(text_part(4, "Done.")))

    assert fact_types(last.facts) == [
        "message.text",
        "model.completed",
        "cost.recorded",
        "output.final",
        "turn.completed",
    ]
    assert last.effects == []


def test_the_end_of_a_reported_call_calls_no_model():
    session = prompted_session()
    session.when(call_reported(requested_call(1, 3))).then(
        *tool_request(1, CALL, ALLOW), (ALLOW.sandbox or ToolStarted(tool=""), CALL), (ToolStarted(tool="Write"), CALL)
    )
    done = session.when(tool_end(1))

    done.then((ToolCompleted(output=Text(text="done"), duration_ms=4), CALL))
    assert done.effects == []


def test_a_reported_call_that_needs_approval_waits_and_starts_on_approval():
    session = prompted_session()
    session.when(call_reported(requested_call(1, 3, ASK))).then(
        *tool_request(1, CALL, ASK), approval_request(4, 1, CALL)
    )
    approved = session.when(approve())

    assert fact_types(approved.facts) == ["action.resolved", "sandbox.applied", "tool.started"]
    assert approved.effects == [RunTool(CALL)]


def test_a_rejected_call_of_an_external_agent_is_refused_and_its_prompt_continues():
    session = prompted_session().after(call_reported(requested_call(1, 3, ASK)))

    session.when(reject()).then(
        (ActionResolved(decision="reject"), at(turn=1, run=1, step=4, call=1, action=1)),
        (ToolRefused(code="person_denied", message="The person rejected the call."), CALL),
    )
    assert fact_types(session.when(model_response(text_part(5, "Then not."))).facts)[-1] == "turn.completed"


def test_an_approval_for_a_running_call_adds_no_second_request():
    session = prompted_session().after(call_reported(requested_call(1, 3)))

    evaluated = session.when(call_reported(requested_call(1, 3, ASK)))
    approved = session.when(approve())
    repeated = session.when(call_reported(requested_call(1, 3)))

    assert fact_types(evaluated.facts) == ["permission.evaluated", "action.required"]
    assert fact_types(approved.facts) == ["action.resolved", "sandbox.applied", "tool.started"]
    assert fact_types(repeated.facts) == ["permission.evaluated"]


def test_a_reported_call_that_a_rule_denies_is_refused_at_once():
    session = prompted_session()
    facts = session.when(call_reported(requested_call(1, 3, DENY))).facts

    assert fact_types(facts) == ["tool.requested", "permission.evaluated", "tool.refused"]


def test_a_call_reported_by_a_stopping_turn_is_cancelled():
    session = prompted_session().after(interrupt())
    facts = session.when(call_reported(requested_call(1, 3))).facts

    assert isinstance(facts[1], PermissionEvaluated)
    assert facts[-1] == ToolCancelled(started=False)


def test_reports_after_the_prompt_change_nothing():
    session = prompted_session().after(model_response(text_part(2, "Done.")))

    session.when(part_ended("late", 3)).then_nothing()
    session.when(call_reported(requested_call(1, 3))).then_nothing()


def test_an_approval_that_the_agent_did_not_wait_for_is_withdrawn_with_its_answer():
    session = prompted_session().after(call_reported(requested_call(1, 3, ASK)))
    facts = session.when(model_response(text_part(5, "I went on."))).facts

    assert ActionWithdrawn(reason="the agent continued without it") in facts
    assert fact_types(facts)[-3:] == ["tool.cancelled", "output.final", "turn.completed"]


def test_an_auto_turn_ends_with_the_external_agents_answer():
    session = prompted_session(mode="auto")
    assert fact_types(session.when(model_response(text_part(2, "Done."))).facts)[-1] == "turn.completed"


def test_a_steer_becomes_the_next_prompt():
    session = prompted_session().after(steer("Also this."))
    result = session.when(model_response(text_part(2, "Done.")))

    assert fact_types(result.facts)[-2:] == ["queue.steer.accepted", "model.requested"]
    assert [type(effect) for effect in result.effects] == [AskModel]


def test_a_failed_prompt_loses_running_calls_and_withdraws_approvals():
    session = prompted_session().after(call_reported(requested_call(1, 2)), call_reported(requested_call(2, 3, ASK)))
    facts = session.when(attempt_failure(text_part(5, "so f"))).facts

    assert facts[:5] == (
        MessageInterrupted(content=Text(text="so f")),
        ModelFailed(code="model_unavailable", message="The provider cannot be reached."),
        ToolLost(),
        ActionWithdrawn(reason="the agent's response failed"),
        ToolCancelled(started=False),
    )
    assert isinstance(facts[5], TurnFailed)
    assert facts[5].hint == "Check the command in the agent's definition, then send the turn again."


def test_a_stopped_prompt_keeps_its_partial_output():
    session = prompted_session().after(call_reported(requested_call(1, 2)), interrupt())
    session.when(run_stop(text_part(3, "half"), outcomes={"cal_1": ToolOutcome(output="some")})).then(
        (MessageInterrupted(content=Text(text="half")), at(turn=1, run=1, step=3)),
        (ModelInterrupted(), PROMPT),
        (ToolCancelled(started=True, output=Text(text="some")), at(turn=1, run=1, step=2, call=1)),
        (TurnInterrupted(cause="person", iterations=1), RUN),
    )


def test_a_connection_and_a_disconnection_are_recorded_once():
    session = prompted_session()
    session.when(connected()).then((AgentConnected(provider_session_id="s-1", name="Coder", version="2"), LEAD))
    disconnected = ExternalDisconnected(thread=THREAD, reason="it ended")

    session.when(disconnected).then((AgentDisconnected(provider_session_id="s-1", reason="it ended"), LEAD))
    session.when(disconnected).then_nothing()
    assert session.state.threads[THREAD].external is not None


def test_a_takeover_disconnects_the_external_agents_of_the_dead_process():
    session = prompted_session().after(connected(), model_response(text_part(2, "Done.")))
    session.epoch = 2
    session.when(HostTakenOver(partials=())).then(
        (AgentDisconnected(provider_session_id="s-1", reason="its process ended"), LEAD)
    )
    running = prompted_session().after(connected(), part_ended("so", 2))
    running.epoch = 2
    facts = running.when(HostTakenOver(partials=())).facts

    assert isinstance(facts[0], AgentDisconnected)
    assert isinstance(facts[1], SessionTakenOver)
    assert fact_types(facts)[-1] == "turn.interrupted"
