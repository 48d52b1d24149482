"""The mode of a turn whose command names none."""

from __future__ import annotations

from callboard.contracts.facts.turn import TurnSubmitted
from tests.control.rigs.decisions import Scenario, StepResult, session_after
from tests.control.rigs.examples import interrupt, run_stop, submit, text_answer


def mode(then: StepResult) -> str:
    """The mode of the turn that was submitted."""
    (fact,) = (fact for fact in then.facts if isinstance(fact, TurnSubmitted))
    return fact.permission_mode


def over(permission: str) -> Scenario:
    """A session whose one turn ran in this mode."""
    return session_after(submit(permission_mode=permission), text_answer("done"))


def test_a_new_session_begins_in_the_usual_mode_of_its_folder():
    then = session_after().when(submit(), default_mode="planning")
    assert mode(then) == "planning"
    assert mode(session_after().when(submit())) == "ask"


def test_a_mode_that_is_named_holds_whatever_is_usual():
    assert mode(session_after().when(submit(permission_mode="edits"), default_mode="planning")) == "edits"


def test_a_thread_goes_on_in_the_mode_of_its_last_turn():
    assert mode(over("edits").when(submit(), default_mode="ask")) == "edits"
    assert mode(over("planning").when(submit(), default_mode="full")) == "planning"


def test_what_is_queued_without_a_mode_takes_that_of_the_turn_under_way():
    assert mode(session_after(submit(permission_mode="edits")).when(submit("next"))) == "edits"


def test_input_behind_what_waits_takes_the_mode_of_what_waits_last():
    working = session_after(submit(permission_mode="edits"), submit("two", permission_mode="planning"))
    assert mode(working.when(submit("three"))) == "planning"


def test_an_untrusted_folder_limits_the_carried_mode_to_the_default_mode():
    """SAFE-08: the last turn may have had its mode from files that were trusted then."""
    assert mode(over("full").when(submit(), default_mode="ask", is_trust_withheld=True)) == "ask"
    assert mode(over("planning").when(submit(), default_mode="ask", is_trust_withheld=True)) == "planning"
    assert mode(over("full").when(submit(permission_mode="full"), default_mode="ask", is_trust_withheld=True)) == "full"


def test_a_turn_that_was_stopped_is_a_last_turn_as_well():
    assert mode(session_after(submit(permission_mode="edits"), interrupt(), run_stop()).when(submit())) == "edits"
