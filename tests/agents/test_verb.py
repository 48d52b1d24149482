"""The command `callboard agents`."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.agents.folder import FolderDefinitions
from tests.agents.files import write_agents
from tests.app.rigs.product import Product


@pytest.fixture
def product(tmp_path: Path) -> Product:
    return Product(tmp_path)


def test_a_preset_is_copied_and_listed(product: Product):
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


def test_a_remote_agent_is_listed_with_its_address(product: Product):
    assert product.run("agents", "--copy", "remote-peer").out.splitlines() == [
        "NAME  KIND        ROLE    TOOLS  POLICY          EDGES",
        "host  main, lead  custom  all    Patch Finalize  <-> peer",
        "peer  remote      custom  none   none            at http://127.0.0.1:9999/",
    ]


def test_an_invalid_file_is_reported_with_its_line_and_exit_code_1(product: Product):
    """MAR-02"""
    write_agents(product.folder, lead="kind: main", bad="tools: Read, Grep")
    done = product.run("agents")
    assert (done.code, done.err) == (1, "1 problem, 1 agent.\n")
    assert done.out.splitlines()[2:] == [
        "agents/bad.md:3:tools: `tools` must be a list; it is `Read, Grep`.",
        "    Write a list: [Read, Grep].",
    ]


def test_json_output_is_the_whole_roster(product: Product):
    """MAR-02"""
    write_agents(product.folder, lead="kind: main", bad="tools: Read")
    done = product.run("agents", "--json")
    assert done.code == 1
    (output,) = done.json
    roster = FolderDefinitions().read_roster(str(product.folder))
    assert (output["lead"], output["packaged"], output["hash"]) == ("lead", False, roster.hash)
    assert [(agent["name"], agent["permissionMode"], agent["maxIters"]) for agent in output["definitions"]] == [
        ("lead", None, 50)
    ]
    assert output["problems"] == [
        {
            "file": "agents/bad.md",
            "line": 3,
            "field": "tools",
            "message": "`tools` must be a list; it is `Read`.",
            "hint": "Write a list: [Read].",
        }
    ]


def test_a_folder_without_agents_lists_the_packaged_one(product: Product):
    """MAR-01"""
    done = product.run("agents")
    assert done.code == 0
    assert done.out.splitlines()[1].split() == ["solo", "main,", "lead", "custom", "all", "Patch", "Finalize", "-"]
    assert "defines no agents" in done.err


def test_presets_are_listed_as_text_and_as_json(product: Product):
    """MAR-01"""
    listed = product.run("agents", "--presets", "--json").json
    assert len(listed) == 8
    text = product.run("agents", "--presets").out
    assert all(team["name"] in text and team["description"] in text for team in listed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--copy", "bord"), "There is no preset bord."),
        (("nowhere",), "nowhere is not a folder."),
    ],
)
def test_an_invalid_argument_is_reported_and_changes_nothing(
    product: Product, arguments: tuple[str, ...], message: str
):
    """MAR-02"""
    done = product.run("agents", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not (product.folder / "agents").exists()


def test_a_second_copy_overwrites_nothing(product: Product):
    """MAR-01"""
    assert product.run("agents", "--copy", "solo").code == 0
    mine = product.folder / "agents" / "solo.md"
    mine.write_text(mine.read_text() + "\nMine.\n")
    done = product.run("agents", "--copy", "solo")
    assert (done.code, "The folder already has agents/solo.md, agents/worker.md." in done.err) == (2, True)
    assert mine.read_text().endswith("Mine.\n")


def test_control_characters_of_a_file_do_not_reach_the_terminal(product: Product):
    """SAFE-06"""
    write_agents(product.folder, lead='name: lead\nkind: "\\e]0;owned\\a"')
    done = product.run("agents")
    assert done.code == 1
    assert "\x1b" not in done.out
