from __future__ import annotations

from pathlib import Path

import pytest

from callboard.contracts.entities.team import Edge
from tests.agents.given import names, roster, told

MAIN, SUB = "kind: main", "kind: subagent"


def test_a_name_or_an_alias_in_any_case_finds_the_same_agent(tmp_path: Path):
    """Communication and Context spec, Handoff delivery; MAR-01."""
    found = roster(tmp_path, lead="aliases: [Chef, Straße, Ｄesk]", other=MAIN)
    for name in ("lead", "LEAD", "chef", "CHEF", "STRASSE", "desk"):
        assert found.find(name) == found.definitions[0]
    assert found.find("nobody") is None


def test_a_name_that_is_taken_is_reported_on_the_second_file(tmp_path: Path):
    """MAR-02"""
    found = roster(tmp_path, a="name: same", b="name: same", c=MAIN + "\nlead: true")
    assert [(one.name, one.file) for one in found.definitions] == [("same", "agents/a.md"), ("c", "agents/c.md")]
    assert told(found.problems) == [("agents/b.md", 2, "name", "The name same is taken by agents/a.md.")]


def test_an_alias_that_is_taken_is_left_out_and_reported(tmp_path: Path):
    """MAR-02; a name is stronger than an alias, wherever it stands."""
    found = roster(tmp_path, a="lead: true\naliases: [B, x]", b="aliases: [X, y]")
    assert [one.aliases for one in found.definitions] == [("x",), ("y",)]
    assert told(found.problems) == [
        ("agents/a.md", 4, "aliases[0]", "The alias B is taken by agents/b.md."),
        ("agents/b.md", 3, "aliases[0]", "The alias X is taken by agents/a.md."),
    ]
    assert found.find("b") == found.definitions[1]


def test_edges_and_targets_name_agents_by_their_names(tmp_path: Path):
    """MAR-05; whatever case or alias a file uses, the definition holds the name."""
    lead = "lead: true\nedges: [{to: CHECKER, direction: both}]\npolicy: {allow: [Delegate], delegate_targets: [HAND, hand]}"
    found = roster(tmp_path, lead=lead, tests="aliases: [checker]", worker=f"{SUB}\naliases: [Hand]")
    assert found.problems == ()
    assert found.definitions[0].edges == (Edge(to="tests", direction="both"),)
    assert found.definitions[0].delegate_targets == ("worker",)


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
def test_an_edge_that_an_invariant_forbids_is_refused_when_it_is_read(
    tmp_path: Path, source: str, target: str, edge: str, field: str
):
    """MAR-02; Multi-agent runtime spec, Hard invariants 1 to 5."""
    found = roster(tmp_path, a=f"{source}\nedges:\n  - {{to: b, {edge}}}", b=target, lead=f"{MAIN}\nlead: true")
    assert [(one.file, one.line, one.field) for one in found.problems] == [("agents/a.md", 5, f"edges[0].{field}")]
    assert names(found) == ["a", "b", "lead"]
    assert found.definitions[0].edges == ()


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
def test_an_edge_that_nothing_forbids_is_kept(tmp_path: Path, target: str, edge: str):
    """MAR-02"""
    found = roster(tmp_path, a=f"{MAIN}\nlead: true\nedges:\n  - {{to: b, {edge}}}", b=target)
    assert found.problems == ()
    assert [one.to for one in found.definitions[0].edges] == ["b"]


def test_an_edge_to_itself_or_to_nobody_is_refused(tmp_path: Path):
    """MAR-02"""
    found = roster(tmp_path, lead="aliases: [me]\nedges:\n  - to: me\n  - to: reviwer", reviewer=SUB)
    assert told(found.problems) == [
        ("agents/lead.md", 5, "edges[0].to", "An edge leads to another agent."),
        ("agents/lead.md", 6, "edges[1].to", "There is no agent reviwer."),
    ]
    assert found.problems[1].hint == "Did you mean `reviewer`?"


def test_an_edge_to_an_agent_whose_file_is_bad_says_so(tmp_path: Path):
    """MAR-02"""
    found = roster(tmp_path, lead="edges:\n  - to: helper", helper="name: helper\nkind: wrong")
    assert names(found) == ["lead"]
    assert [(one.file, one.line, one.field, one.hint) for one in found.problems] == [
        ("agents/helper.md", 3, "kind", ""),
        ("agents/lead.md", 4, "edges[0].to", "agents/helper.md is not loaded; mend it first."),
    ]


def test_the_same_way_twice_is_refused_and_another_kind_of_it_is_not(tmp_path: Path):
    """MAR-02"""
    a = "lead: true\nedges:\n  - {to: b, direction: both}\n  - {to: b, kind: report}"
    found = roster(tmp_path, a=a, b="edges:\n  - to: A")
    assert told(found.problems) == [
        ("agents/b.md", 4, "edges[0].to", "The handoff edge from b to a is there already, in agents/a.md.")
    ]
    assert [len(one.edges) for one in found.definitions] == [2, 0]


def test_targets_that_are_left_out_never_mean_any(tmp_path: Path):
    """MAR-05; what is refused narrows."""
    lead = "lead: true\npolicy:\n  allow: [Delegate]\n  delegate_targets: [nobody, other]"
    found = roster(tmp_path, lead=lead, other=MAIN)
    assert told(found.problems) == [
        ("agents/lead.md", 6, "policy.delegate_targets[0]", "There is no agent nobody."),
        (
            "agents/lead.md",
            6,
            "policy.delegate_targets[1]",
            "other is a main agent, and mains delegate to others, not to each other.",
        ),
    ]
    assert found.definitions[0].delegate_targets == ()


def test_the_lead_is_the_main_that_says_so_else_the_only_one_else_the_first(tmp_path: Path):
    """MAR-01"""
    assert roster(tmp_path, worker=SUB, only=MAIN).lead == "only"
    several = roster(tmp_path, second=MAIN)
    assert several.lead == "only"
    assert told(several.problems) == [
        (
            "agents/only.md",
            2,
            "lead",
            "2 agents could lead (only, second); only does, because its file is the first.",
        )
    ]
    asked = roster(tmp_path, second=f"{MAIN}\nlead: true")
    assert (asked.lead, asked.problems) == ("second", ())
    twice = roster(tmp_path, third=f"{MAIN}\nlead: true")
    assert twice.lead == "second"
    assert told(twice.problems) == [("agents/third.md", 4, "lead", "second leads already.")]


def test_two_rosters_have_one_hash_if_and_only_if_they_are_equal(tmp_path: Path):
    """MAR-01"""
    first = roster(tmp_path, lead=MAIN)
    assert roster(tmp_path, lead=MAIN) == first
    changed = roster(tmp_path, lead=f"{MAIN}\nmax_iters: 51")
    broken = roster(tmp_path, other="kind: wrong")
    assert len({first.hash, changed.hash, broken.hash}) == 3
