"""Behaviours and the tests that prove them, welded both ways."""

from __future__ import annotations

from tests.contracts import weld

AGAIN = "run: .venv/bin/python scripts/due"


def test_no_test_cites_a_behaviour_that_is_not_listed():
    """A citation of an unknown id proves nothing."""
    listed = weld.behaviours()
    assert len(listed) > 90
    assert {identity: tests for identity, tests in weld.cited().items() if identity not in listed} == {}


def test_every_behaviour_is_cited_by_a_test_or_due():
    """What no test proves yet is said, id by id."""
    _, due = weld.due_behaviours()
    assert sorted(weld.behaviours() - set(weld.cited()) - set(due)) == []


def test_no_behaviour_that_is_due_is_cited_already():
    """What a test proves is due no longer."""
    _, due = weld.due_behaviours()
    assert sorted(set(due) & set(weld.cited())) == [], AGAIN
    assert sorted(set(due) - weld.behaviours()) == []


def test_what_is_due_of_behaviours_can_only_shrink():
    """An id that is added to what is due is one too many."""
    maximum, due = weld.due_behaviours()
    assert len(due) == maximum
