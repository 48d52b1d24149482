"""Roster of a folder: names, aliases, edges, targets and the lead."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.contracts.entities.team import Edge
from tests.agents.files import list_names, load_roster, problem_rows

MAIN, SUB = "kind: main", "kind: subagent"


def test_a_name_or_alias_finds_the_agent_in_any_case(tmp_path: Path):
    """Communication and Context spec, Handoff delivery; MAR-01."""
    roster = load_roster(tmp_path, lead="aliases: [Chef, Straße, Ｄesk]", other=MAIN)
    for name in ("lead", "LEAD", "chef", "CHEF", "STRASSE", "desk"):
        assert roster.find(name) == roster.definitions[0]
    assert roster.find("missing") is None


def test_a_duplicate_name_is_reported_for_the_second_file(tmp_path: Path):
    """MAR-02"""
    roster = load_roster(tmp_path, a="name: same", b="name: same", c=MAIN + "\nlead: true")
    assert [(definition.name, definition.file) for definition in roster.definitions] == [
        ("same", "agents/a.md"),
        ("c", "agents/c.md"),
    ]
    assert problem_rows(roster.problems) == [("agents/b.md", 2, "name", "agents/a.md already has the name same.")]


def test_a_duplicate_alias_is_removed_and_reported(tmp_path: Path):
    """MAR-02; names take precedence over aliases."""
    roster = load_roster(tmp_path, a="lead: true\naliases: [B, x]", b="aliases: [X, y]")
    assert [definition.aliases for definition in roster.definitions] == [("x",), ("y",)]
    assert problem_rows(roster.problems) == [
        ("agents/a.md", 4, "aliases[0]", "agents/b.md already has the alias B."),
        ("agents/b.md", 3, "aliases[0]", "agents/a.md already has the alias X."),
    ]
    assert roster.find("b") == roster.definitions[1]


def test_edges_and_targets_name_agents_by_their_names(tmp_path: Path):
    """MAR-05; aliases and other cases are replaced with names."""
    lead = "lead: true\nedges: [{to: CHECKER, direction: both}]\npolicy: {allow: [Delegate], delegate_targets: [HAND, hand]}"
    roster = load_roster(tmp_path, lead=lead, tests="aliases: [checker]", worker=f"{SUB}\naliases: [Hand]")
    assert roster.problems == ()
    assert roster.definitions[0].edges == (Edge(to="tests", direction="both"),)
    assert roster.definitions[0].delegate_targets == ("worker",)


@pytest.mark.parametrize(
    ("source", "target", "edge", "field"),
    [
        (SUB, SUB, "", "to"),
        (SUB, MAIN, "", "to"),
        (SUB, MAIN, "kind: report", "to"),
        (SUB, "kind: human", "", "to"),
        (MAIN, SUB, "direction: both", "direction"),
        (MAIN, MAIN, "kind: report, ownership: true", "ownership"),
    ],
)
def test_an_edge_that_violates_an_invariant_is_removed(tmp_path: Path, source: str, target: str, edge: str, field: str):
    """MAR-02; Multi-agent runtime spec, Hard invariants 1 to 5."""
    roster = load_roster(tmp_path, a=f"{source}\nedges:\n  - {{to: b, {edge}}}", b=target, lead=f"{MAIN}\nlead: true")
    assert [(problem.file, problem.line, problem.field) for problem in roster.problems] == [
        ("agents/a.md", 5, f"edges[0].{field}")
    ]
    assert list_names(roster) == ["a", "b", "lead"]
    assert roster.definitions[0].edges == ()


@pytest.mark.parametrize(
    ("target", "edge"),
    [
        (MAIN, ""),
        (MAIN, "direction: both, ownership: true"),
        (MAIN, "kind: report, confirm: true"),
        (SUB, ""),
        ("kind: human", "direction: both, confirm: true"),
        ("kind: background", "direction: both"),
    ],
)
def test_a_valid_edge_is_loaded(tmp_path: Path, target: str, edge: str):
    """MAR-02"""
    roster = load_roster(tmp_path, a=f"{MAIN}\nlead: true\nedges:\n  - {{to: b, {edge}}}", b=target)
    assert roster.problems == ()
    assert [loaded.to for loaded in roster.definitions[0].edges] == ["b"]


def test_an_edge_to_itself_or_to_an_unknown_agent_is_removed(tmp_path: Path):
    """MAR-02"""
    roster = load_roster(tmp_path, lead="aliases: [me]\nedges:\n  - to: me\n  - to: reviwer", reviewer=SUB)
    assert problem_rows(roster.problems) == [
        ("agents/lead.md", 5, "edges[0].to", "An edge must lead to another agent."),
        ("agents/lead.md", 6, "edges[1].to", "There is no agent reviwer."),
    ]
    assert roster.problems[1].hint == "Did you mean `reviewer`?"


def test_an_edge_to_an_invalid_agent_has_a_hint(tmp_path: Path):
    """MAR-02"""
    roster = load_roster(tmp_path, lead="edges:\n  - to: helper", helper="name: helper\nkind: wrong")
    assert list_names(roster) == ["lead"]
    assert [(problem.file, problem.line, problem.field, problem.hint) for problem in roster.problems] == [
        ("agents/helper.md", 3, "kind", ""),
        ("agents/lead.md", 4, "edges[0].to", "agents/helper.md is not loaded: fix its problems first."),
    ]


def test_a_duplicate_edge_is_removed_unless_its_kind_differs(tmp_path: Path):
    """MAR-02"""
    a = "lead: true\nedges:\n  - {to: b, direction: both}\n  - {to: b, kind: report}"
    roster = load_roster(tmp_path, a=a, b="edges:\n  - to: A")
    assert problem_rows(roster.problems) == [
        ("agents/b.md", 4, "edges[0].to", "agents/a.md already has a handoff edge from b to a.")
    ]
    assert [len(definition.edges) for definition in roster.definitions] == [2, 0]


def test_removed_targets_never_allow_any_target(tmp_path: Path):
    """MAR-05; a removal grants nothing."""
    lead = "lead: true\npolicy:\n  allow: [Delegate]\n  delegate_targets: [missing, other]"
    roster = load_roster(tmp_path, lead=lead, other=MAIN)
    assert problem_rows(roster.problems) == [
        ("agents/lead.md", 6, "policy.delegate_targets[0]", "There is no agent missing."),
        (
            "agents/lead.md",
            6,
            "policy.delegate_targets[1]",
            "other is a main agent, and main agents cannot delegate to each other.",
        ),
    ]
    assert roster.definitions[0].delegate_targets == ()


def test_the_lead_is_the_marked_main_agent_else_the_first(tmp_path: Path):
    """MAR-01"""
    assert load_roster(tmp_path, worker=SUB, only=MAIN).lead == "only"
    several = load_roster(tmp_path, second=MAIN)
    assert several.lead == "only"
    assert problem_rows(several.problems) == [
        (
            "agents/only.md",
            2,
            "lead",
            "2 agents can lead (only, second); only is the lead because its file is the first.",
        )
    ]
    marked = load_roster(tmp_path, second=f"{MAIN}\nlead: true")
    assert (marked.lead, marked.problems) == ("second", ())
    twice = load_roster(tmp_path, third=f"{MAIN}\nlead: true")
    assert twice.lead == "second"
    assert problem_rows(twice.problems) == [("agents/third.md", 4, "lead", "second is already the lead.")]


def test_two_rosters_have_the_same_hash_only_if_they_are_equal(tmp_path: Path):
    """MAR-01"""
    first = load_roster(tmp_path, lead=MAIN)
    assert load_roster(tmp_path, lead=MAIN) == first
    changed = load_roster(tmp_path, lead=f"{MAIN}\nmax_iters: 51")
    broken = load_roster(tmp_path, other="kind: wrong")
    assert len({first.hash, changed.hash, broken.hash}) == 3
