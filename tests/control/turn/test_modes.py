"""The permission mode of a turn whose command has none."""

from __future__ import annotations

from callboard.contracts.facts.turn import TurnSubmitted
from tests.control.rigs.decisions import Scenario, StepResult, session_after
from tests.control.rigs.examples import interrupt, run_stop, submit, text_response


def submitted_mode(result: StepResult) -> str:
    """Return the permission mode of the submitted turn."""
    (fact,) = (fact for fact in result.facts if isinstance(fact, TurnSubmitted))
    return fact.permission_mode


def session_with_mode(permission: str) -> Scenario:
    """Return a session whose only turn ran in this permission mode."""
    return session_after(submit(permission_mode=permission), text_response("done"))


def test_a_new_session_starts_in_the_default_mode_of_its_folder():
    result = session_after().when(submit(), default_mode="planning")
    assert submitted_mode(result) == "planning"
    assert submitted_mode(session_after().when(submit())) == "ask"


def test_the_mode_of_the_command_overrides_the_default_mode():
    assert submitted_mode(session_after().when(submit(permission_mode="edits"), default_mode="planning")) == "edits"


def test_a_thread_continues_in_the_mode_of_its_last_turn():
    assert submitted_mode(session_with_mode("edits").when(submit(), default_mode="ask")) == "edits"
    assert submitted_mode(session_with_mode("planning").when(submit(), default_mode="full")) == "planning"


def test_a_queued_turn_without_a_mode_gets_the_mode_of_the_running_turn():
    assert submitted_mode(session_after(submit(permission_mode="edits")).when(submit("next"))) == "edits"


def test_a_queued_turn_without_a_mode_gets_the_mode_of_the_last_queued_turn():
    session = session_after(submit(permission_mode="edits"), submit("two", permission_mode="planning"))
    assert submitted_mode(session.when(submit("three"))) == "planning"


def test_an_untrusted_folder_limits_the_carried_mode_to_the_default_mode():
    """SAFE-08: the mode of the last turn may come from files that were trusted then."""
    assert submitted_mode(session_with_mode("full").when(submit(), default_mode="ask", is_trust_withheld=True)) == "ask"
    assert (
        submitted_mode(session_with_mode("planning").when(submit(), default_mode="ask", is_trust_withheld=True))
        == "planning"
    )
    assert (
        submitted_mode(
            session_with_mode("full").when(submit(permission_mode="full"), default_mode="ask", is_trust_withheld=True)
        )
        == "full"
    )


def test_a_stopped_turn_counts_as_the_last_turn():
    assert (
        submitted_mode(session_after(submit(permission_mode="edits"), interrupt(), run_stop()).when(submit()))
        == "edits"
    )
