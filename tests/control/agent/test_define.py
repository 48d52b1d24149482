"""Agents that create agents and edges: capability, approval and limits."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callboard.contracts.content import Text
from callboard.contracts.entities.team import Edge
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.agent import AgentDefined, EdgeAdded
from callboard.contracts.facts.exchange.handoff import HandoffRequested
from callboard.contracts.facts.permission import PermissionRuleAdded
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused
from callboard.contracts.ports.agents import Definition
from callboard.contracts.scope import Scope
from callboard.control.state.team import AddedEdge
from tests.control.rigs.examples import THREAD, approve, reject
from tests.control.rigs.team import CLERK, CRITIC, WORKER, Team, agent_definition, fact_types, facts_of, only_fact, team

CREATOR = agent_definition(
    "lead",
    tools=("Read", "Write", "define_agent", "add_edge"),
    policy=("Patch", "Delegate"),
    delegate_targets=("worker",),
    permission_mode="edits",
    work_globs=("docs/**", "src/**/*.py"),
    capabilities=("spawn", "edge"),
    max_iters=20,
)
PAINTER: dict[str, Any] = {"name": "painter", "description": "Paints.", "prompt": "You paint.", "tools": ["Write"]}
RUN = Scope(agent="lead", thread=THREAD, turn="trn_1", run="run_1")


def team_of_creator(**overrides: Any) -> Team:
    return team(msgspec.structs.replace(CREATOR, **overrides), CRITIC, CLERK, WORKER)


def refusal_fact(session: Team, tool: str, /, **arguments: Any) -> ToolRefused:
    result = session.uses("lead", tool, **arguments)
    assert fact_types(result)[-4:] == ["tool.requested", "permission.evaluated", "tool.refused", "model.requested"]
    return only_fact(result, ToolRefused)


def test_an_agent_is_created_for_the_session_after_a_person_approves() -> None:
    session = team_of_creator()
    action = only_fact(session.uses("lead", "define_agent", **PAINTER, policy=["Patch"]), ActionRequired)
    before = session.state.defined_agents
    approved = session.when(approve())

    fact = only_fact(approved, AgentDefined)
    definition = msgspec.json.decode(fact.definition.text, type=Definition)
    assert (action.scopes, action.matchers, before) == (("once",), {}, ())
    assert action.preview == Text(
        text='---\nname: "painter"\ndescription: "Paints."\nkind: "subagent"\ntools: ["Write"]\npolicy: ["Patch"]\n'
        'permission_mode: "edits"\nwork_globs: ["docs/**","src/**/*.py"]\nmade_by: "lead"\n---\nYou paint.\n'
    )
    assert fact_types(approved) == [
        "action.resolved",
        "tool.started",
        "agent.defined",
        "tool.completed",
        "model.requested",
    ]
    assert approved.decision.facts[2].scope == RUN
    assert (fact.name, definition) == (
        "painter",
        Definition(
            name="painter",
            description="Paints.",
            kind="subagent",
            prompt="You paint.",
            hash=definition.hash,
            tools=("Write",),
            policy=("Patch",),
            permission_mode="edits",
            work_globs=("docs/**", "src/**/*.py"),
            max_iters=20,
            made_by="lead",
        ),
    )
    assert len(definition.hash) == 64
    assert session.state.defined_agents == (definition,)
    assert msgspec.json.decode(only_fact(approved, ToolCompleted).output.text)["agent"] == "painter"


def test_a_rejected_definition_creates_no_agent() -> None:
    session = team_of_creator()
    session.uses("lead", "define_agent", **PAINTER)
    rejected = session.when(reject())

    assert fact_types(rejected) == ["action.resolved", "tool.refused", "model.requested"]
    assert (only_fact(rejected, ToolRefused).code, session.state.defined_agents) == ("person_denied", ())


def test_creating_agents_or_edges_requires_approval_even_if_the_gate_allows_it() -> None:
    """MAR-05: no rule and no mode approves a change of the team."""
    session = team(msgspec.structs.replace(CREATOR, permission_mode=None), CRITIC, permission_mode="full")
    for tool, arguments in (("define_agent", PAINTER), ("add_edge", {"to": "critic"})):
        result = session.uses("lead", tool, **arguments)
        assert fact_types(result)[-3:] == ["tool.requested", "permission.evaluated", "action.required"]
        session.when(reject(2 if tool == "add_edge" else 1))
    assert not facts_of(result, PermissionRuleAdded)


def test_the_creator_spawns_the_created_agent_and_that_agent_spawns_nothing() -> None:
    """MAR-07: it is a normal subagent. MAR-06: its creator reaches it in addition to the targets."""
    session = team_of_creator()
    session.uses("lead", "define_agent", **PAINTER)
    session.when(approve())
    child = session.tool_result("lead", "spawn_subagent", agent="Painter", objective="Paint the door.")
    opened = [record.fact for record in session.records if isinstance(record.fact, ThreadOpened)][-1]

    assert child["agent_id"] == "painter-1"
    assert (opened.definition, opened.definition_hash) == ("painter", session.state.defined_agents[0].hash)
    assert session.run_of("painter-1").permission_mode == "ask"
    assert session.refusal_code("painter-1", "spawn_subagent", agent="worker", objective="x") == "subagent_spawns"
    assert session.refusal_code("painter-1", "define_agent", **{**PAINTER, "name": "other"}) == "subagent_spawns"
    assert session.refusal_code("painter-1", "add_edge", to="critic") == "subagent_spawns"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({"tools": ["Bash"]}, "tool_not_listed", "lead does not have these tools of painter: bash."),
        ({"tools": ["*"]}, "tool_not_listed", "lead does not have these tools of painter: *."),
        ({"policy": ["Finalize"]}, "policy_denied", "lead does not have this policy of painter: Finalize."),
        ({"policy": ["Delegate"]}, "policy_denied", "A subagent cannot delegate."),
        ({"permissionMode": "full"}, "mode_denied", "The mode full of painter is wider than lead's mode edits."),
        ({"workGlobs": ["**"]}, "path_denied", "lead cannot write to these paths of painter: **."),
        (
            {"workGlobs": ["docs/../src/x"]},
            "path_denied",
            "lead cannot write to these paths of painter: docs/../src/x.",
        ),
        ({"workGlobs": ["src/a.py"]}, "path_denied", "lead cannot write to these paths of painter: src/a.py."),
        ({"name": "worker"}, "agent_exists", "The agent worker already exists."),
        ({"name": "the-judge"}, "agent_exists", "The agent the-judge already exists."),
        ({"name": "lead"}, "agent_exists", "The agent lead already exists."),
        ({"prompt": "é" * 5000}, "message_too_large", "An agent defined in a session can have at most 8192 bytes."),
    ],
)
def test_an_agent_wider_than_its_creator_or_with_a_used_name_is_refused_without_an_approval_card(
    arguments: dict[str, Any], code: str, message: str
) -> None:
    judge = msgspec.structs.replace(CRITIC, aliases=("The-Judge",))
    session = team(CREATOR, judge, CLERK, WORKER)
    refused = refusal_fact(session, "define_agent", **{**PAINTER, **arguments})

    assert refused.code == code
    assert refused.message.startswith(message)
    assert session.state.defined_agents == ()


def test_a_definition_narrower_than_its_creator_stays_as_requested() -> None:
    session = team_of_creator()
    more = {"workGlobs": ["docs/pictures/*.md", "src/**/*.py"], "permissionMode": "planning", "kind": "main"}
    session.uses("lead", "define_agent", **PAINTER, policy=["Delegate"], **more)
    session.when(approve())
    (definition,) = session.state.defined_agents

    assert (definition.work_globs, definition.permission_mode) == (("docs/pictures/*.md", "src/**/*.py"), "planning")
    assert (definition.policy, definition.delegate_targets, definition.capabilities, definition.edges) == (
        ("Delegate",),
        ("worker",),
        (),
        (),
    )


def test_without_the_capability_an_agent_creates_no_agent_and_no_edge() -> None:
    session = team_of_creator(capabilities=())
    agents = refusal_fact(session, "define_agent", **PAINTER)
    edges = refusal_fact(session, "add_edge", to="critic")

    assert (agents.code, edges.code) == ("capability_missing", "capability_missing")
    assert agents.message == (
        "lead cannot define agents: its definition lacks the capability spawn. A person can add `capabilities: [spawn]` "
        "to its file."
    )
    assert edges.message.startswith("lead cannot add edges: its definition lacks the capability edge.")


def test_a_definition_that_became_invalid_before_its_approval_is_refused() -> None:
    session = team_of_creator()
    session.uses("lead", "define_agent", **PAINTER)
    session.definitions = (*session.definitions, agent_definition("painter"))
    result = session.when(approve())

    assert fact_types(result) == ["action.resolved", "tool.refused", "model.requested"]
    assert only_fact(result, ToolRefused).code == "agent_exists"


def test_an_edge_is_added_after_a_person_approves_and_carries_handoffs_from_then_on() -> None:
    """COM-01: without the edge the handoff is refused. COM-02: the edge carries one way."""
    session = team_of_creator()
    assert session.refusal_code("lead", "send_handoff", to="critic", message="Look.") == "no_edge"
    action = only_fact(session.uses("lead", "add_edge", to="The Judge", ownership=True), ActionRequired)
    approved = session.when(approve())
    sent = session.uses("lead", "send_handoff", to="critic", message="Look.")

    assert action.preview == Text(
        text="lead → critic: handoff, each handoff must be accepted, a handoff can move the objective to the receiver"
    )
    assert only_fact(approved, EdgeAdded) == EdgeAdded(source="lead", edge=Edge(to="critic", ownership=True))
    assert approved.decision.facts[2].scope == RUN
    assert only_fact(sent, HandoffRequested).target == "critic"
    assert session.refusal_code("critic", "send_handoff", to="lead", message="Back.") == "no_edge"


def test_an_edge_of_an_absent_agent_applies_when_it_joins_the_session() -> None:
    session = team_of_creator()
    session.uses("lead", "add_edge", source="clerk", to="lead", kind="report")
    session.when(approve())
    session.uses("lead", "send_message", to=["clerk"], text="Hello.")

    assert session.state.edges == (AddedEdge(source="clerk", edge=Edge(to="lead", kind="report")),)
    assert session.thread_of("clerk").edges == (*CLERK.edges, Edge(to="lead", kind="report"))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"to": "lead"}, "agent_to_itself"),
        ({"to": "worker"}, "subagents_do_not_talk"),
        ({"to": "worker-1"}, "subagents_do_not_talk"),
        ({"source": "worker", "to": "critic"}, "subagents_do_not_talk"),
        ({"to": "critic", "kind": "report", "ownership": True}, "ownership_not_allowed"),
        ({"source": "clerk", "to": "critic"}, "edge_exists"),
        ({"source": "critic", "to": "clerk"}, "edge_exists"),
        ({"to": "ghost"}, "unknown_agent"),
    ],
)
def test_an_added_edge_lifts_no_invariant(arguments: dict[str, Any], code: str) -> None:
    """COM-01, MAR-08: a subagent exchanges messages only with its parent, whatever the edges are."""
    session = team_of_creator()
    session.spawns()

    assert refusal_fact(session, "add_edge", **arguments).code == code
    assert session.state.edges == ()


@pytest.mark.parametrize("name", ["write", "Write", "WRITE"])
def test_m2_an_agent_is_created_with_tools_in_any_spelling(name: str) -> None:
    session = team_of_creator()
    session.uses("lead", "define_agent", **{**PAINTER, "tools": [name]}, policy=["Patch"])
    definition = msgspec.json.decode(only_fact(session.when(approve()), AgentDefined).definition.text, type=Definition)
    assert definition.tools == ("Write",)


def test_m2_a_tool_that_the_creator_lacks_is_refused_with_its_model_name() -> None:
    refused = refusal_fact(team_of_creator(), "define_agent", **{**PAINTER, "tools": ["ReadOutput"]})
    assert refused.code == "tool_not_listed"
    assert "lead does not have these tools of painter: read_output." in refused.message
