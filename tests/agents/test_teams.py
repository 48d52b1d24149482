"""Team presets: list and copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.agents.definition import load_definition
from callboard.agents.folder import FolderDefinitions
from callboard.agents.teams import copy_preset, list_presets, read_preset_files
from callboard.contracts.errors import Refusal
from tests.agents.files import list_names

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


def test_the_presets_are_listed_with_their_lead_first():
    """MAR-01; Multi-agent runtime spec, Agent types: no roster in code."""
    presets = list_presets()
    assert {preset.name: preset.agents for preset in presets} == TEAMS
    assert all(preset.description for preset in presets)


@pytest.mark.parametrize("name", sorted(TEAMS))
def test_a_copied_team_has_no_problems(tmp_path: Path, name: str):
    """MAR-01, MAR-02"""
    written = copy_preset(name, str(tmp_path))
    assert {path: (tmp_path / path).read_bytes() for path in written} == {
        f"agents/{file}": source for file, source in read_preset_files(name)
    }
    roster = FolderDefinitions().read_roster(str(tmp_path))
    assert (roster.problems, roster.packaged, roster.lead) == ((), False, TEAMS[name][0])
    assert sorted(list_names(roster)) == sorted(TEAMS[name])
    assert all(definition.description for definition in roster.definitions)


def test_agents_that_change_nothing_are_read_only():
    """MAR-05; the policy of a preset enforces its description."""
    definitions = (
        load_definition(source, file).definition
        for team in list_presets()
        for file, source in read_preset_files(team.name)
    )
    readers = [agent for agent in definitions if agent is not None and "Changes nothing" in agent.description]
    assert sorted(agent.name for agent in readers) == ["researcher", "reviewer", "watcher"]
    assert {(agent.policy, agent.isolation) for agent in readers} == {(("Finalize",), "read_only")}


def test_no_file_is_overwritten(tmp_path: Path):
    """MAR-01; either all files of a team are written, or no file is."""
    (tmp_path / "agents").mkdir()
    mine = tmp_path / "agents" / "worker.md"
    mine.write_text("mine")
    with pytest.raises(Refusal) as caught:
        copy_preset("parallel-workers", str(tmp_path))
    assert caught.value.problem.message == "The folder already has agents/worker.md."
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
def test_an_unknown_preset_is_refused(tmp_path: Path, name: str):
    """MAR-01"""
    with pytest.raises(Refusal) as caught:
        copy_preset(name, str(tmp_path))
    assert (caught.value.code, caught.value.problem.field) == ("invalid_input", "preset")
    assert list(tmp_path.iterdir()) == []
