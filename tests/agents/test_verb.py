"""`callboard agents`, as a person types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.agents.folder import FolderDefinitions
from tests.agents.given import write
from tests.app.rigs.product import Product


@pytest.fixture
def product(tmp_path: Path) -> Product:
    return Product(tmp_path)


def test_a_team_is_copied_listed_and_found(product: Product):
    """MAR-01"""
    done = product.run("agents", "--copy", "board")
    assert (done.code, done.err) == (0, "wrote agents/lead.md\nwrote agents/maker.md\nwrote agents/owner.md\n")
    assert done.out == product.run("agents").out == product.run("agents", str(product.folder)).out
    assert done.out.splitlines() == [
        "NAME   KIND        ROLE      TOOLS                                    POLICY                      EDGES",
        "lead   main, lead  planner   all                                      Delegate Finalize to maker  <-> owner (confirm)",
        "maker  subagent    executor  Read Glob Grep Edit Write Bash Finalize  Patch Finalize              -",
        "owner  human       custom    none                                     none                        -",
    ]
    assert not product.home.exists()


def test_a_remote_one_is_listed_with_its_address(product: Product):
    assert product.run("agents", "--copy", "remote-peer").out.splitlines() == [
        "NAME  KIND        ROLE    TOOLS  POLICY          EDGES",
        "host  main, lead  custom  all    Patch Finalize  <-> peer",
        "peer  remote      custom  none   none            at http://127.0.0.1:9999/",
    ]


def test_a_file_that_is_bad_is_told_with_its_place_and_ends_with_1(product: Product):
    """MAR-02"""
    write(product.folder, lead="kind: main", bad="tools: Read, Grep")
    done = product.run("agents")
    assert (done.code, done.err) == (1, "1 problem, 1 agent.\n")
    assert done.out.splitlines()[2:] == [
        "agents/bad.md:3:tools: `tools` must be a list; it is `Read, Grep`.",
        "    Write a list: [Read, Grep].",
    ]


def test_a_script_gets_the_whole_roster_as_one_object(product: Product):
    """MAR-02"""
    write(product.folder, lead="kind: main", bad="tools: Read")
    done = product.run("agents", "--json")
    assert done.code == 1
    (told,) = done.json
    roster = FolderDefinitions().roster(str(product.folder))
    assert (told["lead"], told["packaged"], told["hash"]) == ("lead", False, roster.hash)
    assert [(one["name"], one["permissionMode"], one["maxIters"]) for one in told["definitions"]] == [
        ("lead", None, 50)
    ]
    assert told["problems"] == [
        {
            "file": "agents/bad.md",
            "line": 3,
            "field": "tools",
            "message": "`tools` must be a list; it is `Read`.",
            "hint": "Write a list: [Read].",
        }
    ]


def test_a_folder_without_agents_says_whose_agent_it_has(product: Product):
    """MAR-01"""
    done = product.run("agents")
    assert done.code == 0
    assert done.out.splitlines()[1].split() == ["solo", "main,", "lead", "custom", "all", "Patch", "Finalize", "-"]
    assert "has no agents of its own" in done.err


def test_teams_are_listed_for_people_and_for_scripts(product: Product):
    """MAR-01"""
    listed = product.run("agents", "--presets", "--json").json
    assert len(listed) == 8
    shown = product.run("agents", "--presets").out
    assert all(team["name"] in shown and team["description"] in shown for team in listed)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--copy", "bord"), "There is no preset bord."),
        (("nowhere",), "nowhere is not a folder."),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(product: Product, arguments: tuple[str, ...], said: str):
    """MAR-02"""
    done = product.run("agents", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not (product.folder / "agents").exists()


def test_copying_twice_writes_nothing_over(product: Product):
    """MAR-01"""
    assert product.run("agents", "--copy", "solo").code == 0
    mine = product.folder / "agents" / "solo.md"
    mine.write_text(mine.read_text() + "\nMine.\n")
    done = product.run("agents", "--copy", "solo")
    assert (done.code, "The folder has agents/solo.md, agents/worker.md already." in done.err) == (2, True)
    assert mine.read_text().endswith("Mine.\n")


def test_what_a_file_says_drives_no_terminal(product: Product):
    """SAFE-06"""
    write(product.folder, lead='name: lead\nkind: "\\e]0;owned\\a"')
    done = product.run("agents")
    assert done.code == 1
    assert "\x1b" not in done.out
