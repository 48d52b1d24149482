from __future__ import annotations

from pathlib import Path

import pytest

from callboard.agents.definition import load_definition
from callboard.agents.folder import FolderDefinitions
from callboard.agents.teams import copy_preset, list_presets, preset_files
from callboard.contracts.errors import Refusal
from tests.agents.given import names

TEAMS = {
    "solo": ("solo", "worker"),
    "coordinator": ("coordinator", "builder", "researcher"),
    "parallel-workers": ("dispatcher", "worker"),
    "specialist-handoff": ("generalist", "database", "security"),
    "review-pair": ("author", "reviewer"),
    "board": ("lead", "maker", "owner"),
    "watcher": ("keeper", "watcher"),
    "remote-peer": ("host", "peer"),
}


def test_the_teams_that_come_along_are_listed_with_their_lead_first():
    """MAR-01; Multi-agent runtime spec, Agent types: no roster in code."""
    found = list_presets()
    assert {team.name: team.agents for team in found} == TEAMS
    assert all(team.description for team in found)


@pytest.mark.parametrize("name", sorted(TEAMS))
def test_a_team_that_is_copied_loads_without_a_problem(tmp_path: Path, name: str):
    """MAR-01, MAR-02"""
    written = copy_preset(name, str(tmp_path))
    assert {path: (tmp_path / path).read_bytes() for path in written} == {
        f"agents/{file}": source for file, source in preset_files(name)
    }
    found = FolderDefinitions().roster(str(tmp_path))
    assert (found.problems, found.packaged, found.lead) == ((), False, TEAMS[name][0])
    assert sorted(names(found)) == sorted(TEAMS[name])
    assert all(one.description for one in found.definitions)


def test_agents_that_change_nothing_have_no_way_to():
    """MAR-05; what a preset says of an agent is what its policy holds it to."""
    every = (
        load_definition(source, file).definition for team in list_presets() for file, source in preset_files(team.name)
    )
    readers = [one for one in every if one is not None and "Changes nothing" in one.description]
    assert sorted(one.name for one in readers) == ["researcher", "reviewer", "watcher"]
    assert {(one.policy, one.isolation) for one in readers} == {(("Finalize",), "read_only")}


def test_nothing_that_is_there_is_written_over(tmp_path: Path):
    """MAR-01; either the whole team is written or nothing."""
    (tmp_path / "agents").mkdir()
    mine = tmp_path / "agents" / "worker.md"
    mine.write_text("mine")
    with pytest.raises(Refusal) as caught:
        copy_preset("parallel-workers", str(tmp_path))
    assert caught.value.problem.message == "The folder has agents/worker.md already."
    assert {path.name: path.read_text() for path in mine.parent.iterdir()} == {"worker.md": "mine"}


def test_a_team_is_not_written_through_a_symbolic_link(tmp_path: Path):
    """MAR-01"""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "agents").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refusal, match="is not a folder"):
        copy_preset("solo", str(tmp_path / "work"))
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", ["", "bord", "../presets/solo", "__pycache__"])
def test_a_team_that_is_not_there_is_refused(tmp_path: Path, name: str):
    """MAR-01"""
    with pytest.raises(Refusal) as caught:
        copy_preset(name, str(tmp_path))
    assert (caught.value.code, caught.value.problem.field) == ("invalid_input", "preset")
    assert list(tmp_path.iterdir()) == []
