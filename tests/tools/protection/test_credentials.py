"""Keys, credentials and start files of a home folder that is opened as a workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from callboard.tools.protection.credentials import PRIVATE, describe_breadth, list_private
from callboard.tools.protection.private_paths import PrivatePaths
from callboard.tools.toolbox import FolderToolbox
from tests.tools.rigs.calls import Agent

FOLDERS, FILES = (
    (".ssh", ".aws", ".gnupg", ".kube", ".docker", ".config/gcloud", ".mozilla"),
    (".netrc", ".npmrc", ".bashrc"),
)


@pytest.fixture
def at_home(tmp_path: Path) -> Agent:
    """Return an agent that works in a home folder."""
    for folder in FOLDERS:
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "key").write_text("planted\n")
    for file in FILES:
        (tmp_path / file).write_text("planted\n")
    return Agent(tmp_path, FolderToolbox(hidden=list_private(str(tmp_path))))


async def test_a_command_reads_no_key_and_changes_no_start_file(at_home: Agent):
    """X6"""
    paths = [*(f"{folder}/key" for folder in FOLDERS), *FILES]

    outcome = await at_home.call(
        "Bash", command=f"cat {' '.join(paths)}; for path in {' '.join(paths)}; do echo harm > $path; done"
    )

    assert "planted" not in outcome.output
    assert [(at_home.folder / path).read_text() for path in paths] == ["planted\n"] * len(paths)


@pytest.mark.parametrize(
    "path", [*(f"{folder}/key" for folder in FOLDERS), *FILES, ".SSH/key", ".zshrc", ".config/autostart/x"]
)
async def test_file_tools_refuse_private_paths_even_if_missing(at_home: Agent, path: str):
    """X6"""
    read, written = (
        await at_home.evaluate("Read", file_path=path),
        await at_home.evaluate("Write", file_path=path, content="harm\n"),
    )

    assert {read.verdict, written.verdict} == {"deny"}
    assert (read.code or written.code) == "path_denied"


async def test_a_search_skips_private_paths(at_home: Agent):
    """X6"""
    assert "planted" not in (await at_home.call("Grep", pattern="planted")).output.replace("pattern", "")


@pytest.fixture
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    """Return an agent in a home folder without keys and start files, but with programs."""
    for folder in (".cargo/bin", "tools", ".config"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".cargo/bin/cargo").write_text("the person's\n")
    (tmp_path / "tools/deploy").write_text("the person's\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}/tools:{tmp_path}/later:{os.environ['PATH']}")
    programs = (str(tmp_path / ".cargo/bin"), str(tmp_path / ".bun/bin"))
    return Agent(tmp_path, FolderToolbox(hidden=list_private(str(tmp_path)), programs=programs))


NEW_PATHS = (
    ".ssh/authorized_keys",
    ".zshenv",
    ".config/autostart/x.desktop",
    ".local/bin/git",
    ".bun/bin/bun",
    "later/ls",
)


@pytest.mark.parametrize("path", NEW_PATHS)
async def test_a_command_cannot_create_private_paths(empty_home: Agent, path: str):
    """X6"""
    outcome = await empty_home.call("Bash", command=f"mkdir -p {Path(path).parent}; echo harm > {path}")

    assert not (empty_home.folder / path).exists()
    assert (outcome.code, ".set-aside" in outcome.message) == ("path_denied", True)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (
            "mkdir -p evil/autostart; echo harm > evil/autostart/x; rmdir .config; ln -s evil .config",
            ".config/autostart",
        ),
        ("echo harm > evil; ln -s evil .profile", ".profile"),
        ("mkdir -p evil/autostart; mv .config old; mv evil .config", ".config/autostart"),
    ],
    ids=["folder-link", "link", "other-folder"],
)
async def test_links_and_renamed_folders_do_not_bypass_the_protection(empty_home: Agent, command: str, path: str):
    """X6"""
    outcome = await empty_home.call("Bash", command=command)

    assert not (empty_home.folder / path).exists()
    assert outcome.code == "path_denied"


async def test_programs_of_an_open_home_are_read_only(empty_home: Agent):
    """X6: toolchains and the search path. A file tool requires approval in every mode."""
    paths = (".cargo/bin/cargo", "tools/deploy")

    await empty_home.call("Bash", command=f"for path in {' '.join(paths)}; do echo harm > $path; rm -f $path; done")
    written = [
        (await empty_home.evaluate("Write", file_path=path, content="harm\n")).verdict for path in (*paths, "later/ls")
    ]

    assert [(empty_home.folder / path).read_text() for path in paths] == ["the person's\n"] * 2
    assert written == ["ask"] * 3


async def test_the_users_programs_may_replace_existing_files(at_home: Agent):
    """X6: paths under a mount are not renamed."""
    folder = at_home.folder
    before = PrivatePaths(str(folder), list_private(str(folder)))
    (folder / "new").write_text("newer\n")
    (folder / "new").replace(folder / ".bashrc")
    (folder / ".zshrc").write_text("new\n")

    assert before.list_new() == [".zshrc"]


async def test_a_linked_start_file_stays_private(at_home: Agent):
    """X6: managers of such files link to them by absolute path."""
    folder = at_home.folder
    (folder / "dotfiles").mkdir()
    (folder / ".bashrc").replace(folder / "dotfiles/bashrc")
    (folder / ".bashrc").symlink_to(folder / "dotfiles/bashrc")

    outcome = await at_home.call("Bash", command="cat .bashrc dotfiles/bashrc; echo harm > dotfiles/bashrc; echo done")

    assert ("planted" in outcome.output, "done" in outcome.output) == (False, True)
    assert (folder / "dotfiles/bashrc").read_text() == "planted\n"


def test_broad_folders_are_described(tmp_path: Path):
    """X6: home folders, their parents, system folders, and folders of keys."""
    home = tmp_path / "ann"
    (home / "project").mkdir(parents=True)
    broad = (home, tmp_path, *map(Path, ("/", "/etc", "/etc/ssh", "/usr/lib/x", "/lib/x", "/home/bob")), home / ".ssh")

    described = [bool(describe_breadth(folder, home)) for folder in (*broad, home / "project", Path("/usr/src/x"))]

    assert described == [True] * len(broad) + [False] * 2
    assert len(set(PRIVATE)) == len(PRIVATE)
