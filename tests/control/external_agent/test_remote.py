"""Remote agents (A2A): reported task states, artifacts, and requests that wait for a person."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callboard.contracts.commands.action import ActionAnswered, RespondAction
from callboard.contracts.content import Text, make_blob
from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.facts.action import ActionExpired, ActionRequired, ActionResolved, ActionWithdrawn
from callboard.contracts.facts.agent import AgentConnected, RemoteArtifact, RemotePart, RemoteTaskChanged
from callboard.contracts.facts.artifact import ArtifactCreated, ArtifactVersionCreated
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.model import Candidate
from callboard.contracts.facts.tool import ToolCancelled, ToolRefused, ToolStarted
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.ports.external import REMOTE_AUTH, REMOTE_INPUT, ArtifactReported, TaskReported
from callboard.contracts.scope import Scope
from callboard.control.decision_inputs import RunConfig
from callboard.control.outcomes import (
    ActionTimedOut,
    ExternalCallReported,
    ExternalConnected,
    ExternalDisconnected,
    RemoteNeedEnded,
    RemoteReported,
)
from callboard.control.state.team import ExternalLink
from tests.control.rigs.decisions import Scenario
from tests.control.rigs.examples import (
    ASK,
    NOW,
    RUN_CONFIG,
    SESSION,
    THREAD,
    at,
    interrupt,
    model_response,
    requested_call,
    run_stop,
    submit,
    text_part,
)

RUN = at(turn=1, run=1)
CALL = at(turn=1, run=1, step=3, call=1)
ACTION = at(turn=1, run=1, step=4, call=1, action=1)
LEAD = Scope(agent="lead", thread=THREAD)


def remote_run_config(definition: str, mode: Mode, permission_mode: PermissionMode) -> RunConfig:
    """Return a run configuration of a remote agent."""
    return msgspec.structs.replace(RUN_CONFIG, candidates=(Candidate(provider="a2a", model="peer"),), tools=())


def prompted_session(**more: Any) -> Scenario:
    return Scenario(configure_run=remote_run_config, **more).after(submit())


def task_reported(state: RemoteTaskState, message: str = "", **more: Any) -> RemoteReported:
    return RemoteReported(thread=THREAD, run="run_1", prompt=1, report=TaskReported("T", state, message), **more)


def remote_request(tool: str = REMOTE_INPUT) -> ExternalCallReported:
    return ExternalCallReported(thread=THREAD, run="run_1", prompt=1, call=requested_call(1, 3, ASK, tool))


def respond_action(decision: Any, **more: Any) -> RespondAction:
    return RespondAction(session_id=SESSION, action_id="act_1", decision=decision, **more)


def fact_types(facts: tuple[Fact, ...]) -> list[str]:
    return [fact.type for fact in facts]


def external_link(session: Scenario) -> ExternalLink | None:
    return session.state.threads[THREAD].external


def test_each_reported_task_state_is_recorded_and_an_unfinished_task_stays_linked():
    """UI-23"""
    session = prompted_session()
    connected = ExternalConnected(
        thread=THREAD, provider_session="c-1", name="Peer", version="2", resumed=False, card='{"name":"Peer"}'
    )
    session.when(connected).then(
        (AgentConnected(provider_session_id="c-1", name="Peer", version="2", card=Text(text='{"name":"Peer"}')), LEAD)
    )
    session.when(task_reported("working", "Looking.")).then(
        (RemoteTaskChanged(remote_task_id="T", state="working", message=Text(text="Looking.")), RUN)
    )
    assert external_link(session) == ExternalLink(
        provider_session="c-1", connected=True, task="T", task_state="working"
    )
    session.when(task_reported("unknown")).then((RemoteTaskChanged(remote_task_id="T", state="unknown"), RUN))
    session.when(ExternalDisconnected(thread=THREAD, reason="lost"))
    assert external_link(session) == ExternalLink(
        provider_session="c-1", connected=False, task="T", task_state="unknown"
    )
    session.when(task_reported("completed"))
    assert external_link(session) == ExternalLink(
        provider_session="c-1", connected=False, task="", task_state="completed"
    )


def test_a_reported_artifact_is_recorded_with_its_blobs():
    picture = make_blob(b"...", "image/png")
    part = RemotePart(media="image/png", content=picture.ref)
    report = ArtifactReported(task="T", artifact="a", name="card", parts=(part,), left_out=2, blobs=(picture,))
    result = prompted_session().when(RemoteReported(thread=THREAD, run="run_1", prompt=1, report=report))

    scope = msgspec.structs.replace(RUN, artifact="art_1")
    result.then(
        (RemoteArtifact(remote_task_id="T", remote_artifact_id="a", name="card", parts=(part,), left_out=2), RUN),
        (ArtifactCreated(artifact_kind="image", title="card", remote="a"), scope),
        (ArtifactVersionCreated(version=1, content=picture.ref, version_origin="agent", title="card"), scope),
    )
    assert result.decision.blobs == (picture,)


def test_a_changed_delivery_under_the_same_name_is_the_next_version():
    """Callboard stores it without a file. It can be read, compared and saved like any other."""
    session = prompted_session()
    for content, fact_type in (
        ("one", "artifact.version.created"),
        ("one", "remote.artifact"),
        ("two", "artifact.version.created"),
    ):
        part = RemotePart(media="text/plain", text=Text(text=content))
        report = ArtifactReported(task="T", artifact="a", name="notes.md", parts=(part,), left_out=0, blobs=())
        result = session.when(RemoteReported(thread=THREAD, run="run_1", prompt=1, report=report))
        assert result.facts[-1].type == fact_type
    (artifact,) = session.state.artifacts.open.values()
    assert (artifact.title, artifact.path, artifact.worktree, artifact.version) == ("notes.md", "", "", 2)


def test_a_report_after_the_prompt_is_not_recorded():
    """CTL-15"""
    session = prompted_session().after(model_response(text_part(2, "Done.")))
    session.when(task_reported("working")).then_nothing()
    session.when(RemoteNeedEnded(thread=THREAD, run="run_1", call="cal_1", reason="")).then_nothing()


@pytest.mark.parametrize(
    ("tool", "action_type", "decisions"),
    [(REMOTE_INPUT, "clarification", ("answer", "reject")), (REMOTE_AUTH, "credential_request", ("approve", "reject"))],
)
def test_a_remote_request_is_an_action_with_a_type_and_decisions(
    tool: str, action_type: str, decisions: tuple[str, ...]
):
    """UI-23"""
    action = prompted_session().when(remote_request(tool)).facts[-1]
    assert isinstance(action, ActionRequired)
    assert (action.action_type, action.decisions) == (action_type, decisions)


def test_an_answer_is_recorded_and_starts_the_call():
    session = prompted_session().after(remote_request())
    result = session.when(respond_action("answer", answer="Blue."))

    result.then(
        (ActionResolved(decision="answer", answer=Text(text="Blue.")), ACTION), (ToolStarted(tool=REMOTE_INPUT), CALL)
    )
    assert isinstance(result.answer, ActionAnswered)
    assert result.answer.outcome == "answered"


def test_an_approved_remote_authorisation_starts_the_call():
    result = prompted_session().after(remote_request(REMOTE_AUTH)).when(respond_action("approve"))
    assert fact_types(result.facts)[0] == "action.resolved"
    assert fact_types(result.facts)[-1] == "tool.started"


@pytest.mark.parametrize(
    ("tool", "fields", "code", "field"),
    [
        (REMOTE_INPUT, {"decision": "approve"}, "decision_not_offered", "decision"),
        (REMOTE_INPUT, {"decision": "answer"}, "invalid_input", "answer"),
        (REMOTE_INPUT, {"decision": "answer", "answer": " \n"}, "invalid_input", "answer"),
        (REMOTE_INPUT, {"decision": "reject", "answer": "Blue."}, "invalid_input", "answer"),
        (REMOTE_AUTH, {"decision": "answer", "answer": "Blue."}, "decision_not_offered", "decision"),
        (REMOTE_AUTH, {"decision": "approve", "answer": "Blue."}, "invalid_input", "answer"),
    ],
)
def test_a_decision_that_is_not_offered_changes_nothing(tool: str, fields: dict[str, Any], code: str, field: str):
    """SAFE-05"""
    problem = prompted_session().after(remote_request(tool)).refuses(respond_action(**fields))
    assert (problem.code, problem.field) == (code, field)


def test_a_remote_request_that_expires_is_denied():
    """CTL-04"""
    session = prompted_session(expiry=10).after(remote_request())
    session.when(ActionTimedOut(thread=THREAD, action="act_1"), now=NOW + 20).then(
        (ActionExpired(), ACTION),
        (ToolRefused(code="approval_expired", message="No person answered the approval in time."), CALL),
    )


def test_an_obsolete_remote_request_is_withdrawn_unless_a_person_has_answered():
    """CTL-16"""
    need_ended = RemoteNeedEnded(thread=THREAD, run="run_1", call="cal_1", reason="It went on.")
    prompted_session().after(remote_request()).when(need_ended).then(
        (ActionWithdrawn(reason="It went on."), ACTION), (ToolCancelled(started=False), CALL)
    )
    prompted_session().after(remote_request(), respond_action("answer", answer="Blue.")).when(need_ended).then_nothing()


def test_a_remote_request_closes_before_its_turn():
    """CTL-16"""
    ended = prompted_session().after(remote_request(), interrupt()).when(run_stop())
    assert fact_types(ended.facts) == ["model.interrupted", "action.withdrawn", "tool.cancelled", "turn.interrupted"]
