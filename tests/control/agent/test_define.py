"""Agents that make agents and edges: with the capability, with a person's yes, for no more than they may themselves."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callboard.contracts.content import Text
from callboard.contracts.entities.team import Edge
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.agent import AgentDefined, EdgeAdded
from callboard.contracts.facts.handoff import HandoffRequested
from callboard.contracts.facts.permission import PermissionRuleAdded
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused
from callboard.contracts.ports.agents import Definition
from callboard.contracts.scope import Scope
from callboard.control.state.team import AddedEdge
from tests.control.rigs.examples import THREAD, approve, reject
from tests.control.rigs.team import CLERK, CRITIC, WORKER, Team, agent, all_of, one, team, types

MAKER = agent(
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


def crew(**differs: Any) -> Team:
    return team(msgspec.structs.replace(MAKER, **differs), CRITIC, CLERK, WORKER)


def refusal(session: Team, tool: str, /, **arguments: Any) -> ToolRefused:
    then = session.uses("lead", tool, **arguments)
    assert types(then)[-4:] == ["tool.requested", "permission.evaluated", "tool.refused", "model.requested"]
    return one(then, ToolRefused)


def test_an_agent_is_made_for_the_session_once_a_person_says_yes() -> None:
    session = crew()
    asked = one(session.uses("lead", "define_agent", **PAINTER, policy=["Patch"]), ActionRequired)
    before = session.state.defined_agents
    yes = session.when(approve())

    fact = one(yes, AgentDefined)
    made = msgspec.json.decode(fact.definition.text, type=Definition)
    assert (asked.scopes, asked.matchers, before) == (("once",), {}, ())
    assert asked.preview == Text(
        text='---\nname: "painter"\ndescription: "Paints."\nkind: "subagent"\ntools: ["Write"]\npolicy: ["Patch"]\n'
        'permission_mode: "edits"\nwork_globs: ["docs/**","src/**/*.py"]\nmade_by: "lead"\n---\nYou paint.\n'
    )
    assert types(yes) == [
        "action.resolved",
        "tool.started",
        "agent.defined",
        "tool.completed",
        "model.requested",
    ]
    assert yes.decision.facts[2].scope == RUN
    assert (fact.name, made) == (
        "painter",
        Definition(
            name="painter",
            description="Paints.",
            kind="subagent",
            prompt="You paint.",
            hash=made.hash,
            tools=("Write",),
            policy=("Patch",),
            permission_mode="edits",
            work_globs=("docs/**", "src/**/*.py"),
            max_iters=20,
            made_by="lead",
        ),
    )
    assert len(made.hash) == 64
    assert session.state.defined_agents == (made,)
    assert msgspec.json.decode(one(yes, ToolCompleted).output.text)["agent"] == "painter"


def test_a_no_leaves_nothing() -> None:
    session = crew()
    session.uses("lead", "define_agent", **PAINTER)
    no = session.when(reject())

    assert types(no) == ["action.resolved", "tool.refused", "model.requested"]
    assert (one(no, ToolRefused).code, session.state.defined_agents) == ("person_denied", ())


def test_a_word_of_the_gate_that_lets_it_through_asks_a_person_all_the_same() -> None:
    """MAR-05: what makes more of the team passes no rule and no mode by itself."""
    session = team(msgspec.structs.replace(MAKER, permission_mode=None), CRITIC, permission_mode="full")
    for tool, arguments in (("define_agent", PAINTER), ("add_edge", {"to": "critic"})):
        then = session.uses("lead", tool, **arguments)
        assert types(then)[-3:] == ["tool.requested", "permission.evaluated", "action.required"]
        session.when(reject(2 if tool == "add_edge" else 1))
    assert not all_of(then, PermissionRuleAdded)


def test_its_maker_gives_it_objectives_and_it_spawns_nothing() -> None:
    """MAR-07: it is a subagent like any other. MAR-06: its maker reaches it beside its targets, another main does not."""
    session = crew()
    session.uses("lead", "define_agent", **PAINTER)
    session.when(approve())
    child = session.gets("lead", "spawn_subagent", agent="Painter", objective="Paint the door.")
    opened = [record.fact for record in session.records if isinstance(record.fact, ThreadOpened)][-1]

    assert child["agent_id"] == "painter-1"
    assert (opened.definition, opened.definition_hash) == ("painter", session.state.defined_agents[0].hash)
    assert session.run_of("painter-1").permission_mode == "ask"
    assert session.denied("painter-1", "spawn_subagent", agent="worker", objective="x") == "subagent_spawns"
    assert session.denied("painter-1", "define_agent", **{**PAINTER, "name": "other"}) == "subagent_spawns"
    assert session.denied("painter-1", "add_edge", to="critic") == "subagent_spawns"


@pytest.mark.parametrize(
    ("asked", "code", "said"),
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
        ({"prompt": "é" * 5000}, "message_too_large", "An agent made in a session can have at most 8192 bytes."),
    ],
)
def test_an_agent_wider_than_its_maker_or_with_a_used_name_is_refused_without_an_approval_card(
    asked: dict[str, Any], code: str, said: str
) -> None:
    judge = msgspec.structs.replace(CRITIC, aliases=("The-Judge",))
    session = team(MAKER, judge, CLERK, WORKER)
    refused = refusal(session, "define_agent", **{**PAINTER, **asked})

    assert refused.code == code
    assert refused.message.startswith(said)
    assert session.state.defined_agents == ()


def test_what_is_narrower_than_its_maker_stays_as_it_was_asked_for() -> None:
    session = crew()
    more = {"workGlobs": ["docs/pictures/*.md", "src/**/*.py"], "permissionMode": "planning", "kind": "main"}
    session.uses("lead", "define_agent", **PAINTER, policy=["Delegate"], **more)
    session.when(approve())
    (made,) = session.state.defined_agents

    assert (made.work_globs, made.permission_mode) == (("docs/pictures/*.md", "src/**/*.py"), "planning")
    assert (made.policy, made.delegate_targets, made.capabilities, made.edges) == (("Delegate",), ("worker",), (), ())


def test_without_the_capability_neither_an_agent_nor_an_edge_is_made() -> None:
    session = crew(capabilities=())
    agents = refusal(session, "define_agent", **PAINTER)
    edges = refusal(session, "add_edge", to="critic")

    assert (agents.code, edges.code) == ("capability_missing", "capability_missing")
    assert agents.message == (
        "lead cannot make agents: its definition lacks the capability spawn. A person can add `capabilities: [spawn]` "
        "to its file."
    )
    assert edges.message.startswith("lead cannot make edges: its definition lacks the capability edge.")


def test_what_became_impossible_while_the_person_thought_is_refused() -> None:
    session = crew()
    session.uses("lead", "define_agent", **PAINTER)
    session.definitions = (*session.definitions, agent("painter"))
    then = session.when(approve())

    assert types(then) == ["action.resolved", "tool.refused", "model.requested"]
    assert one(then, ToolRefused).code == "agent_exists"


def test_an_edge_is_made_once_a_person_says_yes_and_carries_from_then_on() -> None:
    """COM-01: without it the handoff is refused; COM-02: it carries the one way that it says."""
    session = crew()
    assert session.denied("lead", "send_handoff", to="critic", message="Look.") == "no_edge"
    asked = one(session.uses("lead", "add_edge", to="The Judge", ownership=True), ActionRequired)
    yes = session.when(approve())
    sent = session.uses("lead", "send_handoff", to="critic", message="Look.")

    assert asked.preview == Text(
        text="lead → critic: handoff, each handoff must be accepted, a handoff can move the objective to the receiver"
    )
    assert one(yes, EdgeAdded) == EdgeAdded(source="lead", edge=Edge(to="critic", ownership=True))
    assert yes.decision.facts[2].scope == RUN
    assert one(sent, HandoffRequested).target == "critic"
    assert session.denied("critic", "send_handoff", to="lead", message="Back.") == "no_edge"


def test_an_edge_of_an_agent_that_is_not_in_the_session_yet_holds_once_it_joins() -> None:
    session = crew()
    session.uses("lead", "add_edge", source="clerk", to="lead", kind="report")
    session.when(approve())
    session.uses("lead", "send_message", to=["clerk"], text="Hello.")

    assert session.state.edges == (AddedEdge(source="clerk", edge=Edge(to="lead", kind="report")),)
    assert session.of("clerk").edges == (*CLERK.edges, Edge(to="lead", kind="report"))


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"to": "lead"}, "agent_to_itself"),
        ({"to": "worker"}, "subagents_do_not_talk"),
        ({"to": "worker-1"}, "subagents_do_not_talk"),
        ({"source": "worker", "to": "critic"}, "subagents_do_not_talk"),
        ({"to": "critic", "kind": "report", "ownership": True}, "ownership_not_allowed"),
        ({"source": "clerk", "to": "critic"}, "edge_exists"),
        ({"source": "critic", "to": "clerk"}, "edge_exists"),
        ({"to": "nobody"}, "unknown_agent"),
    ],
)
def test_an_edge_lifts_no_invariant(asked: dict[str, Any], code: str) -> None:
    """COM-01, MAR-08: a subagent speaks with its parent, whatever edges say."""
    session = crew()
    session.spawns()

    assert refusal(session, "add_edge", **asked).code == code
    assert session.state.edges == ()


@pytest.mark.parametrize("name", ["write", "Write", "WRITE"])
def test_m2_an_agent_is_made_with_tools_in_any_spelling(name: str) -> None:
    session = crew()
    session.uses("lead", "define_agent", **{**PAINTER, "tools": [name]}, policy=["Patch"])
    made = msgspec.json.decode(one(session.when(approve()), AgentDefined).definition.text, type=Definition)
    assert made.tools == ("Write",)


def test_m2_a_tool_that_the_maker_lacks_is_refused_with_the_names_that_models_see() -> None:
    refused = refusal(crew(), "define_agent", **{**PAINTER, "tools": ["ReadOutput"]})
    assert refused.code == "tool_not_listed"
    assert "lead does not have these tools of painter: read_output." in refused.message
