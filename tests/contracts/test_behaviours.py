"""Behaviours and the tests that prove them, compared in both directions."""

from __future__ import annotations

from tests.contracts import spec_lists

HINT = "run: .venv/bin/python scripts/due"


def test_no_test_cites_an_unlisted_behaviour():
    """A citation of an unknown id proves nothing."""
    listed = spec_lists.behaviours()
    assert len(listed) > 90
    assert {
        identity: tests for identity, tests in spec_lists.cited_behaviours().items() if identity not in listed
    } == {}


def test_every_behaviour_is_cited_by_a_test_or_due():
    """The list of due behaviours names each id that no test proves yet."""
    _, due = spec_lists.due_behaviours()
    assert sorted(spec_lists.behaviours() - set(spec_lists.cited_behaviours()) - set(due)) == []


def test_no_due_behaviour_is_already_cited():
    """A proved behaviour is no longer due."""
    _, due = spec_lists.due_behaviours()
    assert sorted(set(due) & set(spec_lists.cited_behaviours())) == [], HINT
    assert sorted(set(due) - spec_lists.behaviours()) == []


def test_the_list_of_due_behaviours_can_only_shrink():
    """An added id exceeds the maximum."""
    maximum, due = spec_lists.due_behaviours()
    assert len(due) == maximum
