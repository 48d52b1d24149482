from __future__ import annotations

import os
from pathlib import Path

import pytest

from callboard.adapters.acp import installed_agents
from callboard.agents.folder import MOST, FolderDefinitions
from callboard.agents.packaged import packaged_roster
from callboard.contracts.errors import Problem, Refusal
from tests.agents.given import file, names, roster, told, write


@pytest.fixture
def definitions() -> FolderDefinitions:
    return FolderDefinitions()


def refused(definitions: FolderDefinitions, folder: Path, name: str = "") -> Problem:
    with pytest.raises(Refusal) as caught:
        definitions.get(str(folder), name) if name else definitions.lead(str(folder))
    return caught.value.problem


def test_a_new_file_is_an_agent_at_the_next_look(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01"""
    write(tmp_path, lead="kind: main")
    before = definitions.roster(str(tmp_path))
    assert names(before) == ["lead"]
    write(tmp_path, helper="kind: subagent")
    after = definitions.roster(str(tmp_path))
    assert names(after) == ["helper", "lead"]
    assert definitions.get(str(tmp_path), "Helper").file == "agents/helper.md"
    assert before.hash != after.hash


def test_a_change_of_the_same_length_at_once_is_seen(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01; however coarse the clock of the file system is."""
    for round in range(50):
        write(tmp_path, lead=file("name: lead", f"Round {round:02}."))
        assert definitions.lead(str(tmp_path)).prompt == f"Round {round:02}."


def test_a_change_that_keeps_size_and_time_is_seen(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01"""
    write(tmp_path, lead=file("name: lead", "One."))
    path = tmp_path / "agents" / "lead.md"
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    assert definitions.lead(str(tmp_path)).prompt == "One."
    path.write_text(file("name: lead", "Two."))
    os.utime(path, ns=times)
    assert definitions.lead(str(tmp_path)).prompt == "Two."


def test_a_file_that_is_gone_is_no_agent_any_longer(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01"""
    write(tmp_path, lead="kind: main", helper="kind: subagent")
    assert names(definitions.roster(str(tmp_path))) == ["helper", "lead"]
    (tmp_path / "agents" / "helper.md").unlink()
    assert names(definitions.roster(str(tmp_path))) == ["lead"]
    assert refused(definitions, tmp_path, "helper").code == "unknown_agent"


def test_what_did_not_change_is_not_read_again(
    tmp_path: Path, definitions: FolderDefinitions, monkeypatch: pytest.MonkeyPatch
):
    """MAR-01; looking is cheap."""
    monkeypatch.setattr("callboard.agents.folder._SETTLED", -(10**18))
    write(tmp_path, lead="kind: main")
    assert definitions.roster(str(tmp_path)) is definitions.roster(str(tmp_path))


def test_a_bad_file_is_reported_and_the_others_load(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-02"""
    write(tmp_path, lead="kind: main", bad="description: ok\ntools: Read", worse="---\nnever closed")
    found = definitions.roster(str(tmp_path))
    assert names(found) == ["lead"]
    assert told(found.problems) == [
        ("agents/bad.md", 4, "tools", "`tools` must be a list; it is `Read`."),
        ("agents/worse.md", 1, "", "The file has no frontmatter."),
    ]
    problem = refused(definitions, tmp_path, "BAD")
    assert (problem.code, problem.field) == ("unknown_agent", "agent")
    assert "agents/bad.md:4: `tools` must be a list; it is `Read`." in problem.message


def test_a_name_or_an_alias_reaches_the_agent_in_any_case(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01; Communication and Context spec, Handoff delivery."""
    write(tmp_path, lead="aliases: [Boss]")
    lead = definitions.lead(str(tmp_path))
    assert [definitions.get(str(tmp_path), name) for name in ("lead", "LEAD", "boss", "BOSS")] == [lead] * 4


def test_a_folder_without_agents_has_the_packaged_one(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01; a file that is no definition makes no difference."""
    assert definitions.roster(str(tmp_path)) == packaged_roster()
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "README.md").write_text("Who is who.")
    (tmp_path / "agents" / ".draft.md").write_text("not yet")
    (tmp_path / "agents" / "notes.txt").write_text("not an agent")
    (tmp_path / "agents" / "old").mkdir()
    (tmp_path / "agents" / "old" / "lead.md").write_text(file("name: lead"))
    assert definitions.roster(str(tmp_path)) == packaged_roster()
    assert definitions.lead(str(tmp_path)).name == "solo"
    assert definitions.roster(str(tmp_path / "gone")) == packaged_roster()


def test_a_session_from_before_the_folder_had_agents_goes_on(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-01"""
    write(tmp_path, lead="kind: main")
    assert definitions.get(str(tmp_path), "solo") == packaged_roster().definitions[0]
    assert names(definitions.roster(str(tmp_path))) == ["lead"]


def program(folder: Path, name: str) -> str:
    """A folder for PATH with that program in it."""
    folder.mkdir()
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return str(folder)


def test_a_broken_lead_puts_nobody_in_its_place(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-02; a typing error never hands the folder to an agent with more tools."""
    write(tmp_path, lead="tools: Read", helper="kind: subagent")
    problem = refused(definitions, tmp_path)
    assert problem.code == "bad_definition"
    assert problem.message == (
        "No agent of this folder can lead. agents/lead.md:3: `tools` must be a list; it is `Read`."
    ), "each reason is told once (A5)"


def test_a_folder_with_only_a_subagent_keeps_the_built_in_lead_which_may_give_it_work(
    tmp_path: Path, definitions: FolderDefinitions
):
    """A5: the file that `callboard agents --installed` shows gives a folder that works."""
    found = installed_agents(program(tmp_path / "bin", "opencode"))[0]
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "opencode.md").write_text(found.definition)

    roster = definitions.roster(str(tmp_path))
    lead = definitions.lead(str(tmp_path))

    assert (names(roster), roster.lead, roster.problems) == (["opencode", "solo"], "solo", ())
    assert (lead.file, lead.policy) == ("", ("Patch", "Finalize", "Delegate"))
    assert lead.hash != packaged_roster().definitions[0].hash


def test_a_folder_whose_only_subagent_has_the_built_in_leads_name_has_no_lead(
    tmp_path: Path, definitions: FolderDefinitions
):
    """A5."""
    write(tmp_path, solo="kind: subagent")

    problem = refused(definitions, tmp_path)

    assert problem.message == "No agent of this folder can lead. None of its agents has `kind: main`."


def test_nothing_is_read_through_a_symbolic_link(tmp_path: Path, definitions: FolderDefinitions):
    """MAR-02; Control plane spec, trust: a folder's files reach nothing outside it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text(file("name: secret"))
    folder = tmp_path / "work"
    folder.mkdir()
    write(folder, lead="kind: main")
    (folder / "agents" / "secret.md").symlink_to(outside / "secret.md")
    assert told(definitions.roster(str(folder)).problems) == [("agents/secret.md", 0, "", "It is a symbolic link.")]
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "agents").symlink_to(outside)
    assert told(definitions.roster(str(linked)).problems) == [("agents", 0, "", "It is a symbolic link.")]
    assert refused(definitions, linked).code == "bad_definition"


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path):
    """MAR-02; a pipe would wait for ever."""
    write(tmp_path, lead="kind: main")
    os.mkfifo(tmp_path / "agents" / "pipe.md")
    (tmp_path / "agents" / "folder.md").mkdir()
    assert told(roster(tmp_path).problems) == [
        ("agents/folder.md", 0, "", "It is not a regular file."),
        ("agents/pipe.md", 0, "", "It is not a regular file."),
    ]


def test_a_name_of_a_file_that_is_no_text_is_told_as_far_as_it_is(tmp_path: Path):
    """MAR-02"""
    write(tmp_path, lead="kind: main")
    (tmp_path / "agents" / os.fsdecode(b"\xff.md")).write_text("no")
    assert told(roster(tmp_path).problems) == [("agents/\ufffd.md", 1, "", "The file has no frontmatter.")]


def test_more_files_than_any_team_has_are_reported(tmp_path: Path):
    """MAR-02"""
    write(tmp_path, a="lead: true", **{f"w{number:03}": "kind: subagent" for number in range(MOST)})
    found = roster(tmp_path)
    assert len(found.definitions) == MOST
    message = f"There are {MOST + 1} files; those after the first {MOST} are not read."
    assert told(found.problems) == [("agents", 0, "", message)]
