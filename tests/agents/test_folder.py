"""Definitions of a folder: changes, problems and the packaged agent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from callboard.adapters.acp import detect_agents
from callboard.agents.folder import MAX_FILES, FolderDefinitions
from callboard.agents.packaged import build_packaged_roster
from callboard.contracts.errors import Problem, Refusal
from tests.agents.files import definition_file, list_names, load_roster, problem_rows, write_agents


@pytest.fixture
def definitions() -> FolderDefinitions:
    return FolderDefinitions()


def refusal(definitions: FolderDefinitions, folder: Path, name: str = "") -> Problem:
    with pytest.raises(Refusal) as caught:
        definitions.get(str(folder), name) if name else definitions.find_lead(str(folder))
    return caught.value.problem


def test_a_new_file_is_an_agent_at_the_next_call(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01"""
    write_agents(tmp_path, lead="kind: main")
    before = definitions.read_roster(str(tmp_path))
    assert list_names(before) == ["lead"]
    write_agents(tmp_path, helper="kind: subagent")
    after = definitions.read_roster(str(tmp_path))
    assert list_names(after) == ["helper", "lead"]
    assert definitions.get(str(tmp_path), "Helper").file == "agents/helper.md"
    assert before.hash != after.hash


def test_an_immediate_change_of_the_same_length_is_loaded(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01; even with a coarse clock of the file system."""
    for round in range(50):
        write_agents(tmp_path, lead=definition_file("name: lead", f"Round {round:02}."))
        assert definitions.find_lead(str(tmp_path)).prompt == f"Round {round:02}."


def test_a_change_that_keeps_size_and_time_is_loaded(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01"""
    write_agents(tmp_path, lead=definition_file("name: lead", "One."))
    path = tmp_path / "agents" / "lead.md"
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    assert definitions.find_lead(str(tmp_path)).prompt == "One."
    path.write_text(definition_file("name: lead", "Two."))
    os.utime(path, ns=times)
    assert definitions.find_lead(str(tmp_path)).prompt == "Two."


def test_the_agent_of_a_deleted_file_is_gone(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01"""
    write_agents(tmp_path, lead="kind: main", helper="kind: subagent")
    assert list_names(definitions.read_roster(str(tmp_path))) == ["helper", "lead"]
    (tmp_path / "agents" / "helper.md").unlink()
    assert list_names(definitions.read_roster(str(tmp_path))) == ["lead"]
    assert refusal(definitions, tmp_path, "helper").code == "unknown_agent"


def test_unchanged_files_are_not_loaded_again(
    tmp_path: Path, definitions: FolderDefinitions, monkeypatch: pytest.MonkeyPatch
):
    """MAR-01"""
    monkeypatch.setattr("callboard.agents.folder._SETTLED", -(10**18))
    write_agents(tmp_path, lead="kind: main")
    assert definitions.read_roster(str(tmp_path)) is definitions.read_roster(str(tmp_path))


def test_an_invalid_file_is_reported_and_the_others_are_loaded(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-02"""
    write_agents(tmp_path, lead="kind: main", bad="description: ok\ntools: Read", worse="---\nnever closed")
    roster = definitions.read_roster(str(tmp_path))
    assert list_names(roster) == ["lead"]
    assert problem_rows(roster.problems) == [
        ("agents/bad.md", 4, "tools", "`tools` must be a list; it is `Read`."),
        ("agents/worse.md", 1, "", "The file has no frontmatter."),
    ]
    problem = refusal(definitions, tmp_path, "BAD")
    assert (problem.code, problem.field) == ("unknown_agent", "agent")
    assert "agents/bad.md:4: `tools` must be a list; it is `Read`." in problem.message


def test_a_name_or_alias_finds_the_agent_in_any_case(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01; Communication and Context spec, Handoff delivery."""
    write_agents(tmp_path, lead="aliases: [Boss]")
    lead = definitions.find_lead(str(tmp_path))
    assert [definitions.get(str(tmp_path), name) for name in ("lead", "LEAD", "boss", "BOSS")] == [lead] * 4


def test_a_folder_without_agents_has_the_packaged_one(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01; other files are ignored."""
    assert definitions.read_roster(str(tmp_path)) == build_packaged_roster()
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "README.md").write_text("Who is who.")
    (tmp_path / "agents" / ".draft.md").write_text("not yet")
    (tmp_path / "agents" / "notes.txt").write_text("not an agent")
    (tmp_path / "agents" / "old").mkdir()
    (tmp_path / "agents" / "old" / "lead.md").write_text(definition_file("name: lead"))
    assert definitions.read_roster(str(tmp_path)) == build_packaged_roster()
    assert definitions.find_lead(str(tmp_path)).name == "solo"
    assert definitions.read_roster(str(tmp_path / "gone")) == build_packaged_roster()


def test_an_older_session_can_still_use_the_packaged_agent(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01"""
    write_agents(tmp_path, lead="kind: main")
    assert definitions.get(str(tmp_path), "solo") == build_packaged_roster().definitions[0]
    assert list_names(definitions.read_roster(str(tmp_path))) == ["lead"]


def install(folder: Path, name: str) -> str:
    """Create a folder for PATH with a program."""
    folder.mkdir()
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return str(folder)


def test_an_invalid_lead_is_not_replaced(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-02; a typing error never makes an agent with more tools the lead."""
    write_agents(tmp_path, lead="tools: Read", helper="kind: subagent")
    problem = refusal(definitions, tmp_path)
    assert problem.code == "bad_definition"
    assert problem.message == (
        "No agent of this folder can lead. agents/lead.md:3: `tools` must be a list; it is `Read`."
    ), "each reason occurs once (A5)"


def test_a_folder_with_only_a_subagent_has_the_packaged_lead_with_delegation(
    tmp_path: Path, definitions: FolderDefinitions
):
    """A5: the definition of `callboard agents --installed` is enough for a usable folder."""
    agent = detect_agents(install(tmp_path / "bin", "opencode"))[0]
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "opencode.md").write_text(agent.definition)

    roster = definitions.read_roster(str(tmp_path))
    lead = definitions.find_lead(str(tmp_path))

    assert (list_names(roster), roster.lead, roster.problems) == (["opencode", "solo"], "solo", ())
    assert (lead.file, lead.policy) == ("", ("Patch", "Finalize", "Delegate"))
    assert lead.hash != build_packaged_roster().definitions[0].hash


def test_a_subagent_with_the_name_of_the_packaged_lead_leaves_no_lead(tmp_path: Path, definitions: FolderDefinitions):
    """A5."""
    write_agents(tmp_path, solo="kind: subagent")

    problem = refusal(definitions, tmp_path)

    assert problem.message == "No agent of this folder can lead. None of its agents has `kind: main`."


def test_symbolic_links_are_not_followed(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-02; Control plane spec, trust: files of a folder cannot refer to files outside."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text(definition_file("name: secret"))
    folder = tmp_path / "work"
    folder.mkdir()
    write_agents(folder, lead="kind: main")
    (folder / "agents" / "secret.md").symlink_to(outside / "secret.md")
    assert problem_rows(definitions.read_roster(str(folder)).problems) == [
        ("agents/secret.md", 0, "", "It is a symbolic link.")
    ]
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "agents").symlink_to(outside)
    assert problem_rows(definitions.read_roster(str(linked)).problems) == [("agents", 0, "", "It is a symbolic link.")]
    assert refusal(definitions, linked).code == "bad_definition"


def test_special_files_are_not_opened(tmp_path: Path):
    """MAR-02; reading a pipe would block forever."""
    write_agents(tmp_path, lead="kind: main")
    os.mkfifo(tmp_path / "agents" / "pipe.md")
    (tmp_path / "agents" / "folder.md").mkdir()
    assert problem_rows(load_roster(tmp_path).problems) == [
        ("agents/folder.md", 0, "", "It is not a regular file."),
        ("agents/pipe.md", 0, "", "It is not a regular file."),
    ]


def test_an_invalid_file_name_is_reported_with_replacement_characters(tmp_path: Path):
    """MAR-02"""
    write_agents(tmp_path, lead="kind: main")
    (tmp_path / "agents" / os.fsdecode(b"\xff.md")).write_text("no")
    assert problem_rows(load_roster(tmp_path).problems) == [("agents/\ufffd.md", 1, "", "The file has no frontmatter.")]


def test_files_beyond_the_limit_are_reported(tmp_path: Path):
    """MAR-02"""
    write_agents(tmp_path, a="lead: true", **{f"w{number:03}": "kind: subagent" for number in range(MAX_FILES)})
    roster = load_roster(tmp_path)
    assert len(roster.definitions) == MAX_FILES
    message = f"There are {MAX_FILES + 1} files; only the first {MAX_FILES} are loaded."
    assert problem_rows(roster.problems) == [("agents", 0, "", message)]
