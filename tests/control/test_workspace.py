"""Decisions on a workspace: its folder, its list of sessions and its rules."""

from __future__ import annotations

import sys
import tracemalloc

import pytest

from callboard.contracts.commands.session import DeleteSession, OpenedWorkspace, SessionUpdated, UpdateSession
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.facts.base import UnknownFact
from callboard.contracts.facts.permission import PermissionRuleAdded, PermissionRuleRevoked, Rule
from callboard.contracts.facts.session import WarningRaised
from callboard.contracts.facts.workspace import (
    SessionArchived,
    SessionDeleted,
    SessionListed,
    SessionPinned,
    SessionTitled,
    WorkspaceOpened,
)
from callboard.contracts.ids import render
from callboard.contracts.record import NewFact, Origin, Record, build_header
from callboard.control.state.session import ListedSession, SessionList, Workspace
from callboard.control.workspace import evolve, list_session, open_folder, require_deletable, share_rule, update_session
from tests.control.rigs.examples import FOLDER, NOW, SESSION, WORKSPACE

OPENED = NewFact(WorkspaceOpened(path=FOLDER, name="site"))
LISTED = NewFact(SessionListed(session_id=SESSION, title="tidy"))
RULE = Rule(rule_id="rul_1", matcher="Write(*)", verdict="allow", scope="workspace")


def workspace_after(*facts: NewFact) -> Workspace:
    """Return the workspace after these facts."""
    state = Workspace(workspace=WORKSPACE)
    for sequence, new in enumerate(facts, start=1):
        header = build_header(new, Origin(at=NOW + sequence), 1)
        state = evolve(state, Record(stream=WORKSPACE, sequence=sequence, header=header, link=b"", fact=new.fact))
    return state


def test_a_folder_is_opened_once():
    opened = OpenedWorkspace(workspace_id=WORKSPACE, path=FOLDER, name="site", sequence=1)
    assert open_folder(Workspace(workspace=WORKSPACE), FOLDER, "site") == ((OPENED,), opened)
    assert open_folder(workspace_after(OPENED), FOLDER, "site") == ((), opened)


def test_a_session_is_listed_once():
    assert list_session(workspace_after(OPENED), SESSION, "tidy") == (LISTED,)
    assert list_session(workspace_after(OPENED, LISTED), SESSION, "tidy") == ()


def test_a_deleted_session_is_not_listed_again():
    deleted = NewFact(SessionDeleted(session_id=SESSION, last_sequence=9, link="00"))
    assert list_session(workspace_after(OPENED, LISTED, deleted), SESSION, "tidy") == ()


def test_a_workspace_rule_is_recorded_once():
    added = NewFact(PermissionRuleAdded(rule=RULE))
    assert share_rule(workspace_after(OPENED), RULE) == (added,)
    assert share_rule(workspace_after(OPENED, added), RULE) == ()


def test_an_update_records_only_the_fields_that_change():
    """UI-31"""
    state = workspace_after(OPENED, LISTED)
    facts, answer = update_session(state, UpdateSession(session_id=SESSION, title="tidy", pinned=True, archived=True))
    assert facts == (
        NewFact(SessionPinned(session_id=SESSION, pinned=True)),
        NewFact(SessionArchived(session_id=SESSION, archived=True)),
    )
    assert answer == SessionUpdated(session_id=SESSION, title="tidy", pinned=True, archived=True, sequence=4)


def test_absent_fields_of_an_update_stay_unchanged():
    """UI-31"""
    state = workspace_after(OPENED, LISTED, NewFact(SessionPinned(session_id=SESSION, pinned=True)))
    facts, answer = update_session(state, UpdateSession(session_id=SESSION, title="tidier"))
    assert facts == (NewFact(SessionTitled(session_id=SESSION, title="tidier")),)
    assert answer == SessionUpdated(session_id=SESSION, title="tidier", pinned=True, archived=False, sequence=4)


def test_an_unlisted_session_cannot_be_changed_or_deleted():
    state = workspace_after(OPENED)
    problem = Problem(
        code="unknown_session",
        message=f"There is no session {SESSION}.",
        field="sessionId",
        hint="Find sessions with list_sessions.",
    )
    with pytest.raises(Refusal) as refused:
        update_session(state, UpdateSession(session_id=SESSION, pinned=True))
    assert refused.value.problem == problem
    with pytest.raises(Refusal) as refused:
        require_deletable(state, DeleteSession(session_id=SESSION, confirm=SESSION))
    assert refused.value.problem == problem


