"""Tool calls: verdict, start and one end for each, and the next model call after all ends."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts.content import MAX_INLINE_BYTES, PREVIEW, Text, make_blob
from callboard.contracts.facts.permission import Check
from callboard.contracts.facts.tool import (
    FileChange,
    SandboxApplied,
    ToolCompleted,
    ToolFailed,
    ToolRefused,
    ToolRequested,
    ToolStarted,
)
from callboard.contracts.ports.tools import Evaluation, ToolOutcome
from callboard.control.outcomes import ToolEnded
from tests.control.rigs.decisions import StepResult, session_after
from tests.control.rigs.examples import (
    ALLOW,
    ASK,
    DENY,
    SERIAL,
    SERIAL_DENY,
    THREAD,
    approve,
    at,
    gate_evaluation,
    model_response,
    requested_call,
    submit,
    tool_end,
)
from tests.control.rigs.expected_facts import (
    approval_request,
    model_completion,
    model_request,
    tool_request,
    tool_start,
)

CALL = at(turn=1, run=1, step=2, call=1)
SECOND = at(turn=1, run=1, step=3, call=2)
THIRD = at(turn=1, run=1, step=4, call=3)
DONE = ToolCompleted(output=Text(text="done"), duration_ms=4)


def test_an_allowed_call_runs_in_the_recorded_sandbox():
    session_after(submit()).when(model_response(requested_call(1, 2))).then(
        *model_completion(at(turn=1, run=1, step=1), "tool_calls"), *tool_request(1, CALL, ALLOW), *tool_start(CALL)
    )


def test_a_call_without_a_sandbox_records_the_level_none():
    unsandboxed = gate_evaluation("allow", sandbox=SandboxApplied(level="none", network=True))
    session_after(submit()).when(model_response(requested_call(1, 2, unsandboxed, tool="Bash"))).ends_with(
        (SandboxApplied(level="none", network=True), CALL), (ToolStarted(tool="Bash"), CALL)
    )


def test_a_denied_call_has_no_effect_and_the_model_reads_the_refusal():
    """CTL-05: no start, no sandbox, no result, and the verdict is recorded."""
    result = session_after(submit()).when(model_response(requested_call(1, 2, DENY)))
    result.then(
        *model_completion(at(turn=1, run=1, step=1), "tool_calls"),
        *tool_request(1, CALL, DENY),
        (ToolRefused(code="path_denied", message="The path leads out of the folder."), CALL),
        model_request(2, at(turn=1, run=1, step=3)),
    )
    assert result.decision.closed == ("cal_1",)


def test_a_denial_without_a_code_gets_policy_denied():
    result = session_after(submit()).when(model_response(requested_call(1, 2, gate_evaluation("deny", message="No."))))
    assert ToolRefused(code="policy_denied", message="No.") in result.facts


def test_a_call_that_needs_approval_waits():
    """CTL-04"""
    session = session_after(submit(), expiry=60_000_000)
    result = session.when(model_response(requested_call(1, 2, ASK)))
    result.then(
        *model_completion(at(turn=1, run=1, step=1), "tool_calls"),
        *tool_request(1, CALL, ASK),
        approval_request(3, 1, CALL, expires_at=session.now + 60_000_000),
    )
    assert result.decision.closed == ()


def test_the_recorded_arguments_are_those_that_the_gate_evaluated():
    """SAFE-07: hooks may have rewritten the model's arguments."""
    result = session_after(submit()).when(model_response(requested_call(1, 2)))
    requests = [fact for fact in result.facts if isinstance(fact, ToolRequested)]
    assert [fact.arguments for fact in requests] == [Text(text=ALLOW.arguments)]
    assert ALLOW.arguments != requested_call(1, 2).arguments


def test_m6_several_read_only_calls_of_one_response_run_in_chat():
    session = session_after(submit())
    session.when(model_response(requested_call(1, 2), requested_call(2, 3))).then(
        *model_completion(at(turn=1, run=1, step=1), "tool_calls"),
        *tool_request(1, CALL, ALLOW),
        *tool_start(CALL),
        *tool_request(2, SECOND, ALLOW),
        *tool_start(SECOND),
    )
    session.when(tool_end(1)).then((DONE, CALL))
    session.when(tool_end(2)).then((DONE, SECOND), model_request(2, at(turn=1, run=1, step=4)))


