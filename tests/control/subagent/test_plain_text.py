"""Plain-text responses of a child that should finalize (M3)."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts import casing
from callboard.contracts.commands.subagent import ChildResult
from callboard.contracts.facts.message import OutputFinal
from callboard.contracts.facts.subagent import SubagentCompleted, SubagentFailed, WorkerNotification
from callboard.contracts.facts.task import TaskCompleted
from callboard.contracts.facts.tool import ToolCompleted
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed
from callboard.contracts.ports.tools import ToolOutcome
from callboard.control.decide.turn.sleep import choose_work_mode
from callboard.control.outcomes import ToolEnded
from tests.control.rigs.decisions import StepResult
from tests.control.rigs.team import LEAD, Team, agent_definition, fact_types, only_fact, team

FINALIZER = agent_definition("worker", kind="subagent", policy=("Finalize",))


def session_with_finalizer() -> Team:
    """Return a session with one child, which should finalize."""
    session = team(LEAD, FINALIZER)
    session.spawns()
    return session


def complete_call(session: Team, output: str) -> StepResult:
    """Complete the child's open call."""
    run = session.run_of("worker-1")
    outcome = ToolOutcome(output=output)
    thread = session.thread_of("worker-1").thread
    return session.when(ToolEnded(thread=thread, run=run.run, call=run.calls[0].call, outcome=outcome))


def test_m3_a_child_that_responds_in_plain_text_is_reminded_once_before_its_text_is_the_result() -> None:
    session = session_with_finalizer()

    reminded = session.responds("worker-1", "The answer is 41.")
    ended = session.responds("worker-1", "The answer is 42.")

    assert fact_types(reminded)[-1] == "model.requested"
    completed = only_fact(ended, SubagentCompleted)
    notified = only_fact(ended, WorkerNotification)
    assert (completed.result.text, completed.plain_text) == ("The answer is 42.", True)
    assert (notified.status, notified.result.text, notified.plain_text) == ("completed", "The answer is 42.", True)
    assert only_fact(ended, TurnCompleted).plain_text
    assert only_fact(ended, TaskCompleted).plain_text
    assert len(only_fact(ended, OutputFinal).parts) == 1
    assert session.child_status("worker-1") == "completed"


def test_m3_a_waiting_parent_reads_that_the_result_was_not_finalized() -> None:
    session = session_with_finalizer()
    session.uses("lead", "wait_subagents")
    session.responds("worker-1", "The answer is 42.")
    session.responds("worker-1", "The answer is 42.")

    output = only_fact(session.uses("lead", "list_subagents"), ToolCompleted).output.text
    children = [casing.decode(msgspec.json.encode(child), ChildResult) for child in msgspec.json.decode(output)]

    assert [(child.status, child.note) for child in children] == [
        ("completed", "answered in plain text, not finalized")
    ]


def test_m3_a_child_that_finalizes_after_the_reminder_is_finalized() -> None:
    session = session_with_finalizer()
    session.responds("worker-1", "I am done.")
    session.uses("worker-1", "Finalize", summary="The answer is 42.")

    ended = complete_call(session, "The answer is 42.")

    completed = only_fact(ended, SubagentCompleted)
    assert (completed.result.text, completed.plain_text) == ("The answer is 42.", False)


def test_m3_a_call_after_the_reminder_gives_another_reminder() -> None:
    session = session_with_finalizer()
    session.responds("worker-1", "Let me look.")
    session.uses("worker-1", "Read", file_path="a.md")
    complete_call(session, "text")

    assert fact_types(session.responds("worker-1", "It says text."))[-1] == "model.requested"
    assert only_fact(session.responds("worker-1", "It says text."), SubagentCompleted).plain_text


def test_m3_a_child_with_only_empty_responses_fails_with_a_message() -> None:
    session = session_with_finalizer()
    session.responds("worker-1", " ")

    ended = session.responds("worker-1", "")

    failed = only_fact(ended, SubagentFailed)
    assert (failed.code, failed.message) == ("answer_empty", "The agent gave an empty response and did not finalize.")
    assert only_fact(ended, TurnFailed).code == "answer_empty"


def test_m3_a_blank_response_after_a_text_keeps_the_text_as_the_result() -> None:
    session = session_with_finalizer()
    session.responds("worker-1", "The answer is 42.")

    assert only_fact(session.responds("worker-1", ""), SubagentCompleted).result.text == "The answer is 42."


def test_m3_the_last_allowed_model_call_counts_without_a_reminder() -> None:
    session = session_with_finalizer()
    run = session.run_of("worker-1")
    for number in range(run.max_iters - 1):
        session.uses("worker-1", "Read", file_path=f"{number}.md")
        complete_call(session, f"text {number}")

    assert only_fact(session.responds("worker-1", "All is read."), SubagentCompleted).plain_text


def test_m3_plain_text_never_completes_the_objective_of_a_main_agent() -> None:
    session = team(mode="auto")
    for number in range(5):
        assert fact_types(session.responds("lead", f"Done, I think ({number})."))[-1] == "model.requested"


@pytest.mark.parametrize(
    ("tools", "policy", "mode"),
    [
        (("*",), ("Finalize",), "auto"),
        (("Finalize",), ("Finalize",), "auto"),
        (("Read",), ("Finalize",), "chat"),
        (("*",), (), "chat"),
    ],
)
def test_m3_only_an_agent_that_can_finalize_runs_in_auto_mode(
    tools: tuple[str, ...], policy: tuple[str, ...], mode: str
) -> None:
    assert choose_work_mode(msgspec.structs.replace(FINALIZER, tools=tools, policy=policy)) == mode