def test_deleting_a_session_requires_its_id_as_confirmation():
    state = workspace_after(OPENED, LISTED)
    with pytest.raises(Refusal) as refused:
        require_deletable(state, DeleteSession(session_id=SESSION, confirm="yes"))
    assert refused.value.problem == Problem(
        code="invalid_input",
        message="Deleting a session requires its id twice.",
        field="confirm",
        hint="Set confirm to the session id. Deleting cannot be undone.",
    )
    listed = require_deletable(state, DeleteSession(session_id=SESSION, confirm=SESSION))
    assert listed == ListedSession(session=SESSION, title="tidy", listed=2)


def test_a_revoked_rule_is_not_added_again_by_the_session_that_shared_it():
    added, revoked = NewFact(PermissionRuleAdded(rule=RULE)), NewFact(PermissionRuleRevoked(rule_id="rul_1"))

    assert share_rule(workspace_after(OPENED, added, revoked), RULE) == ()


def test_the_workspace_state_is_folded_from_its_facts():
    state = workspace_after(
        OPENED,
        LISTED,
        NewFact(SessionListed(session_id="ses_2", title="other")),
        NewFact(SessionTitled(session_id=SESSION, title="tidier")),
        NewFact(SessionPinned(session_id=SESSION, pinned=True)),
        NewFact(SessionArchived(session_id=SESSION, archived=True)),
        NewFact(SessionDeleted(session_id="ses_2", last_sequence=9, link="00")),
        NewFact(SessionTitled(session_id="ses_2", title="late")),
        NewFact(PermissionRuleAdded(rule=RULE)),
        NewFact(PermissionRuleRevoked(rule_id="rul_1")),
        NewFact(WarningRaised(code="w", message="m")),
        NewFact(UnknownFact()),
    )
    assert state == Workspace(
        workspace=WORKSPACE,
        path=FOLDER,
        name="site",
        sequence=12,
        at=NOW + 12,
        sessions=SessionList((ListedSession(session=SESSION, title="tidier", pinned=True, archived=True, listed=2),)),
        deleted=frozenset({"ses_2"}),
        rule_ids=frozenset({"rul_1"}),
    )


def test_a_list_of_sessions_finds_each_of_its_sessions():
    listed = {id: ListedSession(session=id, title=id) for id in (render("session", number) for number in range(200))}
    sessions = SessionList(listed.values())

    assert (dict(sessions), len(sessions)) == (listed, 200)
    assert [sessions.get("ses_unknown"), sessions.get(""), SessionList().get(SESSION)] == [None, None, None]


def test_a_changed_list_of_sessions_leaves_the_list_before_it_unchanged():
    first, second = ListedSession(session="ses_1", title="tidy"), ListedSession(session="ses_11", title="other")
    before = SessionList((first,))

    both = before.with_session(second)
    titled = both.with_session(ListedSession(session="ses_1", title="tidier"))

    assert (dict(before), dict(both)) == ({"ses_1": first}, {"ses_1": first, "ses_11": second})
    assert (titled["ses_1"].title, titled["ses_11"]) == ("tidier", second)
    assert dict(both.without_session("ses_1")) == {"ses_11": second}
    assert dict(both.without_session("ses_2")) == dict(both)


def test_a_new_session_in_a_folder_with_thousands_does_not_copy_their_list():
    """Design numbers: a turn in a new session costs the same in every folder."""
    ids = [render("session", number) for number in range(10_000)]
    state = Workspace(
        workspace=WORKSPACE, sessions=SessionList(ListedSession(session=session, title="tidy") for session in ids)
    )
    header = build_header(LISTED, Origin(at=NOW), 1)
    record = Record(stream=WORKSPACE, sequence=1, header=header, link=b"", fact=LISTED.fact)

    tracemalloc.start()
    changed = evolve(state, record)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(changed.sessions) == 10_001
    assert peak < sys.getsizeof(dict.fromkeys(ids)) / 10