def test_m6_a_call_beyond_the_limit_of_chat_is_denied_and_never_reads_as_allowed():
    session = session_after(submit())
    session.when(model_response(requested_call(1, 2), requested_call(2, 3, SERIAL))).then(
        *model_completion(at(turn=1, run=1, step=1), "tool_calls"),
        *tool_request(1, CALL, ALLOW),
        *tool_start(CALL),
        *tool_request(2, SECOND, _beyond_chat_limit(SERIAL)),
        (_one_call_refusal(), SECOND),
    )
    session.when(tool_end(1)).then((DONE, CALL), model_request(2, at(turn=1, run=1, step=4)))


def test_m6_calls_after_a_writing_call_are_denied_in_chat():
    session_after(submit()).when(model_response(requested_call(1, 2, SERIAL), requested_call(2, 3))).ends_with(
        *tool_request(2, SECOND, _beyond_chat_limit(ALLOW)), (_one_call_refusal(), SECOND)
    )


def test_m6_a_denied_call_keeps_its_own_reason_in_chat():
    session_after(submit()).when(model_response(requested_call(1, 2), requested_call(2, 3, DENY))).ends_with(
        *tool_request(2, SECOND, DENY),
        (ToolRefused(code="path_denied", message="The path leads out of the folder."), SECOND),
    )


def test_m6_a_team_tool_does_not_count_as_read_only():
    session_after(submit()).when(
        model_response(requested_call(1, 2), requested_call(2, 3, ALLOW, "spawn_subagent"))
    ).ends_with(*tool_request(2, SECOND, _beyond_chat_limit(ALLOW), "spawn_subagent"), (_one_call_refusal(), SECOND))


def test_a_second_call_in_chat_never_shares_a_step_with_the_action_of_the_first():
    session = session_after(submit())
    session.when(model_response(requested_call(1, 2, ASK), requested_call(2, 3))).then(
        *model_completion(at(turn=1, run=1, step=1), "tool_calls"),
        *tool_request(1, CALL, ASK),
        approval_request(4, 1, CALL),
        *tool_request(2, SECOND, _beyond_chat_limit(ALLOW)),
        (_one_call_refusal(), SECOND),
    )


def test_the_gate_evaluates_calls_of_one_response_separately_in_auto():
    """CTL-04: allowed calls run while others wait for approval."""
    session = session_after(submit(mode="auto"))
    session.when(model_response(requested_call(1, 2, ASK), requested_call(2, 3), requested_call(3, 4, DENY))).then(
        *model_completion(at(turn=1, run=1, step=1), "tool_calls"),
        *tool_request(1, CALL, ASK),
        approval_request(5, 1, CALL),
        *tool_request(2, SECOND, ALLOW),
        *tool_start(SECOND),
        *tool_request(3, THIRD, DENY),
        (ToolRefused(code="path_denied", message="The path leads out of the folder."), THIRD),
    )
    session.when(tool_end(2)).then((DONE, SECOND))
    session.after(approve())
    session.when(tool_end(1)).then((DONE, CALL), model_request(2, at(turn=1, run=1, step=6)))


def test_each_action_of_one_response_has_its_own_step():
    session = session_after(submit(mode="auto"))
    session.when(model_response(requested_call(1, 2, ASK), requested_call(2, 3, ASK))).ends_with(
        *tool_request(1, CALL, ASK),
        approval_request(4, 1, CALL),
        *tool_request(2, SECOND, ASK),
        approval_request(5, 2, SECOND),
    )


def test_the_end_of_a_call_records_output_exit_code_and_changes():
    change = FileChange(path="a.md", kind="modified", added=1, before=make_blob(b"a").ref, after=make_blob(b"b").ref)
    outcome = ToolOutcome(
        output="written", exit_code=0, duration_ms=7, changes=(change,), blobs=(make_blob(b"a"), make_blob(b"b"))
    )
    result = session_after(submit(), model_response(requested_call(1, 2))).when(
        ToolEnded(thread=THREAD, run="run_1", call="cal_1", outcome=outcome)
    )
    result.ends_with(
        (ToolCompleted(output=Text(text="written"), duration_ms=7, exit_code=0, changes=(change,)), CALL),
        model_request(2, at(turn=1, run=1, step=3)),
    )
    assert result.decision.blobs == (make_blob(b"a"), make_blob(b"b"))
    assert result.decision.ends == ("run_1.2.output",)


def test_a_failed_tool_records_its_error_and_the_model_reads_it():
    session_after(submit(), model_response(requested_call(1, 2))).when(tool_end(1, "half", code="tool_timeout")).then(
        (ToolFailed(code="tool_timeout", message="It failed.", output=Text(text="half"), duration_ms=4), CALL),
        model_request(2, at(turn=1, run=1, step=3)),
    )


def test_output_past_8_kb_is_a_preview_and_a_blob():
    large = "x" * (MAX_INLINE_BYTES + 1)
    blob = make_blob(large.encode())
    result = session_after(submit(), model_response(requested_call(1, 2))).when(tool_end(1, large))
    result.then(
        (ToolCompleted(output=Text(text="x" * PREVIEW, ref=blob.ref, tail="x" * PREVIEW), duration_ms=4), CALL),
        model_request(2, at(turn=1, run=1, step=3)),
    )
    assert result.decision.blobs == (blob,)


@pytest.mark.parametrize(
    "step",
    [tool_end(1), tool_end(2), tool_end(9), tool_end(1, run=9)],
    ids=["ended before", "refused", "never requested", "of another run"],
)
def test_a_result_without_a_start_and_a_second_end_change_nothing(step):
    """CTL-15"""
    session = session_after(
        submit(mode="auto"),
        model_response(requested_call(1, 2), requested_call(2, 3, DENY), requested_call(3, 4)),
        tool_end(1),
    )
    session.when(step).then_nothing()


def test_a_result_of_a_call_that_waits_for_a_person_changes_nothing():
    """CTL-04, CTL-15"""
    session_after(submit(), model_response(requested_call(1, 2, ASK))).when(tool_end(1)).then_nothing()


def test_a_turn_at_its_limit_whose_calls_are_all_denied_fails_in_the_same_batch():
    """MAR-12, CTL-16"""
    session = session_after(
        submit(), model_response(requested_call(1, 2, DENY)), model_response(requested_call(2, 4, DENY), step=3)
    )
    result = session.when(model_response(requested_call(3, 6, DENY), step=5))
    assert [fact.type for fact in result.facts] == [
        "model.completed",
        "cost.recorded",
        "tool.requested",
        "permission.evaluated",
        "tool.refused",
        "turn.failed",
    ]
    assert result.decision.closed == ("cal_3", "trn_1")


_ONE_CALL = (
    "In chat mode a response can have one tool call, or several read-only ones. Repeat this call if you still need it."
)


def _one_call_refusal() -> ToolRefused:
    return ToolRefused(code="one_call_at_a_time", message=_ONE_CALL)


def _beyond_chat_limit(evaluation: Evaluation) -> Evaluation:
    """Return the denial of a call beyond the limit of chat, after the checks before the mode."""
    before = tuple(check for check in evaluation.checks if check.name in ("hooks", "tools", "policy"))
    return msgspec.structs.replace(
        evaluation, verdict="deny", checks=(*before, Check(name="mode", verdict="deny", detail=_ONE_CALL))
    )


def test_in_auto_a_writing_call_waits_for_earlier_calls_and_later_calls_wait_for_it() -> None:
    """Read-only calls start together. The gate evaluates waiting calls again."""
    session = session_after(submit(mode="auto"))
    calls = (
        requested_call(1, 2),
        requested_call(2, 3, SERIAL),
        requested_call(3, 4),
        requested_call(4, 5, SERIAL_DENY),
    )
    result = session.when(model_response(*calls))
    assert [fact.type for fact in result.facts].count("tool.requested") == 4
    assert _started_calls(result) == ["cal_1"]
    assert _started_calls(session.when(tool_end(1))) == ["cal_2"]
    assert _started_calls(session.when(tool_end(2))) == ["cal_3"]
    last = session.when(tool_end(3))
    assert [fact.type for fact in last.facts][1:] == ["permission.evaluated", "tool.refused", "model.requested"]


def test_only_the_next_calls_are_evaluated_again_and_a_refusal_starts_the_ones_after_it() -> None:
    """An evaluation reads files, so each ended call causes only one evaluation of a waiting call."""
    session = session_after(submit(mode="auto"))
    session.when(
        model_response(
            requested_call(1, 2, SERIAL),
            requested_call(2, 3, SERIAL_DENY),
            requested_call(3, 4, SERIAL),
            requested_call(4, 5, SERIAL),
        )
    )
    assert list(session.pending_evaluations()) == ["cal_2", "cal_3"]
    result = session.when(tool_end(1))
    assert (
        [new.scope.tool_call for new in result.decision.facts if new.fact.type == "tool.refused"],
        _started_calls(result),
    ) == (
        ["cal_2"],
        ["cal_3"],
    )
    assert list(session.pending_evaluations()) == ["cal_4"]


def _started_calls(result: StepResult) -> list[str]:
    return [new.scope.tool_call for new in result.decision.facts if new.fact.type == "tool.started"]
